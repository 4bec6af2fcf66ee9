//! Answers of web servers: where a part begins, and whether a broken transfer can be continued.

use hyper::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED,
};

/// Text that a server uses to recognise a version of a file: a strong entity tag or a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VersionTag(pub String);

impl VersionTag {
    /// Returns the validator of an answer; `None` if the server can't continue transfers.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        if text(headers, &ACCEPT_RANGES).is_some_and(|units| units.eq_ignore_ascii_case("none")) {
            return None;
        }
        let tag = text(headers, &ETAG).filter(|tag| tag.starts_with('"'));
        tag.or_else(|| text(headers, &LAST_MODIFIED)).map(|text| Self(text.to_owned()))
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
}
