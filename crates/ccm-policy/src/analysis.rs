//! Result of an analysis.

use ccm_shell::ShellSpan;

use crate::effect::Effect;
use crate::guard_class::GuardClass;
use crate::lookup::ProgramLocation;
use crate::verdict::{Caller, PolicyVerdict};

/// Simple commands that a request runs, with their effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// The commands, in the order of the text. Commands that another command runs, such as `rm` of `sudo rm`, follow
    /// that command.
    pub commands: Vec<AnalysedCommand>,
    /// Reason for which the request, or a text within, can't be read. Nothing may be run then.
    pub unreadable: Option<UnreadableRequest>,
}

/// Simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysedCommand {
    /// Decoded words: the program and its arguments. Empty for redirections and assignments alone.
    pub words: Vec<AnalysedWord>,
    /// The program; `None` for a builtin of the shell, a function, and assignments alone.
    pub program: Option<ProgramReference>,
    /// Options as the program parses them, in order.
    pub options: Vec<AnalysedOption>,
    /// Words that are neither the program nor options, in order.
    pub operands: Vec<AnalysedWord>,
    /// Variables that are set for the command, by name.
    pub variables: Vec<String>,
    /// Texts that are none of the command's words and that it runs or loads: code, and values of variables.
    pub codes: Vec<AnalysedWord>,
    /// The shell opens files for the command, or gives it a text as input.
    pub is_redirected: bool,
    /// Effects.
    pub effects: Vec<Effect>,
    /// Guard classes to which the command belongs, each with a reason. A class may appear several times.
    pub findings: Vec<GuardFinding>,
    /// Working directory, if it is known.
    pub directory: Option<String>,
    /// Place of the working directory.
    pub place: WorkingPlace,
    /// All directories in which the command may run, as far as they are known.
    pub directories: Vec<String>,
    /// The command may run in further directories, which are not known.
    pub is_directory_unknown: bool,
    /// Origins of the code that the command runs from files, as far as the words of the command name code.
    pub code_origins: Vec<CodeOrigin>,
    /// Position in [`Analysis::commands`] of the command that runs this command.
    pub parent: Option<usize>,
    /// The words follow a program that is not known, which may run them as a command or not.
    pub is_suspected: bool,
    /// Location in [`PolicyRequest::shown_text`](crate::PolicyRequest::shown_text).
    pub span: ShellSpan,
}

/// Place of a working directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkingPlace {
    /// The directory in which the request starts, inside the workspace if there is one.
    #[default]
    Start,
    /// A directory below.
    Below,
    /// Another directory, or one that is not known.
    Elsewhere,
}

/// Origin of code that a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeOrigin {
    /// Place of the code.
    pub place: CodePlace,
    /// Word that names the code, as it is shown.
    pub word: String,
}

/// Place of code that a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePlace {
    /// A file, or a directory in which any file may run: an absolute path. What does not exist may be made later.
    Path(String),
    /// Any file below a directory.
    Below(String),
    /// A place that is not known before the command runs.
    Unknown,
}

/// Word of a command, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysedWord {
    /// The text. Parts that are not known stand as they are written, such as `$x` or `*`.
    pub shown: String,
    /// All of the word is known, and `shown` is the word that the program gets.
    pub is_known: bool,
}

/// Option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysedOption {
    /// The option without its value, written out: `-r`, `--recursive`.
    pub name: String,
    /// Further spellings of the same option, if the tables know them.
    pub other_names: Vec<String>,
    /// Value of the option.
    pub value: Option<AnalysedWord>,
}

/// Program of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramReference {
    /// Program as written; `None` if it is not known.
    pub name: Option<String>,
    /// Location on the machine, if the program was found.
    pub location: Option<ProgramLocation>,
}

/// Reason for which a command belongs to a guard class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardFinding {
    /// The class.
    pub class: GuardClass,
    /// What was found, as a clause in lower case: "`rm -r` deletes /srv, which is outside the workspace".
    pub what: String,
    /// Location in [`PolicyRequest::shown_text`](crate::PolicyRequest::shown_text).
    pub span: ShellSpan,
    /// Strictest verdict that the finding may lead to by default, if the finding is no more than a suspicion.
    pub at_most: Option<PolicyVerdict>,
    /// What to do instead.
    pub way_out: Option<WayOut>,
    /// Part of the command that was judged.
    pub origin: FindingOrigin,
}

/// Part of a command that a finding is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FindingOrigin {
    /// The words: the program by its name, and its arguments.
    #[default]
    Words,
    /// A file that the shell opens for the command.
    Redirection,
    /// A variable that is set for the command.
    Variable,
    /// The directory in which the program lies.
    Location,
}

