//! The report in the XML of `JUnit`, as build servers read it.

use super::outline::{Outline, OutlinedSubject, OutlinedTest, TestOutcome};

/// Returns one suite with the tests. What could not be judged is an error.
pub(super) fn report(outline: &Outline) -> String {
    let sums = format!(
        "name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\"",
        escaped(&outline.name),
        outline.total(),
        outline.count(TestOutcome::Failed),
        outline.count(TestOutcome::Error),
        outline.count(TestOutcome::Skipped),
        outline.duration.as_secs_f64(),
    );
    let mut text =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {sums}>\n  <testsuite {sums}>\n");
    for (subject, test) in outline.tests() {
        text += &test_case(subject, test);
    }
    text + "  </testsuite>\n</testsuites>\n"
}

fn test_case(subject: &OutlinedSubject, test: &OutlinedTest) -> String {
    let name = escaped(&format!("{} {}", subject.id, test.name));
    let class = escaped(&subject.class);
    let time = test.duration.as_secs_f64();
    let time = if time == 0.0 { "0".to_owned() } else { format!("{time:.3}") };
    let head = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\"");
    let message = escaped(test.text.as_deref().unwrap_or_default());
    let content = match test.outcome {
        TestOutcome::Passed if message.is_empty() => return format!("{head}/>\n"),
        TestOutcome::Passed => format!("<system-out>{message}</system-out>"),
        TestOutcome::Warned => format!("<system-out>warning: {message}</system-out>"),
        TestOutcome::Skipped => "<skipped/>".to_owned(),
        TestOutcome::Failed => format!("<failure message=\"{message}\"/>"),
        TestOutcome::Error => format!("<error message=\"{message}\"/>"),
    };
    format!("{head}>\n      {content}\n    </testcase>\n")
}

/// Returns a text for an attribute of XML. Characters that XML can't hold are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\t' => escaped += "&#9;",
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
