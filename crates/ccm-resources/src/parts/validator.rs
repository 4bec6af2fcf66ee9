//! Commands that check new content before it takes the place of the old.

use std::path::Path;
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{
    Command, Executor, FileAttributes, FileError, Finished, Host, InspectOptions, Launch, LaunchPlan,
    NewContent, NewFile, PrivateDirectory, Role, StartError, run_launched,
};
use ccm_model::{
    DiagnosticKind, Failure, FailureKind, Node, NodeValue, Resource, SplitErrorKind, Stream, StreamTail,
    escape_control, shell_syntax, split_words,
};
use ccm_properties::{
    CommandPlace, CommandSubject, CommandsView, OneOrMany, PropertyError, Text, WrittenCommand, WrittenLine,
};

use crate::support::file_failure::file_failure;
use crate::support::left_running::left_running;
use crate::support::output_tail::tail;
use crate::support::program::start_failure;

const TIMEOUT: Duration = Duration::from_secs(60);
/// Name of the new content if the name of the file has characters that a shell could interpret.
const PLAIN_NAME: &str = "content";

/// Directory like those that hold private copies.
const ANY_PRIVATE_DIRECTORY: &str = "/tmp/ccm-private";

/// Maximum size of content that a command has changed.
const MAX_PROCESSED: u64 = 64 << 20;

/// Property with commands for new content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandProperty {
    name: &'static str,
    name_alone: &'static [&'static str],
    /// Text that stands for the path of the content.
    place: &'static str,
    /// A command without this text gets the path as its last argument.
    is_appended: bool,
    example: &'static str,
    refused: &'static str,
    hint: &'static str,
    /// What is said of a command that does not end.
    unfinished: &'static str,
}

/// Advice for a command that does not end.
const HANGS: &str =
    "find out what the command waits for: it has no terminal and no input, and the file was left as it was";

/// Commands that check new content.
pub(crate) const VALIDATE: CommandProperty = CommandProperty {
    name: "validate",
    name_alone: &["validate"],
    place: "%s",
    is_appended: false,
    example: "visudo -cf %s",
    refused: "`validate` refused the new content",
    hint: "correct the content: the file was left as it was",
    unfinished: "`validate` did not finish",
};

/// Commands that change new content.
pub(crate) const POST: CommandProperty = CommandProperty {
    name: "post",
    name_alone: &["post"],
    place: "{}",
    is_appended: true,
    example: "gofmt -w {}",
    refused: "a command of `post` failed",
    hint: "correct the command or the template: the file was left as it was",
    unfinished: "a command of `post` did not finish",
};

/// Command for new content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContentCheck {
    property: CommandProperty,
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
            match Self::parse(VALIDATE, text.0) {
                Ok(validator) => validators.push(validator),
                Err(error) => errors.push(error.at_element(is_list.then_some(number))),
            }
        }
        validators
    }

    pub(crate) fn parse(property: CommandProperty, text: String) -> Result<Self, PropertyError> {
        let CommandProperty { name, place, example, .. } = property;
        let invalid = |kind, message: String| PropertyError::new(kind, name, message);
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
            let message = format!("`{shown}` needs a shell, and ccm starts `{name}` without one");
            let hint = format!(
                "put the commands into a script, or write `sh -c 'COMMANDS' sh {place}`, where `$1` is the file"
            );
            return Err(invalid(DiagnosticKind::Syntax, message).with_hint(hint).at_bytes(found.range));
        }
        let program = words.next().unwrap_or_default();
        let mut args: Vec<String> = words.collect();
        if program.is_empty() {
            return Err(invalid(DiagnosticKind::InvalidValue, format!("`{name}` names no program")));
        }
        let mut places = args.iter().map(|arg| arg.matches(place).count()).sum::<usize>();
        if property.is_appended && places == 0 {
            args.push(place.to_owned());
            places = 1;
        }
        if places != 1 || program.contains(place) {
            let message =
                format!("`{name}` needs `{place}` exactly once among its arguments, found {places}");
            let hint =
                format!("write `{place}` where the command takes the path of the file, as in `{example}`");
            return Err(invalid(DiagnosticKind::InvalidValue, message).with_hint(hint));
        }
        Ok(Self { property, text, program, args })
    }

    fn args_for(&self, path: &Path) -> Vec<String> {
        let path = path.to_string_lossy();
        self.args.iter().map(|arg| arg.replace(self.property.place, &path)).collect()
    }
}

