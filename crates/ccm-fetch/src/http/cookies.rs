//! Cookies that servers set during a download. Some lead through a redirect that only ends with its cookie.

use std::time::SystemTime;

use hyper::header::{HeaderMap, SET_COOKIE};
use jiff::fmt::rfc2822;

use super::HttpUrl;

/// Maximum number of cookies of a download.
const MAX_COOKIES: usize = 50;

/// Maximum length of a cookie, as browsers have it.
const MAX_LENGTH: usize = 4096;

/// Cookies of one download. A cookie is only sent to the server that has set it, whatever `Domain` it names.
#[derive(Default)]
pub(super) struct CookieJar(Vec<Cookie>);

struct Cookie {
    server: HttpUrl,
    path: String,
    name: String,
    value: String,
}

impl CookieJar {
    /// Keeps the cookies of an answer. What is too long, too much or not valid is left out.
    pub(super) fn keep(&mut self, url: &HttpUrl, headers: &HeaderMap, now: SystemTime) {
        for field in headers.get_all(SET_COOKIE) {
            let Some((cookie, is_over)) = field.to_str().ok().and_then(|text| parse(url, text, now)) else {
                continue;
            };
            self.0.retain(|known| {
                (&known.name, &known.path) != (&cookie.name, &cookie.path)
                    || !known.server.is_same_server(url)
            });
            if !is_over && self.0.len() < MAX_COOKIES {
                self.0.push(cookie);
            }
        }
    }

    /// Returns the value of the field `Cookie` of a request.
    pub(super) fn field(&self, url: &HttpUrl) -> Option<String> {
        let is_for = |cookie: &&Cookie| {
            let rest = url.path().strip_prefix(&*cookie.path);
            let is_below =
                |rest: &str| rest.is_empty() || rest.starts_with('/') || cookie.path.ends_with('/');
            cookie.server.is_same_server(url) && rest.is_some_and(is_below)
        };
        let pairs: Vec<String> =
            self.0.iter().filter(is_for).map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

/// Parses the value of `Set-Cookie`. Returns `true` with it if the cookie is one to forget.
fn parse(url: &HttpUrl, text: &str, now: SystemTime) -> Option<(Cookie, bool)> {
    let mut parts = text.split(';').map(str::trim);
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || name.len() + value.len() > MAX_LENGTH {
        return None;
    }
    let directory = url.path().rfind('/').map_or("", |end| &url.path()[..end]);
    let mut path = if directory.is_empty() { "/" } else { directory };
    let (mut of_age, mut of_date) = (None, false);
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "path" if value.starts_with('/') => path = value,
            "max-age" => of_age = value.trim().parse::<i64>().ok().map(|seconds| seconds <= 0).or(of_age),
            "expires" => {
                let date = rfc2822::parse(&value.trim().replace('-', " "));
                of_date = date.is_ok_and(|date| SystemTime::from(date.timestamp()) <= now);
            }
            "secure" if !url.is_https() => return None,
            _ => {}
        }
    }
    let cookie =
        Cookie { server: url.clone(), path: path.to_owned(), name: name.to_owned(), value: value.to_owned() };
    Some((cookie, of_age.unwrap_or(of_date)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cookies that are sent to an address after an answer of `https://h/a/b`.
    fn sent(set: &[&str], to: &str) -> Option<String> {
        let url = |text| HttpUrl::parse(text).expect("a URL");
        let mut headers = HeaderMap::new();
        for value in set {
            headers.append(SET_COOKIE, value.parse().expect("a value"));
        }
        let mut jar = CookieJar::default();
        jar.keep(&url("https://h/a/b"), &headers, SystemTime::UNIX_EPOCH);
        jar.field(&url(to))
    }

    #[test]
    fn cookies_go_to_their_server_and_path_alone() {
        for (set, to, cookies) in [
            (&["s=1"][..], "https://h/a/c", Some("s=1")),
            (&["s=1"], "https://h/", None),
            (&["s=1"], "https://h/ab", None),
            (&["s=1; Path=/"], "https://h/", Some("s=1")),
            (&["s=1; Path=/a/"], "https://h/a/x", Some("s=1")),
            (&["s=1; Path=/; Domain=example.com"], "https://example.com/", None),
            (&["s=1; Path=/; Domain=.h"], "https://x.h/", None),
            (&["s=1; Path=/"], "http://h/", None),
            (&["s=1; Path=/"], "https://h:8443/", None),
            (&["s=1; Path=/; Secure; HttpOnly"], "https://h/", Some("s=1")),
            (&["s=1", "t=2", "s=3"], "https://h/a/c", Some("t=2; s=3")),
            (&["s=1", "s=; Max-Age=0"], "https://h/a/c", None),
            (&["s=1", "s=; Expires=Thu, 01-Jan-1970 00:00:00 GMT"], "https://h/a/c", None),
            (&["s=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT"], "https://h/a/c", Some("s=1")),
            (&["s", "=1"], "https://h/a/c", None),
            (&["s=a=b"], "https://h/a/c", Some("s=a=b")),
        ] {
            assert_eq!(sent(set, to).as_deref(), cookies, "{set:?} {to}");
        }
    }

    #[test]
    fn cookies_are_bounded() {
        let many: Vec<String> = (0..200).map(|number| format!("c{number}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let found = sent(&many, "https://h/a/c").expect("cookies");
        assert_eq!(found.split("; ").count(), MAX_COOKIES);
        assert_eq!(sent(&[&format!("s={}", "x".repeat(MAX_LENGTH))], "https://h/a/c"), None);
    }
}
