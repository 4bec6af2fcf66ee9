//! A complete exec, built from its properties as they are written.

use std::path::PathBuf;
use std::time::Duration;

use ccm_host::search_path;
use ccm_model::{
    DiagnosticKind, NodeMap, SplitError, SplitErrorKind, escape_control, quote_words, split_words,
};
use ccm_properties::{OneOrMany, PropertyError, Text};

use super::capture::Captures;
use super::executor::{ExecutorSettings, SettingsError, container};
use super::expect::Expectations;
use super::profile::profile_conflicts;
use super::properties::ExecProperties;
use super::sandbox::SandboxProperties;
use super::shell_syntax;
use super::values::{ExitCodeValue, LogOutput, Tries};
use crate::support::values::absolute_path::AbsolutePath;
use crate::support::values::timeout::Timeout;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);
const DEFAULT_TRY_SLEEP: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandSyntax {
    Words,
    Shell,
}

/// Program and arguments. The program is not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    pub program: String,
    pub args: Vec<String>,
}

/// Guard: its text, and the command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    pub text: String,
    pub line: CommandLine,
}

#[derive(Clone, Debug)]
pub(crate) struct Exec {
    pub name: String,
    /// `true` if `command` is not given.
    pub command_is_name: bool,
    pub syntax: CommandSyntax,
    pub line: CommandLine,
    pub cwd: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
    pub path: Option<String>,
    pub returns: Vec<u8>,
    pub unchanged_returns: Vec<u8>,
    pub timeout: Option<Duration>,
    pub creates: Vec<PathBuf>,
    pub onlyif: Vec<Guard>,
    pub unless: Vec<Guard>,
    pub refresh_only: bool,
    pub refresh_respects_guards: bool,
    pub logoutput: LogOutput,
    pub stdin: Option<String>,
    pub tries: usize,
    pub try_sleep: Duration,
    pub expect: Option<Expectations>,
    pub capture: Captures,
    pub executor: Option<ExecutorSettings>,
    pub sensitive: bool,
    pub user: Option<String>,
    pub group: Option<String>,
    pub umask: Option<u32>,
    pub sandbox: Option<SandboxProperties>,
}

fn split_error(property: &'static str, error: SplitError) -> PropertyError {
    let hint = match error.kind {
        SplitErrorKind::SingleQuote | SplitErrorKind::DoubleQuote => {
            "close the quote, or put a backslash before it"
        }
        SplitErrorKind::Backslash => "write `\\\\` for a backslash",
    };
    let message = format!("`{property}` can't be split into words: {error}");
    PropertyError::new(DiagnosticKind::Syntax, property, message).with_hint(hint).at_byte(error.at)
}

