//! A sandbox elsewhere: its endpoints, and what it counts.

use super::ValidateError;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_PAGE: usize = 16 << 20;
const DUPLICATES: &str = "whsize_sandbox_duplicates_total{";

/// A sandbox that somebody else started.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) urls: Vec<String>,
    url: String,
    /// Duplicates that it had counted before.
    duplicates: u64,
}

impl Target {
    /// Asks a sandbox for its endpoints.
    pub(super) async fn find(url: &str) -> Result<Self, ValidateError> {
        let page = get(url, "/endpoints").await?;
        let urls: Vec<String> = page.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect();
        if urls.is_empty() || urls.iter().any(|url| !url.starts_with("http://")) {
            let reason = "it does not list endpoints on /endpoints; is it a whsize sandbox without TLS?";
            return Err(ValidateError::Target { url: url.to_owned(), reason: reason.to_owned() });
        }
        let duplicates = duplicates(url).await?;
        Ok(Target { urls, url: url.to_owned(), duplicates })
    }

    /// Duplicates that it has counted since it was found.
    pub(super) async fn new_duplicates(&self) -> Result<u64, ValidateError> {
        Ok(duplicates(&self.url).await?.saturating_sub(self.duplicates))
    }
}

async fn duplicates(url: &str) -> Result<u64, ValidateError> {
    let page = get(url, "/metrics").await?;
    let samples = page.lines().filter(|line| line.starts_with(DUPLICATES));
    Ok(samples.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum())
}

async fn get(url: &str, path: &str) -> Result<String, ValidateError> {
    let failed = |reason: String| ValidateError::Target { url: url.to_owned(), reason };
    let got = timeout(PATIENCE, fetch(url, path)).await;
    got.map_err(|_| failed("it does not answer".to_owned()))?.map_err(failed)
}

async fn fetch(url: &str, path: &str) -> Result<String, String> {
    let uri: Uri = url.parse().map_err(|_| "it is no URL".to_owned())?;
    if uri.scheme_str() != Some("http") {
        return Err("a target begins with http://".to_owned());
    }
    let authority = uri.authority().ok_or("it names no host")?;
    let address = (authority.host(), authority.port_u16().unwrap_or(80));
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let stream = TcpStream::connect(address).await.map_err(|error| said(&error))?;
    let (mut sender, driver) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| said(&error))?;
    let driving = tokio::spawn(driver);
    let request = Request::get(path).header("host", authority.as_str()).body(Empty::<Bytes>::new());
    let request = request.map_err(|error| said(&error))?;
    let response = sender.send_request(request).await.map_err(|error| said(&error))?;
    let status = response.status();
    let body = Limited::new(response.into_body(), LONGEST_PAGE).collect().await;
    driving.abort();
    if !status.is_success() {
        return Err(format!("{path} answers {status}"));
    }
    let bytes = body.map_err(|error| error.to_string())?.to_bytes();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
