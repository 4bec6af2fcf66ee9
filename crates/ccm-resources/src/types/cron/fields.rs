//! Times of cron.

use ccm_model::{Diagnostic, DiagnosticKind, Node};
use ccm_properties::{PropertyKind, PropertyValue, TextKind};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Field of a time: a number, `*`, a range, each with a step, or several with commas between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CronField<F>(pub String, std::marker::PhantomData<F>);

/// Numbers that a field may have.
pub(crate) trait FieldRange {
    const WHAT: &'static str;
    const RANGE: (u32, u32);
    const NAMES: &'static [&'static str] = &[];
    /// `true` if the first and the last number are the same day.
    const SUNDAYS: bool = false;
}

macro_rules! ranges {
    ($($(#[$doc:meta])* $name:ident: $what:literal, $first:literal to $last:literal, $names:expr, $sundays:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub(crate) struct $name;

            impl FieldRange for $name {
                const WHAT: &'static str = $what;
                const RANGE: (u32, u32) = ($first, $last);
                const NAMES: &'static [&'static str] = $names;
                const SUNDAYS: bool = $sundays;
            }
        )*
    };
}

ranges! {
    CronMinute: "minute", 0 to 59, &[], false;
    CronHour: "hour", 0 to 23, &[], false;
    CronDay: "day", 1 to 31, &[], false;
    CronMonth: "month", 1 to 12, &MONTHS, false;
    /// 0 and 7 are Sunday.
    CronWeekday: "weekday", 0 to 7, &WEEKDAYS, true;
}

impl<F: FieldRange> PropertyValue for CronField<F> {
    const KIND: PropertyKind = PropertyKind::OneOrMany(&PropertyKind::Text(
        TextKind::DIGITS.matching("^[0-9A-Za-z*][0-9A-Za-z*,/-]*$"),
    ));

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let parts: Vec<&Node> = node.as_list().map_or_else(|| vec![node], |list| list.iter().collect());
        let mut texts = Vec::new();
        for part in parts {
            match checked::<F>(part.as_text().unwrap_or_default()) {
                Ok(text) => texts.push(text),
                Err((message, hint)) => {
                    let error = Diagnostic::error(DiagnosticKind::InvalidValue, part.span, message);
                    errors.push(error.with_hint(hint));
                    return None;
                }
            }
        }
        if texts.is_empty() {
            let message = format!("the list of `{}` is empty", F::WHAT);
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message));
            return None;
        }
        Some(Self(texts.join(","), std::marker::PhantomData))
    }
}

/// Returns a field as ccm writes it, or the error in it with advice.
fn checked<F: FieldRange>(text: &str) -> Result<String, (String, String)> {
    let parts: Option<Vec<String>> = text.split(',').map(part::<F>).collect();
    parts.map(|parts| parts.join(",").to_ascii_lowercase()).ok_or_else(|| {
        let (first, last) = F::RANGE;
        let (shown, what) = (text.escape_debug(), F::WHAT);
        if let Some(nickname) = text.strip_prefix('@') {
            let hint = format!("write `special: {nickname}`, without `minute`, `hour` and the like");
            return (format!("`{shown}` is no `{what}` of cron"), hint);
        }
        let backward = |part| backward::<F>(part).map(|forward| (part, forward));
        match text.split(',').find_map(backward) {
            Some((range, forward)) => (
                format!("the range `{range}` of `{what}` ends before it begins"),
                format!("write `{forward}`"),
            ),
            None => (
                format!("`{shown}` is no `{what}` of cron, which is between {first} and {last}"),
                "write a number, `*`, `1-5` or `*/15`, or a list of them".to_owned(),
            ),
        }
    })
}

/// Returns a part of a field between commas as ccm writes it; `None` if it is wrong.
fn part<F: FieldRange>(part: &str) -> Option<String> {
    let (range, step) = split_step(part);
    let most = F::RANGE.1.max(1);
    if !step.is_none_or(|step| step.parse().is_ok_and(|step: u32| (1..=most).contains(&step))) {
        return None;
    }
    let Some((from, to)) = range.split_once('-') else {
        let is_right = range == "*" || number::<F>(range).is_some() && step.is_none();
        return is_right.then(|| part.to_owned());
    };
    let (first, last) = (number::<F>(from)?, number::<F>(to)?);
    // Sunday at the end of a range is 7: most versions of cron refuse `sat-sun` and `6-0`.
    if F::SUNDAYS && last == 0 && first > 0 {
        let step = step.map(|step| format!("/{step}")).unwrap_or_default();
        return Some(format!("{from}-7{step}"));
    }
    (first <= last).then(|| part.to_owned())
}

