//! Methods of dates, durations, months, weekdays and time zones.

use std::ops::Range;

use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use super::{CalendarPart, DateTime, duration, layout};
use crate::static_type::{Base, StaticType};
use crate::{Cause, Error, Value};

/// Implementation: from a value and the arguments.
pub(crate) type MethodImplementation = fn(&Value, &[Value]) -> Option<Value>;

pub(crate) struct Method {
    of: Base,
    name: &'static str,
    pub(crate) parameters: &'static [StaticType],
    pub(crate) result: StaticType,
    pub(crate) call: MethodImplementation,
}

macro_rules! static_type {
    ($base:ident) => {
        StaticType::of(Base::$base)
    };
}

const fn method_row(
    of: Base,
    name: &'static str,
    parameters: &'static [StaticType],
    result: Base,
    call: MethodImplementation,
) -> Method {
    Method { of, name, parameters, result: StaticType::of(result), call }
}

const NONE: &[StaticType] = &[];
const DURATION: &[StaticType] = &[static_type!(Duration)];
const DATE_TIME: &[StaticType] = &[static_type!(DateTime)];

static METHODS: &[Method] = &[
    method_row(Base::Duration, "Hours", NONE, Base::Float, |span, _| fraction(span, 3_600_000_000_000)),
    method_row(Base::Duration, "Minutes", NONE, Base::Float, |span, _| fraction(span, 60_000_000_000)),
    method_row(Base::Duration, "Seconds", NONE, Base::Float, |span, _| fraction(span, 1_000_000_000)),
    method_row(Base::Duration, "Milliseconds", NONE, Base::Int, |span, _| {
        Some(Value::Int(nanoseconds(span)? / 1_000_000))
    }),
    method_row(Base::Duration, "Microseconds", NONE, Base::Int, |span, _| {
        Some(Value::Int(nanoseconds(span)? / 1_000))
    }),
    method_row(Base::Duration, "Nanoseconds", NONE, Base::Int, |span, _| {
        Some(Value::Int(nanoseconds(span)?))
    }),
    method_row(Base::Duration, "String", NONE, Base::Text, shown),
    method_row(Base::Duration, "Abs", NONE, Base::Duration, |span, _| {
        Some(Value::Duration(nanoseconds(span)?.saturating_abs()))
    }),
    method_row(Base::Duration, "Round", DURATION, Base::Duration, |span, with| {
        Some(Value::Duration(duration::round(nanoseconds(span)?, nanoseconds(with.first()?)?)))
    }),
    method_row(Base::Duration, "Truncate", DURATION, Base::Duration, |span, with| {
        Some(Value::Duration(duration::truncate(nanoseconds(span)?, nanoseconds(with.first()?)?)))
    }),
    method_row(Base::DateTime, "Year", NONE, Base::Int, |value, _| {
        number(value, |date_time| date_time.zoned().year().into())
    }),
    method_row(Base::DateTime, "Month", NONE, Base::Month, |value, _| {
        Some(Value::Calendar(CalendarPart::Month(date_time(value)?.zoned().month())))
    }),
    method_row(Base::DateTime, "Day", NONE, Base::Int, |value, _| {
        number(value, |date_time| date_time.zoned().day().into())
    }),
    method_row(Base::DateTime, "Hour", NONE, Base::Int, |value, _| {
        number(value, |date_time| date_time.zoned().hour().into())
    }),
    method_row(Base::DateTime, "Minute", NONE, Base::Int, |value, _| {
        number(value, |date_time| date_time.zoned().minute().into())
    }),
    method_row(Base::DateTime, "Second", NONE, Base::Int, |value, _| {
        number(value, |date_time| date_time.zoned().second().into())
    }),
    method_row(Base::DateTime, "Nanosecond", NONE, Base::Int, |value, _| {
        number(value, |date_time| date_time.zoned().subsec_nanosecond().into())
    }),
    method_row(Base::DateTime, "Weekday", NONE, Base::Weekday, |value, _| {
        Some(Value::Calendar(CalendarPart::Weekday(
            date_time(value)?.zoned().weekday().to_sunday_zero_offset(),
        )))
    }),
    method_row(Base::DateTime, "YearDay", NONE, Base::Int, |value, _| {
        number(value, |date_time| date_time.zoned().day_of_year().into())
    }),
    method_row(Base::DateTime, "Unix", NONE, Base::Int, |value, _| since_epoch(value, 1_000_000_000)),
    method_row(Base::DateTime, "UnixMilli", NONE, Base::Int, |value, _| since_epoch(value, 1_000_000)),
    method_row(Base::DateTime, "UnixMicro", NONE, Base::Int, |value, _| since_epoch(value, 1_000)),
    method_row(Base::DateTime, "UnixNano", NONE, Base::Int, |value, _| since_epoch(value, 1)),
    method_row(Base::DateTime, "String", NONE, Base::Text, shown),
    method_row(Base::DateTime, "Format", &[static_type!(Text)], Base::Text, |value, with| {
        let Value::Text(written) = with.first()? else { return None };
        Some(Value::text(layout::format(date_time(value)?, written)))
    }),
    method_row(Base::DateTime, "Add", DURATION, Base::DateTime, |value, with| {
        date_time(value)?.plus(nanoseconds(with.first()?)?).map(Value::DateTime)
    }),
    method_row(
        Base::DateTime,
        "AddDate",
        &[static_type!(Int), static_type!(Int), static_type!(Int)],
        Base::DateTime,
        add_date,
    ),
    method_row(Base::DateTime, "Sub", DATE_TIME, Base::Duration, |value, with| {
        Some(Value::Duration(date_time(value)?.since(date_time(with.first()?)?)))
    }),
    method_row(Base::DateTime, "After", DATE_TIME, Base::Bool, |value, with| {
        ordered(value, with, i64::is_positive)
    }),
    method_row(Base::DateTime, "Before", DATE_TIME, Base::Bool, |value, with| {
        ordered(value, with, i64::is_negative)
    }),
    method_row(Base::DateTime, "Equal", DATE_TIME, Base::Bool, |value, with| {
        ordered(value, with, |compared| compared == 0)
    }),
    method_row(Base::DateTime, "Compare", DATE_TIME, Base::Int, |value, with| {
        compared(value, with).map(Value::Int)
    }),
    method_row(Base::DateTime, "IsZero", NONE, Base::Bool, |value, _| {
        Some(Value::Bool(date_time(value)?.timestamp().as_second() == -62_135_596_800))
    }),
    method_row(Base::DateTime, "In", &[static_type!(Zone)], Base::DateTime, |value, with| {
        let Value::Calendar(CalendarPart::Zone(zone)) = with.first()? else { return None };
        Some(Value::DateTime(date_time(value)?.in_zone(zone)))
    }),
    method_row(Base::DateTime, "UTC", NONE, Base::DateTime, |value, _| {
        Some(Value::DateTime(date_time(value)?.in_zone(&TimeZone::UTC)))
    }),
    method_row(Base::DateTime, "Location", NONE, Base::Zone, |value, _| {
        Some(Value::Calendar(CalendarPart::Zone(date_time(value)?.zoned().time_zone().clone().into())))
    }),
    method_row(Base::DateTime, "Round", DURATION, Base::DateTime, |value, with| {
        stepped(value, with, duration::round)
    }),
    method_row(Base::DateTime, "Truncate", DURATION, Base::DateTime, |value, with| {
        stepped(value, with, duration::truncate)
    }),
    method_row(Base::Month, "String", NONE, Base::Text, shown),
    method_row(Base::Weekday, "String", NONE, Base::Text, shown),
    method_row(Base::Zone, "String", NONE, Base::Text, shown),
];

