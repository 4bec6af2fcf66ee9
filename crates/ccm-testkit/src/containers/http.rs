//! HTTP, as far as tests need it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Time after which a request of a test fails.
const LIMIT: Duration = Duration::from_secs(60);

/// Request that a server read.
#[derive(Debug)]
pub(super) struct ReadRequest {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Value of the header `Authorization`.
    pub authorization: Option<String>,
    pub body: Vec<u8>,
}

/// Reads a request; `None` at the end of the connection.
pub(super) fn read_request(reader: &mut impl BufRead) -> Option<ReadRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        } else if name.eq_ignore_ascii_case("authorization") {
            authorization = Some(value.trim().to_owned());
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReadRequest { method, target, authorization, body })
}

/// Returns the head and the body of an answer, after which the connection is closed.
pub(super) fn answer(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Status\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Sends a request to the socket of an Engine, and returns status and body.
pub(super) fn request(
    socket: &Path,
    method: &str,
    target: &str,
    content_type: &str,
    body: &[u8],
) -> Option<(u16, Vec<u8>)> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(LIMIT)).ok()?;
    // Version 1.0 has no chunks, and ends with the connection.
    let head = format!(
        "{method} {target} HTTP/1.0\r\nHost: test\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let status = line.split_whitespace().nth(1)?.parse().ok()?;
    while line.trim() != "" {
        line.clear();
        reader.read_line(&mut line).ok()?;
    }
    let mut body = Vec::new();
    reader.read_to_end(&mut body).ok()?;
    Some((status, body))
}
