//! From a request to its commands and their effects.

mod arguments;
mod awk;
mod bind_mounts;
mod builtins;
mod calculators;
mod code;
mod code_origins;
mod containers;
mod credentials;
mod curl_globs;
mod databases;
mod destinations;
mod downloads;
mod entries;
mod env;
mod exact;
mod find;
mod git;
mod handlers;
mod interpreter_variables;
mod interpreters;
mod make;
mod metadata;
mod modes;
mod modules;
mod network;
mod node;
mod objects;
mod operand_roles;
mod parallel;
mod path_effects;
mod paths;
mod perl;
mod program_names;
mod programs;
mod projects;
mod python;
mod roles;
mod sed;
mod settings;
pub(crate) mod shell_words;
mod shells;
mod shown_secrets;
mod special_roles;
mod started;
#[cfg(test)]
mod tests;
mod variable_tables;
mod variables;
mod whole_reads;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use ccm_shell::{
    CommandRole, RedirectionOperator, ShellBudget, ShellCommand, ShellContext, ShellDialect,
    ShellDirectories, ShellInput, ShellReading, ShellSearchPath, ShellSpan, ShellWord, UnreadableKind,
    UnreadableText, join_path, read,
};

use crate::analysis::{
    AnalysedCommand, Analysis, AnalysisLimits, FindingOrigin, GuardFinding, UnreadableRequest, WayOut,
    WorkingPlace,
};
use crate::effect::Effect;
use crate::guard_class::GuardClass;
use crate::lookup::Lookup;
use crate::request::{PolicyRequest, RequestCommand, RequestInput};
use crate::verdict::PolicyVerdict;

/// Analyses a request: reads its text, and judges each simple command by its decoded words.
pub fn analyse(request: &PolicyRequest, lookup: &dyn Lookup, limits: &AnalysisLimits) -> Analysis {
    let mut analyser = Analyser::new(request, lookup, limits);
    let context = CommandContext {
        directories: Arc::new(ShellDirectories::one(join_path("/", &request.directory))),
        search_path: Arc::new(ShellSearchPath::Initial),
        input: match &request.input {
            RequestInput::Empty => CommandInput::Empty,
            RequestInput::Text(text) => CommandInput::Text(ShellWord::known(text, ShellSpan::default())),
            RequestInput::Unknown => CommandInput::Unknown,
        },
        dialect: ShellDialect::Sh,
        parent: None,
        depth: 0,
        span: None,
        at_most: None,
    };
    match &request.command {
        RequestCommand::Text { text, dialect } => {
            let context = CommandContext { dialect: *dialect, ..context.clone() };
            analyser.text(text, &context);
        }
        RequestCommand::Words(words) => analyser.argv(words, &context),
    }
    analyser.added_variables(&context);
    analyser.analysis
}

/// Maximum number of findings of a command, apart from the first of each class.
const MAX_FINDINGS: usize = 64;

/// Analyser of one request.
struct Analyser<'a> {
    request: &'a PolicyRequest,
    lookup: &'a dyn Lookup,
    limits: &'a AnalysisLimits,
    analysis: Analysis,
    budget: ShellBudget,
    /// Absolute path of the workspace, if there is one.
    workspace: Option<String>,
    is_restricted: bool,
    /// Number of effects and findings so far.
    effects: usize,
    /// Part of the command that is judged.
    origin: FindingOrigin,
}

/// Circumstances of a command.
#[derive(Clone)]
struct CommandContext {
    directories: Arc<ShellDirectories>,
    search_path: Arc<ShellSearchPath>,
    input: CommandInput,
    /// Shell of the text that the command is a part of.
    dialect: ShellDialect,
    parent: Option<usize>,
    depth: u32,
    /// Span of all commands of a text within a word.
    span: Option<ShellSpan>,
    /// Strictest verdict of what is found in a command that may be no command.
    at_most: Option<PolicyVerdict>,
}

/// Standard input of a command.
#[derive(Clone)]
enum CommandInput {
    Empty,
    Text(ShellWord),
    File(ShellWord),
    Pipe,
    Unknown,
}

impl<'a> Analyser<'a> {
    fn new(request: &'a PolicyRequest, lookup: &'a dyn Lookup, limits: &'a AnalysisLimits) -> Self {
        let workspace = request.workspace.as_ref();
        Self {
            request,
            lookup,
            limits,
            analysis: Analysis::default(),
            budget: ShellBudget::default(),
            workspace: workspace.map(|workspace| join_path("/", &workspace.path)),
            is_restricted: workspace.is_some_and(|workspace| workspace.is_restricted),
            effects: 0,
            origin: FindingOrigin::Words,
        }
    }

