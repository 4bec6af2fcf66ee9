//! From a request to its commands and their effects.

mod arguments;
mod awk;
mod bind_mounts;
mod builtins;
mod calculators;
mod code;
mod code_origins;
mod command_lines;
mod compilers;
mod containers;
mod credentials;
mod curl_globs;
mod databases;
mod debuggers;
mod destinations;
mod downloads;
mod entries;
mod env;
mod exact;
mod file_roles;
mod find;
mod findings;
mod formatters;
mod git;
mod handlers;
mod interpreter_variables;
mod interpreters;
mod make;
mod metadata;
mod modes;
mod modules;
mod name_lists;
mod network;
mod node;
mod objects;
mod operand_roles;
mod parallel;
mod path_effects;
mod paths;
mod perl;
mod possible_options;
mod printed_dates;
mod printed_numbers;
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
mod temporary_files;
#[cfg(test)]
mod tests;
mod texts;
mod variable_names;
mod variable_tables;
mod variables;
mod whole_names;
mod whole_reads;

use std::ops::Range;
use std::sync::Arc;

use ccm_shell::{
    ShellBudget, ShellCommand, ShellDialect, ShellDirectories, ShellSearchPath, ShellSpan, ShellWord,
    UnreadableText, join_path,
};

use crate::analysis::{AnalysedCommand, Analysis, AnalysisLimits, FindingOrigin};
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
    /// A command sets `HOME`, which `cd` follows in the texts that it runs.
    sets_home: bool,
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
    /// Output of commands of the text, by their range; an empty range if they are not known.
    Pipe(Range<usize>),
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
            sets_home: false,
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
}

impl CommandContext {
    /// Returns the context of a command that a command runs.
    fn within(&self, parent: usize) -> Self {
        Self { parent: Some(parent), ..self.clone() }
    }
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