pub(crate) fn method(of: StaticType, name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| Some(method.of) == of.base() && method.name == name)
}

pub(crate) fn methods(of: StaticType) -> impl Iterator<Item = &'static str> + Clone {
    METHODS.iter().filter(move |method| Some(method.of) == of.base()).map(|method| method.name)
}

/// Builds the error of a value of a kind without a method. The function with its name does what was meant.
pub(crate) fn unknown_method(
    error: impl Fn(Range<usize>, String) -> Box<Error>,
    place: Range<usize>,
    kind: &str,
    name: &str,
    of: StaticType,
) -> Box<Error> {
    let error = error(place, format!("{kind} has no method `{name}`"))
        .with_cause(Cause::UnknownMethod(name.to_owned()))
        .did_you_mean(name, methods(of));
    let is_function = crate::functions::find(name).is_some();
    error.with_hint_if(is_function, format!("call the function: `{name}(…)` or `… | {name}()`"))
}

/// Returns the kind under which the methods of a value are listed.
pub(crate) fn method_of(value: &Value) -> StaticType {
    match value {
        Value::Duration(_) => Base::Duration.into(),
        Value::DateTime(_) => Base::DateTime.into(),
        Value::Calendar(CalendarPart::Month(_)) => Base::Month.into(),
        Value::Calendar(CalendarPart::Weekday(_)) => Base::Weekday.into(),
        Value::Calendar(CalendarPart::Zone(_)) => Base::Zone.into(),
        _ => StaticType::UNKNOWN,
    }
}

