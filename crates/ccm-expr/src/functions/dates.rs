//! Functions that make dates, durations and time zones.

use jiff::tz::TimeZone;

use super::{Call, Problem};
use crate::Value;
use crate::time::{CalendarPart, Moment, duration as durations, layout, zone};

type Result = std::result::Result<Value, Problem>;

/// The layouts that are tried where none is given.
const LAYOUTS: [&str; 7] = [
    "2006-01-02",
    "15:04:05",
    "2006-01-02 15:04:05",
    "2006-01-02T15:04:05Z07:00",
    "02 Jan 06 15:04 MST",
    "Monday, 02-Jan-06 15:04:05 MST",
    "Mon, 02 Jan 2006 15:04:05 MST",
];

pub(super) fn now(call: &mut Call<'_>) -> Result {
    let now = Moment::utc((call.now)());
    match call.arguments.first() {
        None => Ok(Value::Moment(now)),
        Some(Value::Calendar(CalendarPart::Zone(zone))) => Ok(Value::Moment(now.in_zone(zone))),
        Some(_) => Err(call.expected(0, "a time zone")),
    }
}

pub(super) fn duration(call: &mut Call<'_>) -> Result {
    durations::parse(call.text(0)?).map(Value::Duration).ok_or_else(|| {
        Problem::Hinted(
            0,
            "expected a duration, found another text".to_owned(),
            "a duration is written as \"1h30m\" or \"1.5s\", with h, m, s, ms, us or ns".to_owned(),
        )
    })
}

pub(super) fn date(call: &mut Call<'_>) -> Result {
    let (first, own_zone) = match call.arguments.first() {
        Some(Value::Calendar(CalendarPart::Zone(zone))) => (1, Some((**zone).clone())),
        _ => (0, None),
    };
    let written = call.text(first)?;
    let layout = if call.arguments.len() > first + 1 { Some(call.text(first + 1)?) } else { None };
    let zone = match call.arguments.get(first + 2) {
        None => own_zone.unwrap_or(TimeZone::UTC),
        Some(_) => known_zone(call, first + 2)?,
    };
    let parsed = match layout {
        Some(layout) => layout::parse(layout, written, &zone),
        None => LAYOUTS.iter().find_map(|layout| layout::parse(layout, written, &zone)),
    };
    parsed.map(Value::Moment).ok_or_else(|| {
        let (message, hint) = match layout {
            Some(_) => (
                "expected a date of the given layout, found another text",
                "a layout shows how the moment 2006-01-02 15:04:05 would be written",
            ),
            None => (
                "expected a date, found another text",
                "give the layout of the date: date(text, \"02.01.2006\")",
            ),
        };
        Problem::Hinted(first, message.to_owned(), hint.to_owned())
    })
}

pub(super) fn timezone(call: &mut Call<'_>) -> Result {
    Ok(Value::Calendar(CalendarPart::Zone(known_zone(call, 0)?.into())))
}

fn known_zone(call: &Call<'_>, at: usize) -> std::result::Result<TimeZone, Problem> {
    zone(call.text(at)?).ok_or_else(|| {
        let hint = "zones have names like \"Europe/Zurich\" or \"UTC\"".to_owned();
        Problem::Hinted(at, "there is no time zone of this name".to_owned(), hint)
    })
}
