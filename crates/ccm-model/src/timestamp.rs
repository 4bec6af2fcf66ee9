//! Moments as people and programs read them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Shows a moment as RFC 3339 does, in UTC, with as many groups of three decimals as are asked for.
///
/// Moments before 1970, which only a broken clock tells, are shown as its first.
pub fn display_timestamp(moment: SystemTime, groups: usize) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    let mut shown = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if groups > 0 {
        let decimals = format!("{:09}", since.subsec_nanos());
        shown.push('.');
        shown.push_str(&decimals[..(groups * 3).min(9)]);
    }
    shown.push('Z');
    shown
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil(day: u64) -> (u64, u64, u64) {
    // The count is shifted to begin with the March of year 0, so that the leap day ends a year, and then cut
    // into the 400 years after which the calendar repeats itself.
    const DAYS_BEFORE_1970: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let shifted = day + DAYS_BEFORE_1970;
    let cycle = shifted / DAYS_IN_400_YEARS;
    let of_cycle = shifted % DAYS_IN_400_YEARS;
    let year = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let new_year = u64::from(month <= 2);
    (cycle * 400 + year + new_year, month, of_year - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_shown_in_utc() {
        for (seconds, nanos, groups, shown) in [
            (0, 0, 0, "1970-01-01T00:00:00Z"),
            (951_782_399, 999_999_999, 2, "2000-02-28T23:59:59.999999Z"),
            (951_782_400, 1_000, 2, "2000-02-29T00:00:00.000001Z"),
            (951_868_800, 1_000_000, 1, "2000-03-01T00:00:00.001Z"),
            (1_709_251_199, 7, 3, "2024-02-29T23:59:59.000000007Z"),
            (1_735_689_599, 0, 0, "2024-12-31T23:59:59Z"),
            (1_735_689_600, 0, 0, "2025-01-01T00:00:00Z"),
            (4_107_542_400, 0, 0, "2100-03-01T00:00:00Z"),
        ] {
            let moment = UNIX_EPOCH + Duration::new(seconds, nanos);
            assert_eq!(display_timestamp(moment, groups), shown);
        }
        assert_eq!(display_timestamp(UNIX_EPOCH - Duration::from_secs(9), 0), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for count in 0..200_000 {
            assert_eq!(civil(count), (year, month, day), "day {count}");
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 if leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > last {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }
}
