//! Assertions about facts: locations, names, values and outcomes, whatever the words around them are.

use ccm_testkit::Called;
use serde_json::Value;

/// Expected error: its locations, parts of its message, and a part of each hint. Without a location or a
/// hint, that entry is empty.
pub(crate) type Expected<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

/// Error, warning or note as ccm printed it.
#[derive(Debug)]
struct Diagnostic {
    severity: &'static str,
    /// Title, causes and labels, without the lines of the source.
    message: String,
    /// Location of the error, then those of related lines.
    locations: Vec<String>,
    hints: Vec<String>,
}

/// Reads the diagnostics on standard error.
fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in text.lines() {
        let title =
            |severity: &'static str| Some((severity, line.strip_prefix(severity)?.strip_prefix(": ")?));
        if let Some((severity, title)) = ["error", "warning", "note"].into_iter().find_map(title) {
            let (locations, hints) = (Vec::new(), Vec::new());
            found.push(Diagnostic { severity, message: title.to_owned(), locations, hints });
        } else if let Some(last) = found.last_mut() {
            add_line(last, line.trim_start());
        }
    }
    found
}

/// Adds a line below the title to a diagnostic.
fn add_line(diagnostic: &mut Diagnostic, line: &str) {
    let is_source = line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" |");
    let hint = line.trim_start_matches("= ");
    if let Some(location) = line.strip_prefix("--> ").or(line.strip_prefix("::: ")) {
        diagnostic.locations.push(location.to_owned());
    } else if let Some(hint) = hint.strip_prefix("hint: ") {
        diagnostic.hints.push(hint.to_owned());
    } else if !is_source {
        let text = if line.starts_with('|') { line.trim_start_matches(['|', '^', '-', ' ']) } else { line };
        let paragraph = diagnostic.hints.last_mut().unwrap_or(&mut diagnostic.message);
        *paragraph += &format!("\n{text}");
    }
}

/// Checks that ccm printed one error and nothing on standard output.
#[track_caller]
pub(crate) fn expect_error(called: &Called, code: i32, location: &str, message: &[&str], hints: &[&str]) {
    expect_errors(called, code, &[(location, message, hints)]);
}

/// Checks that ccm printed these errors, in that order, and nothing on standard output.
#[track_caller]
pub(crate) fn expect_errors(called: &Called, code: i32, expected: &[Expected]) {
    assert_eq!((called.code, &*called.stdout), (code, ""), "{}", called.shown());
    expect_diagnostics(called, "error", expected);
}

/// Checks the warnings on standard error.
#[track_caller]
pub(crate) fn expect_warnings(called: &Called, expected: &[Expected]) {
    expect_diagnostics(called, "warning", expected);
}

#[track_caller]
fn expect_diagnostics(called: &Called, severity: &str, expected: &[Expected]) {
    let mut found = diagnostics(&called.stderr);
    found.retain(|diagnostic| diagnostic.severity == severity);
    // The last line of a manifest with errors counts them.
    if let Some(total) = found.pop_if(|last| is_total(&last.message)) {
        let count = format!("{} error", expected.len());
        assert!(total.message.starts_with(&count), "{}", called.shown());
    }
    assert_eq!(found.len(), expected.len(), "number of diagnostics: {found:#?}\n{}", called.shown());
    for (diagnostic, (locations, message, hints)) in found.iter().zip(expected) {
        assert_eq!(diagnostic.locations.join(" "), *locations, "location\n{}", called.shown());
        assert!(!message.is_empty(), "{locations}: a test names what is wrong");
        for part in *message {
            assert!(diagnostic.message.contains(part), "{part:?} is not in the message\n{}", called.shown());
        }
        assert_eq!(diagnostic.hints.len(), hints.len(), "number of hints\n{}", called.shown());
        for (hint, part) in diagnostic.hints.iter().zip(*hints) {
            assert!(hint.contains(part), "{part:?} is not in the hint {hint:?}\n{}", called.shown());
        }
    }
}

/// Returns `true` for a line such as `2 errors in manifest.yaml; nothing was run`.
fn is_total(message: &str) -> bool {
    let rest = message.trim_start_matches(|c: char| c.is_ascii_digit());
    rest != message && (rest.starts_with(" error in ") || rest.starts_with(" errors in "))
}

/// Checks the exit code, and that standard output has these parts, in that order.
#[track_caller]
pub(crate) fn expect_output(called: &Called, code: i32, parts: &[&str]) {
    assert_eq!(called.code, code, "{}", called.shown());
    let reported = called.reported();
    let mut rest = &*reported;
    for part in parts {
        let behind = rest.split_once(part).map(|(_, behind)| behind);
        assert!(behind.is_some(), "{part:?} is not there, or not in this order\n{}", called.shown());
        rest = behind.unwrap_or_default();
    }
}

/// Reads the objects of JSON lines.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Returns the outcomes of a run with `--output jsonl`, such as `exec#build changed`. A skipped resource is
/// followed by the cause.
pub(crate) fn outcomes(called: &Called) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let events = json_lines(&called.stdout).into_iter().filter(|line| line["outcome"].is_string());
    events
        .map(|event| {
            let [kind, name, outcome] = ["type", "name", "outcome"].map(|key| text(&event[key]));
            let cause = text(&event["skip"]["cause"]);
            format!("{kind}#{name} {outcome} {cause}").trim_end().to_owned()
        })
        .collect()
}

#[test]
fn other_errors_are_not_accepted() {
    let stderr = "\
warning: left out
error: unknown property `timeuot`
 --> m.yaml:4:15
  |
4 |         - a: {timeuot: '1s`'}
  |               ^^^^^^^ given here
  |
  = hint: did you mean `timeout`?

error: 1 error in m.yaml; nothing was run
";
    let called = Called { code: 1, stdout: String::new(), stderr: stderr.to_owned() };
    let message = &["property `timeuot`", "given here"];
    expect_error(&called, 1, "m.yaml:4:15", message, &["`timeout`"]);
    expect_warnings(&called, &[("", &["left out"], &[])]);
    let wrong: [(i32, &str, &[&str], &[&str]); 8] = [
        (64, "m.yaml:4:15", message, &["`timeout`"]),
        (1, "m.yaml:4:1", message, &["`timeout`"]),
        (1, "", message, &["`timeout`"]),
        (1, "m.yaml:4:15", &[], &["`timeout`"]),
        (1, "m.yaml:4:15", &["left out"], &["`timeout`"]),
        (1, "m.yaml:4:15", &["1s"], &["`timeout`"]),
        (1, "m.yaml:4:15", message, &["`timeuot`"]),
        (1, "m.yaml:4:15", message, &[]),
    ];
    for (code, location, message, hints) in wrong {
        let result = std::panic::catch_unwind(|| expect_error(&called, code, location, message, hints));
        assert!(result.is_err(), "{code} {location} {message:?} {hints:?}");
    }
    let printed = Called { stdout: "one\n".to_owned(), ..called.clone() };
    let result =
        std::panic::catch_unwind(|| expect_error(&printed, 1, "m.yaml:4:15", message, &["`timeout`"]));
    assert!(result.is_err(), "standard output");
}