fn date_time(value: &Value) -> Option<&DateTime> {
    match value {
        Value::DateTime(date_time) => Some(date_time),
        _ => None,
    }
}

fn nanoseconds(value: &Value) -> Option<i64> {
    match value {
        Value::Duration(span) => Some(*span),
        _ => None,
    }
}

#[allow(clippy::unnecessary_wraps, reason = "every row of the table has the same form")]
fn shown(value: &Value, _: &[Value]) -> Option<Value> {
    Some(Value::text(value.to_string()))
}

fn number(value: &Value, part: fn(&DateTime) -> i64) -> Option<Value> {
    date_time(value).map(|date_time| Value::Int(part(date_time)))
}

/// Converts a span to units: whole units and a fraction apart, which is more exact than one division.
#[allow(clippy::cast_precision_loss, reason = "a fraction is what is asked for")]
fn fraction(value: &Value, unit: i64) -> Option<Value> {
    let span = nanoseconds(value)?;
    Some(Value::Float((span / unit) as f64 + (span % unit) as f64 / unit as f64))
}

fn since_epoch(value: &Value, unit: i128) -> Option<Value> {
    let count = date_time(value)?.timestamp().as_nanosecond().div_euclid(unit);
    i64::try_from(count).ok().map(Value::Int)
}

fn compared(value: &Value, with: &[Value]) -> Option<i64> {
    let ordering = date_time(value)?.timestamp().cmp(&date_time(with.first()?)?.timestamp());
    Some(ordering as i64)
}

fn ordered(value: &Value, with: &[Value], test: fn(i64) -> bool) -> Option<Value> {
    compared(value, with).map(|compared| Value::Bool(test(compared)))
}

/// Moves a date to a multiple of a span since the year one.
fn stepped(value: &Value, with: &[Value], step: fn(i64, i64) -> i64) -> Option<Value> {
    const EPOCH: i128 = 62_135_596_800_000_000_000;
    let (date_time, span) = (date_time(value)?, nanoseconds(with.first()?)?);
    if span <= 0 {
        return Some(value.clone());
    }
    let rest = i64::try_from((date_time.timestamp().as_nanosecond() + EPOCH).rem_euclid(span.into())).ok()?;
    date_time.plus(step(rest, span).checked_sub(rest)?).map(Value::DateTime)
}

/// Adds years, months and days; a day beyond the end of the month overflows into the next.
fn add_date(value: &Value, with: &[Value]) -> Option<Value> {
    let [Value::Int(years), Value::Int(months), Value::Int(days)] = with else { return None };
    let zoned = date_time(value)?.zoned();
    let total = i64::from(zoned.year()).checked_add(*years)?.checked_mul(12)?;
    let total = total.checked_add(i64::from(zoned.month()) - 1)?.checked_add(*months)?;
    let year = i16::try_from(total.div_euclid(12)).ok()?;
    let month = i8::try_from(total.rem_euclid(12) + 1).ok()?;
    let first = jiff::civil::Date::new(year, month, 1).ok()?;
    let span: Span = 0.days().try_days(days.checked_add(i64::from(zoned.day()) - 1)?).ok()?;
    let date = first.checked_add(span).ok()?;
    let moved = zoned.time_zone().to_ambiguous_zoned(date.to_datetime(zoned.time())).compatible().ok()?;
    Some(Value::DateTime(moved.into()))
}
