//! Functions that make dates, durations and time zones.

use jiff::tz::TimeZone;

use super::{CallError, FunctionCall, ValueResult};
use crate::Value;
use crate::time::{CalendarPart, DateTime, duration as durations, layout, zone};

/// Layouts tried by `date` without a layout.
const LAYOUTS: [&str; 7] = [
    "2006-01-02",
    "15:04:05",
    "2006-01-02 15:04:05",
    "2006-01-02T15:04:05Z07:00",
    "02 Jan 06 15:04 MST",
    "Monday, 02-Jan-06 15:04:05 MST",
    "Mon, 02 Jan 2006 15:04:05 MST",
];

pub(super) fn now(call: &mut FunctionCall<'_>) -> ValueResult {
    let now = DateTime::utc((call.now)());
    match call.arguments.first() {
        None => Ok(Value::DateTime(now)),
        Some(Value::Calendar(CalendarPart::Zone(zone))) => Ok(Value::DateTime(now.in_zone(zone))),
        Some(_) => Err(call.expected(0, "a time zone")),
    }
}

pub(super) fn duration(call: &mut FunctionCall<'_>) -> ValueResult {
    durations::parse(call.text(0)?).map(Value::Duration).ok_or_else(|| {
        CallError::Hinted(
            0,
            "expected a duration, found other text".to_owned(),
            "write a duration as \"1h30m\" or \"1.5s\", with h, m, s, ms, us or ns".to_owned(),
        )
    })
}

pub(super) fn date(call: &mut FunctionCall<'_>) -> ValueResult {
    let (first, leading_zone) = match call.arguments.first() {
        Some(Value::Calendar(CalendarPart::Zone(zone))) => (1, Some((**zone).clone())),
        _ => (0, None),
    };
    let written = call.text(first)?;
    let layout = if call.arguments.len() > first + 1 { Some(call.text(first + 1)?) } else { None };
    let zone = match call.arguments.get(first + 2) {
        None => leading_zone.unwrap_or(TimeZone::UTC),
        Some(_) => time_zone(call, first + 2)?,
    };
    let parsed = match layout {
        Some(layout) => layout::parse(layout, written, &zone),
        None => LAYOUTS.iter().find_map(|layout| layout::parse(layout, written, &zone)),
    };
    parsed.map(Value::DateTime).ok_or_else(|| {
        let (message, hint) = match layout {
            Some(_) => (
                "expected a date of the given layout, found other text",
                "write the layout as the date 2006-01-02 15:04:05 would look",
            ),
            None => (
                "expected a date, found other text",
                "give the layout of the date: date(text, \"02.01.2006\")",
            ),
        };
        CallError::Hinted(first, message.to_owned(), hint.to_owned())
    })
}

pub(super) fn timezone(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(Value::Calendar(CalendarPart::Zone(time_zone(call, 0)?.into())))
}

fn time_zone(call: &FunctionCall<'_>, at: usize) -> Result<TimeZone, CallError> {
    zone(call.text(at)?).ok_or_else(|| {
        let hint = "use a name like \"Europe/Zurich\" or \"UTC\"".to_owned();
        CallError::Hinted(at, "there is no time zone of this name".to_owned(), hint)
    })
}
