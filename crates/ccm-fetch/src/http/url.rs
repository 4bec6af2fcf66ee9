//! Addresses of files on web servers.

use std::fmt;
use std::net::IpAddr;

/// Address of a file on a web server, with `http` or `https`. It is displayed without credentials and query,
/// which may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpUrl {
    is_https: bool,
    host: String,
    /// Port, if it is not the one of the scheme.
    port: Option<u16>,
    /// Path and query, beginning with `/`.
    target: String,
    credentials: Option<Box<HttpCredentials>>,
}

/// User and password of a server.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpCredentials {
    /// Name of the user.
    pub username: String,
    /// Password of the user.
    pub password: String,
}

/// Error in the text of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The text begins with another scheme, or with none.
    #[error("the URL does not begin with `https://` or `http://`")]
    Scheme,
    /// The text contains a character that must be encoded.
    #[error("the URL contains a blank, a control character or a character outside ASCII")]
    Character,
    /// There is no valid host after the scheme.
    #[error("the URL has no valid host")]
    Host,
    /// The port is no number from 1 to 65535.
    #[error("the port of the URL is not a number from 1 to 65535")]
    Port,
    /// The user or password before `@` is not valid.
    #[error("the user or password in the URL is not encoded correctly")]
    Credentials,
}

impl HttpUrl {
    /// Parses an absolute address. A fragment is dropped.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(UrlError::Character);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        let is_https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(UrlError::Scheme),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let (credentials, address) = match authority.rsplit_once('@') {
            Some((credentials, address)) => (Some(Box::new(parse_credentials(credentials)?)), address),
            None => (None, authority),
        };
        let (host, port) = parse_address(address)?;
        let port = port.filter(|port| *port != default_port(is_https));
        Ok(Self { is_https, host, port, target: absolute_target(target), credentials })
    }

    /// Resolves the target of a redirect, which may be relative (RFC 3986, section 5.2). Blanks and bytes outside ASCII are
    /// encoded, because many servers send names of files as they are.
    pub(super) fn join(&self, location: &[u8]) -> Result<Self, UrlError> {
        let location = &*encoded(location)?;
        let scheme = if self.is_https { "https" } else { "http" };
        let is_absolute = location
            .split_once("://")
            .is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        if is_absolute {
            return Self::parse(location);
        }
        if location.starts_with("//") {
            return Self::parse(&format!("{scheme}:{location}"));
        }
        let path = self.path();
        let target = match location.bytes().next() {
            Some(b'/') => location.to_owned(),
            Some(b'?') => format!("{path}{location}"),
            None | Some(b'#') => self.target.clone(),
            Some(_) => {
                let directory = path.rfind('/').map_or("", |end| &path[..end]);
                format!("{directory}/{location}")
            }
        };
        Ok(Self { target: absolute_target(&target), credentials: None, ..self.clone() })
    }

    /// Returns `true` for `https`.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Returns user and password before the host.
    pub fn credentials(&self) -> Option<&HttpCredentials> {
        self.credentials.as_deref()
    }

    /// Returns the last part of the path; empty if the path ends with a slash.
    pub fn file_name(&self) -> &str {
        self.path().rsplit('/').next().unwrap_or_default()
    }

    /// Path without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Host, without the brackets of an IPv6 address.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port.unwrap_or(default_port(self.is_https))
    }

    pub(super) fn target(&self) -> &str {
        &self.target
    }

    /// Host with its port, as the `Host` field has it.
    pub(super) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match self.port {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }

    /// Returns `true` if both addresses are of one server, which may see the same credentials. A step from `http`
    /// to `https` with the usual ports stays on the server.
    pub fn is_same_server(&self, other: &Self) -> bool {
        let is_upgrade = !self.is_https && other.is_https && self.port.is_none() && other.port.is_none();
        self.host == other.host
            && (is_upgrade || (self.is_https, self.port()) == (other.is_https, other.port()))
    }
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_https { "https" } else { "http" };
        let (path, query) = self.target.split_once('?').map_or((&*self.target, ""), |(path, _)| (path, "?…"));
        write!(formatter, "{scheme}://{}{path}{query}", self.authority())
    }
}

