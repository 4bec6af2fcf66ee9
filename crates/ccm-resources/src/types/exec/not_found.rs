//! Programs that a shell did not find.

use ccm_engine::Context;
use ccm_host::{Command, Exit, Finished, LaunchPlan, StartError, search_path};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, Stream, StreamTail};

use super::command::{CommandSyntax, Exec};
use super::output::tails;
use super::sandbox::SandboxProperties;

/// Returns the failure with the reason why this machine can't run the program that a shell did not find: a shell says the same
/// of a missing program, of one with a missing interpreter, and of a script with the line ends of Windows.
pub(crate) fn explained(
    exec: &Exec,
    (plan, command): (&dyn LaunchPlan, &Command),
    finished: &Finished,
    failure: Failure,
    context: &Context<'_>,
) -> Failure {
    let is_elsewhere = exec.container().is_some() || exec.sandbox.is_some() || exec.user.is_some();
    let found = not_found(exec, finished).filter(|_| !is_elsewhere && !exec.sensitive);
    let Some((name, output)) = found else { return failure };
    let path = search_path(&command.environment).unwrap_or_default();
    let Some(error) = context.host.system.why_not_found(&name, path, plan.cwd()) else { return failure };
    let explained = exec.start_failure(&error, plan.program_base());
    Failure { output, changed: failure.changed, property: failure.property, ..explained }
}

/// Returns the failure of a shell that did not find a program, so that both providers report the same.
pub(crate) fn not_found_by_shell(exec: &Exec, finished: &Finished) -> Option<Failure> {
    let (name, output) = not_found(exec, finished)?;
    let path = exec.path.clone().unwrap_or_default();
    let missing = MissingPrerequisite::Program(name.clone());
    let is_relative = name.contains('/') && !name.starts_with('/');
    let mut failure = Failure::from_error(FailureKind::Start, &StartError::NotFound { name, path });
    failure.missing = Some(missing.into());
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
    if exec.syntax != CommandSyntax::Shell || finished.exit != Exit::Code(127) {
        return None;
    }
    let output = tails(exec, finished);
    let stderr = output.iter().find(|tail| tail.stream == Stream::Stderr)?;
    let name = last_not_found(&stderr.lines, exec.line.args.last()?)?.to_owned();
    Some((name, output))
}

/// Returns the name of the program that was not found. If several were not, as in a pipeline, whose messages come in
/// any order, the last of the text counts.
fn last_not_found<'l>(lines: &'l [String], text: &str) -> Option<&'l str> {
    let names = lines.iter().filter_map(|line| not_found_name(line));
    names.max_by_key(|name| (text.rfind(name), *name))
}

/// Returns the name in `/bin/sh: 1: NAME: not found` (dash), `… line 1: NAME: command not found` (bash) or
/// `/bin/sh: NAME: not found` (busybox).
fn not_found_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("/bin/sh: ").or_else(|| line.strip_prefix("sh: "))?;
    let line = line.strip_suffix(": command not found").or_else(|| line.strip_suffix(": not found"))?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match line.split_once(": ") {
        Some((place, name)) if number(place.strip_prefix("line ").unwrap_or(place)) => name,
        _ => line,
    };
    Some(name.strip_prefix("exec: ").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::{last_not_found, not_found_name};

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
            assert_eq!(last_not_found(&lines(printed), "foo | bar"), expected);
        }
        let noisy = [lines(&["bar"]), vec!["foo: broken pipe".to_owned()]].concat();
        assert_eq!(last_not_found(&noisy, "foo | bar"), Some("bar"));
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
        ] {
            assert_eq!(not_found_name(line), name, "{line}");
        }
    }
}
