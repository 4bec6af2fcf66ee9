//! Programs that a shell did not find, or could not start.

use ccm_engine::Context;
use ccm_host::{Command, Exit, Finished, LaunchPlan, StartError, search_path};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, Stream, StreamTail};

use super::command::{CommandSyntax, Exec};
use super::output::tails;
use super::sandbox::SandboxProperties;

/// Returns the failure with the reason why this machine can't run the program that a shell did not start: a shell says the same
/// of a missing program, of one with a missing interpreter, and of a script with the line ends of Windows.
pub(crate) fn explained(
    exec: &Exec,
    (plan, command): (&dyn LaunchPlan, &Command),
    finished: &Finished,
    failure: Failure,
    context: &Context<'_>,
) -> Failure {
    let is_elsewhere = exec.container().is_some() || exec.sandbox.is_some() || exec.user.is_some();
    let found = not_found(exec, finished).or_else(|| not_permitted(exec, finished));
    let found = found.filter(|_| !is_elsewhere && !exec.sensitive);
    let Some((name, output)) = found else { return failure };
    let path = search_path(&command.environment).unwrap_or_default();
    let Some(error) = context.host.system.why_not_found(&name, path, plan.cwd()) else { return failure };
    let explained = exec.start_failure(&error, plan.program_base());
    Failure { output, changed: failure.changed, property: failure.property, ..explained }
}

/// What a shell prints behind the name of a program that it did not find.
const NOT_FOUND: &[&str] = &[": command not found", ": not found"];

/// Words of bash that other shells take for programs, with advice.
const WORDS_OF_BASH: [(&str, &str); 5] = [
    ("[[", "write `[ … ]`: `[[` is of bash, and /bin/sh is another shell here"),
    ("source", "write `. FILE`: `source` is of bash, and /bin/sh is another shell here"),
    ("function", "write `NAME() { …; }`: `function` is of bash, and /bin/sh is another shell here"),
    ("shopt", "start bash itself: `bash -c '…'`, because /bin/sh is another shell here"),
    ("declare", "write `NAME=VALUE`: `declare` is of bash, and /bin/sh is another shell here"),
];

/// What a shell prints behind the name of a program that it may not start.
const NOT_PERMITTED: &[&str] = &[": Permission denied"];

/// Returns the failure of a shell that did not find a program, so that both providers report the same.
pub(crate) fn not_found_by_shell(exec: &Exec, finished: &Finished) -> Option<Failure> {
    let (name, output) = not_found(exec, finished)?;
    let path = exec.path.clone().unwrap_or_default();
    let missing = MissingPrerequisite::Program(name.clone());
    let is_relative = name.contains('/') && !name.starts_with('/');
    let found = name.clone();
    let mut failure = Failure::from_error(FailureKind::Start, &StartError::NotFound { name, path });
    failure.missing = Some(missing.into());
    if let Some((_, hint)) = WORDS_OF_BASH.iter().find(|(word, _)| *word == found) {
        failure.hints = vec![(*hint).to_owned()];
    }
    if is_relative && exec.sandbox.as_ref().is_some_and(SandboxProperties::is_private) && exec.cwd.is_none() {
        let hint = "set `workdir: manifest` to start the shell beside the manifest, or write the whole path and open \
                    it with `read`";
        failure.hints.push(hint.to_owned());
    }
    failure.output = output;
    Some(failure)
}

/// Returns the name of the program that a shell did not find, and its output.
fn not_found(exec: &Exec, finished: &Finished) -> Option<(String, Vec<StreamTail>)> {
    if finished.exit == Exit::Code(127) { not_started(exec, finished, NOT_FOUND) } else { None }
}

/// Returns the name of the program that a shell was not permitted to start, and its output. A program in the search path
/// that is not executable counts as not found for some shells.
fn not_permitted(exec: &Exec, finished: &Finished) -> Option<(String, Vec<StreamTail>)> {
    let is_code = matches!(finished.exit, Exit::Code(126 | 127));
    if is_code { not_started(exec, finished, NOT_PERMITTED) } else { None }
}

fn not_started(exec: &Exec, finished: &Finished, endings: &[&str]) -> Option<(String, Vec<StreamTail>)> {
    if exec.syntax != CommandSyntax::Shell {
        return None;
    }
    let output = tails(exec, finished);
    let stderr = output.iter().find(|tail| tail.stream == Stream::Stderr)?;
    let name = last_not_started(&stderr.lines, exec.line.args.last()?, endings)?.to_owned();
    Some((name, output))
}

/// Returns the name of the program that was not started. If several were not, as in a pipeline, whose messages come in
/// any order, the last of the text counts.
fn last_not_started<'l>(lines: &'l [String], text: &str, endings: &[&str]) -> Option<&'l str> {
    let names = lines.iter().filter_map(|line| not_started_name(line, endings));
    names.max_by_key(|name| (text.rfind(name), *name))
}

/// Returns the name in `/bin/sh: 1: NAME: not found` (dash), `… line 1: NAME: command not found` (bash) or
/// `/bin/sh: NAME: not found` (busybox).
fn not_started_name<'l>(line: &'l str, endings: &[&str]) -> Option<&'l str> {
    let line = line.strip_prefix("/bin/sh: ").or_else(|| line.strip_prefix("sh: "))?;
    let line = endings.iter().find_map(|ending| line.strip_suffix(ending))?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match line.split_once(": ") {
        Some((place, name)) if number(place.strip_prefix("line ").unwrap_or(place)) => name,
        _ => line,
    };
    Some(name.strip_prefix("exec: ").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::{NOT_FOUND, NOT_PERMITTED, last_not_started, not_started_name};

    #[test]
    fn the_last_program_of_the_text_is_named() {
        let lines = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("/bin/sh: 1: {name}: not found")).collect()
        };
        for (printed, expected) in [
            (&["foo", "bar"][..], Some("bar")),
            (&["bar", "foo"], Some("bar")),
            (&["foo"], Some("foo")),
            (&[], None),
        ] {
            assert_eq!(last_not_started(&lines(printed), "foo | bar", NOT_FOUND), expected);
        }
        let noisy = [lines(&["bar"]), vec!["foo: broken pipe".to_owned()]].concat();
        assert_eq!(last_not_started(&noisy, "foo | bar", NOT_FOUND), Some("bar"));
    }

    #[test]
    fn shells_name_what_they_did_not_find() {
        for (line, name) in [
            ("/bin/sh: 1: nosuch: not found", Some("nosuch")),
            ("/bin/sh: line 1: nosuch: command not found", Some("nosuch")),
            ("/bin/sh: nosuch: not found", Some("nosuch")),
            ("/bin/sh: 1: /opt/x: not found", Some("/opt/x")),
            ("sh: 12: a b: not found", Some("a b")),
            ("/bin/sh: 1: exec: nosuch: not found", Some("nosuch")),
            ("cat: /x: No such file or directory", None),
            ("page not found", None),
            ("/bin/sh: 1: nosuch: Permission denied", None),
        ] {
            assert_eq!(not_started_name(line, NOT_FOUND), name, "{line}");
        }
    }

    #[test]
    fn shells_name_what_they_may_not_start() {
        for (line, name) in [
            ("/bin/sh: 1: /opt/x: Permission denied", Some("/opt/x")),
            ("/bin/sh: line 1: /opt/x: Permission denied", Some("/opt/x")),
            ("/bin/sh: 1: tool: Permission denied", Some("tool")),
            ("cat: /x: Permission denied", None),
        ] {
            assert_eq!(not_started_name(line, NOT_PERMITTED), name, "{line}");
        }
    }
}
