//! Times of day, at equal distances, for timers.

use std::time::Duration;

const MINUTES_OF_DAY: u64 = 24 * 60;
const MINUTES_OF_WEEK: u64 = 7 * MINUTES_OF_DAY;

/// Times of day, at equal distances, at which a timer runs.
///
/// The times are those of the clock, so that a machine that was off, or asleep, catches up. They are the same
/// every day, and therefore the distance divides a day, or is a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    minutes: u64,
}

/// Reason why a timer can't run at such a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The distance is shorter than a minute.
    #[error("a timer runs at most once a minute")]
    TooShort,
    /// The distance is longer than a week.
    #[error("a timer runs at least once a week")]
    TooLong,
    /// The times would differ from day to day.
    #[error("the time does not divide a day evenly")]
    Uneven {
        /// Longest shorter distance.
        shorter: Schedule,
        /// Shortest longer distance.
        longer: Schedule,
    },
}

impl ScheduleError {
    /// Returns advice.
    pub fn hint(&self) -> String {
        match self {
            Self::TooShort => "write a time such as 30m".to_owned(),
            Self::TooLong => "write at most 7d".to_owned(),
            Self::Uneven { shorter, longer } => format!("write {shorter} or {longer}"),
        }
    }
}

impl Schedule {
    /// Every full and half hour.
    pub const HALF_HOURLY: Self = Self { minutes: 30 };

    /// Builds the schedule with this distance.
    pub fn every(distance: Duration) -> Result<Self, ScheduleError> {
        let seconds = distance.as_secs();
        if seconds < 60 {
            return Err(ScheduleError::TooShort);
        }
        if distance > Duration::from_secs(MINUTES_OF_WEEK * 60) {
            return Err(ScheduleError::TooLong);
        }
        let minutes = seconds / 60;
        if seconds.is_multiple_of(60) && distance.subsec_nanos() == 0 && is_even(minutes) {
            return Ok(Self { minutes });
        }
        let shorter = (1..=minutes).rev().find(|minutes| is_even(*minutes)).unwrap_or(1);
        let longer = (minutes + 1..=MINUTES_OF_WEEK).find(|minutes| is_even(*minutes));
        let [shorter, longer] = [shorter, longer.unwrap_or(MINUTES_OF_WEEK)].map(|minutes| Self { minutes });
        Err(ScheduleError::Uneven { shorter, longer })
    }

    /// Returns what to write in place of a text that is not a duration.
    pub fn meant_by(text: &str) -> Option<String> {
        let meant = match text.trim() {
            "hourly" => "1h".to_owned(),
            "daily" => "1d".to_owned(),
            "weekly" => "7d".to_owned(),
            number => format!("{}m", number.parse::<u64>().ok().filter(|minutes| is_even(*minutes))?),
        };
        Some(format!("write `{meant}`"))
    }

    /// Returns the distance of two runs.
    pub fn distance(self) -> Duration {
        Duration::from_secs(self.minutes * 60)
    }

    /// Returns the values of `OnCalendar` of systemd.
    pub fn calendar(self) -> Vec<String> {
        match self.minutes {
            MINUTES_OF_WEEK => vec!["Mon *-*-* 00:00:00".to_owned()],
            MINUTES_OF_DAY => vec!["*-*-* 00:00:00".to_owned()],
            minutes if 60 % minutes == 0 && minutes < 60 => vec![format!("*-*-* *:00/{minutes}:00")],
            _ => self.hours(|Hours { first, step, minute }| match step {
                1 => format!("*-*-* *:{minute:02}:00"),
                24 => format!("*-*-* {first:02}:{minute:02}:00"),
                _ => format!("*-*-* {first:02}/{step}:{minute:02}:00"),
            }),
        }
    }

    /// Returns the first five fields of lines of a crontab.
    pub fn cron(self) -> Vec<String> {
        match self.minutes {
            MINUTES_OF_WEEK => vec!["0 0 * * 1".to_owned()],
            MINUTES_OF_DAY => vec!["0 0 * * *".to_owned()],
            1 => vec!["* * * * *".to_owned()],
            minutes if 60 % minutes == 0 && minutes < 60 => vec![format!("*/{minutes} * * * *")],
            _ => self.hours(|Hours { first, step, minute }| match (first, step) {
                (_, 1) => format!("{minute} * * * *"),
                (_, 24) => format!("{minute} {first} * * *"),
                _ => format!("{minute} {first}-23/{step} * * *"),
            }),
        }
    }

    /// Splits the times of day into groups with the same minute and hours at equal distances.
    fn hours(self, write: impl Fn(Hours) -> String) -> Vec<String> {
        let cycle = self.minutes / greatest_common_divisor(self.minutes, 60) * 60;
        let times = (0..cycle / self.minutes).map(|number| number * self.minutes);
        times.map(|at| write(Hours { first: at / 60, step: cycle / 60, minute: at % 60 })).collect()
    }
}