    /// Judges words that are started without a shell.
    fn argv(&mut self, words: &[String], context: &CommandContext) {
        let mut offset = 0;
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            let span = ShellSpan::new(offset, offset + word.len());
            offset += word.len() + 1;
            if let Err(error) = ccm_shell::check_characters(word) {
                let start = span.start as usize;
                let range = error.span.range();
                let span = ShellSpan::new(start + range.start, start + range.end);
                self.unreadable(UnreadableText { span, ..*error }, context);
                return;
            }
            all.push(ShellWord::known(word, span));
        }
        self.program(&all, &[], context);
    }

    /// Judges the variables that the caller adds to the environment.
    fn added_variables(&mut self, context: &CommandContext) {
        if self.analysis.commands.is_empty() {
            return;
        }
        let span = self.analysis.commands.first().map_or_else(ShellSpan::default, |command| command.span);
        for (name, value) in &self.request.added_variables {
            let value = ShellWord::known(value, span);
            let program =
                self.analysis.commands.first().and_then(AnalysedCommand::base_name).map(str::to_owned);
            self.with_origin(FindingOrigin::Variable, |analyser| {
                analyser.added_variable(0, name, &value, span, context);
                let call = exact::ExactCall { index: 0, name: "make", commands: &[], context };
                analyser.variable_of_make(call, name, &value, program.as_deref());
            });
        }
    }

    /// Judges a text for a shell, in the context of the command that runs the text.
    fn text(&mut self, text: &str, context: &CommandContext) {
        let Some(context) = self.nested(context) else { return };
        let environment = self.request.environment.iter();
        let variables: Vec<&(String, String)> = match context.depth {
            1 => environment.chain(&self.request.added_variables).collect(),
            _ => environment.filter(|(name, _)| name == "HOME").collect(),
        };
        let directories = &context.directories;
        let is_certain = directories.only().is_some();
        let shell = ShellContext {
            directory: directories.paths.first().map_or("/", String::as_str),
            variables: variables.into_iter().map(|(name, value)| (&**name, &**value)).collect(),
        };
        let whole = context.span.unwrap_or_default();
        if let Err(error) = self.budget.enter(whole) {
            self.unreadable(*error, &context);
            return;
        }
        match read(text, context.dialect, &shell, &mut self.budget) {
            Ok(reading) => self.reading(&reading, &context, is_certain),
            Err(error) => self.unreadable(*error, &context),
        }
        self.budget.leave();
    }

    /// Returns the context of what runs within a command, unless the nesting is too deep.
    fn nested(&mut self, context: &CommandContext) -> Option<CommandContext> {
        if context.depth >= self.limits.depth || self.analysis.commands.len() >= self.limits.commands {
            self.too_much(context);
            return None;
        }
        Some(CommandContext { depth: context.depth + 1, ..context.clone() })
    }

    fn too_much(&mut self, context: &CommandContext) {
        if let (Some(_), Some(parent)) = (context.at_most, context.parent) {
            // The words may be no commands.
            let what = "what stands behind the command may run too many others to follow";
            let span = context.span.unwrap_or_else(|| self.span(parent));
            self.finding(parent, GuardClass::ProgramUnknown, what, span, Some(WayOut::UseScript));
        } else if self.analysis.unreadable.is_none() {
            self.analysis.unreadable = Some(UnreadableRequest {
                class: GuardClass::Unreadable,
                message: "the command runs too many others to follow".to_owned(),
                hint: Some(WayOut::UseScript.text()),
                span: context.span.unwrap_or_default(),
            });
        }
    }

    fn unreadable(&mut self, error: UnreadableText, context: &CommandContext) {
        let class = match error.kind {
            UnreadableKind::Hidden => GuardClass::Hidden,
            UnreadableKind::Ambiguous => GuardClass::Ambiguous,
            _ => GuardClass::Unreadable,
        };
        if let (Some(_), Some(parent)) = (context.at_most, context.parent) {
            // The text may be none.
            let what = format!("a text behind the command can't be read: {}", error.message);
            self.finding(parent, GuardClass::Eval, what, context.span.unwrap_or_default(), None);
        } else if self.analysis.unreadable.is_none() {
            let span = context.span.unwrap_or(error.span);
            self.analysis.unreadable =
                Some(UnreadableRequest { class, message: error.message, hint: error.hint, span });
        }
    }

    fn reading(&mut self, reading: &ShellReading, context: &CommandContext, is_certain: bool) {
        let printed = printed(reading);
        let from = self.analysis.commands.len();
        for (position, command) in reading.commands.iter().enumerate() {
            let input = match &command.input {
                ShellInput::Inherited => context.input.clone(),
                ShellInput::Pipe(_) => CommandInput::Pipe,
                ShellInput::File(word) => CommandInput::File(word.clone()),
                ShellInput::Text(word) => CommandInput::Text(word.clone()),
                ShellInput::Unknown => CommandInput::Unknown,
            };
            let directories = if is_certain {
                Arc::clone(&command.directories)
            } else {
                let mut directories = ShellDirectories::clone(&command.directories);
                directories.is_unknown = true;
                Arc::new(directories)
            };
            let search_path = match *command.search_path {
                ShellSearchPath::Initial => Arc::clone(&context.search_path),
                _ => Arc::clone(&command.search_path),
            };
            let context = CommandContext { directories, search_path, input, ..context.clone() };
            let before = self.analysis.commands.len();
            self.shell_command(command, reading, &context);
            if printed.contains(&position) && self.analysis.commands.len() > before {
                // What is printed becomes a part of another command.
                for word in command.words.iter().skip(1) {
                    self.maybe_path(before, word, &context);
                }
            }
        }
        if reading.commands.len() > 1 {
            self.found_in_text(from);
        }
    }

    /// Judges a command of a text: its words, and what the shell itself does for the command.
    fn shell_command(&mut self, command: &ShellCommand, reading: &ShellReading, context: &CommandContext) {
        let words: Cow<'_, [ShellWord]> = match context.span {
            Some(span) => command.words.iter().map(|word| ShellWord { span, ..word.clone() }).collect(),
            None => Cow::Borrowed(&command.words),
        };
        let span = context.span.unwrap_or(command.span);
        let inner = CommandContext { span: context.span, ..context.clone() };
        let index = match command.role {
            CommandRole::Program => self.program(&words, &reading.commands, &inner),
            CommandRole::Builtin => self.builtin(&words, &reading.commands, &inner),
            CommandRole::Function | CommandRole::Construct => self.push(&words, None, span, &inner),
        };
        let Some(index) = index else { return };
        if context.span.is_none()
            && let Some(known) = self.analysis.commands.get_mut(index)
        {
            known.span = span;
        }
        self.with_origin(FindingOrigin::Variable, |analyser| {
            analyser.assignments(index, command, &words, &reading.commands, &inner);
        });
        self.with_origin(FindingOrigin::Redirection, |analyser| {
            analyser.redirections(index, command, &inner);
        });
        self.doubts(index, command, reading, &inner);
    }

    /// Judges the variables that are set for a command.
    fn assignments(
        &mut self,
        index: usize,
        command: &ShellCommand,
        words: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        for assignment in &command.assignments {
            let span = context.span.unwrap_or(assignment.span);
            let name = words.first().and_then(ShellWord::text);
            self.variable(index, &assignment.name, assignment.value.as_ref(), span, name.as_deref(), context);
            if let Some(value) = &assignment.value {
                let call = exact::ExactCall { index, name: "make", commands, context };
                // A makefile takes over what is passed on before.
                let is_passed_on = matches!(name.as_deref(), Some("export" | "declare" | "typeset"));
                let program =
                    if is_passed_on && make::names_make(commands) { Some("make") } else { name.as_deref() };
                self.variable_of_make(call, &assignment.name, value, program);
            }
            if let Some(command) = self.analysis.commands.get_mut(index) {
                command.variables.push(assignment.name.clone());
            }
        }
    }

    /// Judges the files that the shell opens for a command.
    fn redirections(&mut self, index: usize, command: &ShellCommand, context: &CommandContext) {
        for redirection in &command.redirections {
            let target = &redirection.target;
            if redirection.operator != RedirectionOperator::Duplicate
                && let Some(command) = self.analysis.commands.get_mut(index)
            {
                command.is_redirected = true;
            }
            match redirection.operator {
                RedirectionOperator::Read => self.read_path(index, target, context),
                RedirectionOperator::Write
                | RedirectionOperator::Append
                | RedirectionOperator::ReadWrite
                | RedirectionOperator::WriteBoth
                | RedirectionOperator::AppendBoth => self.write_path(index, target, context),
                RedirectionOperator::Duplicate
                | RedirectionOperator::HereDocument
                | RedirectionOperator::HereString => {}
            }
        }
    }

    /// Judges a part of a command.
    fn with_origin<R>(&mut self, origin: FindingOrigin, judge: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.origin, origin);
        let result = judge(self);
        self.origin = before;
        result
    }

    fn working_place(&self, directories: &ShellDirectories) -> WorkingPlace {
        let start = join_path("/", &self.request.directory);
        let is_below = |path: &String| paths::is_within(path, &start);
        if self.workspace.is_some() && !self.is_inside(&start) {
            WorkingPlace::Elsewhere
        } else if directories.only() == Some(&*start) {
            WorkingPlace::Start
        } else if !directories.is_unknown && directories.paths.iter().all(is_below) {
            WorkingPlace::Below
        } else {
            WorkingPlace::Elsewhere
        }
    }

    /// Adds a command without effects.
    fn push(
        &mut self,
        words: &[ShellWord],
        program: Option<crate::analysis::ProgramReference>,
        span: ShellSpan,
        context: &CommandContext,
    ) -> Option<usize> {
        if self.analysis.commands.len() >= self.limits.commands {
            self.too_much(context);
            return None;
        }
        let directory = context.directories.only().map(ToOwned::to_owned);
        let place = self.working_place(&context.directories);
        self.analysis.commands.push(AnalysedCommand {
            words: words.iter().map(shell_words::shown).collect(),
            program,
            options: Vec::new(),
            operands: Vec::new(),
            variables: Vec::new(),
            is_redirected: false,
            effects: Vec::new(),
            findings: Vec::new(),
            place,
            directory,
            directories: context.directories.paths.clone(),
            is_directory_unknown: context.directories.is_unknown,
            code_origins: Vec::new(),
            parent: context.parent,
            is_suspected: context.at_most.is_some(),
            span,
        });
        Some(self.analysis.commands.len() - 1)
    }

    fn effect(&mut self, index: usize, effect: Effect) {
        self.effects += 1;
        if self.effects > self.limits.effects {
            let span =
                self.analysis.commands.get(index).map_or_else(ShellSpan::default, |command| command.span);
            if self.analysis.unreadable.is_none() {
                self.analysis.unreadable = Some(UnreadableRequest {
                    class: GuardClass::Unreadable,
                    message: "the command has too many effects to follow".to_owned(),
                    hint: Some(WayOut::UseScript.text()),
                    span,
                });
            }
            return;
        }
        if let Some(command) = self.analysis.commands.get_mut(index)
            && !(command.effects.len() < 64 && command.effects.contains(&effect))
        {
            command.effects.push(effect);
        }
    }

    fn finding(
        &mut self,
        index: usize,
        class: GuardClass,
        what: impl Into<String>,
        span: ShellSpan,
        way_out: Option<WayOut>,
    ) {
        self.effects += 1;
        let Some(command) = self.analysis.commands.get_mut(index) else { return };
        // A class that is found over and over says no more.
        let is_known = command.findings.iter().any(|finding| finding.class == class);
        if command.findings.len() >= MAX_FINDINGS && is_known {
            return;
        }
        let origin = self.origin;
        let finding = GuardFinding { class, what: what.into(), span, at_most: None, way_out, origin };
        if !command.findings.contains(&finding) {
            command.findings.push(finding);
        }
    }

    /// Returns the span of a command.
    fn span(&self, index: usize) -> ShellSpan {
        self.analysis.commands.get(index).map_or_else(ShellSpan::default, |command| command.span)
    }
}