/// Advice on what to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WayOut {
    /// The text reads differently in sh and bash.
    UseBash,
    /// The text is too long or too complex.
    UseScript,
    /// The program is not known.
    NameProgram,
    /// The target is not known.
    NamePath,
    /// The path lies outside the workspace.
    StayInWorkspace,
    /// There is no workspace.
    NameWorkspace,
    /// Code is run without being read.
    SaveCode,
    /// A character is not shown.
    RemoveCharacter,
    /// Only a person may do this.
    AskOperator,
    /// An option or variable runs programs.
    DropOption,
}

/// Reason for which a request can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableRequest {
    /// [`UnreadableRequest`](GuardClass::Unreadable), [`Ambiguous`](GuardClass::Ambiguous) or
    /// [`Hidden`](GuardClass::Hidden).
    pub class: GuardClass,
    /// The reason, as a clause in lower case.
    pub message: String,
    /// A way to write the text differently, as an imperative.
    pub hint: Option<&'static str>,
    /// Location in [`PolicyRequest::shown_text`](crate::PolicyRequest::shown_text).
    pub span: ShellSpan,
}

/// Limits on the work of an analysis. What is over a limit makes the request unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisLimits {
    /// Maximum number of commands within one another, as in `env nice rm`.
    pub depth: u32,
    /// Maximum number of commands.
    pub commands: usize,
    /// Maximum number of effects and findings of all commands together.
    pub effects: usize,
}

impl Default for AnalysisLimits {
    fn default() -> Self {
        Self { depth: 32, commands: 4_000, effects: 40_000 }
    }
}

impl Analysis {
    /// Returns the strictest verdict of the standard guard, before any rule.
    pub fn default_verdict(&self, caller: Caller) -> PolicyVerdict {
        let unreadable = self.unreadable.iter().map(|reason| reason.class.default_verdict(caller));
        let findings = self.commands.iter().flat_map(|command| &command.findings);
        unreadable
            .chain(findings.map(|finding| finding.default_verdict(caller)))
            .max()
            .unwrap_or(PolicyVerdict::Allow)
    }
}

impl AnalysedCommand {
    /// Returns the name of the program without its directories.
    pub fn base_name(&self) -> Option<&str> {
        let name = match &self.program {
            Some(program) => program.name.as_deref()?,
            None => self.words.first()?.text()?,
        };
        Some(name.rsplit('/').next().unwrap_or(name))
    }

    /// Returns `true` if the command has a program, an option, a code or a text whose effects are not known.
    pub(crate) fn has_unknown_effects(&self) -> bool {
        let unknown = [
            GuardClass::CodeInline,
            GuardClass::Eval,
            GuardClass::OptionUnknown,
            GuardClass::Options,
            GuardClass::ProgramUnknown,
        ];
        self.findings.iter().any(|finding| unknown.contains(&finding.class))
    }

    /// Returns the words and texts that may name any program or path, with the positions of the words.
    pub(crate) fn open_words(&self) -> impl Iterator<Item = (usize, &AnalysedWord)> {
        let is_unknown = self.has_unknown_effects();
        let words = self.words.iter().chain(&self.codes).enumerate().skip(1);
        words.filter(move |(position, _)| is_unknown || *position >= self.words.len())
    }

    /// Returns the words joined by one blank, as patterns of an operator see them.
    pub fn shown(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(|word| &*word.shown).collect();
        words.join(" ")
    }
}

impl AnalysedWord {
    /// Builds a known word.
    pub fn known(text: impl Into<String>) -> Self {
        Self { shown: text.into(), is_known: true }
    }

    /// Returns the text, if all of it is known.
    pub fn text(&self) -> Option<&str> {
        self.is_known.then_some(&*self.shown)
    }
}

impl GuardFinding {
    /// Returns the verdict of the standard guard.
    pub fn default_verdict(&self, caller: Caller) -> PolicyVerdict {
        let verdict = self.class.default_verdict(caller);
        self.at_most.map_or(verdict, |most| verdict.min(most))
    }
}

impl WayOut {
    /// Returns the advice, as an imperative.
    pub fn text(self) -> &'static str {
        match self {
            Self::UseBash => "run the text with the bash tool",
            Self::UseScript => "put the text into a script of the workspace, and run the script",
            Self::NameProgram => "write the name of the program",
            Self::NamePath => "write the path itself",
            Self::StayInWorkspace => "use a path inside the workspace",
            Self::NameWorkspace => {
                "write the directory in which commands may delete as `workspace: {path: …}` in the policy"
            }
            Self::SaveCode => "save the code to a file of the workspace, read it, and run the file",
            Self::RemoveCharacter => "remove the character, or let `printf` write it",
            Self::AskOperator => "ask an operator to do this, or to allow it with a rule",
            Self::DropOption => "leave out the option or variable",
        }
    }
}
