//! Answers of web servers: where a part begins, whether a broken transfer can be continued, when to ask again, and how the
//! content is encoded.

use std::time::{Duration, SystemTime};

use hyper::header::{
    ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName,
    LAST_MODIFIED, RETRY_AFTER,
};
use jiff::fmt::rfc2822;

use super::ServedVersion;

/// Maximum number of times that a busy server is asked again.
const MAX_RETRIES: u32 = 5;

/// Maximum length of a name that a server gives a version of a file, in bytes.
const MAX_NAME: usize = 1 << 10;

/// Maximum time that all pauses take which a busy server asks for.
const MAX_RETRY_PAUSES: Duration = Duration::from_secs(120);

/// Text that a server uses to recognise a version of a file: a strong entity tag or a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VersionTag(pub String);

impl VersionTag {
    /// Returns the validator of an answer; `None` if the server can't continue transfers.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        if text(headers, &ACCEPT_RANGES).is_some_and(|units| units.eq_ignore_ascii_case("none")) {
            return None;
        }
        let time = || text(headers, &LAST_MODIFIED).map(|text| Self(text.to_owned()));
        Self::entity_tag(headers).filter(Self::is_entity_tag).or_else(time)
    }

    /// Returns the entity tag of an answer, weak or strong.
    pub(super) fn entity_tag(headers: &HeaderMap) -> Option<Self> {
        text(headers, &ETAG).map(|tag| Self(tag.to_owned()))
    }

    /// Returns `true` for a strong entity tag.
    pub(super) fn is_entity_tag(&self) -> bool {
        self.0.starts_with('"')
    }
}

/// Part of a file, as `Content-Range` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartRange {
    pub first: u64,
    /// Length of the whole file, if it is known.
    pub total: Option<u64>,
}

impl PartRange {
    /// Parses `bytes 10-19/20`.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let (range, total) = text(headers, &CONTENT_RANGE)?.strip_prefix("bytes ")?.trim().split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        let total = if total == "*" { None } else { Some(total.parse().ok()?) };
        (first <= last && total.is_none_or(|total| last < total)).then_some(Self { first, total })
    }
}

/// Pauses that a busy server may still ask for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryBudget {
    retries: u32,
    pauses: Duration,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { retries: MAX_RETRIES, pauses: MAX_RETRY_PAUSES }
    }
}

impl RetryBudget {
    /// Returns the pause before the next request; `None` if the server asks for none, or for one that is too long.
    pub(super) fn pause(&mut self, status: u16, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        if !matches!(status, 429 | 503) {
            return None;
        }
        let pause = retry_after(headers, now)?;
        self.retries = self.retries.checked_sub(1)?;
        self.pauses = self.pauses.checked_sub(pause)?;
        Some(pause)
    }
}

/// Returns the time of `Retry-After`, which has seconds or a date. A date in the past is now.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = text(headers, &RETRY_AFTER)?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = SystemTime::from(rfc2822::parse(text).ok()?.timestamp());
    Some(date.duration_since(now).unwrap_or_default())
}

/// Encoding of the content, although none was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ContentEncoding {
    None,
    Gzip,
    /// Name of an encoding that ccm does not know.
    Other(String),
}

impl ContentEncoding {
    /// Returns the encoding of an answer. Servers also name the compression of the file itself, such as `gzip` for
    /// `app.tar.gz`, which is no encoding of the transfer.
    pub(super) fn of(headers: &HeaderMap, names: &[&str]) -> Self {
        let encodings: Vec<String> = headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
            .map(|encoding| String::from_utf8_lossy(encoding.trim_ascii()).to_ascii_lowercase())
            .filter(|encoding| !matches!(&**encoding, "" | "identity"))
            .collect();
        let ends: &[&str] = match &encodings[..] {
            [] => return Self::None,
            [one] => match &**one {
                "gzip" | "x-gzip" => &[".gz", ".tgz"],
                "bzip2" | "x-bzip2" => &[".bz2", ".tbz2", ".tbz"],
                "xz" | "x-xz" => &[".xz", ".txz"],
                "zstd" => &[".zst", ".tzst"],
                "compress" | "x-compress" => &[".z"],
                _ => &[],
            },
            _ => &[],
        };
        let is_of_file = |name: &&str| ends.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
        match &encodings[..] {
            _ if names.iter().any(is_of_file) => Self::None,
            [one] if matches!(&**one, "gzip" | "x-gzip") => Self::Gzip,
            _ => Self::Other(encodings.join(", ").escape_debug().to_string()),
        }
    }
}