impl CommandContext {
    /// Returns the context of a command that a command runs.
    fn within(&self, parent: usize) -> Self {
        Self { parent: Some(parent), ..self.clone() }
    }
}

/// Returns the positions of commands whose output is their words, and becomes a part of another command.
fn printed(reading: &ShellReading) -> BTreeSet<usize> {
    let words = reading.commands.iter().flat_map(|command| {
        let values = command.assignments.iter().filter_map(|assignment| assignment.value.as_ref());
        let targets = command.redirections.iter().map(|redirection| &redirection.target);
        command.words.iter().chain(values).chain(targets)
    });
    let positions = words.flat_map(ShellWord::sources).flatten();
    let prints = |position: &usize| {
        let command = reading.commands.get(*position);
        let name = command.and_then(|command| command.words.first()).and_then(ShellWord::text);
        matches!(name.as_deref(), Some("echo" | "printf"))
    };
    positions.filter(prints).collect()
}

/// Returns `true` if one of the commands of a range fetches something from another machine.
fn downloads(commands: &[ShellCommand], range: Range<usize>) -> bool {
    commands.get(range).unwrap_or_default().iter().any(|command| {
        let mut words = command.words.iter().take(8).filter_map(ShellWord::text);
        words.any(|name| {
            let base = name.rsplit('/').next().unwrap_or_default().to_owned();
            crate::tables::find(&base).is_some_and(|entry| entry.downloads)
        })
    })
}
