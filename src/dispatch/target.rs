//! Where an endpoint is.

use hyper::Uri;
use hyper::header::HeaderValue;
use rustls::pki_types::ServerName;

/// Why a URL was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{url}\" is no endpoint: {reason}")]
pub struct UrlError {
    /// The URL as given.
    pub url: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// An endpoint's URL, taken apart once.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) host: HostName,
    /// Path and query, as the request line wants them.
    pub(super) path: Uri,
    pub(super) host_header: HeaderValue,
}

/// What connections are shared by: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HostName {
    /// The name to check the certificate against, where TLS is spoken.
    pub(super) tls: Option<ServerName<'static>>,
    pub(super) name: String,
    pub(super) port: u16,
}

impl Target {
    pub(super) fn parse(url: &str) -> Result<Self, UrlError> {
        parse(url).map_err(|reason| UrlError { url: url.to_owned(), reason })
    }
}

fn parse(url: &str) -> Result<Target, &'static str> {
    let uri: Uri = url.parse().map_err(|_| "it is no URL")?;
    let secure = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err("it does not begin with http:// or https://"),
    };
    let authority = uri.authority().ok_or("it names no host")?;
    if authority.as_str().contains('@') {
        return Err("it carries a user name, which would be sent to the endpoint");
    }
    let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    if name.is_empty() {
        return Err("it names no host");
    }
    let tls = match secure {
        true => Some(ServerName::try_from(name.clone()).map_err(|_| "its host cannot have a certificate")?),
        false => None,
    };
    let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    Ok(Target {
        host: HostName { tls, name, port },
        path: path.parse().map_err(|_| "its path is no path")?,
        host_header: HeaderValue::from_str(authority.as_str()).map_err(|_| "its host is no header")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let target = Target::parse("http://127.0.0.1:8080/hook?a=1").unwrap();
        assert_eq!((target.host.name.as_str(), target.host.port), ("127.0.0.1", 8080));
        assert_eq!(
            (target.path.to_string().as_str(), target.host_header.to_str().unwrap()),
            ("/hook?a=1", "127.0.0.1:8080")
        );
        let target = Target::parse("https://example.com").unwrap();
        assert_eq!((target.host.port, target.path.path()), (443, "/"));
        assert!(target.host.tls.is_some());
        assert_eq!(Target::parse("http://[::1]:1/").unwrap().host.name, "::1");
    }

    #[test]
    fn what_is_no_endpoint_is_refused_with_the_reason() {
        for (url, reason) in [
            ("", "no URL"),
            ("ftp://example.com", "begin with"),
            ("/path", "begin with"),
            ("http://user:secret@example.com/", "user name"),
            ("http://exa mple.com/", "no URL"),
        ] {
            assert!(Target::parse(url).unwrap_err().to_string().contains(reason), "{url}");
        }
    }
}
