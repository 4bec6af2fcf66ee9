//! Manifests of any size.

use std::fmt::Write as _;

fn with(lines: impl Iterator<Item = String>) -> String {
    let mut text = "ccm:\n  resources:\n    - exec:\n".to_owned();
    for line in lines {
        // A `String` takes everything.
        let _ = writeln!(text, "        - {line}");
    }
    text
}

/// What each file holds: 1 KiB.
pub(crate) fn content(number: u32) -> String {
    let mut content = String::new();
    for line in 0..16 {
        // 63 characters and a line end.
        let _ = writeln!(content, "{:<63}", format!("file {number} line {line}: key = value"));
    }
    content
}

/// Files of 1 KiB in a directory.
pub(crate) fn files(directory: &str, count: u32) -> String {
    let mut text = "ccm:\n  resources:\n    - file:\n".to_owned();
    for number in 0..count {
        let _ = writeln!(
            text,
            "        - {directory}/{number}:\n            mode: \"0644\"\n            content: |"
        );
        for line in content(number).lines() {
            let _ = writeln!(text, "              {line}");
        }
    }
    text
}

/// Execs whose `creates` is there.
pub(crate) fn satisfied(count: u32) -> String {
    with((0..count).map(|number| {
        format!("task-{number}:\n            command: /bin/true\n            creates: /etc/passwd")
    }))
}

/// Execs that run.
pub(crate) fn commands(count: u32) -> String {
    with((0..count).map(|number| format!("task-{number}: {{command: /bin/true}}")))
}

/// Each requires the one before it.
pub(crate) fn chain(count: u32) -> String {
    with((0..count).map(|number| match number.checked_sub(1) {
        None => "task-0: {command: /bin/true, creates: /etc/passwd}".to_owned(),
        Some(before) => {
            format!(
                "task-{number}: {{command: /bin/true, creates: /etc/passwd, require: [exec#task-{before}]}}"
            )
        }
    }))
}

/// Every eleventh is a source, and the ten behind it subscribe to it.
pub(crate) fn fans(count: u32) -> String {
    with((0..count).map(|number| match number % 11 {
        0 => format!("task-{number}: {{command: /bin/true, creates: /etc/passwd}}"),
        behind => {
            let source = number - behind;
            format!(
                "task-{number}: {{command: /bin/true, creates: /etc/passwd, subscribe: [exec#task-{source}]}}"
            )
        }
    }))
}
