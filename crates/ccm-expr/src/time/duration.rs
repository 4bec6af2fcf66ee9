//! Durations: `1h30m0s`, `1.5s`, `10ms`.

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// Parses a duration into nanoseconds.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole_end = rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(whole_end);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => {
                let end = after.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(after.len());
                after.split_at(end)
            }
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let unit_end = after
            .find(|character: char| character == '.' || character.is_ascii_digit())
            .unwrap_or(after.len());
        let (name, after) = after.split_at(unit_end);
        let unit = match name {
            "ns" => 1,
            "us" | "µs" | "μs" => MICROSECOND,
            "ms" => MILLISECOND,
            "s" => SECOND,
            "m" => MINUTE,
            "h" => HOUR,
            _ => return None,
        };
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(unit)?)?.checked_add(part(fraction, unit))?;
        if total > 1 << 63 {
            return None;
        }
        rest = after;
    }
    if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

/// Returns a fraction of a unit in nanoseconds. The reference multiplies floats, so that a third of an hour with enough
/// digits is 20 minutes and not a nanosecond less.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the fraction is less than a unit, and digits beyond the precision of a float do not count"
)]
fn part(fraction: &str, unit: u64) -> u64 {
    let mut value = 0_u64;
    let mut scale = 1_f64;
    for digit in fraction.bytes() {
        let next = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit - b'0')));
        let Some(next) = next.filter(|next| *next <= 1 << 63) else { break };
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// Formats nanoseconds as a duration.
pub(crate) fn show(span: i64) -> String {
    let sign = if span < 0 { "-" } else { "" };
    let span = span.unsigned_abs();
    if span == 0 {
        return "0s".to_owned();
    }
    if span < SECOND {
        let (unit, name) = if span < MICROSECOND {
            (1, "ns")
        } else if span < MILLISECOND {
            (MICROSECOND, "µs")
        } else {
            (MILLISECOND, "ms")
        };
        return format!("{sign}{}{name}", decimal(span, unit));
    }
    let (hours, minutes, seconds) = (span / HOUR, span / MINUTE % 60, decimal(span % MINUTE, SECOND));
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// Formats a span in a unit, with as many decimals as needed.
fn decimal(span: u64, unit: u64) -> String {
    let (whole, rest) = (span / unit, span % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let width = usize::try_from(unit.ilog10()).unwrap_or_default();
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

/// Truncates a span to a multiple of `step`.
pub(crate) fn truncate(span: i64, step: i64) -> i64 {
    if step <= 0 { span } else { span - span % step }
}

/// Rounds a span to the nearest multiple of `step`, halves away from zero.
pub(crate) fn round(span: i64, step: i64) -> i64 {
    if step <= 0 {
        return span;
    }
    let rest = span % step;
    let near = rest.unsigned_abs() * 2 < step.unsigned_abs();
    let base = span - rest;
    if near { base } else { base.saturating_add(step * rest.signum()) }
}
