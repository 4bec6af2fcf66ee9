//! Durations as people write and read them.

use std::time::Duration;

/// Reason why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// A number without a unit, other than `0`.
    #[error("`{0}` has no unit")]
    NoUnit(String),
    /// An unknown unit. Months and years have no fixed length, so there is no unit for them.
    #[error("`{0}` is not a unit of time")]
    Unit(String),
    /// Longer than ten years. A later deadline could overflow the clock.
    #[error("`{0}` is longer than ten years")]
    TooLong(String),
    /// Anything else.
    #[error("`{0}` is not a duration")]
    Malformed(String),
}

impl DurationError {
    /// Returns advice on how to write the duration.
    pub fn hint(&self) -> String {
        match self {
            Self::NoUnit(number) => format!("write `{number}s` for seconds or `{number}m` for minutes"),
            Self::Unit(unit) if unit == "M" => "write `m` for minutes".to_owned(),
            Self::Unit(_) => "use one of the units ns, us, ms, s, m, h, d and w".to_owned(),
            // Each option and property has its own limit, which is usually far lower.
            Self::TooLong(_) => "write a shorter one, such as `7d`".to_owned(),
            Self::Malformed(_) => "write a duration like `30s`, `5m`, `1h30m` or `1.5h`".to_owned(),
        }
    }
}

/// Maximum duration: ten years.
const MAX_DURATION: Duration = Duration::from_secs(10 * 366 * 24 * 3600);

/// Reads a duration: `30s`, `5m`, `1h30m`, `1.5h`, or `0`.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let malformed = || DurationError::Malformed(text.to_owned());
    let compact = text.trim();
    if compact == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = compact;
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return Err(malformed());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(digits);
        if number.is_empty() {
            return Err(malformed());
        }
        let letters = behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(letters);
        if unit.is_empty() {
            // `1h30` and `30` lack a unit, while `-5` and `5 %` are not durations at all.
            return Err(if behind.is_empty() && compact == number && number.parse::<f64>().is_ok() {
                DurationError::NoUnit(number.to_owned())
            } else {
                malformed()
            });
        }
        total = total.checked_add(one(number, unit, text)?).ok_or_else(malformed)?;
        rest = behind.trim_start();
    }
    if total > MAX_DURATION {
        return Err(DurationError::TooLong(text.to_owned()));
    }
    Ok(total)
}

/// Reads one number with its unit, and its fraction, which `humantime` does not support.
fn one(number: &str, unit: &str, text: &str) -> Result<Duration, DurationError> {
    let malformed = || DurationError::Malformed(text.to_owned());
    if !matches!(unit, "ns" | "us" | "µs" | "ms" | "s" | "m" | "h" | "d" | "w") {
        return Err(DurationError::Unit(unit.to_owned()));
    }
    let unit = if unit == "µs" { "us" } else { unit };
    let parse = |text: String| humantime::parse_duration(&text).map_err(|_| malformed());
    let Some((whole, fraction)) = number.split_once('.') else {
        return parse(format!("{number}{unit}"));
    };
    // Nine digits are nanoseconds. More could overflow.
    if fraction.is_empty() || fraction.contains('.') || fraction.len() > 9 {
        return Err(malformed());
    }
    let whole = parse(format!("{}{unit}", if whole.is_empty() { "0" } else { whole }))?;
    let divisor = 10_u32.pow(u32::try_from(fraction.len()).unwrap_or(9));
    let parts: u32 = fraction.parse().map_err(|_| malformed())?;
    let part = parse(format!("1{unit}"))?.as_nanos() * u128::from(parts) / u128::from(divisor);
    let part = Duration::from_nanos(u64::try_from(part).map_err(|_| malformed())?);
    whole.checked_add(part).ok_or_else(malformed)
}

/// Writes a duration for people: `1ms`, `340ms`, `2.5s`, `1m30s`, `1h0m0s`.
pub fn display_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds >= 60 {
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        return if hours > 0 {
            format!("{hours}h{minutes}m{seconds}s")
        } else {
            format!("{minutes}m{seconds}s")
        };
    }
    if seconds >= 1 {
        let tenths = duration.subsec_millis() / 100;
        return if tenths == 0 { format!("{seconds}s") } else { format!("{seconds}.{tenths}s") };
    }
    if duration.as_millis() >= 1 {
        return format!("{}ms", duration.as_millis());
    }
    format!("{}µs", duration.as_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, millis) in [
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1.5h", 5_400_000),
            ("0.25s", 250),
            (".5s", 500),
            ("0", 0),
            ("0s", 0),
            ("250ms", 250),
            ("2d", 172_800_000),
            ("1w", 604_800_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn an_invalid_duration_is_an_error_with_a_hint() {
        for (text, hint) in [
            ("30", "write `30s` for seconds or `30m` for minutes"),
            ("1M", "write `m` for minutes"),
            ("2y", "use one of the units ns, us, ms, s, m, h, d and w"),
            ("5 bananas", "write a duration like `30s`, `5m`, `1h30m` or `1.5h`"),
            ("-5s", "write a duration like `30s`, `5m`, `1h30m` or `1.5h`"),
            ("", "write a duration like `30s`, `5m`, `1h30m` or `1.5h`"),
            ("1h30", "write a duration like `30s`, `5m`, `1h30m` or `1.5h`"),
            ("1..5s", "write a duration like `30s`, `5m`, `1h30m` or `1.5h`"),
            ("99999999999999999999s", "write a duration like `30s`, `5m`, `1h30m` or `1.5h`"),
            ("9999999999999w", "write a shorter one, such as `7d`"),
        ] {
            let error = parse_duration(text).err();
            assert_eq!(error.map(|error| error.hint()).as_deref(), Some(hint), "{text}");
        }
    }

    #[test]
    fn durations_are_written() {
        for (millis, text) in [
            (1, "1ms"),
            (999, "999ms"),
            (1_000, "1s"),
            (2_500, "2.5s"),
            (60_000, "1m0s"),
            (90_000, "1m30s"),
            (3_600_000, "1h0m0s"),
        ] {
            assert_eq!(display_duration(Duration::from_millis(millis)), text);
        }
        assert_eq!(display_duration(Duration::from_micros(12)), "12µs");
    }
}
