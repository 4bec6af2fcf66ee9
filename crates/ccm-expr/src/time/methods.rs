//! The methods of dates, durations and their like.

use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use super::{CalendarPart, Moment, duration, layout};
use crate::Value;
use crate::nature::{Base, Nature};

/// Works out a method: of what, with what.
pub(crate) type Call = fn(&Value, &[Value]) -> Option<Value>;

/// A method that a kind of value has.
pub(crate) struct Method {
    of: Base,
    name: &'static str,
    pub(crate) parameters: &'static [Nature],
    pub(crate) result: Nature,
    pub(crate) call: Call,
}

macro_rules! nature {
    ($base:ident) => {
        Nature::of(Base::$base)
    };
}

const fn method_row(
    of: Base,
    name: &'static str,
    parameters: &'static [Nature],
    result: Base,
    call: Call,
) -> Method {
    Method { of, name, parameters, result: Nature::of(result), call }
}

const NONE: &[Nature] = &[];
const DURATION: &[Nature] = &[nature!(Duration)];
const MOMENT: &[Nature] = &[nature!(Moment)];

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
    method_row(Base::Moment, "Year", NONE, Base::Int, |value, _| {
        number(value, |moment| moment.zoned().year().into())
    }),
    method_row(Base::Moment, "Month", NONE, Base::Month, |value, _| {
        Some(Value::Calendar(CalendarPart::Month(moment(value)?.zoned().month())))
    }),
    method_row(Base::Moment, "Day", NONE, Base::Int, |value, _| {
        number(value, |moment| moment.zoned().day().into())
    }),
    method_row(Base::Moment, "Hour", NONE, Base::Int, |value, _| {
        number(value, |moment| moment.zoned().hour().into())
    }),
    method_row(Base::Moment, "Minute", NONE, Base::Int, |value, _| {
        number(value, |moment| moment.zoned().minute().into())
    }),
    method_row(Base::Moment, "Second", NONE, Base::Int, |value, _| {
        number(value, |moment| moment.zoned().second().into())
    }),
    method_row(Base::Moment, "Nanosecond", NONE, Base::Int, |value, _| {
        number(value, |moment| moment.zoned().subsec_nanosecond().into())
    }),
    method_row(Base::Moment, "Weekday", NONE, Base::Weekday, |value, _| {
        Some(Value::Calendar(CalendarPart::Weekday(moment(value)?.zoned().weekday().to_sunday_zero_offset())))
    }),
    method_row(Base::Moment, "YearDay", NONE, Base::Int, |value, _| {
        number(value, |moment| moment.zoned().day_of_year().into())
    }),
    method_row(Base::Moment, "Unix", NONE, Base::Int, |value, _| since_epoch(value, 1_000_000_000)),
    method_row(Base::Moment, "UnixMilli", NONE, Base::Int, |value, _| since_epoch(value, 1_000_000)),
    method_row(Base::Moment, "UnixMicro", NONE, Base::Int, |value, _| since_epoch(value, 1_000)),
    method_row(Base::Moment, "UnixNano", NONE, Base::Int, |value, _| since_epoch(value, 1)),
    method_row(Base::Moment, "String", NONE, Base::Text, shown),
    method_row(Base::Moment, "Format", &[nature!(Text)], Base::Text, |value, with| {
        let Value::Text(written) = with.first()? else { return None };
        Some(Value::text(layout::format(moment(value)?, written)))
    }),
    method_row(Base::Moment, "Add", DURATION, Base::Moment, |value, with| {
        moment(value)?.plus(nanoseconds(with.first()?)?).map(Value::Moment)
    }),
    method_row(Base::Moment, "AddDate", &[nature!(Int), nature!(Int), nature!(Int)], Base::Moment, add_date),
    method_row(Base::Moment, "Sub", MOMENT, Base::Duration, |value, with| {
        Some(Value::Duration(moment(value)?.since(moment(with.first()?)?)))
    }),
    method_row(Base::Moment, "After", MOMENT, Base::Bool, |value, with| {
        ordered(value, with, i64::is_positive)
    }),
    method_row(Base::Moment, "Before", MOMENT, Base::Bool, |value, with| {
        ordered(value, with, i64::is_negative)
    }),
    method_row(Base::Moment, "Equal", MOMENT, Base::Bool, |value, with| {
        ordered(value, with, |compared| compared == 0)
    }),
    method_row(Base::Moment, "Compare", MOMENT, Base::Int, |value, with| {
        compared(value, with).map(Value::Int)
    }),
    method_row(Base::Moment, "IsZero", NONE, Base::Bool, |value, _| {
        Some(Value::Bool(moment(value)?.timestamp().as_second() == -62_135_596_800))
    }),
    method_row(Base::Moment, "In", &[nature!(Zone)], Base::Moment, |value, with| {
        let Value::Calendar(CalendarPart::Zone(zone)) = with.first()? else { return None };
        Some(Value::Moment(moment(value)?.in_zone(zone)))
    }),
    method_row(Base::Moment, "UTC", NONE, Base::Moment, |value, _| {
        Some(Value::Moment(moment(value)?.in_zone(&TimeZone::UTC)))
    }),
    method_row(Base::Moment, "Location", NONE, Base::Zone, |value, _| {
        Some(Value::Calendar(CalendarPart::Zone(moment(value)?.zoned().time_zone().clone().into())))
    }),
    method_row(Base::Moment, "Round", DURATION, Base::Moment, |value, with| {
        stepped(value, with, duration::round)
    }),
    method_row(Base::Moment, "Truncate", DURATION, Base::Moment, |value, with| {
        stepped(value, with, duration::truncate)
    }),
    method_row(Base::Month, "String", NONE, Base::Text, shown),
    method_row(Base::Weekday, "String", NONE, Base::Text, shown),
    method_row(Base::Zone, "String", NONE, Base::Text, shown),
];