impl Exec {
    /// Builds an exec from its properties, or returns every error in them.
    pub(crate) fn build(
        name: &str,
        syntax: CommandSyntax,
        written: ExecProperties,
        settings: &NodeMap,
    ) -> Result<Self, Vec<PropertyError>> {
        let mut errors: Vec<PropertyError> = empty_properties(&written).collect();
        let executor = written.executor.as_deref().and_then(|name| {
            ExecutorSettings::find(settings, name).map_err(|error| errors.push(no_executor(name, error))).ok()
        });
        let mut conflicts = conflicting_places(&written);
        conflicts.extend(executor.iter().flat_map(|executor| container::conflicts(executor, &written)));
        let command_is_name = written.command.is_none();
        let text = written.command.as_deref().unwrap_or(name);
        let line = match (syntax, &written.args) {
            (CommandSyntax::Words, Some(args)) => program_alone(text, args),
            (CommandSyntax::Shell, Some(_)) => Err(PropertyError::conflict(
                "args",
                "`args` has no meaning for the shell provider",
                "write the arguments into `command`, or drop `provider: shell`",
            )),
            (_, None) => command_line(syntax, text, "command"),
        };
        let line = line.map_err(|error| errors.push(error)).ok();
        let mut guards =
            |guards: Option<OneOrMany<Text>>, property| all_guards(guards, property, syntax, &mut errors);
        let onlyif = guards(written.onlyif, "onlyif");
        let unless = guards(written.unless, "unless");
        if let Some(executor) = &executor {
            errors.extend(not_allowed(executor, text, written.args.as_deref()));
            for (property, guards) in [("onlyif", &onlyif), ("unless", &unless)] {
                errors.extend(guards.iter().enumerate().filter_map(|(element, guard)| {
                    let (message, hint) = executor.refusal(&guard.text)?;
                    Some(PropertyError::invalid(property, message, hint).at_element(Some(element)))
                }));
            }
        }
        let codes =
            |codes: Option<Vec<ExitCodeValue>>| codes.map(|codes| codes.iter().map(|code| code.0).collect());
        let expected = written.expect.as_ref().and_then(|expect| expect.exit_code);
        let given = [
            ("returns", written.returns.is_some()),
            ("unchanged_returns", written.unchanged_returns.is_some()),
        ];
        if let (Some(_), Some((conflict, _))) = (expected, given.iter().find(|(_, given)| *given)) {
            let message = format!("`{conflict}` and `exit_code` of `expect` are both given");
            errors.push(PropertyError::conflict(conflict, message, "keep one of them"));
        }
        let unchanged_returns: Vec<u8> = codes(written.unchanged_returns).unwrap_or_default();
        let returns: Vec<u8> = codes(written.returns).unwrap_or_else(|| {
            let code = expected.map_or(0, |expected| expected.0);
            // A default that nobody wrote does not contradict what is written.
            if unchanged_returns.contains(&code) { Vec::new() } else { vec![code] }
        });
        if expected.is_none() {
            errors.extend(exit_code_errors(&returns, &unchanged_returns));
        }
        let environment = written.environment.unwrap_or_default().0;
        errors.extend(conflicts);
        errors.extend(written.sandbox.iter().flat_map(profile_conflicts));
        let line = line.filter(|_| errors.is_empty()).ok_or(errors)?;
        let exec = Self {
            name: name.to_owned(),
            command_is_name,
            syntax,
            line,
            cwd: written.cwd.map(|cwd| cwd.0),
            environment,
            path: written.path.map(|path| path.0),
            returns,
            unchanged_returns,
            timeout: written.timeout.unwrap_or(Timeout(Some(DEFAULT_TIMEOUT))).0,
            creates: paths(written.creates),
            onlyif,
            unless,
            refresh_only: written.refresh_only.unwrap_or_default(),
            refresh_respects_guards: written.refresh_respects_guards.unwrap_or_default(),
            logoutput: written.logoutput.unwrap_or_default(),
            stdin: written.stdin.map(|text| text.0),
            tries: written.tries.unwrap_or(Tries(1)).0,
            try_sleep: written.try_sleep.unwrap_or(DEFAULT_TRY_SLEEP),
            expect: written.expect,
            capture: written.capture.unwrap_or_default(),
            executor,
            sensitive: written.sensitive.unwrap_or_default(),
            user: written.user.map(|user| user.0),
            group: written.group.map(|group| group.0),
            umask: written.umask.map(|umask| umask.0),
            sandbox: written.sandbox,
        };
        let errors = exec.program_errors();
        if errors.is_empty() { Ok(exec) } else { Err(errors) }
    }

    /// Returns the texts to redact: words of the command and its guards, values of variables, input.
    pub(crate) fn texts_to_redact(&self) -> impl Iterator<Item = &str> {
        let values = self.environment.iter().map(|(_, value)| value);
        let guards = self.onlyif.iter().chain(&self.unless).map(|guard| &guard.line);
        let lines = guards.chain([&self.line]);
        let words = lines.flat_map(|line| line.args.iter().chain([&line.program]));
        words.chain(values).chain(&self.stdin).map(String::as_str)
    }

