//! Values of properties of timers.

use std::time::Duration;

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

use crate::parts::schedule::Schedule;

/// Time in the calendar of systemd. Only systemd checks the rest of the syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CalendarTime(pub String);

impl TextValue for CalendarTime {
    const KIND: PropertyKind = PropertyKind::Text(TextKind {
        min_length: 1,
        ..TextKind::STRICT.matching("^(@[0-9]+|[A-Za-z0-9*/:., ~+_-]+)$")
    });

    fn from_text(text: &str) -> Result<Self, ValueError> {
        // Seconds since 1970.
        let seconds = text.strip_prefix('@').unwrap_or_default();
        if !seconds.is_empty() && seconds.bytes().all(|digit| digit.is_ascii_digit()) {
            return Ok(Self(text.to_owned()));
        }
        let is_allowed = |part: char| part.is_ascii_alphanumeric() || "*/:., ~+_-".contains(part);
        if text.trim().is_empty() || text.starts_with('-') || !text.chars().all(is_allowed) {
            let message = format!("`{}` is not a time of systemd", text.escape_debug());
            return Err(ValueError::new(message).with_hint(
                "write a time such as `*-*-* 02:30` or `Mon 08:00`; `systemd-analyze calendar` checks it",
            ));
        }
        if text.split(' ').count() == 5 && text.contains('*') && !text.contains(':') && !text.contains('-') {
            let message = format!("`{text}` is a time of cron");
            return Err(ValueError::new(message)
                .with_hint("write a time of systemd, such as `*-*-* 02:30`, or use the type `cron`"));
        }
        let invalid = |shown: &str, what: &str| {
            let message = format!("`{shown}` is not {what}");
            ValueError::new(message).with_hint(
                "write a time such as `*-*-* 02:30` or `Mon 08:00`; `systemd-analyze calendar` checks it",
            )
        };
        let text = text.trim();
        if !text.contains(|part: char| !part.is_ascii_alphabetic()) && !is_calendar_word(text) {
            return Err(invalid(text, "a time of systemd"));
        }
        if let Some((word, time)) = text.split_once(' ')
            && is_shorthand(word)
            && time.contains(|part: char| part.is_ascii_digit())
        {
            let message = format!("`{word}` is a whole time of systemd, and takes no other one behind it");
            let hint = match (&*word.to_ascii_lowercase(), time.trim()) {
                ("daily", time) => format!("write `*-*-* {time}`"),
                ("weekly", time) => format!("write `Mon {time}`"),
                ("monthly", time) => format!("write `*-*-01 {time}`"),
                _ => format!("write `{word}`, or the time in full, such as `*-*-* 02:30`"),
            };
            return Err(ValueError::new(message).with_hint(hint));
        }
        let first = text.split([' ', ',', '.']).next().unwrap_or_default();
        let is_word = !first.is_empty() && first.chars().all(|part| part.is_ascii_alphabetic());
        if is_word && !is_calendar_word(first) && !first.eq_ignore_ascii_case("utc") {
            return Err(invalid(first, "a day of the week or another word of systemd"));
        }
        match text.split(' ').find(|word| has_late_number(word)) {
            Some(word) => Err(invalid(word, "a time of day, which ends with 23:59:59")),
            None => Ok(Self(text.to_owned())),
        }
    }
}

fn is_shorthand(word: &str) -> bool {
    const SHORTHANDS: [&str; 10] = [
        "minutely",
        "hourly",
        "daily",
        "weekly",
        "monthly",
        "quarterly",
        "semiannually",
        "semi-annually",
        "yearly",
        "annually",
    ];
    SHORTHANDS.iter().any(|shorthand| shorthand.eq_ignore_ascii_case(word))
}

/// Returns `true` if a word alone is a time of systemd: that of a shorthand, or a day of the week.
fn is_calendar_word(word: &str) -> bool {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let lower = word.to_ascii_lowercase();
    let is_day = |day: &&str| *day == lower || day[..3] == lower;
    is_shorthand(word) || DAYS.iter().any(is_day)
}

/// Returns `true` if a number of a time of day, such as `25:00`, is too large for its place.
fn has_late_number(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    let is_late = |(at, part): (usize, &&str)| {
        let most = if at == 0 { 23 } else { 59 };
        // A repetition such as `0/90` only begins in its range.
        let numbers =
            part.split(',').flat_map(|one| one.split_once('/').map_or(one, |(first, _)| first).split(".."));
        numbers.filter_map(|number| number.parse::<u32>().ok()).any(|number| number > most)
    };
    parts.len() > 1 && parts.iter().enumerate().any(is_late)
}

impl TextValue for Schedule {
    const KIND: PropertyKind = PropertyKind::Duration;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let distance = Duration::from_text(text).map_err(|error| match Self::meant_by(text) {
            Some(hint) => {
                ValueError::new(format!("`{}` is not a duration", text.escape_debug())).with_hint(hint)
            }
            None => error,
        })?;
        Self::every(distance).map_err(|error| ValueError::new(error.to_string()).with_hint(error.hint()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_checked() {
        for time in [
            "daily",
            "*-*-* 02:30",
            "Mon..Fri 08:00",
            "Sat *-*-1..7 18:00:00",
            "Mon",
            "friday",
            "Weekly",
            "00/2:00",
            "08..20:0/15",
            "10:00:30.5",
            "*:*",
            "12:00 UTC",
            "daily UTC",
            "2026-12-24",
            "Mon,Wed 10:00",
            "@1700000000",
            "Sat..Sun *-*-* 10:00",
            "saturday 10:00",
        ] {
            assert!(CalendarTime::from_text(time).is_ok(), "{time}");
        }
        for time in [
            "",
            " ",
            "a\nExecStart=b",
            "0 2 * * *",
            "-x",
            "%h",
            "tomorrow",
            "noon",
            "25:00",
            "24:00",
            "08:60",
            "Mon 08:00,99",
            "*-*-* 8..24:00",
            "daily 02:00",
            "Montag 02:00",
            "@",
            "@5 02:00",
            "Mo..Fr 08:00",
            "every day 02:00",
            "at 02:00",
        ] {
            assert!(CalendarTime::from_text(time).is_err(), "{time}");
        }
        assert!(Schedule::from_text("30m").is_ok() && Schedule::from_text("7m").is_err());
    }
}
