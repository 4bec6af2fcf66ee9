//! Commands that check new content before it takes the place of the old.

use std::path::Path;
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{
    Command, Exit, FileAttributes, Finished, Launch, LaunchPlan, NewContent, NewFile, Purpose, Role,
    StartError,
};
use ccm_model::{
    DiagnosticKind, Failure, FailureKind, MissingPrerequisite, SplitErrorKind, Stream, StreamTail,
    display_duration, escape_control, shell_syntax, split_words,
};
use ccm_properties::{OneOrMany, PropertyError, Text};

use crate::file::file_failure;
use crate::output_tail::tail;

const PROPERTY: &str = "validate";
/// Place of the path of the new content in a command.
const PLACE: &str = "%s";
const TIMEOUT: Duration = Duration::from_secs(60);
/// Name of the new content if the name of the file has characters that a shell could interpret.
const PLAIN_NAME: &str = "content";

/// Command that checks new content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContentCheck {
    text: String,
    program: String,
    args: Vec<String>,
}

/// New content of a file.
#[derive(Clone, Copy)]
pub(crate) struct NewText<'a> {
    /// Path that the content is for.
    pub path: &'a Path,
    pub content: &'a [u8],
    pub sensitive: bool,
}

impl ContentCheck {
    /// Checks the commands of a property.
    pub(crate) fn build(written: Option<OneOrMany<Text>>, errors: &mut Vec<PropertyError>) -> Vec<Self> {
        let Some(OneOrMany(texts)) = written else { return Vec::new() };
        let is_list = texts.len() > 1;
        let mut validators = Vec::new();
        for (number, text) in texts.into_iter().enumerate() {
            match Self::parse(text.0) {
                Ok(validator) => validators.push(validator),
                Err(error) => errors.push(error.at_element(is_list.then_some(number))),
            }
        }
        validators
    }

    fn parse(text: String) -> Result<Self, PropertyError> {
        let invalid = |kind, message: String| PropertyError::new(kind, PROPERTY, message);
        let mut words = split_words(&text)
            .map_err(|error| {
                let hint = match error.kind {
                    SplitErrorKind::Backslash => "write `\\\\` for a backslash",
                    _ => "close the quote, or put a backslash before it",
                };
                invalid(DiagnosticKind::Syntax, error.to_string()).with_hint(hint).at_byte(error.at)
            })?
            .into_iter();
        if let Some(found) = shell_syntax(&text).filter(|found| found.kind.needs_shell()) {
            let shown = text.get(found.range.clone()).map(escape_control).unwrap_or_default();
            let message = format!("`{shown}` needs a shell, and ccm starts `validate` without one");
            let hint =
                "put the check into a script, or write `sh -c 'COMMANDS' sh %s`, where `$1` is the file";
            return Err(invalid(DiagnosticKind::Syntax, message).with_hint(hint).at_bytes(found.range));
        }
        let program = words.next().unwrap_or_default();
        let args: Vec<String> = words.collect();
        if program.is_empty() {
            return Err(invalid(DiagnosticKind::InvalidValue, "`validate` names no program".to_owned()));
        }
        let places = args.iter().map(|arg| arg.matches(PLACE).count()).sum::<usize>();
        if places != 1 || program.contains(PLACE) {
            let message =
                format!("`validate` needs `{PLACE}` exactly once among its arguments, found {places}");
            let hint = "write `%s` where the command takes the path of the file, as in `visudo -cf %s`";
            return Err(invalid(DiagnosticKind::InvalidValue, message).with_hint(hint));
        }
        Ok(Self { text, program, args })
    }

    fn args_for(&self, path: &Path) -> Vec<String> {
        let path = path.to_string_lossy();
        self.args.iter().map(|arg| arg.replace(PLACE, &path)).collect()
    }
}

/// Runs the commands on a private copy of new content, one after the other, up to the first that refuses it.
pub(crate) async fn validate(
    validators: &[ContentCheck],
    new: NewText<'_>,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    if validators.is_empty() {
        return Ok(());
    }
    let host = context.host;
    let directory = host.system.private_directory(None).map_err(|error| {
        Failure::from_error(FailureKind::Start, &error)
            .because_of("a private directory for `validate` could not be made")
            .of_property(PROPERTY)
    })?;
    let copy = directory.path().join(name(new.path));
    for validator in validators {
        // Each command gets the content itself: one before may have written to its file.
        let attributes = FileAttributes { mode: Some(0o600), ..FileAttributes::default() };
        let file = NewFile { content: NewContent::Bytes(new.content), attributes };
        host.files.write(&copy, &file).map_err(|error| file_failure(&error).of_property(PROPERTY))?;
        run(validator, new, &copy, context).await.map_err(|failure| failure.of_property(PROPERTY))?;
    }
    if let Err(error) = directory.remove() {
        context.warn(format!("the private copy for `validate` could not be removed: {error}"));
    }
    Ok(())
}

/// Returns the name of the private copy: that of the file, because programs may go by its ending.
fn name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_plain = |name: &&str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'@'))
            && !name.starts_with('-')
    };
    name.filter(is_plain).unwrap_or(PLAIN_NAME)
}

