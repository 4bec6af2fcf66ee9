//! Requests: commands to judge, with what they would start with.

use ccm_shell::ShellDialect;

/// Command to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRequest {
    /// The command.
    pub command: RequestCommand,
    /// Working directory, an absolute path.
    pub directory: String,
    /// Environment of the command as far as it is known, with `HOME` and `PATH`.
    pub environment: Vec<(String, String)>,
    /// Variables that the caller adds to the environment. They are judged, as those in front of a command are.
    pub added_variables: Vec<(String, String)>,
    /// The caller is no operator: only variables that are known to be harmless may be added unasked.
    pub closed_variables: bool,
    /// Standard input.
    pub input: RequestInput,
    /// Workspace; without one, every path is outside.
    pub workspace: Option<Workspace>,
}

/// Form of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestCommand {
    /// A text for a shell.
    Text {
        /// The text.
        text: String,
        /// The shell.
        dialect: ShellDialect,
    },
    /// A program and its arguments, without a shell.
    Words(Vec<String>),
}

/// Standard input of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RequestInput {
    /// Nothing can be read from standard input.
    #[default]
    Empty,
    /// A known text.
    Text(String),
    /// Something that is not known.
    Unknown,
}

/// Directory in which commands may work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Absolute path.
    pub path: String,
    /// Paths outside the workspace are refused, apart from programs and safe devices.
    pub is_restricted: bool,
}

impl PolicyRequest {
    /// Builds a request for a shell text in a directory, with an empty environment.
    pub fn text(text: impl Into<String>, dialect: ShellDialect, directory: impl Into<String>) -> Self {
        Self::new(RequestCommand::Text { text: text.into(), dialect }, directory)
    }

    /// Builds a request for a program and its arguments in a directory, with an empty environment.
    pub fn words<T: Into<String>>(words: impl IntoIterator<Item = T>, directory: impl Into<String>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self::new(RequestCommand::Words(words), directory)
    }

    fn new(command: RequestCommand, directory: impl Into<String>) -> Self {
        Self {
            command,
            directory: directory.into(),
            environment: Vec::new(),
            added_variables: Vec::new(),
            closed_variables: false,
            input: RequestInput::Empty,
            workspace: None,
        }
    }

    /// Returns a variable of the environment; one that the caller adds comes first.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let all = self.added_variables.iter().rev().chain(self.environment.iter().rev());
        all.into_iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// Returns the text that spans of the analysis refer to: the shell text, or the words joined by one blank.
    pub fn shown_text(&self) -> String {
        match &self.command {
            RequestCommand::Text { text, .. } => text.clone(),
            RequestCommand::Words(words) => words.join(" "),
        }
    }
}