impl CommandsView for CommandProperty {
    /// Returns the commands of the property as far as they are known before a run: a path like those of private copies
    /// stands for the content.
    fn commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        let mut nodes = resource.properties.get(self.name).into_iter().collect::<Vec<_>>();
        let mut commands = Vec::new();
        while let Some(node) = nodes.pop() {
            match &node.value {
                NodeValue::List(list) => nodes.extend(list.iter().rev()),
                NodeValue::Map(map) => nodes.extend(map.entries().iter().rev().map(|entry| &entry.value)),
                NodeValue::Scalar(_) => commands.extend(written_command(*self, resource, node)),
            }
        }
        commands
    }
}

fn written_command(property: CommandProperty, resource: &Resource, node: &Node) -> Option<WrittenCommand> {
    let check = ContentCheck::parse(property, node.as_text()?.to_owned()).ok()?;
    let file = name(Path::new(&*resource.id.name));
    let arguments = check.args_for(&Path::new(ANY_PRIVATE_DIRECTORY).join(file));
    Some(WrittenCommand {
        span: node.span,
        subject: CommandSubject {
            line: WrittenLine::Words(std::iter::once(check.program).chain(arguments).collect()),
            directory: "/".to_owned(),
            environment: Vec::new(),
            input: None,
            place: CommandPlace::Host,
        },
        properties: property.name_alone,
    })
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
    let directory = private_directory(VALIDATE, host)?;
    let copy = directory.path().join(name(new.path));
    for validator in validators {
        // Each command gets the content itself: one before may have written to its file.
        write_copy(VALIDATE, &copy, new.content, host)?;
        run(validator, new, &copy, host.executor, context).await?;
        if has_changed(&copy, new.content, host) {
            let shown = format!("`{}`", escape_control(&validator.text));
            let command = if new.sensitive { "a command of `validate`" } else { &*shown };
            context.warn(format!("{command} changed its private copy of the content, which has no effect"));
        }
    }
    remove(VALIDATE, directory, context);
    Ok(())
}

/// Returns `true` if a command has written to its copy of the content.
fn has_changed(copy: &Path, content: &[u8], host: Host<'_>) -> bool {
    let limit = content.len() as u64;
    // A copy that is gone, longer, or no file any more has changed too.
    host.files.content(copy, limit).ok().flatten().is_none_or(|found| found != content)
}

/// Content that commands have changed.
pub(crate) struct ProcessedContent {
    pub content: Vec<u8>,
    /// The commands have made the file a program.
    pub is_executable: bool,
}

/// Runs commands on one private copy of new content, one after the other, and returns what they make of it. The
/// states that were read before stay valid, because the commands are to change their copy alone.
pub(crate) async fn process(
    commands: &[&ContentCheck],
    new: NewText<'_>,
    context: &mut Context<'_>,
) -> Result<ProcessedContent, Failure> {
    let (host, executor) = (context.host, context.queries);
    let directory = private_directory(POST, host)?;
    let copy = directory.path().join(name(new.path));
    write_copy(POST, &copy, new.content, host)?;
    for command in commands {
        run(command, new, &copy, executor, context).await?;
    }
    let refused = |error: &FileError| file_failure(error).because_of(POST.refused).of_property(POST.name);
    let found = host.files.inspect(&copy, InspectOptions::default()).map_err(|error| refused(&error))?;
    let made = host.files.content(&copy, MAX_PROCESSED).map_err(|error| refused(&error))?;
    let made = made.ok_or_else(|| {
        let message = format!("the content grew to more than {} MiB", MAX_PROCESSED >> 20);
        Failure::conflict(message).because_of(POST.refused).of_property(POST.name)
    })?;
    remove(POST, directory, context);
    let is_executable = found.target.is_some_and(|file| file.mode & 0o100 != 0);
    Ok(ProcessedContent { content: made, is_executable })
}

