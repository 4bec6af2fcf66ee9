//! Generated manifests.

use std::fmt::Write as _;

fn execs(lines: impl Iterator<Item = String>) -> String {
    let mut text = "ccm:\n  resources:\n    - exec:\n".to_owned();
    for line in lines {
        // Writing to a `String` can't fail.
        let _ = writeln!(text, "        - {line}");
    }
    text
}

/// Returns the content of a file: 1 KiB.
pub(crate) fn content(number: u32) -> String {
    let mut content = String::new();
    for line in 0..16 {
        let _ = writeln!(content, "{:<63}", format!("file {number} line {line}: key = value"));
    }
    content
}

/// Returns a manifest of files of 1 KiB in a directory.
pub(crate) fn files(directory: &str, count: u32) -> String {
    files_with(directory, count, "")
}

/// A directory that is copied from another one, and holds nothing else.
pub(crate) fn tree(source: &str, tree: &str) -> String {
    format!(
        "ccm:\n  resources:\n    - file:\n        - {tree}: {{ensure: directory, source: {source}, purge: true}}\n"
    )
}

/// Returns a manifest of files of 1 KiB with an owner and a group.
pub(crate) fn owned_files(directory: &str, count: u32, owner: &str, group: &str) -> String {
    files_with(directory, count, &format!("            owner: '{owner}'\n            group: '{group}'\n"))
}

/// Returns a manifest of files without `content`.
pub(crate) fn files_without_content(directory: &str, count: u32, owner: &str, group: &str) -> String {
    let mut text = "ccm:\n  resources:\n    - file:\n".to_owned();
    for number in 0..count {
        let _ = writeln!(
            text,
            "        - {directory}/{number}: {{mode: \"0644\", owner: '{owner}', group: '{group}'}}"
        );
    }
    text
}

fn files_with(directory: &str, count: u32, properties: &str) -> String {
    let mut text = "ccm:\n  resources:\n    - file:\n".to_owned();
    for number in 0..count {
        let _ = writeln!(
            text,
            "        - {directory}/{number}:\n            mode: \"0644\"\n{properties}            content: |"
        );
        for line in content(number).lines() {
            let _ = writeln!(text, "              {line}");
        }
    }
    text
}

/// Returns a line of a file.
pub(crate) fn line(file: u32, number: u32) -> String {
    format!("key-{number} = the value of {file}")
}

/// Returns a manifest of lines in files.
pub(crate) fn lines(directory: &str, files: u32, lines_per_file: u32) -> String {
    let mut text = "ccm:\n  resources:\n    - line:\n".to_owned();
    for file in 0..files {
        for number in 0..lines_per_file {
            let line = line(file, number);
            let _ = writeln!(
                text,
                "        - {file}-{number}: {{path: {directory}/{file}, line: '{line}', match: '^key-{number} = '}}"
            );
        }
    }
    text
}

/// Returns a manifest of execs whose `creates` exists.
pub(crate) fn satisfied_execs(count: u32) -> String {
    execs((0..count).map(|number| {
        format!("task-{number}:\n            command: /bin/true\n            creates: /etc/passwd")
    }))
}

/// Returns a manifest of execs of different commands, each of which has made what it makes.
pub(crate) fn different_execs(count: u32) -> String {
    execs((0..count).map(|number| {
        format!(
            "task-{number}:\n            command: tar -xzf /srv/app-{number}.tgz -C /srv/app-{number}\n            \
             creates: /etc/passwd"
        )
    }))
}

/// Returns a manifest of execs of different commands, whose guards find nothing to do.
pub(crate) fn guarded_execs(count: u32) -> String {
    execs((0..count).map(|number| {
        format!(
            "task-{number}:\n            command: tar -xzf /srv/app-{number}.tgz -C /srv/app-{number}\n            \
             unless: test -e /etc/passwd -o -e /srv/app-{number}"
        )
    }))
}

/// Returns the manifest of [`satisfied_execs`] with a list in place of the resources.
pub(crate) fn repeated_execs(count: u32) -> String {
    repeated(&satisfied_execs(1).replace("task-0", "task-{{ Item }}"), count)
}

/// Returns the manifest of [`execs_with_three_values`] with a list in place of the resources.
pub(crate) fn repeated_execs_with_three_values(count: u32) -> String {
    let one = execs_with_three_values(1, true).replace("\"-0\"", "\"-\" + string(Item)");
    repeated(&one.replace("-0", "-{{ Item }}"), count)
}

/// Repeats the execs of a manifest.
fn repeated(manifest: &str, count: u32) -> String {
    let numbers = format!("{{{{ 0..{} }}}}", count - 1);
    manifest.replace("    - exec:\n", &format!("    - foreach: '{numbers}'\n      exec:\n"))
}

pub(crate) fn execs_with_three_values(count: u32, are_expressions: bool) -> String {
    let three = if are_expressions {
        [
            "run {{ Facts.role }} {{ Data.site }}-N",
            "{{ Facts.host.info.hostname + \"-N\" }}",
            "{{ Data.pause }}",
        ]
    } else {
        ["run web here-N", "bench-N", "30s"]
    };
    let resources = execs((0..count).map(|number| {
        let [command, stdin, timeout] = three.map(|value| value.replace('N', &number.to_string()));
        format!("task-{number}: {{command: '{command}', stdin: '{stdin}', timeout: '{timeout}'}}")
    }));
    format!("data: {{site: here, pause: 30s}}\n{resources}")
}

/// Returns a manifest with overrides that are merged: a number of levels, each with a number of keys.
pub(crate) fn hierarchy(levels: u32, keys: u32) -> String {
    let mut text = "data: {a: 1}\nhierarchy:\n  merge: deep\n  order:\n".to_owned();
    for level in 0..levels {
        let _ = writeln!(text, "    - 'level-{level}-{{{{ Facts.role }}}}'");
    }
    text += "overrides:\n";
    for level in 0..levels {
        let _ = writeln!(text, "  level-{level}-web:");
        for key in 0..keys {
            let _ = writeln!(text, "    key-{key}: {{value: {level}, list: [{level}]}}");
        }
    }
    text + "ccm: {resources: [exec: [a: {command: /bin/true}]]}\n"
}

/// Returns a manifest of execs that run.
pub(crate) fn commands(count: u32) -> String {
    execs((0..count).map(|number| format!("task-{number}: {{command: /bin/true}}")))
}

pub(crate) fn chain(count: u32) -> String {
    execs((0..count).map(|number| match number.checked_sub(1) {
        None => "task-0: {command: /bin/true, creates: /etc/passwd}".to_owned(),
        Some(before) => {
            format!(
                "task-{number}: {{command: /bin/true, creates: /etc/passwd, require: [exec#task-{before}]}}"
            )
        }
    }))
}

/// Returns a manifest of execs: every eleventh is a source, and the next ten subscribe to it.
pub(crate) fn fans(count: u32) -> String {
    execs((0..count).map(|number| match number % 11 {
        0 => format!("task-{number}: {{command: /bin/true, creates: /etc/passwd}}"),
        distance => {
            let source = number - distance;
            format!(
                "task-{number}: {{command: /bin/true, creates: /etc/passwd, subscribe: [exec#task-{source}]}}"
            )
        }
    }))
}
