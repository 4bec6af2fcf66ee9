//! Formatting and parsing of times.

use std::fmt::Display;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Formats a time by RFC 3339 in UTC, with a number of groups of three decimals.
///
/// A time before 1970 or after 9999 (of a wrong clock) becomes the nearest time in between.
pub fn display_timestamp(moment: SystemTime, groups: usize) -> String {
    timestamp(moment, groups).to_string()
}

/// Formats a time like [`display_timestamp`], without allocating a text.
pub fn timestamp(moment: SystemTime, groups: usize) -> impl Display {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let moment = UNIX_EPOCH + moment.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST);
    match groups {
        0 => humantime::format_rfc3339_seconds(moment),
        1 => humantime::format_rfc3339_millis(moment),
        2 => humantime::format_rfc3339_micros(moment),
        _ => humantime::format_rfc3339_nanos(moment),
    }
}

/// Reads a time in the form of [`display_timestamp`].
pub fn parse_timestamp(text: &str) -> Option<SystemTime> {
    humantime::parse_rfc3339(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formatted_timestamp_is_read_again() {
        let moment = UNIX_EPOCH + Duration::new(1_709_251_199, 7_000);
        assert_eq!(parse_timestamp(&display_timestamp(moment, 2)), Some(moment));
        for text in ["", "yesterday", "2024-02-29", "2024-02-29T23:59:59"] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn timestamps_are_in_utc() {
        for (seconds, nanos, groups, shown) in [
            (0, 0, 0, "1970-01-01T00:00:00Z"),
            (951_782_399, 999_999_999, 2, "2000-02-28T23:59:59.999999Z"),
            (951_782_400, 1_000, 2, "2000-02-29T00:00:00.000001Z"),
            (951_868_800, 1_000_000, 1, "2000-03-01T00:00:00.001Z"),
            (1_709_251_199, 7, 3, "2024-02-29T23:59:59.000000007Z"),
            (4_107_542_400, 0, 0, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(display_timestamp(UNIX_EPOCH + Duration::new(seconds, nanos), groups), shown);
        }
    }

    #[test]
    fn times_out_of_range_become_the_nearest_ones() {
        assert_eq!(display_timestamp(UNIX_EPOCH - Duration::from_secs(9), 0), "1970-01-01T00:00:00Z");
        let far = UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert_eq!(display_timestamp(far, 0), "9999-12-31T23:59:59Z");
    }
}
