//! Roles of operands and values of options.

use crate::guard_class::GuardClass;

/// Meaning of an operand or of the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Text without a meaning for the guard.
    Text,
    /// File that is read, or directory that is listed.
    Read,
    /// File that is written.
    Write,
    /// File that is deleted.
    Delete,
    /// Path that is moved away.
    Move,
    /// Directory that is deleted with all that is in it.
    DeleteTree,
    /// Directory in which the program works from here on.
    Directory,
    /// Directory to which an archive is extracted.
    ExtractDirectory,
    /// Path, if the text looks like a path and its first directory exists.
    MaybePath,
    /// Path that is read, or `host:path` of another machine.
    CopyFrom,
    /// Path that is written, or `host:path` of another machine.
    CopyTo,
    /// Archive that is written when the program creates it, else read.
    Archive,
    /// Text for a shell.
    Shell,
    /// All further words, joined by blanks, are a text for a shell.
    ShellJoined,
    /// Words of a command in one text.
    SplitCommand,
    /// All further words are a command.
    Command,
    /// `NAME=VALUE` in front of a command, any number of them.
    Settings,
    /// `NAME=VALUE` of a variable.
    Setting,
    /// Program or command that the option makes the program run.
    Program,
    /// Code in the language of the program.
    Code,
    /// File of code in the language of the program; what follows are its arguments.
    Script,
    /// Module of an interpreter, run as a program with all that follows.
    Module,
    /// Code of awk.
    Awk,
    /// Code of sed.
    Sed,
    /// Object of what the program does, such as a package.
    Object,
    /// Unit of a service manager.
    Unit,
    /// Machine to talk to.
    Host,
    /// Address of something to fetch.
    Url,
    /// Data of a request: `@file` is read and sent.
    Data,
    /// File that is sent.
    Upload,
    /// Process number.
    Process,
    /// Setting of git, `name=value`.
    GitSetting,
    /// `name value` of `git config`.
    GitConfig,
    /// Volume of a container, `source:target`.
    Volume,
    /// Mount of a container, `type=bind,source=…`.
    Mount,
    /// Namespace of a container that `host` opens.
    Namespace,
    /// Capability or security setting of a container.
    Capability,
    /// Device of a container.
    Device,
}

const NAMES: [(&str, Role); 38] = [
    ("text", Role::Text),
    ("read", Role::Read),
    ("write", Role::Write),
    ("delete", Role::Delete),
    ("move", Role::Move),
    ("delete_tree", Role::DeleteTree),
    ("directory", Role::Directory),
    ("extract_directory", Role::ExtractDirectory),
    ("maybe_path", Role::MaybePath),
    ("copy_from", Role::CopyFrom),
    ("copy_to", Role::CopyTo),
    ("archive", Role::Archive),
    ("shell", Role::Shell),
    ("shell_joined", Role::ShellJoined),
    ("split_command", Role::SplitCommand),
    ("command", Role::Command),
    ("settings", Role::Settings),
    ("setting", Role::Setting),
    ("program", Role::Program),
    ("code", Role::Code),
    ("script", Role::Script),
    ("module", Role::Module),
    ("awk", Role::Awk),
    ("sed", Role::Sed),
    ("object", Role::Object),
    ("unit", Role::Unit),
    ("host", Role::Host),
    ("url", Role::Url),
    ("data", Role::Data),
    ("upload", Role::Upload),
    ("process", Role::Process),
    ("git_setting", Role::GitSetting),
    ("git_config", Role::GitConfig),
    ("volume", Role::Volume),
    ("mount", Role::Mount),
    ("namespace", Role::Namespace),
    ("capability", Role::Capability),
    ("device", Role::Device),
];

impl Role {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }
}

/// Role of the operands at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperandRole {
    pub(crate) role: Role,
    /// Any number of operands, as far as the roles behind leave some.
    pub(crate) is_repeated: bool,
}

/// Parses roles such as `text read*`, and classes such as `does:package`.
pub(crate) fn parse_roles(text: &str) -> Result<(Vec<OperandRole>, Vec<GuardClass>), String> {
    let mut roles = Vec::new();
    let mut classes = Vec::new();
    for word in text.split_ascii_whitespace() {
        if let Some(name) = word.strip_prefix("does:") {
            classes.push(GuardClass::parse(name).ok_or_else(|| format!("class {name} is unknown"))?);
            continue;
        }
        let (name, is_repeated) = word.strip_suffix('*').map_or((word, false), |name| (name, true));
        let role = Role::parse(name).ok_or_else(|| format!("role {name} is unknown"))?;
        roles.push(OperandRole { role, is_repeated });
    }
    if roles.iter().filter(|role| role.is_repeated).count() > 1 {
        return Err(format!("more than one role of `{text}` is repeated"));
    }
    Ok((roles, classes))
}
