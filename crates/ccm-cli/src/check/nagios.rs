//! The report for monitoring systems: a line with performance data, and a line for each attribute that is not as expected.

use ccm_runtime::model::{PerformanceValue, escape_control};
use ccm_runtime::status::CheckLevel;

use super::outline::Outline;
use crate::error::CommandError;

/// Maximum number of lines below the first. Monitoring systems cut longer texts.
const MAX_LINES: usize = 50;
/// Maximum number of values of checks in the first line.
const MAX_VALUES: usize = 50;

/// Returns the report.
pub(super) fn report(outline: &Outline) -> String {
    let mut data = format!("total={};;;0", outline.total());
    // What is not among them is good.
    for (word, count) in outline.counts.iter().skip(1) {
        data += &format!(" {}={count};;;0", word.replace(' ', "_"));
    }
    data += &format!(" duration={:.3}s;;;0", outline.duration.as_secs_f64());
    let values = outline.tests().flat_map(|(subject, test)| {
        test.values.iter().filter_map(move |value| performance(&subject.full_name, &test.name, value))
    });
    values.take(MAX_VALUES).for_each(|value| data += &format!(" {value}"));
    let mut text = format!("{}: {}|{data}\n", outline.level.word(), plain(&outline.summary));
    let results = outline.tests().filter(|(_, test)| test.is_notable()).map(|(subject, test)| {
        let reason = test.text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        format!("{}: {} {}{reason}", test.word, subject.full_name, test.name)
    });
    let warnings = outline.subjects.iter().flat_map(|subject| {
        subject.warnings.iter().map(|warning| format!("warning: {}: {warning}", subject.full_name))
    });
    for line in results.chain(warnings).take(MAX_LINES) {
        text += &format!("{}\n", plain(&line));
    }
    text
}

/// Returns a value of a check as performance data.
fn performance(subject: &str, check: &str, value: &PerformanceValue) -> Option<String> {
    let label = format!("{subject} {check} {}", value.label);
    // A label can't hold these, whatever quotes it has.
    let label = plain(&label).replace(['\'', '='], "_");
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let range = |range: &Option<String>| plain(range.as_deref().unwrap_or_default());
    let text = format!(
        "'{label}'={}{};{};{};{};{}",
        value.value?,
        plain(&value.unit),
        range(&value.warning),
        range(&value.critical),
        number(value.min),
        number(value.max)
    );
    Some(text.trim_end_matches(';').to_owned())
}

/// Returns the report of a file that was not judged.
pub(super) fn unknown(error: &CommandError) -> String {
    let text = anstream::adapter::strip_str(&error.text()).to_string();
    let line =
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("error: nothing was judged");
    format!("{}: {}\n", CheckLevel::Unknown.word(), plain(line))
}

/// Returns a line without the character that begins performance data.
fn plain(line: &str) -> String {
    escape_control(line).replace('|', "¦")
}
