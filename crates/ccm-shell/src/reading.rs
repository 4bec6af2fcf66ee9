//! Result of reading a text: its simple commands, with all that is known of each.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::span::ShellSpan;
use crate::tree::RedirectionOperator;

/// Commands that a text may run, in the order of the text. Commands in substitutions stand before the command that
/// uses their output, and those in functions where the function is defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellReading {
    /// The commands.
    pub commands: Vec<ShellCommand>,
}

/// Simple command, or the part of a construct that is no command, such as the word of a `case`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// Role of the command.
    pub role: CommandRole,
    /// Program or builtin with its arguments, after all expansions.
    pub words: Vec<ShellWord>,
    /// Variables that the command sets, for itself or for what follows.
    pub assignments: Vec<ShellAssignment>,
    /// Redirections, in order.
    pub redirections: Vec<ShellRedirection>,
    /// Standard input, after redirections.
    pub input: ShellInput,
    /// Directories in which the command may run.
    pub directories: Arc<ShellDirectories>,
    /// Search path for programs.
    pub search_path: Arc<ShellSearchPath>,
    /// Effects of the shell itself that are not known.
    pub doubts: Vec<ShellDoubt>,
    /// Location in the text.
    pub span: ShellSpan,
}

/// Role of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandRole {
    /// A program, whose name is the first word.
    Program,
    /// The call of a function of the text if it is defined by then, or else a program.
    PossibleFunction,
    /// A builtin of the shell.
    Builtin,
    /// The call of a function of the text, whose commands are listed where it is defined.
    Function,
    /// No program: assignments, redirections or doubts alone.
    Construct,
}

/// Word after all expansions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// Pieces, in order. None for an empty word.
    pub pieces: Vec<WordPiece>,
    /// Location in the text.
    pub span: ShellSpan,
}

/// Piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPiece {
    /// Text as it is written or as the value of a variable that is known.
    Text {
        /// The text, without quotes.
        text: String,
        /// The text is in quotes.
        is_quoted: bool,
    },
    /// Character of a pattern: `*`, `?` or `[`.
    Pattern(char),
    /// Text that is not known.
    Unknown {
        /// Origin of the text.
        origin: UnknownOrigin,
        /// The text may become any number of words.
        is_many: bool,
    },
}

/// Origin of a text that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownOrigin {
    /// Value of a variable or positional parameter.
    Variable(String),
    /// Value of the variable of a loop.
    Listed {
        /// Name of the variable.
        name: String,
        /// Words of which the value is one, or a path that one of them matches.
        words: Arc<[ShellWord]>,
    },
    /// Output of commands: their range in [`ShellReading::commands`].
    Output(Range<usize>),
    /// Value of a variable that holds the output of commands.
    Stored {
        /// Name of the variable.
        name: String,
        /// Range of the commands in [`ShellReading::commands`].
        range: Range<usize>,
    },
    /// File that stands for the output or input of commands, as in `<(…)`.
    Process(Range<usize>),
    /// A number.
    Number,
    /// Home directory of a user; of the caller if the name is empty.
    Home(String),
    /// Words that braces make.
    Braces,
}

/// Variable that a command sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellAssignment {
    /// Name of the variable.
    pub name: String,
    /// Value, if it is written in the text.
    pub value: Option<ShellWord>,
    /// Location in the text.
    pub span: ShellSpan,
}

/// Redirection of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellRedirection {
    /// Operator.
    pub operator: RedirectionOperator,
    /// Number of the descriptor, if it is written.
    pub descriptor: Option<u32>,
    /// File, descriptor or text.
    pub target: ShellWord,
    /// Location in the text.
    pub span: ShellSpan,
}

/// Standard input of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellInput {
    /// Input of the whole text.
    Inherited,
    /// Output of the commands before in a pipeline: their range in [`ShellReading::commands`].
    Pipe(Range<usize>),
    /// A file.
    File(ShellWord),
    /// Text of a heredoc or here-string.
    Text(ShellWord),
    /// An input that is not known, such as that of a function.
    Unknown,
}

/// Directories in which a command may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellDirectories {
    /// Absolute paths without `.` and `..`. Empty for a command that is never reached.
    pub paths: Vec<String>,
    /// Other directories are possible.
    pub is_unknown: bool,
    /// Directories that hold all other possible ones, at any depth. Empty if any directory is possible.
    pub below: Vec<String>,
}

/// Search path for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellSearchPath {
    /// That of the environment.
    Initial,
    /// Value of `PATH`.
    Path(String),
    /// `PATH` is set to a value that is not known.
    Unknown,
}

/// Effect of the shell that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellDoubt {
    /// Kind of the effect.
    pub kind: DoubtKind,
    /// Commands whose output is evaluated as an expression, by their range in [`ShellReading::commands`]. Without a doubt
    /// if they print a number.
    pub output: Option<Range<usize>>,
    /// Location in the text.
    pub span: ShellSpan,
}