pub(crate) fn private_directory(
    property: CommandProperty,
    host: Host<'_>,
) -> Result<PrivateDirectory, Failure> {
    host.system.private_directory(None).map_err(|error| {
        Failure::from_error(FailureKind::Start, &error)
            .because_of(format!("a private directory for `{}` could not be made", property.name))
            .of_property(property.name)
    })
}

fn write_copy(property: CommandProperty, copy: &Path, content: &[u8], host: Host<'_>) -> Result<(), Failure> {
    let attributes = FileAttributes { mode: Some(0o600), ..FileAttributes::default() };
    let file = NewFile { content: NewContent::Bytes(content), attributes };
    let written = host.files.write(copy, &file);
    written.map(drop).map_err(|error| file_failure(&error).of_property(property.name))
}

pub(crate) fn remove(property: CommandProperty, directory: PrivateDirectory, context: &mut Context<'_>) {
    if let Err(error) = directory.remove() {
        context.warn(format!("the private copy for `{}` could not be removed: {error}", property.name));
    }
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

/// Runs one command on the copy.
async fn run(
    validator: &ContentCheck,
    new: NewText<'_>,
    copy: &Path,
    executor: &dyn Executor,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let property = validator.property;
    let launch = Launch {
        timeout: Some(TIMEOUT),
        sensitive: new.sensitive,
        manifest_directory: context.directory.to_owned(),
        ..Launch::default()
    };
    let command = |plan: &dyn LaunchPlan| {
        let command = plan.command(&validator.program, &validator.args_for(copy))?;
        Ok(Command { role: Role::Check, ..command })
    };
    let (finished, closed) =
        run_launched(executor, &launch, command, context.cancellation, &mut |_, _| {}).await;
    closed.warnings.into_iter().for_each(|warning| context.warn(warning));
    let finished = finished.map_err(|error| not_started(property, &error))?;
    for process in &finished.left_running {
        context.warn(left_running(process, &format!(" by `{}`", property.name)));
    }
    let shown = format!("`{}`", escape_control(&validator.text));
    let mut failure = match finished.exit.code(&shown) {
        Ok(0) => return Ok(()),
        Ok(code) => Failure::new(FailureKind::Exit, format!("{shown} exited with {code}")),
        Err(failure) => failure,
    };
    if !new.sensitive {
        failure.output = tails(&finished, copy, new.path);
        failure.chain.extend(last_line(&failure.output));
    }
    let failure = match failure.kind {
        FailureKind::Stopped => failure.because_of(property.unfinished),
        FailureKind::Timeout => failure.because_of(property.unfinished).with_hint(HANGS),
        _ => failure.because_of(property.refused).with_hint(property.hint),
    };
    Err(failure.of_property(property.name))
}

fn not_started(property: CommandProperty, error: &StartError) -> Failure {
    let failure = start_failure(error, Some("install the program with an earlier resource"));
    let is_refusal = failure.kind.is_refusal();
    let failure =
        if is_refusal { failure } else { failure.because_of(format!("`{}` failed to run", property.name)) };
    failure.of_property(property.name)
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
        let validator = ContentCheck::parse(VALIDATE, text.to_owned()).map_err(|error| error.to_string())?;
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
    fn commands_of_post_may_leave_out_the_mark() {
        for (text, args) in [("gofmt -w", &["-w", "/p"][..]), ("sed -i s/a/b/ {}", &["-i", "s/a/b/", "/p"])] {
            let command = ContentCheck::parse(POST, text.to_owned()).expect("a command");
            assert_eq!(command.args_for(Path::new("/p")), args, "{text}");
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