/// Returns the names of the version of the file.
pub(super) fn served_version(headers: &HeaderMap) -> ServedVersion {
    let named = |name| text(headers, name).filter(|text| text.len() <= MAX_NAME).map(str::to_owned);
    ServedVersion { entity_tag: named(&ETAG), modified: named(&LAST_MODIFIED) }
}

/// Returns the length of the content that follows.
pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    text(headers, &CONTENT_LENGTH)?.parse().ok()
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    #[test]
    fn ranges_are_parsed() {
        for (value, range) in [
            ("bytes 10-19/20", Some((10, Some(20)))),
            ("bytes 10-19/*", Some((10, None))),
            ("bytes 19-10/20", None),
            ("bytes 10-20/20", None),
            ("bytes */20", None),
            ("lines 1-2/3", None),
            ("bytes 1-99999999999999999999/*", None),
        ] {
            let found = PartRange::of(&headers(&[(CONTENT_RANGE, value)]));
            assert_eq!(found.map(|range| (range.first, range.total)), range, "{value}");
        }
    }

    #[test]
    fn only_strong_validators_continue_a_transfer() {
        for (fields, validator) in [
            (&[(ETAG, "\"a\""), (LAST_MODIFIED, "t")][..], Some("\"a\"")),
            (&[(ETAG, "W/\"a\""), (LAST_MODIFIED, "t")], Some("t")),
            (&[(ETAG, "W/\"a\"")], None),
            (&[(ETAG, "\"a\""), (ACCEPT_RANGES, "none")], None),
            (&[], None),
        ] {
            let found = VersionTag::of(&headers(fields));
            assert_eq!(found.map(|found| found.0).as_deref(), validator, "{fields:?}");
        }
    }

    #[test]
    fn a_busy_server_is_asked_again_within_bounds() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let second = Duration::from_secs(1);
        for (status, value, pause) in [
            (503, "0", Some(Duration::ZERO)),
            (429, "30", Some(second * 30)),
            (503, " 120 ", Some(second * 120)),
            (503, "Sun, 06 Nov 1994 08:49:47 GMT", Some(second * 10)),
            (503, "Sun, 06 Nov 1994 08:49:27 GMT", Some(Duration::ZERO)),
            (503, "Sun, 06 Nov 1994 09:49:37 GMT", None),
            (503, "121", None),
            (503, "99999999999999999999", None),
            (503, "-1", None),
            (503, "soon", None),
            (500, "1", None),
            (404, "1", None),
        ] {
            let headers = headers(&[(RETRY_AFTER, value)]);
            assert_eq!(RetryBudget::default().pause(status, &headers, now), pause, "{status} {value}");
        }
        assert_eq!(RetryBudget::default().pause(503, &headers(&[]), now), None);
        let pauses = |value| {
            let mut budget = RetryBudget::default();
            let headers = headers(&[(RETRY_AFTER, value)]);
            std::iter::from_fn(|| budget.pause(503, &headers, now)).count()
        };
        assert_eq!((pauses("0"), pauses("50"), pauses("120")), (5, 2, 1));
    }

    #[test]
    fn encodings_of_the_transfer_are_told_from_those_of_the_file() {
        let other = |name: &str| ContentEncoding::Other(name.to_owned());
        for (value, name, encoding) in [
            ("gzip", "app", ContentEncoding::Gzip),
            ("X-GZIP", "list.txt", ContentEncoding::Gzip),
            ("x-gzip", "app.tar.gz", ContentEncoding::None),
            ("gzip", "APP.TGZ", ContentEncoding::None),
            ("identity", "app", ContentEncoding::None),
            ("", "app", ContentEncoding::None),
            ("br", "app.gz", other("br")),
            ("gzip, br", "app", other("gzip, br")),
            ("zstd", "app", other("zstd")),
            ("zstd", "app.tar.zst", ContentEncoding::None),
        ] {
            let found = ContentEncoding::of(&headers(&[(CONTENT_ENCODING, value)]), &[name]);
            assert_eq!(found, encoding, "{value} {name}");
        }
    }
}