/// Kind of an effect that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DoubtKind {
    /// A value that is not known is evaluated as an arithmetic expression, which can run commands in bash.
    Arithmetic,
    /// A text that is not known is run: `eval "$x"`, `trap "$x" EXIT`, `${x@P}`.
    Code,
    /// A file is run in this shell: `. file`.
    SourcedFile,
    /// A variable is set whose name is not known.
    VariableName,
    /// An option of the shell that changes how the shell reads or runs what follows.
    ShellOption,
    /// A name gets another meaning: `alias`, `hash -p`, `enable`.
    Renamed,
    /// A function is passed on to other shells: `export -f`.
    ExportedFunction,
    /// A function starts itself over and over, as a fork bomb does.
    ForkBomb,
}

impl ShellWord {
    /// Builds a word of a known text.
    pub fn known(text: impl Into<String>, span: ShellSpan) -> Self {
        Self { pieces: vec![WordPiece::Text { text: text.into(), is_quoted: true }], span }
    }

    /// Returns the text of the word, if all of it is known.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        let is_known = self.pieces.iter().all(|piece| matches!(piece, WordPiece::Text { .. }));
        is_known.then(|| self.known_prefix())
    }

    /// Returns the text before the first piece that is a pattern or not known.
    pub fn known_prefix(&self) -> Cow<'_, str> {
        let known = self.pieces.iter().map_while(|piece| match piece {
            WordPiece::Text { text, .. } => Some(&**text),
            WordPiece::Pattern(_) | WordPiece::Unknown { .. } => None,
        });
        // Most words have one piece, which needs no copy.
        match (known.clone().next(), known.clone().nth(1)) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(only),
            (Some(_), Some(_)) => Cow::Owned(known.collect()),
        }
    }

    /// Returns `true` if the word may become none or several.
    pub fn is_many(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, WordPiece::Pattern(_) | WordPiece::Unknown { is_many: true, .. }))
    }

    /// Returns `true` if a piece is not known. A pattern is known, but not what it matches.
    pub fn has_unknown(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, WordPiece::Unknown { .. }))
    }

    /// Returns the ranges of the commands whose output or files are in the word.
    pub fn sources(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            WordPiece::Unknown {
                origin:
                    UnknownOrigin::Output(range)
                    | UnknownOrigin::Process(range)
                    | UnknownOrigin::Stored { range, .. },
                ..
            } => Some(range.clone()),
            _ => None,
        })
    }
}

impl ShellCommand {
    fn all_words(&mut self) -> impl Iterator<Item = &mut ShellWord> {
        let input = match &mut self.input {
            ShellInput::File(word) | ShellInput::Text(word) => Some(word),
            ShellInput::Inherited | ShellInput::Pipe(_) | ShellInput::Unknown => None,
        };
        let values = self.assignments.iter_mut().filter_map(|assignment| assignment.value.as_mut());
        let targets = self.redirections.iter_mut().map(|redirection| &mut redirection.target);
        self.words.iter_mut().chain(values).chain(targets).chain(input)
    }

    /// Returns the ranges of the commands that have printed the values of variables.
    pub(crate) fn stored(&self) -> impl Iterator<Item = &Range<usize>> {
        let input = match &self.input {
            ShellInput::File(word) | ShellInput::Text(word) => Some(word),
            ShellInput::Inherited | ShellInput::Pipe(_) | ShellInput::Unknown => None,
        };
        let values = self.assignments.iter().filter_map(|assignment| assignment.value.as_ref());
        let targets = self.redirections.iter().map(|redirection| &redirection.target);
        let words = self.words.iter().chain(values).chain(targets).chain(input);
        words.flat_map(|word| &word.pieces).filter_map(|piece| match piece {
            WordPiece::Unknown { origin: UnknownOrigin::Stored { range, .. }, .. } => Some(range),
            _ => None,
        })
    }

    /// Makes unknown which commands have printed the values of variables.
    pub(crate) fn forget_stored(&mut self) {
        let doubts = std::mem::take(&mut self.doubts);
        for doubt in doubts.into_iter().map(|doubt| ShellDoubt { output: None, ..doubt }) {
            if !self.doubts.contains(&doubt) {
                self.doubts.push(doubt);
            }
        }
        for piece in self.all_words().flat_map(|word| &mut word.pieces) {
            if let WordPiece::Unknown { origin, .. } = piece
                && let UnknownOrigin::Stored { name, .. } = origin
            {
                *origin = UnknownOrigin::Variable(std::mem::take(name));
            }
        }
    }
}

impl ShellDirectories {
    /// Builds the directories of a command that runs in a single one.
    pub fn one(path: impl Into<String>) -> Self {
        Self { paths: vec![path.into()], ..Self::default() }
    }

    pub(crate) fn unknown() -> Self {
        Self { is_unknown: true, ..Self::default() }
    }

    /// Builds the directories that lie in or below some.
    pub(crate) fn below(directories: Vec<String>) -> Self {
        Self { is_unknown: true, below: directories, ..Self::default() }
    }

    pub(crate) fn is_unreachable(&self) -> bool {
        !self.is_unknown && self.paths.is_empty()
    }

    /// Returns `true` unless any directory is possible.
    pub fn is_bounded(&self) -> bool {
        !self.is_unknown || !self.below.is_empty()
    }

    pub(crate) fn unreachable() -> Self {
        Self::default()
    }

    /// Returns the only directory.
    pub fn only(&self) -> Option<&str> {
        match &*self.paths {
            [path] if !self.is_unknown => Some(path),
            _ => None,
        }
    }
}
