//! Output of Nagios commands: a summary, details, and performance data.

use ccm_model::PerformanceValue;

/// Maximum number of values that are kept.
const MAX_VALUES: usize = 1000;

/// Standard output of a command, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NagiosOutput {
    /// First line, up to its `|`.
    pub summary: String,
    /// Lines after the first, up to a `|`.
    pub details: String,
    /// Performance data.
    pub values: Vec<PerformanceValue>,
    /// First piece of the performance data that has not their form.
    pub malformed: Option<String>,
}

impl NagiosOutput {
    /// Takes a standard output apart. Output of any form has a summary.
    pub fn parse(output: &str) -> Self {
        let (first, rest) = output.split_once('\n').unwrap_or((output, ""));
        let (summary, first_values) = first.split_once('|').unwrap_or((first, ""));
        // After a `|` in a later line, all further lines are performance data.
        let (details, more_values) = rest.split_once('|').unwrap_or((rest, ""));
        let mut parsed = Self {
            summary: summary.trim().to_owned(),
            details: details.trim_end().to_owned(),
            ..Self::default()
        };
        parsed.read_values(first_values);
        more_values.lines().for_each(|line| parsed.read_values(line));
        parsed
    }

    fn read_values(&mut self, line: &str) {
        let mut rest = line.trim();
        while !rest.is_empty() && self.values.len() < MAX_VALUES {
            let (piece, behind) = rest.split_at(piece_end(rest));
            match parse_value(piece) {
                Some(value) => self.values.push(value),
                None => self.malformed = self.malformed.take().or_else(|| Some(piece.to_owned())),
            }
            rest = behind.trim_start();
        }
    }
}

/// Returns the end of the first piece: a blank that is not in a quoted label.
fn piece_end(text: &str) -> usize {
    let mut is_quoted = false;
    text.find(|character: char| {
        is_quoted ^= character == '\'';
        character.is_whitespace() && !is_quoted
    })
    .unwrap_or(text.len())
}

/// Reads a value of the form `'label'=value[unit];warning;critical;min;max`.
fn parse_value(piece: &str) -> Option<PerformanceValue> {
    let (label, fields) = if let Some(quoted) = piece.strip_prefix('\'') {
        let end = quoted.rfind("'=")?;
        (quoted[..end].replace("''", "'"), &quoted[end + 2..])
    } else {
        let (label, fields) = piece.split_once('=')?;
        (label.to_owned(), fields)
    };
    if label.is_empty() {
        return None;
    }
    let mut fields = fields.split(';');
    let (value, unit) = measured(fields.next()?)?;
    let mut range = || fields.next().filter(|range| !range.is_empty()).map(str::to_owned);
    let (warning, critical) = (range(), range());
    let mut bound = || fields.next().and_then(|bound| measured(bound)?.0);
    let (min, max) = (bound(), bound());
    Some(PerformanceValue { label, value, unit, warning, critical, min, max })
}

/// Reads a number and its unit.
fn measured(text: &str) -> Option<(Option<f64>, String)> {
    if text == "U" {
        return Some((None, String::new()));
    }
    let bytes = text.as_bytes();
    let is_exponent = |at: usize| {
        matches!(bytes[at], b'e' | b'E')
            && bytes.get(at + 1).is_some_and(|next| next.is_ascii_digit() || matches!(next, b'+' | b'-'))
    };
    let is_number =
        |at: usize| bytes[at].is_ascii_digit() || matches!(bytes[at], b'.' | b'+' | b'-') || is_exponent(at);
    let end = (0..bytes.len()).find(|at| !is_number(*at)).unwrap_or(bytes.len());
    let value = text[..end].parse::<f64>().ok().filter(|value| value.is_finite())?;
    let unit = &text[end..];
    let is_unit =
        unit.chars().count() <= 16 && unit.chars().all(|part| part.is_alphabetic() || "%/°".contains(part));
    is_unit.then(|| (Some(value), unit.to_owned()))
}

#[cfg(test)]
mod tests {
    use ccm_model::PerformanceValue;

    use super::NagiosOutput;

    fn value(label: &str, value: f64, unit: &str) -> PerformanceValue {
        PerformanceValue {
            label: label.to_owned(),
            value: Some(value),
            unit: unit.to_owned(),
            ..PerformanceValue::default()
        }
    }

    #[test]
    fn output_is_taken_apart() {
        for (output, summary, details, values) in [
            ("", "", "", vec![]),
            ("DISK OK\n", "DISK OK", "", vec![]),
            ("OK | a=1", "OK", "", vec![value("a", 1.0, "")]),
            (
                "OK|time=0.5s 'free space'=12.5%",
                "OK",
                "",
                vec![value("time", 0.5, "s"), value("free space", 12.5, "%")],
            ),
            ("OK|'it''s'=-3e2c", "OK", "", vec![value("it's", -300.0, "c")]),
            ("OK|a=U", "OK", "", vec![PerformanceValue { label: "a".into(), ..PerformanceValue::default() }]),
            (
                "OK|a=1\nlong\ntext | b=2\nc=3 d=4\n",
                "OK",
                "long\ntext",
                vec![value("a", 1.0, ""), value("b", 2.0, ""), value("c", 3.0, ""), value("d", 4.0, "")],
            ),
            (
                "OK|size=1KB;@10:20;~:5;0;100",
                "OK",
                "",
                vec![PerformanceValue {
                    warning: Some("@10:20".into()),
                    critical: Some("~:5".into()),
                    min: Some(0.0),
                    max: Some(100.0),
                    ..value("size", 1.0, "KB")
                }],
            ),
            ("OK|a=1;;;0", "OK", "", vec![PerformanceValue { min: Some(0.0), ..value("a", 1.0, "") }]),
        ] {
            let parsed = NagiosOutput::parse(output);
            assert_eq!((&*parsed.summary, &*parsed.details), (summary, details), "{output}");
            assert_eq!((parsed.values, parsed.malformed), (values, None), "{output}");
        }
    }

    #[test]
    fn malformed_values_are_named_and_the_others_kept() {
        for (output, malformed, count) in [
            ("OK|a b=2", "a", 1),
            ("OK|=1", "=1", 0),
            ("OK|a=", "a=", 0),
            ("OK|a=one", "a=one", 0),
            ("OK|a=inf", "a=inf", 0),
            ("OK|a=1,5", "a=1,5", 0),
            ("OK|'a b=1", "'a b=1", 0),
            ("OK|a=1 b=1\u{1b}[0m", "b=1\u{1b}[0m", 1),
        ] {
            let parsed = NagiosOutput::parse(output);
            assert_eq!(
                (parsed.malformed.as_deref(), parsed.values.len()),
                (Some(malformed), count),
                "{output}"
            );
        }
        let flood = format!("OK|{}", "a=1 ".repeat(100_000));
        assert_eq!(NagiosOutput::parse(&flood).values.len(), super::MAX_VALUES);
    }
}
