//! Commands of resources, as far as their properties give them before a run.

use ccm_model::Span;

/// Command that a resource would start, as its properties give it before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCommand {
    /// Location of the command in the manifest.
    pub span: Span,
    /// The command.
    pub subject: CommandSubject,
    /// Properties that the command depends on. The command is not known while one of them waits for a run.
    pub properties: &'static [&'static str],
}

/// Command with everything that a verdict on it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandSubject {
    /// Program and arguments, or text.
    pub line: WrittenLine,
    /// Working directory, an absolute path.
    pub directory: String,
    /// Variables that the properties add to the environment.
    pub environment: Vec<(String, String)>,
    /// Standard input.
    pub input: Option<String>,
    /// Place of the command.
    pub place: CommandPlace,
}

/// Program and arguments, or text for a shell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WrittenLine {
    /// Program and arguments.
    Words(Vec<String>),
    /// Text for `/bin/sh`.
    Shell(String),
}

/// Place where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandPlace {
    /// This host, as the user who runs ccm.
    Host,
    /// This host, as another user or with another home directory.
    OtherHome,
    /// A container.
    Container,
}
