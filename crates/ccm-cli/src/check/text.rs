//! The report for people.

use ccm_runtime::model::{display_duration, escape_control};

use super::outline::Outline;

/// Returns each subject with its tests, and a line with the sums.
pub(super) fn report(outline: &Outline) -> String {
    let mut text = String::new();
    for subject in &outline.subjects {
        let title = subject.title.as_ref().map(|title| format!(" ({title})")).unwrap_or_default();
        text += &escape_control(&format!("{}{title}", subject.full_name));
        text.push('\n');
        let width = subject.tests.iter().map(|test| test.word.len()).max().unwrap_or_default().max(7);
        for test in &subject.tests {
            let reason = test.text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            text += &format!(
                "  {:<width$} {}{}\n",
                test.word,
                escape_control(&test.name),
                escape_control(&reason)
            );
        }
        for warning in &subject.warnings {
            text += &format!("  warning {}\n", escape_control(warning));
        }
    }
    let counts: Vec<String> = outline.counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    text + &format!("\n{} in {}\n", counts.join(", "), display_duration(outline.duration))
}