async fn run(
    validator: &ContentCheck,
    new: NewText<'_>,
    copy: &Path,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let launch = Launch {
        timeout: Some(TIMEOUT),
        sensitive: new.sensitive,
        manifest_directory: context.directory.to_owned(),
        ..Launch::default()
    };
    let executor = context.host.executor;
    let plan = executor.resolve(&launch, Purpose::Run).await.map_err(|error| start_failure(&error))?;
    let finished = run_in(&*plan, validator, copy, context).await;
    for warning in plan.close().await.warnings {
        context.warn(warning);
    }
    let finished = finished?;
    for process in &finished.left_running {
        context.warn(format!("left running by `validate`: {process}"));
    }
    let shown = escape_control(&validator.text).into_owned();
    let (kind, how) = match &finished.exit {
        Exit::Code(0) => return Ok(()),
        Exit::Code(code) => (FailureKind::Exit, format!("`{shown}` exited with {code}")),
        Exit::Signal { name, .. } => (FailureKind::Signal, format!("`{shown}` was killed by {name}")),
        Exit::TimedOut { after } => {
            (FailureKind::Timeout, format!("`{shown}` timed out after {}", display_duration(*after)))
        }
        Exit::Cancelled => (FailureKind::Stopped, format!("`{shown}` was stopped together with the run")),
    };
    let mut failure = Failure::new(kind, how);
    if !new.sensitive {
        failure.output = tails(&finished, copy, new.path);
        failure.chain.extend(last_line(&failure.output));
    }
    let failure = failure.because_of("`validate` refused the new content");
    Err(match kind {
        FailureKind::Stopped => failure,
        _ => failure.with_hint("correct the content: the file was left as it was"),
    })
}

async fn run_in(
    plan: &dyn LaunchPlan,
    validator: &ContentCheck,
    copy: &Path,
    context: &mut Context<'_>,
) -> Result<Finished, Failure> {
    let command = plan.command(&validator.program, &validator.args_for(copy));
    let command = Command { role: Role::Check, ..command.map_err(|error| start_failure(&error))? };
    let mut ignore = |_, _: &str| {};
    plan.run(&command, context.cancellation, &mut ignore).await.map_err(|error| start_failure(&error))
}

fn start_failure(error: &StartError) -> Failure {
    let mut failure = error.failure();
    if let StartError::NotFound { name, .. } = error {
        let missing = if name.contains('/') {
            MissingPrerequisite::Path(name.into())
        } else {
            MissingPrerequisite::Program(name.clone())
        };
        failure = failure.with_missing(missing).with_hint("install the program with an earlier resource");
    }
    if failure.kind.is_refusal() { failure } else { failure.because_of("`validate` failed to run") }
}

/// Returns the last lines of both streams, with the path of the file in place of that of its copy.
fn tails(finished: &Finished, copy: &Path, path: &Path) -> Vec<StreamTail> {
    let both = [(Stream::Stdout, &finished.stdout), (Stream::Stderr, &finished.stderr)];
    let (copy, path) = (copy.to_string_lossy(), path.to_string_lossy());
    let tails = both.into_iter().filter_map(|(stream, captured)| tail(stream, captured));
    let with_path = |mut tail: StreamTail| {
        tail.lines.iter_mut().for_each(|line| *line = line.replace(&*copy, &path));
        tail
    };
    tails.map(with_path).collect()
}

/// Returns the last line that was printed, standard error first.
fn last_line(output: &[StreamTail]) -> Option<String> {
    const MAX_CHARACTERS: usize = 200;
    let lines = output.iter().rev().flat_map(|tail| tail.lines.iter().rev());
    let line = lines.map(|line| line.trim()).find(|line| !line.is_empty())?;
    Some(escape_control(line).chars().take(MAX_CHARACTERS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(String, Vec<String>), String> {
        let validator = ContentCheck::parse(text.to_owned()).map_err(|error| error.to_string())?;
        Ok((validator.program.clone(), validator.args_for(Path::new("/p"))))
    }

    #[test]
    fn the_path_takes_the_place_of_its_mark() {
        for (text, program, args) in [
            ("visudo -cf %s", "visudo", &["-cf", "/p"][..]),
            ("nginx -t '-c%s'", "nginx", &["-t", "-c/p"]),
            ("sh -c 'test \"$1\"' sh %s", "sh", &["-c", "test \"$1\"", "sh", "/p"]),
            ("a 100% %s", "a", &["100%", "/p"]),
        ] {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            assert_eq!(parsed(text), Ok((program.to_owned(), args)), "{text}");
        }
    }

    #[test]
    fn commands_without_exactly_one_mark_are_refused() {
        let once = |found| format!("`validate` needs `%s` exactly once among its arguments, found {found}");
        for (text, message) in [
            ("visudo -cf %", once(0)),
            ("diff %s %s", once(2)),
            ("%s", once(0)),
            ("", "`validate` names no program".to_owned()),
            ("a %s | b", "`|` needs a shell, and ccm starts `validate` without one".to_owned()),
            ("a '%s", "Unterminated single quote".to_owned()),
        ] {
            assert_eq!(parsed(text), Err(message), "{text}");
        }
    }

    #[test]
    fn the_copy_has_the_name_of_the_file_unless_a_shell_could_interpret_it() {
        for (path, expected) in [
            ("/etc/sudoers", "sudoers"),
            ("/etc/a-b_c+d@e.conf", "a-b_c+d@e.conf"),
            ("/etc/a b", "content"),
            ("/etc/$(reboot)", "content"),
            ("/etc/-rf", "content"),
        ] {
            assert_eq!(name(Path::new(path)), expected);
        }
    }
}