/// The method of that name that values of a kind have.
pub(crate) fn method(of: Nature, name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| Some(method.of) == of.base() && method.name == name)
}

/// The names of all methods that values of a kind have.
pub(crate) fn methods(of: Nature) -> impl Iterator<Item = &'static str> + Clone {
    METHODS.iter().filter(move |method| Some(method.of) == of.base()).map(|method| method.name)
}

/// The kind under which a value's methods are found.
pub(crate) fn method_of(value: &Value) -> Nature {
    match value {
        Value::Duration(_) => Base::Duration.into(),
        Value::Moment(_) => Base::Moment.into(),
        Value::Calendar(CalendarPart::Month(_)) => Base::Month.into(),
        Value::Calendar(CalendarPart::Weekday(_)) => Base::Weekday.into(),
        Value::Calendar(CalendarPart::Zone(_)) => Base::Zone.into(),
        _ => Nature::UNKNOWN,
    }
}

fn moment(value: &Value) -> Option<&Moment> {
    match value {
        Value::Moment(moment) => Some(moment),
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

fn number(value: &Value, part: fn(&Moment) -> i64) -> Option<Value> {
    moment(value).map(|moment| Value::Int(part(moment)))
}

/// A span in units, as whole units and a fraction of one, which is more exact than one division.
#[allow(clippy::cast_precision_loss, reason = "a fraction is what is asked for")]
fn fraction(value: &Value, unit: i64) -> Option<Value> {
    let span = nanoseconds(value)?;
    Some(Value::Float((span / unit) as f64 + (span % unit) as f64 / unit as f64))
}

fn since_epoch(value: &Value, unit: i128) -> Option<Value> {
    let count = moment(value)?.timestamp().as_nanosecond().div_euclid(unit);
    i64::try_from(count).ok().map(Value::Int)
}

fn compared(value: &Value, with: &[Value]) -> Option<i64> {
    let ordering = moment(value)?.timestamp().cmp(&moment(with.first()?)?.timestamp());
    Some(ordering as i64)
}

fn ordered(value: &Value, with: &[Value], test: fn(i64) -> bool) -> Option<Value> {
    compared(value, with).map(|compared| Value::Bool(test(compared)))
}

/// Moves a moment to a multiple of a span since the year one.
fn stepped(value: &Value, with: &[Value], step: fn(i64, i64) -> i64) -> Option<Value> {
    const EPOCH: i128 = 62_135_596_800_000_000_000;
    let (moment, span) = (moment(value)?, nanoseconds(with.first()?)?);
    if span <= 0 {
        return Some(value.clone());
    }
    let rest = i64::try_from((moment.timestamp().as_nanosecond() + EPOCH).rem_euclid(span.into())).ok()?;
    moment.plus(step(rest, span).checked_sub(rest)?).map(Value::Moment)
}

/// Adds years, months and days; a day beyond the month's end runs over into the next.
fn add_date(value: &Value, with: &[Value]) -> Option<Value> {
    let [Value::Int(years), Value::Int(months), Value::Int(days)] = with else { return None };
    let zoned = moment(value)?.zoned();
    let total = i64::from(zoned.year()).checked_add(*years)?.checked_mul(12)?;
    let total = total.checked_add(i64::from(zoned.month()) - 1)?.checked_add(*months)?;
    let year = i16::try_from(total.div_euclid(12)).ok()?;
    let month = i8::try_from(total.rem_euclid(12) + 1).ok()?;
    let first = jiff::civil::Date::new(year, month, 1).ok()?;
    let span: Span = 0.days().try_days(days.checked_add(i64::from(zoned.day()) - 1)?).ok()?;
    let date = first.checked_add(span).ok()?;
    let moved = zoned.time_zone().to_ambiguous_zoned(date.to_datetime(zoned.time())).compatible().ok()?;
    Some(Value::Moment(moved.into()))
}
