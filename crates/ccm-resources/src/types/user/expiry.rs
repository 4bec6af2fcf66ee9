//! The day on which a user expires.

use std::fmt;

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

const SECONDS_PER_DAY: i64 = 86_400;

/// Word for a user that does not expire.
const NEVER: &str = "never";

/// Day on which a user expires, since 1970; `None` for a user that does not expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expiry(pub Option<i64>);

impl TextValue for Expiry {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::STRICT.matching("^([0-9]{4}-[0-9]{2}-[0-9]{2}|never)$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        if text == NEVER {
            return Ok(Self(None));
        }
        let digits = |from: usize, to: usize| -> Option<i64> {
            text.get(from..to).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
        };
        let is_date = text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
        let parts = digits(0, 4).zip(digits(5, 7)).zip(digits(8, 10)).filter(|_| is_date);
        let days = parts.and_then(|((year, month), day)| days_since_1970(year, month, day));
        // Day 0 means different things to different programs.
        let days = days.filter(|days| *days > 0);
        days.map(|days| Self(Some(days))).ok_or_else(|| {
            let message = format!("`{}` is not a date after 1970-01-01", text.escape_debug());
            ValueError::new(message).with_hint("write a date like `2031-12-31`, or `never`")
        })
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(days) = self.0 else { return formatter.write_str(NEVER) };
        let (year, month, day) = date(days);
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

impl Expiry {
    /// Returns the value for the tools; an empty one for a user that does not expire.
    pub(crate) fn argument(self) -> String {
        self.0.map(|_| self.to_string()).unwrap_or_default()
    }

    /// Returns `true` if the day has come. `now` is the time since 1970 in seconds.
    pub(crate) fn has_come(self, now: u64) -> bool {
        let today = i64::try_from(now).unwrap_or(i64::MAX) / SECONDS_PER_DAY;
        self.0.is_some_and(|day| day <= today)
    }
}

/// Returns the day of a date of the Gregorian calendar; `None` if there is no such date.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    // Years begin in March, so that a leap day is the last day of a year.
    let year_from_march = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let leap_days =
        year_from_march.div_euclid(4) - year_from_march.div_euclid(100) + year_from_march.div_euclid(400);
    let days = year_from_march * 365 + leap_days + (153 * month_from_march + 2) / 5 + day - 719_469;
    (date(days) == (year, month, day)).then_some(days)
}

/// Returns year, month and day of a day since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_in_days() {
        for (text, days) in [
            ("1970-01-02", 1),
            ("2000-02-29", 11_016),
            ("2000-03-01", 11_017),
            ("2024-12-31", 20_088),
            ("2030-01-01", 21_915),
            ("9999-12-31", 2_932_896),
        ] {
            let expiry = Expiry::from_text(text);
            assert_eq!(expiry, Ok(Expiry(Some(days))), "{text}");
            assert_eq!(Expiry(Some(days)).to_string(), text);
        }
        assert_eq!(Expiry::from_text("never"), Ok(Expiry(None)));
        assert_eq!(Expiry(None).argument(), "");
        assert!(Expiry(Some(10)).has_come(864_000) && !Expiry(Some(10)).has_come(863_999));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2030-1-1",
            "2030-02-30",
            "2023-02-29",
            "2030-13-01",
            "1970-01-01",
            "20300101",
            "tomorrow",
            "2030-01-0é",
        ] {
            assert!(Expiry::from_text(text).is_err(), "{text}");
        }
    }
}
