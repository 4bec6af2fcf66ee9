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
}

macro_rules! ranges {
    ($($(#[$doc:meta])* $name:ident: $what:literal, $first:literal to $last:literal, $names:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub(crate) struct $name;

            impl FieldRange for $name {
                const WHAT: &'static str = $what;
                const RANGE: (u32, u32) = ($first, $last);
                const NAMES: &'static [&'static str] = $names;
            }
        )*
    };
}

ranges! {
    CronMinute: "minute", 0 to 59, &[];
    CronHour: "hour", 0 to 23, &[];
    CronDay: "day", 1 to 31, &[];
    CronMonth: "month", 1 to 12, &MONTHS;
    /// 0 and 7 are Sunday.
    CronWeekday: "weekday", 0 to 7, &WEEKDAYS;
}

impl<F: FieldRange> PropertyValue for CronField<F> {
    const KIND: PropertyKind = PropertyKind::OneOrMany(&PropertyKind::Text(
        TextKind::DIGITS.matching("^[0-9A-Za-z*][0-9A-Za-z*,/-]*$"),
    ));

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let parts: Vec<&Node> = node.as_list().map_or_else(|| vec![node], |list| list.iter().collect());
        let mut texts = Vec::new();
        for part in parts {
            let text = part.as_text().unwrap_or_default();
            if let Some(message) = error_in::<F>(text) {
                let error = Diagnostic::error(DiagnosticKind::InvalidValue, part.span, message);
                errors.push(error.with_hint("write a number, `*`, `1-5` or `*/15`, or a list of them"));
                return None;
            }
            texts.push(text.to_ascii_lowercase());
        }
        if texts.is_empty() {
            let message = format!("the list of `{}` is empty", F::WHAT);
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message));
            return None;
        }
        Some(Self(texts.join(","), std::marker::PhantomData))
    }
}

fn error_in<F: FieldRange>(text: &str) -> Option<String> {
    let (first, last) = F::RANGE;
    let number = |word: &str| {
        let name = F::NAMES.iter().position(|name| word.eq_ignore_ascii_case(name));
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        // The names of months begin at 1.
        let number = name.and_then(|at| u32::try_from(at).ok()).map(|at| at + first);
        number
            .or_else(|| word.parse().ok().filter(|_| is_number))
            .filter(|number| (first..=last).contains(number))
    };
    let is_part = |part: &str| {
        let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
        let has_step =
            step.is_none_or(|step| step.parse::<u32>().is_ok_and(|step| step > 0 && step <= last.max(1)));
        let is_range = match range.split_once('-') {
            Some((from, to)) => number(from).zip(number(to)).is_some_and(|(from, to)| from <= to),
            None => range == "*" || (number(range).is_some() && step.is_none()),
        };
        has_step && is_range
    };
    let is_right = !text.is_empty() && text.split(',').all(is_part);
    (!is_right).then(|| {
        format!(
            "`{}` is not a `{}` of cron, which is between {first} and {last}",
            text.escape_debug(),
            F::WHAT
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_time_are_checked() {
        for minute in ["0", "59", "*", "*/15", "1-5", "10-40/10", "1,2,30-40"] {
            assert_eq!(error_in::<CronMinute>(minute), None, "{minute}");
        }
        for minute in ["", "60", "-1", "a", "5-1", "*/0", "5/10", "1,", "* *", "1\n2", "jan", "*/61"] {
            assert!(error_in::<CronMinute>(minute).is_some(), "{minute}");
        }
        assert_eq!(error_in::<CronWeekday>("Mon-Fri"), None);
        assert_eq!(error_in::<CronWeekday>("7"), None);
        assert_eq!(error_in::<CronMonth>("jan,dec"), None);
        assert!(error_in::<CronMonth>("0").is_some() && error_in::<CronDay>("0").is_some());
        assert!(error_in::<CronHour>("24").is_some());
    }
}
