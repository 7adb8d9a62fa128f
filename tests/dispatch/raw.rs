//! A client so plain that it hides nothing: bytes written, bytes read.

use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection.
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) async fn open(url: &str) -> Self {
        Raw(TcpStream::connect(url.trim_start_matches("http://")).await.unwrap())
    }

    pub(crate) async fn send(&mut self, method: &str, path: &str, id: &str) -> io::Result<()> {
        let request =
            format!("{method} {path} HTTP/1.1\r\nhost: x\r\nwebhook-id: {id}\r\ncontent-length: 2\r\n\r\nhi");
        self.0.write_all(request.as_bytes()).await
    }

    /// Head and body of the next answer; an answer without a known length is not understood.
    pub(crate) async fn answer(&mut self) -> io::Result<(String, String)> {
        let mut bytes = Vec::new();
        let head_end = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            self.more(&mut bytes).await?;
        };
        let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
        let length: usize =
            head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap().parse().unwrap();
        while bytes.len() < head_end + length {
            self.more(&mut bytes).await?;
        }
        Ok((head, String::from_utf8_lossy(&bytes[head_end..]).into_owned()))
    }

    pub(crate) async fn deliver(&mut self, id: &str) -> io::Result<(String, String)> {
        self.send("POST", "/", id).await?;
        self.answer().await
    }

    async fn more(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        if self.0.read_buf(bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}