    /// Returns the error of a missing command, which differs between the providers.
    fn nothing_to_run(syntax: CommandSyntax) -> &'static str {
        match syntax {
            CommandSyntax::Words => "no command specified",
            CommandSyntax::Shell => "no command to execute",
        }
    }
}

/// Returns an error for each of `expect` and `capture` that is empty.
fn empty_properties(written: &ExecProperties) -> impl Iterator<Item = PropertyError> {
    let expect = written.expect.as_ref().filter(|expect| expect.is_empty()).map(|_| {
        PropertyError::new(DiagnosticKind::Missing, "expect", "`expect` is empty")
            .with_hint("use `exit_code`, `stdout`, `stderr` or `stdout_json`")
    });
    let capture = written.capture.as_ref().filter(|capture| capture.0.is_empty()).map(|_| {
        PropertyError::new(DiagnosticKind::Missing, "capture", "`capture` names nothing")
            .with_hint("write `NAME: stdout.json.KEY`, or leave out `capture`")
    });
    expect.into_iter().chain(capture)
}

/// Errors of a search path and of a working directory that are given twice.
fn conflicting_places(written: &ExecProperties) -> Vec<PropertyError> {
    let mut errors = Vec::new();
    let environment = written.environment.as_ref();
    if written.path.is_some() && environment.is_some_and(|all| search_path(&all.0).is_some()) {
        let message = "PATH is given twice, here and as `path`";
        let hint = "keep `path`: ccm finds the command with it, and passes it to the command";
        errors.push(PropertyError::conflict("environment", message, hint));
    }
    let names_workdir = written.sandbox.as_ref().is_some_and(|sandbox| sandbox.workdir.is_some());
    if written.cwd.is_some() && names_workdir {
        let message = "`cwd` and `workdir` of the sandbox are both given";
        let hint = "keep `workdir`: the command starts there";
        errors.push(PropertyError::conflict("cwd", message, hint));
    }
    errors
}

fn no_executor(name: &str, error: SettingsError) -> PropertyError {
    match error {
        SettingsError::Unknown(hint) => PropertyError::new(
            DiagnosticKind::UnknownReference,
            "executor",
            format!("there is no executor `{}`", escape_control(name)),
        )
        .with_hint(hint),
        SettingsError::Invalid => {
            let message = format!("the executor `{}` is not valid", escape_control(name));
            PropertyError::new(DiagnosticKind::InvalidValue, "executor", message).following()
        }
    }
}

/// Returns the error of a command that an executor does not allow. The error is located at
/// the first property with an expression, because errors there wait until the value is known.
fn not_allowed(executor: &ExecutorSettings, text: &str, args: Option<&[Text]>) -> Option<PropertyError> {
    let words = args.map(|args| std::iter::once(text).chain(args.iter().map(|arg| &**arg)));
    let command = words.map_or_else(|| text.to_owned(), quote_words);
    let (message, hint) = executor.refusal(&command)?;
    let has_expression = |text: &str| text.contains("{{") || text.contains("${");
    let element = args
        .filter(|_| !has_expression(text))
        .and_then(|args| args.iter().position(|arg| has_expression(arg)));
    let property = if element.is_some() { "args" } else { "command" };
    Some(PropertyError::invalid(property, message, hint).at_element(element))
}

fn paths(written: Option<OneOrMany<AbsolutePath>>) -> Vec<PathBuf> {
    written.map(|paths| paths.0.into_iter().map(|path| path.0).collect()).unwrap_or_default()
}

fn exit_code_errors(returns: &[u8], unchanged_returns: &[u8]) -> Vec<PropertyError> {
    let mut errors = Vec::new();
    if returns.is_empty() && unchanged_returns.is_empty() {
        errors.push(PropertyError::new(
            DiagnosticKind::InvalidValue,
            "returns",
            "no exit code means success",
        ));
    }
    for (element, code) in unchanged_returns.iter().enumerate().filter(|(_, code)| returns.contains(code)) {
        let message = format!("exit code {code} is in `returns` as well");
        let error = PropertyError::new(DiagnosticKind::Conflict, "unchanged_returns", message)
            .at_element(Some(element));
        errors.push(error.with_hint("set `returns` without this code"));
    }
    errors
}

