//! Dates with time and zone, and their calendar parts.

use std::fmt;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::layout;

/// Date with time and zone.
#[derive(Clone, Debug)]
pub struct DateTime(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    zoned: Zoned,
    /// Abbreviation of an unknown zone, such as `MST`.
    abbreviation: Option<Box<str>>,
}

/// Month, weekday or time zone.
#[derive(Clone, Debug)]
pub enum CalendarPart {
    /// Month, from 1.
    Month(i8),
    /// Weekday, from Sunday as 0.
    Weekday(i8),
    /// Time zone.
    Zone(Arc<TimeZone>),
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl DateTime {
    /// Builds a date in UTC.
    pub fn utc(timestamp: Timestamp) -> Self {
        Self::from(timestamp.to_zoned(TimeZone::UTC))
    }

    /// Returns the time without the zone.
    pub fn timestamp(&self) -> Timestamp {
        self.0.zoned.timestamp()
    }

    pub(crate) fn with_abbreviation(zoned: Zoned, abbreviation: Option<String>) -> Self {
        Self(Arc::new(Inner { zoned, abbreviation: abbreviation.map(Into::into) }))
    }

    pub(crate) fn zoned(&self) -> &Zoned {
        &self.0.zoned
    }

    pub(crate) fn abbreviation(&self) -> String {
        if let Some(read) = &self.0.abbreviation {
            return read.to_string();
        }
        let zone = self.0.zoned.time_zone();
        if *zone == TimeZone::UTC {
            return "UTC".to_owned();
        }
        if zone.iana_name().is_none() {
            return layout::offset(self.0.zoned.offset().seconds());
        }
        zone.to_offset_info(self.timestamp()).abbreviation().to_owned()
    }

    /// Formats as RFC 3339 with as many decimals as needed.
    pub(crate) fn rfc3339(&self) -> String {
        layout::format(self, "2006-01-02T15:04:05.999999999Z07:00")
    }

    pub(crate) fn plus(&self, span: i64) -> Option<Self> {
        let timestamp = self.timestamp().checked_add(jiff::SignedDuration::from_nanos(span)).ok()?;
        let zoned = timestamp.to_zoned(self.0.zoned.time_zone().clone());
        Some(Self::with_abbreviation(zoned, self.0.abbreviation.as_deref().map(str::to_owned)))
    }

    /// Returns the nanoseconds since another date, clamped to the range of a duration.
    pub(crate) fn since(&self, other: &Self) -> i64 {
        let span = self.timestamp().as_nanosecond() - other.timestamp().as_nanosecond();
        i64::try_from(span).unwrap_or(if span < 0 { i64::MIN } else { i64::MAX })
    }

    pub(crate) fn in_zone(&self, zone: &TimeZone) -> Self {
        Self::from(self.timestamp().to_zoned(zone.clone()))
    }
}

impl From<Zoned> for DateTime {
    fn from(zoned: Zoned) -> Self {
        Self::with_abbreviation(zoned, None)
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&layout::format(self, "2006-01-02 15:04:05.999999999 -0700 MST"))
    }
}

impl CalendarPart {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Month(_) => "a month",
            Self::Weekday(_) => "a weekday",
            Self::Zone(_) => "a time zone",
        }
    }
}

impl PartialEq for CalendarPart {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Month(one), Self::Month(two)) | (Self::Weekday(one), Self::Weekday(two)) => one == two,
            (Self::Zone(one), Self::Zone(two)) => one == two,
            _ => false,
        }
    }
}

impl fmt::Display for CalendarPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Month(month) => usize::try_from(*month - 1).ok().and_then(|at| MONTHS.get(at)),
            Self::Weekday(weekday) => usize::try_from(*weekday).ok().and_then(|at| WEEKDAYS.get(at)),
            Self::Zone(zone) => return formatter.write_str(zone.iana_name().unwrap_or_default()),
        };
        formatter.write_str(name.unwrap_or(&""))
    }
}

/// Finds a time zone by name; the empty name is UTC.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    match name {
        "" | "UTC" => Some(TimeZone::UTC),
        // The machine's own zone would make an expression mean different things on two hosts.
        "Local" => None,
        name => TimeZone::get(name).ok(),
    }
}
