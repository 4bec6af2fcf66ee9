//! Effects of a command.

use crate::links::{self, LinkDestination};
use crate::lookup::Lookup;

/// Effect of a command on the machine or on others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Kind of the effect.
    pub kind: EffectKind,
    /// Object of the effect: an absolute path without `.` and `..`, a program, a host, a unit, a package. `None` if
    /// the object is not known or there is none.
    pub object: Option<String>,
    /// Path that the links on the way to the object lead to, if the object is a path.
    pub link_target: LinkDestination,
    /// Only the beginning of the object is known, as in `/srv/$x`.
    pub is_partial: bool,
    /// Action on the object, such as `restart` of a service.
    pub action: Option<String>,
    /// The effect covers everything below the path.
    pub is_recursive: bool,
    /// The program does not ask first.
    pub is_forced: bool,
    /// Origin of code that is run.
    pub code: Option<CodeSource>,
}

/// Kind of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectKind {
    /// Starts a program.
    Run,
    /// Creates or changes a file.
    Write,
    /// Deletes a path.
    Delete,
    /// Reads a file or lists a directory.
    Read,
    /// Talks to a host.
    Network,
    /// Runs code that the analysis does not read.
    Code,
    /// Sends a signal.
    Signal,
    /// Runs as another user, or lets others do so.
    Privilege,
    /// Installs or removes packages.
    Package,
    /// Runs or changes containers.
    Container,
    /// Publishes something.
    Publish,
    /// Runs commands on another machine, or exchanges files with it.
    Remote,
    /// Changes a service.
    Service,
    /// Stops or restarts the machine.
    Power,
    /// Uses a disk past its file system.
    Disk,
    /// Lets something run later.
    Persist,
    /// Changes owners or modes.
    Permissions,
    /// Changes users or groups.
    Account,
    /// Changes policies, approvals or audit records.
    Govern,
    /// Reads or replaces credentials.
    Secrets,
    /// Changes mounts, network, clock or records of the system.
    System,
    /// Changes the running kernel.
    Kernel,
}

/// Origin of code that is run without being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CodeSource {
    /// The code is written in the command.
    Inline,
    /// The code is in a file.
    File,
    /// The code comes from a pipe or a download.
    Pipe,
    /// The origin is not known.
    Unknown,
}

impl Effect {
    /// Builds an effect with its object.
    pub fn new(kind: EffectKind, object: Option<String>) -> Self {
        Self {
            kind,
            object,
            link_target: LinkDestination::Same,
            is_partial: false,
            action: None,
            is_recursive: false,
            is_forced: false,
            code: None,
        }
    }

    /// Builds an effect of a code that is run.
    pub fn code(source: CodeSource, object: Option<String>) -> Self {
        Self { code: Some(source), ..Self::new(EffectKind::Code, object) }
    }

    /// Builds an effect on a path of a machine. Links on the way are followed, one at the path itself unless the effect
    /// is a deletion, which removes the link alone.
    pub fn on_path(kind: EffectKind, path: impl Into<String>, lookup: &dyn Lookup) -> Self {
        let path = path.into();
        let link_target = match kind {
            EffectKind::Delete => links::follow_above(lookup, &path),
            _ => links::follow(lookup, &path),
        };
        Self { link_target, ..Self::new(kind, Some(path)) }
    }

    /// Sets the action.
    #[must_use]
    pub fn with_action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }
}

impl EffectKind {
    /// Every kind.
    pub const ALL: [Self; 22] = [
        Self::Run,
        Self::Write,
        Self::Delete,
        Self::Read,
        Self::Network,
        Self::Code,
        Self::Signal,
        Self::Privilege,
        Self::Package,
        Self::Container,
        Self::Publish,
        Self::Remote,
        Self::Service,
        Self::Power,
        Self::Disk,
        Self::Persist,
        Self::Permissions,
        Self::Account,
        Self::Govern,
        Self::Secrets,
        Self::System,
        Self::Kernel,
    ];

    /// Returns the name in a policy file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Read => "read",
            Self::Network => "network",
            Self::Code => "code",
            Self::Signal => "signal",
            Self::Privilege => "privilege",
            Self::Package => "package",
            Self::Container => "container",
            Self::Publish => "publish",
            Self::Remote => "remote",
            Self::Service => "service",
            Self::Power => "power",
            Self::Disk => "disk",
            Self::Persist => "persist",
            Self::Permissions => "permissions",
            Self::Account => "account",
            Self::Govern => "govern",
            Self::Secrets => "secrets",
            Self::System => "system",
            Self::Kernel => "kernel",
        }
    }

    /// Returns the kind of a name in a policy file.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl CodeSource {
    /// Returns the name in a policy file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::File => "file",
            Self::Pipe => "pipe",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for Effect {
    /// Writes the effect for a table, such as `service: restart nginx`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind.name())?;
        let mut separator = ": ";
        let flags = [(self.is_recursive, "recursive"), (self.is_forced, "forced")];
        let flags = flags.into_iter().filter_map(|(is_set, name)| is_set.then_some(name));
        let parts = flags.chain(self.code.map(CodeSource::name)).chain(self.action.as_deref());
        for part in parts.chain(self.object.as_deref()) {
            write!(f, "{separator}{part}")?;
            separator = " ";
        }
        if self.is_partial {
            f.write_str("…")?;
        }
        match &self.link_target {
            LinkDestination::Same => Ok(()),
            LinkDestination::Path(path) => write!(f, " (a link to {path})"),
            LinkDestination::Unknown => f.write_str(" (a link to what is not known)"),
        }
    }
}