impl fmt::Debug for HttpUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HttpUrl({self})")
    }
}

impl fmt::Debug for HttpCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HttpCredentials(..)")
    }
}

fn default_port(is_https: bool) -> u16 {
    if is_https { 443 } else { 80 }
}

/// Returns path and query without a fragment and without the segments `.` and `..`, beginning with a slash.
fn absolute_target(text: &str) -> String {
    let text = text.split('#').next().unwrap_or_default();
    let (path, query) = text.split_at(text.find('?').unwrap_or(text.len()));
    without_dot_segments(path.strip_prefix('/').unwrap_or(path)) + query
}

/// Resolves the segments `.` and `..` of a path without its first slash, as RFC 3986 does in section 5.2.4.
fn without_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            // What is left is a directory.
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

/// Encodes blanks and bytes outside ASCII. Blanks at both ends do not belong to the text.
fn encoded(text: &[u8]) -> Result<String, UrlError> {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.trim_ascii() {
        match byte {
            b' ' | 0x80.. => encoded += &format!("%{byte:02X}"),
            byte if byte.is_ascii_graphic() => encoded.push(char::from(*byte)),
            _ => return Err(UrlError::Character),
        }
    }
    Ok(encoded)
}

pub(super) fn parse_address(address: &str) -> Result<(String, Option<u16>), UrlError> {
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or(UrlError::Host)?;
            if !matches!(host.parse(), Ok(IpAddr::V6(_))) {
                return Err(UrlError::Host);
            }
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':').ok_or(UrlError::Host)?) })
        }
        None => match address.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        },
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    if host.is_empty() || !host.bytes().all(is_name) {
        return Err(UrlError::Host);
    }
    let port = match port {
        None | Some("") => None,
        Some(port) => Some(port.parse().ok().filter(|port| *port != 0).ok_or(UrlError::Port)?),
    };
    Ok((host.to_ascii_lowercase(), port))
}

pub(super) fn parse_credentials(text: &str) -> Result<HttpCredentials, UrlError> {
    let (username, password) = text.split_once(':').unwrap_or((text, ""));
    Ok(HttpCredentials { username: percent_decoded(username)?, password: percent_decoded(password)? })
}

