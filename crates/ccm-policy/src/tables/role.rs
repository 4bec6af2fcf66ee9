//! Roles of operands and values of options.

use super::special_role::{self, SpecialRole};
use crate::guard_class::GuardClass;

/// Meaning of an operand or of the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentRole {
    /// Text without a meaning for the guard.
    Text,
    /// File that is read, or directory that is listed.
    Read,
    /// File that is written.
    Write,
    /// File that is written, or text for a shell behind `|` or `!`.
    WriteOrPipe,
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
    /// Number in front of a command, which may be missing.
    Number,
    /// `NAME=VALUE` in front of a command, any number of them.
    Settings,
    /// `NAME=VALUE` of a variable.
    Setting,
    /// Name or path of a program that is started.
    Program,
    /// Program with arguments that is started, parted at blanks.
    ProgramWords,
    /// Text for a shell that is started.
    ProgramText,
    /// Library or file of settings that is loaded, and can run anything.
    Library,
    /// Code in the language of the program.
    Code,
    /// File of code in the language of the program; what follows are its arguments.
    Script,
    /// Module of an interpreter, run as a program with all that follows.
    Module,
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
    /// Setting of ssh, `Name=value`.
    SshOption,
    /// Action at a checkpoint of tar.
    TarAction,
    /// Setting of apt, `Scope::Name=value`.
    AptOption,
    /// Setting of cargo, `table.name=value`, or a file of settings.
    CargoSetting,
    /// Property of a unit of systemd, `Name=value`.
    UnitProperty,
    /// Setting of wget, `name=value`.
    WgetSetting,
    /// File of settings that `git config` reads or changes.
    GitConfigFile,
    /// Directory whose files a program changes.
    WorkTree,
    /// Mode of a file.
    Mode,
    /// File whose mode another file gets.
    ModeOf,
    /// Time that `date` sets, or a format.
    Date,
    /// Name that the machine gets.
    HostName,
    /// Place of a temporary file.
    Template,
    /// Database of `getent`.
    Getent,
    /// File that a pager shows, or `+command`.
    LessOperand,
    /// File that openssl reads, or `pass:text`.
    OpensslFile,
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
    /// Meaning that one program has.
    Special(SpecialRole),
}

const NAMES: [(&str, ArgumentRole); 57] = [
    ("text", ArgumentRole::Text),
    ("read", ArgumentRole::Read),
    ("write", ArgumentRole::Write),
    ("write_or_pipe", ArgumentRole::WriteOrPipe),
    ("delete", ArgumentRole::Delete),
    ("move", ArgumentRole::Move),
    ("delete_tree", ArgumentRole::DeleteTree),
    ("directory", ArgumentRole::Directory),
    ("extract_directory", ArgumentRole::ExtractDirectory),
    ("maybe_path", ArgumentRole::MaybePath),
    ("copy_from", ArgumentRole::CopyFrom),
    ("copy_to", ArgumentRole::CopyTo),
    ("archive", ArgumentRole::Archive),
    ("shell", ArgumentRole::Shell),
    ("shell_joined", ArgumentRole::ShellJoined),
    ("split_command", ArgumentRole::SplitCommand),
    ("command", ArgumentRole::Command),
    ("number", ArgumentRole::Number),
    ("settings", ArgumentRole::Settings),
    ("setting", ArgumentRole::Setting),
    ("program", ArgumentRole::Program),
    ("program_words", ArgumentRole::ProgramWords),
    ("program_text", ArgumentRole::ProgramText),
    ("library", ArgumentRole::Library),
    ("code", ArgumentRole::Code),
    ("script", ArgumentRole::Script),
    ("module", ArgumentRole::Module),
    ("object", ArgumentRole::Object),
    ("unit", ArgumentRole::Unit),
    ("host", ArgumentRole::Host),
    ("url", ArgumentRole::Url),
    ("data", ArgumentRole::Data),
    ("upload", ArgumentRole::Upload),
    ("process", ArgumentRole::Process),
    ("ssh_option", ArgumentRole::SshOption),
    ("tar_action", ArgumentRole::TarAction),
    ("apt_option", ArgumentRole::AptOption),
    ("cargo_setting", ArgumentRole::CargoSetting),
    ("unit_property", ArgumentRole::UnitProperty),
    ("wget_setting", ArgumentRole::WgetSetting),
    ("git_config_file", ArgumentRole::GitConfigFile),
    ("work_tree", ArgumentRole::WorkTree),
    ("mode", ArgumentRole::Mode),
    ("mode_of", ArgumentRole::ModeOf),
    ("date", ArgumentRole::Date),
    ("host_name", ArgumentRole::HostName),
    ("template", ArgumentRole::Template),
    ("getent", ArgumentRole::Getent),
    ("less", ArgumentRole::LessOperand),
    ("openssl_file", ArgumentRole::OpensslFile),
    ("git_setting", ArgumentRole::GitSetting),
    ("git_config", ArgumentRole::GitConfig),
    ("volume", ArgumentRole::Volume),
    ("mount", ArgumentRole::Mount),
    ("namespace", ArgumentRole::Namespace),
    ("capability", ArgumentRole::Capability),
    ("device", ArgumentRole::Device),
];

impl ArgumentRole {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let plain = NAMES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role);
        let special = || special_role::NAMES.iter().find(|(known, _)| *known == name);
        plain.or_else(|| special().map(|(_, role)| Self::Special(*role)))
    }
}

/// `ArgumentRole` of the operands at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperandRole {
    pub(crate) role: ArgumentRole,
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
        let role = ArgumentRole::parse(name).ok_or_else(|| format!("role {name} is unknown"))?;
        roles.push(OperandRole { role, is_repeated });
    }
    if roles.iter().filter(|role| role.is_repeated).count() > 1 {
        return Err(format!("more than one role of `{text}` is repeated"));
    }
    Ok((roles, classes))
}