/// Times of day with the same minute.
struct Hours {
    first: u64,
    step: u64,
    minute: u64,
}

fn is_even(minutes: u64) -> bool {
    minutes > 0 && (MINUTES_OF_DAY.is_multiple_of(minutes) || minutes == MINUTES_OF_WEEK)
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// Displays the distance as an option takes it.
impl std::fmt::Display for Schedule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = [(MINUTES_OF_DAY, "d"), (60, "h"), (1, "m")];
        let mut left = self.minutes;
        for (minutes, unit) in units.into_iter().filter(|(minutes, _)| *minutes <= self.minutes) {
            if left >= minutes {
                write!(formatter, "{}{unit}", left / minutes)?;
                left %= minutes;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn schedule(minutes: u64) -> Schedule {
        Schedule::every(Duration::from_secs(minutes * 60)).expect("a schedule")
    }

    #[test]
    fn a_schedule_is_written_for_systemd_and_cron() {
        for (minutes, calendar, cron) in [
            (1, &["*-*-* *:00/1:00"][..], &["* * * * *"][..]),
            (30, &["*-*-* *:00/30:00"], &["*/30 * * * *"]),
            (60, &["*-*-* *:00:00"], &["0 * * * *"]),
            (120, &["*-*-* 00/2:00:00"], &["0 0-23/2 * * *"]),
            (90, &["*-*-* 00/3:00:00", "*-*-* 01/3:30:00"], &["0 0-23/3 * * *", "30 1-23/3 * * *"]),
            (720, &["*-*-* 00/12:00:00"], &["0 0-23/12 * * *"]),
            (1440, &["*-*-* 00:00:00"], &["0 0 * * *"]),
            (10080, &["Mon *-*-* 00:00:00"], &["0 0 * * 1"]),
        ] {
            assert_eq!(schedule(minutes).calendar(), calendar, "{minutes}");
            assert_eq!(schedule(minutes).cron(), cron, "{minutes}");
        }
    }

    /// Returns the minutes of a day at which a line of `OnCalendar` or of a crontab runs.
    fn times(hours: &str, minutes: &str) -> BTreeSet<u64> {
        let values = |field: &str, end: u64| -> Vec<u64> {
            let (range, step) =
                field.split_once('/').map_or((field, None), |(range, step)| (range, step.parse().ok()));
            let first = range.split('-').next().and_then(|first| first.parse().ok());
            match (first, step) {
                (Some(first), None) => vec![first],
                (first, step) => (first.unwrap_or(0)..end).step_by(step.unwrap_or(1)).collect(),
            }
        };
        let minutes = values(minutes, 60);
        values(hours, 24)
            .into_iter()
            .flat_map(|hour| minutes.iter().map(move |minute| hour * 60 + minute))
            .collect()
    }

    #[test]
    fn every_time_of_day_is_met_at_the_same_distance() {
        for minutes in (1..1440).filter(|minutes| 1440 % minutes == 0) {
            let expected: BTreeSet<u64> =
                (0..1440).step_by(usize::try_from(minutes).expect("small")).collect();
            let calendar = schedule(minutes).calendar();
            let of_systemd = calendar.iter().flat_map(|line| {
                let fields: Vec<&str> = line.trim_start_matches("*-*-* ").split(':').collect();
                times(fields[0], fields[1])
            });
            assert_eq!(of_systemd.collect::<BTreeSet<_>>(), expected, "{calendar:?}");
            let cron = schedule(minutes).cron();
            let of_cron = cron.iter().flat_map(|line| {
                let fields: Vec<&str> = line.split(' ').collect();
                times(fields[1], fields[0])
            });
            assert_eq!(of_cron.collect::<BTreeSet<_>>(), expected, "{cron:?}");
            assert!(calendar.len() <= 20, "{minutes}: {calendar:?}");
        }
    }

    #[test]
    fn other_distances_are_refused_with_the_nearest_ones() {
        for (seconds, hint) in [
            (0, "such as 30m"),
            (59, "such as 30m"),
            (61, "write 1m or 2m"),
            (7 * 60, "write 6m or 8m"),
            (5 * 3600, "write 4h48m or 6h"),
            (25 * 3600, "write 1d or 7d"),
            (8 * 86400, "at most 7d"),
        ] {
            let error = Schedule::every(Duration::from_secs(seconds)).expect_err("no schedule");
            assert!(error.hint().contains(hint), "{seconds}: {}", error.hint());
        }
        assert!(Schedule::every(Duration::from_millis(60_500)).is_err());
    }
}