fn percent_decoded(text: &str) -> Result<String, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || {
            let digit = rest.next().and_then(|byte| char::from(byte).to_digit(16));
            digit.and_then(|digit| u8::try_from(digit).ok()).ok_or(UrlError::Credentials)
        };
        bytes.push(if byte == b'%' { digit()? << 4 | digit()? } else { byte });
    }
    String::from_utf8(bytes).map_err(|_| UrlError::Credentials)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed() {
        for (text, shown) in [
            ("https://example.com", Ok("https://example.com/")),
            ("HTTPS://Example.COM:443/A/b", Ok("https://example.com/A/b")),
            ("http://example.com:80", Ok("http://example.com/")),
            ("http://example.com:443/", Ok("http://example.com:443/")),
            ("http://[::1]:8080/a#part", Ok("http://[::1]:8080/a")),
            ("http://user:secret@example.com/a?token=x", Ok("http://example.com/a?…")),
            ("http://example.com?a=b", Ok("http://example.com/?…")),
            ("http://example.com:/a", Ok("http://example.com/a")),
            ("ftp://example.com/a", Err(UrlError::Scheme)),
            ("example.com/a", Err(UrlError::Scheme)),
            ("http:///a", Err(UrlError::Host)),
            ("http://exam ple/a", Err(UrlError::Character)),
            ("http://exämple/a", Err(UrlError::Character)),
            ("http://a:b:c/", Err(UrlError::Port)),
            ("http://a:70000/", Err(UrlError::Port)),
            ("http://a:0/", Err(UrlError::Port)),
            ("http://[::1/", Err(UrlError::Host)),
            ("http://[a]/", Err(UrlError::Host)),
            ("http://a%zz@b/", Err(UrlError::Credentials)),
            ("http://a\"b/", Err(UrlError::Host)),
        ] {
            let parsed = HttpUrl::parse(text);
            assert_eq!(parsed.map(|url| url.to_string()), shown.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn credentials_are_decoded_and_never_shown() {
        let url = HttpUrl::parse("https://ada:p%40ss%3Aword@example.com/a").expect("a URL");
        let credentials = url.credentials().expect("credentials");
        assert_eq!((&*credentials.username, &*credentials.password), ("ada", "p@ss:word"));
        for shown in [url.to_string(), format!("{url:?}"), format!("{credentials:?}")] {
            assert!(!shown.contains("p@ss") && !shown.contains("p%40ss"), "{shown}");
        }
    }

    #[test]
    fn redirects_are_resolved() {
        let from = HttpUrl::parse("https://user:x@example.com:8443/a/b?q=1").expect("a URL");
        for (location, to) in [
            ("https://other.org/x", "https://other.org/x"),
            ("//other.org/x", "https://other.org/x"),
            ("/x/y", "https://example.com:8443/x/y"),
            ("c", "https://example.com:8443/a/c"),
            ("?r=2", "https://example.com:8443/a/b?…"),
            ("c?to=http://x/", "https://example.com:8443/a/c?…"),
        ] {
            assert_eq!(from.join(location.as_bytes()).expect("a URL").to_string(), to, "{location}");
        }
        assert_eq!(from.join(b"/a\tb"), Err(UrlError::Character));
        assert_eq!(from.join(b"file:///etc/passwd"), Err(UrlError::Scheme));
        assert_eq!(from.join("//exämple/x".as_bytes()), Err(UrlError::Host));
        assert!(from.join(b"/x").expect("a URL").credentials().is_none());
    }

    #[test]
    fn redirects_are_resolved_as_rfc_3986_resolves_them() {
        let from = HttpUrl::parse("http://h/a/b/c/d?q").expect("a URL");
        for (location, to) in [
            ("g", "/a/b/c/g"),
            ("./g", "/a/b/c/g"),
            ("g/", "/a/b/c/g/"),
            ("/g", "/g"),
            ("?y", "/a/b/c/d?y"),
            ("g?y", "/a/b/c/g?y"),
            ("g#s", "/a/b/c/g"),
            ("", "/a/b/c/d?q"),
            (".", "/a/b/c/"),
            ("./", "/a/b/c/"),
            ("..", "/a/b/"),
            ("../g", "/a/b/g"),
            ("../../g", "/a/g"),
            ("../../../../../g", "/g"),
            ("/./g", "/g"),
            ("/../g", "/g"),
            ("g.", "/a/b/c/g."),
            ("..g", "/a/b/c/..g"),
            ("./g/.", "/a/b/c/g/"),
            ("g/./h", "/a/b/c/g/h"),
            ("g/../h", "/a/b/c/h"),
            ("g/..", "/a/b/c/"),
            ("g?y/../x", "/a/b/c/g?y/../x"),
            ("a//b", "/a/b/c/a//b"),
            ("/a//../b", "/a/b"),
            ("http://h/x/../y?../z", "/y?../z"),
            ("//h/x/./y", "/x/y"),
            (" my file ", "/a/b/c/my%20file"),
            ("größe", "/a/b/c/gr%C3%B6%C3%9Fe"),
        ] {
            assert_eq!(from.join(location.as_bytes()).expect("a URL").target(), to, "{location}");
        }
    }

    #[test]
    fn servers_are_told_apart_by_scheme_host_and_port() {
        for (one, other, is_same) in [
            ("https://a/x", "https://a/y", true),
            ("http://a/x", "https://a/y", true),
            ("http://a:80/x", "https://a:443/y", true),
            ("https://a/x", "http://a/y", false),
            ("https://a/x", "https://a:8443/y", false),
            ("http://a:8080/x", "https://a:8080/y", false),
            ("https://a/x", "https://b.a/y", false),
        ] {
            let [one, other] = [one, other].map(|text| HttpUrl::parse(text).expect("a URL"));
            assert_eq!(one.is_same_server(&other), is_same, "{one} {other}");
        }
    }
}