/// Returns the beginning of a text, for a message.
fn shortened(text: &str) -> String {
    const MAX: usize = 60;
    let start: String = text.chars().take(MAX).collect();
    let dots = if start.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", escape_control(&start))
}

fn program_alone(program: &str, args: &[Text]) -> Result<CommandLine, PropertyError> {
    if program.is_empty() {
        return Err(PropertyError::new(
            DiagnosticKind::Missing,
            "command",
            Exec::nothing_to_run(CommandSyntax::Words),
        ));
    }
    // A program with a blank in its name is found only by its path.
    if !program.contains('/') && program.trim().contains(char::is_whitespace) {
        let mut words = program.split_whitespace();
        let first = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let message = format!(
            "`command` is the program alone because of `args`, and \"{}\" is no program",
            shortened(program.trim())
        );
        let error = PropertyError::new(DiagnosticKind::InvalidValue, "command", message);
        let hint = format!(
            "write `command: {}`, and put the other words at the beginning of `args`: {}",
            shortened(first),
            shortened(&rest.join(", "))
        );
        return Err(error.with_hint(hint));
    }
    let nul = args.iter().position(|arg| arg.contains('\0'));
    if program.contains('\0') || nul.is_some() {
        let property = if nul.is_some() { "args" } else { "command" };
        return Err(PropertyError::new(
            DiagnosticKind::InvalidValue,
            property,
            "the text holds a NUL character",
        )
        .at_element(nul));
    }
    Ok(CommandLine { program: program.to_owned(), args: args.iter().map(|arg| arg.0.clone()).collect() })
}

fn command_line(
    syntax: CommandSyntax,
    text: &str,
    property: &'static str,
) -> Result<CommandLine, PropertyError> {
    let nothing = || match property {
        "onlyif" | "unless" => {
            PropertyError::new(DiagnosticKind::Missing, property, format!("`{property}` is empty"))
                .with_hint(format!("write a command, or remove `{property}`"))
        }
        _ => PropertyError::new(DiagnosticKind::Missing, property, Exec::nothing_to_run(syntax)),
    };
    if let Some(byte) = text.find('\0') {
        return Err(PropertyError::new(
            DiagnosticKind::InvalidValue,
            property,
            "the text holds a NUL character",
        )
        .at_byte(byte));
    }
    match syntax {
        CommandSyntax::Shell if text.trim().is_empty() => Err(nothing()),
        CommandSyntax::Shell => {
            Ok(CommandLine { program: "/bin/sh".to_owned(), args: vec!["-c".to_owned(), text.to_owned()] })
        }
        CommandSyntax::Words => {
            let words = split_words(text).map_err(|error| split_error(property, error))?;
            if let Some(error) = shell_syntax::error(text, property) {
                return Err(error);
            }
            let mut words = words.into_iter();
            let program = words.next().filter(|program| !program.is_empty()).ok_or_else(nothing)?;
            Ok(CommandLine { program, args: words.collect() })
        }
    }
}

fn all_guards(
    written: Option<OneOrMany<Text>>,
    property: &'static str,
    syntax: CommandSyntax,
    errors: &mut Vec<PropertyError>,
) -> Vec<Guard> {
    let written = written.map(|guards| guards.0).unwrap_or_default();
    let one = |(element, text): (usize, Text)| match command_line(syntax, &text, property) {
        Ok(line) => Some(Guard { text: text.0, line }),
        Err(error) => {
            errors.push(error.at_element(Some(element)));
            None
        }
    };
    written.into_iter().enumerate().filter_map(one).collect()
}
