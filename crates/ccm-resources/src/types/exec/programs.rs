//! Programs that the sandbox of a command may execute: `programs`.

use std::path::PathBuf;

use ccm_host::{AllowedPrograms, Command};
use ccm_model::{Diagnostic, Failure, FailureKind, Node, escape_control};
use ccm_properties::{PropertyError, PropertyKind, PropertyValue, TextKind, TextValue, ValueError, expected};
use ccm_shell::{ShellBudget, ShellContext, ShellDialect, ShellProgram, ShellReading, ShellSpan, read};

use super::command::{CommandLine, CommandSyntax, Exec, Guard};

/// Hint of every text whose programs are not known.
pub(super) const LIST_THEM: &str =
    "name the programs in a list, `programs: [NAME, …]`, or use `programs: any`";

/// Programs that may be executed in a sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum SandboxPrograms {
    /// Every program that the command sees.
    #[default]
    Any,
    /// Those that the text of the command names.
    Analysed,
    /// The command, and those of this list.
    Listed(Vec<ProgramName>),
}

/// Name of a program, which is looked up in PATH, or its absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramName(pub String);

impl TextValue for ProgramName {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^(/.*|[^/]+)$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let is_program = !matches!(text, "" | "." | "..") && !text.contains('\0') && !text.ends_with('/');
        if is_program && (text.starts_with('/') || !text.contains('/')) {
            return Ok(Self(text.to_owned()));
        }
        let message =
            format!("`{}` is neither a name nor an absolute path of a program", escape_control(text));
        Err(ValueError::new(message).with_hint("write a name like `tar`, or a path like `/opt/app/bin/tool`"))
    }
}

impl PropertyValue for SandboxPrograms {
    const KIND: PropertyKind = PropertyKind::Either(&[
        PropertyKind::Words(&["any", "analysed"]),
        PropertyKind::List(&<ProgramName as TextValue>::KIND),
    ]);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        const EXPECTED: &str = "`any`, `analysed` or a list of programs";
        if node.as_list().is_some() {
            return Vec::<ProgramName>::decode(node, errors).map(Self::Listed);
        }
        match node.as_text() {
            Some("any") => Some(Self::Any),
            Some("analysed") => Some(Self::Analysed),
            Some(text) => {
                let error = ValueError::not_one_of(text, &["any", "analysed"]);
                errors.push(
                    error
                        .with_hint(format!("to allow one program, write `[{}]`", escape_control(text)))
                        .at(node.span),
                );
                None
            }
            None => {
                errors.push(expected(EXPECTED, node));
                None
            }
        }
    }
}

/// Text whose programs are not known.
struct NotAnalysed {
    message: String,
    hint: String,
    span: ShellSpan,
}

impl Exec {
    fn sandbox_programs(&self) -> &SandboxPrograms {
        const ANY: &SandboxPrograms = &SandboxPrograms::Any;
        self.sandbox.as_ref().and_then(|sandbox| sandbox.programs.as_ref()).unwrap_or(ANY)
    }

    /// Lets the sandbox of a complete command execute only the programs that the manifest allows.
    pub(crate) fn allow_programs(&self, line: &CommandLine, command: &mut Command) -> Result<(), Failure> {
        let allowed = match self.sandbox_programs() {
            SandboxPrograms::Any => return Ok(()),
            SandboxPrograms::Listed(names) => AllowedPrograms {
                programs: names.iter().map(|name| PathBuf::from(&name.0)).collect(),
                are_analysed: false,
            },
            SandboxPrograms::Analysed => {
                let directory = command.cwd.to_string_lossy();
                let variables = command.environment.iter();
                let context = ShellContext {
                    directory: &directory,
                    variables: variables.map(|(name, value)| (&**name, &**value)).collect(),
                };
                let programs = analysed(self.syntax, line, &context, self.sensitive).map_err(|error| {
                    Failure::new(FailureKind::Start, error.message)
                        .of_property("command")
                        .with_hint(error.hint)
                })?;
                AllowedPrograms { programs, are_analysed: true }
            }
        };
        if let Some(sandbox) = &mut command.sandbox {
            sandbox.programs = Some(allowed);
        }
        Ok(())
    }

    /// Returns the errors of texts whose programs can't be known, before anything runs.
    pub(crate) fn program_errors(&self) -> Vec<PropertyError> {
        if *self.sandbox_programs() != SandboxPrograms::Analysed {
            return Vec::new();
        }
        // Variables that are known later have some value then.
        let later = ["HOME", "PWD", "TMPDIR"].map(|name| (name, "/"));
        let environment = self.environment.iter().map(|(name, value)| (&**name, &**value));
        let path = self.path.iter().map(|path| ("PATH", &**path));
        let context = ShellContext {
            directory: "/",
            variables: later.into_iter().chain(environment).chain(path).collect(),
        };
        let error = |property, element, line: &CommandLine| {
            let error = analysed(self.syntax, line, &context, self.sensitive).err()?;
            let located = PropertyError::invalid(property, error.message, error.hint).at_element(element);
            let range = error.span.range();
            Some(if range.is_empty() { located } else { located.at_bytes(range) })
        };
        let guards = |property, guards: &[Guard]| {
            guards
                .iter()
                .enumerate()
                .filter_map(|(element, guard)| error(property, Some(element), &guard.line))
                .collect::<Vec<_>>()
        };
        let mut errors: Vec<PropertyError> = error("command", None, &self.line).into_iter().collect();
        errors.extend(guards("onlyif", &self.onlyif));
        errors.extend(guards("unless", &self.unless));
        errors
    }
}

/// Returns the programs that a command starts besides its own program.
fn analysed(
    syntax: CommandSyntax,
    line: &CommandLine,
    context: &ShellContext<'_>,
    is_sensitive: bool,
) -> Result<Vec<PathBuf>, NotAnalysed> {
    let (CommandSyntax::Shell, [.., text]) = (syntax, &*line.args) else { return Ok(Vec::new()) };
    let not_analysed = |span, message: String, hint: Option<String>| NotAnalysed {
        // Messages may quote the text.
        message: if is_sensitive {
            "the programs of this text, which `programs: analysed` allows, can't be determined".to_owned()
        } else {
            format!(
                "the programs of this text, which `programs: analysed` allows, can't be determined: {message}"
            )
        },
        hint: hint.filter(|_| !is_sensitive).unwrap_or_else(|| LIST_THEM.to_owned()),
        span,
    };
    let reading = read(text, ShellDialect::Sh, context, &mut ShellBudget::default())
        .map_err(|error| not_analysed(error.span, error.message.clone(), error.hint.map(str::to_owned)))?;
    programs(&reading).map_err(|(span, reason)| not_analysed(span, reason, None))
}

/// Returns the programs of a reading, as names and absolute paths.
fn programs(reading: &ShellReading) -> Result<Vec<PathBuf>, (ShellSpan, String)> {
    let programs = reading.programs().map_err(|unknown| (unknown.span, unknown.to_string()))?;
    Ok(programs.iter().flat_map(ShellProgram::candidates).map(PathBuf::from).collect())
}
