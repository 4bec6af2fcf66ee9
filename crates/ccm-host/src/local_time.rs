//! Times as people of this machine read them.

use std::time::SystemTime;

use ccm_model::display_timestamp;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Time zone in which times are shown.
#[derive(Clone, Debug)]
pub struct LocalZone(TimeZone);

impl LocalZone {
    /// Reads the time zone of this process: `TZ`, else `/etc/localtime`, else UTC.
    pub fn of_this_process() -> Self {
        Self(TimeZone::system())
    }

    /// Returns UTC.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns a time as `2026-11-20 04:00:01`.
    pub fn display(&self, at: SystemTime) -> String {
        match Timestamp::try_from(at) {
            Ok(at) => at.to_zoned(self.0.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
            // A time after the year 9999, of a wrong clock.
            Err(_) => display_timestamp(at, 0),
        }
    }

    /// Returns the moment of a date and a time of day in this zone: year, month and day, hour, minute and second.
    /// `None` if there is no such date. A time that a clock shows twice is the first of both.
    pub fn moment(&self, (year, month, day): (i16, i8, i8), time: (i8, i8, i8)) -> Option<SystemTime> {
        let (hour, minute, second) = time;
        let shown = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
        shown.to_zoned(self.0.clone()).ok().map(|zoned| SystemTime::from(zoned.timestamp()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_time_is_shown_in_its_zone() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let berlin = LocalZone(TimeZone::get("Europe/Berlin").expect("a bundled zone"));
        assert_eq!(LocalZone::utc().display(at(1_709_251_199)), "2024-02-29 23:59:59");
        assert_eq!(berlin.display(at(1_709_251_199)), "2024-03-01 00:59:59");
        assert_eq!(LocalZone::utc().display(at(1 << 40)), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn a_time_is_read_in_its_zone() {
        let berlin = LocalZone(TimeZone::get("Europe/Berlin").expect("a bundled zone"));
        let shown = |zone: &LocalZone, date, time| zone.moment(date, time).map(|at| display_timestamp(at, 0));
        for (zone, date, time, expected) in [
            (LocalZone::utc(), (2024, 2, 29), (23, 59, 59), Some("2024-02-29T23:59:59Z")),
            (berlin.clone(), (2024, 3, 1), (0, 59, 59), Some("2024-02-29T23:59:59Z")),
            (berlin.clone(), (2024, 10, 27), (2, 30, 0), Some("2024-10-27T00:30:00Z")),
            (berlin.clone(), (2023, 2, 29), (0, 0, 0), None),
            (berlin, (2024, 2, 29), (24, 0, 0), None),
        ] {
            assert_eq!(shown(&zone, date, time).as_deref(), expected);
        }
    }
}