/// Returns what to write in place of a range that ends before it begins; `None` for another error.
fn backward<F: FieldRange>(part: &str) -> Option<String> {
    let (range, step) = split_step(part);
    let (from, to) = range.split_once('-').filter(|_| step.is_none())?;
    let (first, last) = (number::<F>(from)?, number::<F>(to)?);
    if first <= last {
        return None;
    }
    let is_named = from.starts_with(|part: char| part.is_ascii_alphabetic());
    let names = F::NAMES.first().zip(F::NAMES.last()).filter(|_| is_named);
    let (start, end) = match names {
        Some((start, end)) => ((*start).to_owned(), (*end).to_owned()),
        None => (F::RANGE.0.to_string(), (F::RANGE.1 - u32::from(F::SUNDAYS)).to_string()),
    };
    let range = |from: &str, to: &str| if from == to { from.to_owned() } else { format!("{from}-{to}") };
    let (from, to) = (from.to_ascii_lowercase(), to.to_ascii_lowercase());
    // 7 is the Sunday at the beginning of the week as well.
    if F::SUNDAYS && first == 7 {
        return Some(range(&start, &to));
    }
    Some(format!("{},{}", range(&from, &end), range(&start, &to)))
}

fn split_step(part: &str) -> (&str, Option<&str>) {
    part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)))
}

fn number<F: FieldRange>(word: &str) -> Option<u32> {
    let (first, last) = F::RANGE;
    let name = F::NAMES.iter().position(|name| word.eq_ignore_ascii_case(name));
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    // The names of months begin at 1.
    let number = name.and_then(|at| u32::try_from(at).ok()).map(|at| at + first);
    number
        .or_else(|| word.parse().ok().filter(|_| is_number))
        .filter(|number| (first..=last).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_time_are_checked() {
        for minute in ["0", "59", "*", "*/15", "1-5", "10-40/10", "1,2,30-40"] {
            assert_eq!(checked::<CronMinute>(minute).as_deref(), Ok(minute));
        }
        for minute in ["", "60", "-1", "a", "5-1", "*/0", "5/10", "1,", "* *", "1\n2", "jan", "*/61"] {
            assert!(checked::<CronMinute>(minute).is_err(), "{minute}");
        }
        assert_eq!(checked::<CronWeekday>("Mon-Fri").as_deref(), Ok("mon-fri"));
        assert_eq!(checked::<CronWeekday>("7").as_deref(), Ok("7"));
        assert_eq!(checked::<CronMonth>("jan,dec").as_deref(), Ok("jan,dec"));
        assert!(checked::<CronMonth>("0").is_err() && checked::<CronDay>("0").is_err());
        assert!(checked::<CronHour>("24").is_err());
    }

    #[test]
    fn ranges_may_end_with_sunday() {
        for (written, made) in [
            ("sat-sun", "sat-7"),
            ("Sat-Sun", "sat-7"),
            ("6-0", "6-7"),
            ("mon-sun/2", "mon-7/2"),
            ("wed,sat-sun", "wed,sat-7"),
            ("sun-sat", "sun-sat"),
            ("0-0", "0-0"),
            ("5-7", "5-7"),
        ] {
            assert_eq!(checked::<CronWeekday>(written).as_deref(), Ok(made), "{written}");
        }
    }

    #[test]
    fn errors_come_with_what_to_write() {
        let hint = |found: Result<String, (String, String)>| found.expect_err("an error").1;
        for (found, expected) in [
            (checked::<CronWeekday>("fri-mon"), "write `fri-sat,sun-mon`"),
            (checked::<CronWeekday>("sat-Tue"), "write `sat,sun-tue`"),
            (checked::<CronWeekday>("5-1"), "write `5-6,0-1`"),
            (checked::<CronWeekday>("7-2"), "write `0-2`"),
            (checked::<CronHour>("22-4"), "write `22-23,0-4`"),
            (checked::<CronHour>("23-0"), "write `23,0`"),
            (checked::<CronMonth>("nov-feb"), "write `nov-dec,jan-feb`"),
            (
                checked::<CronMinute>("@daily"),
                "write `special: daily`, without `minute`, `hour` and the like",
            ),
            (checked::<CronMinute>("61"), "write a number, `*`, `1-5` or `*/15`, or a list of them"),
        ] {
            assert_eq!(hint(found), expected);
        }
    }
}
