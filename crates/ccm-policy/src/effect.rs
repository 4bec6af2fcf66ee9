//! Effects of a command.

use ccm_properties::words;

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
    /// What is not known of a path may hold `..`, so that the path may lie anywhere.
    pub may_climb: bool,
    /// Action on the object, such as `restart` of a service.
    pub action: Option<String>,
    /// The effect covers everything below the path.
    pub is_recursive: bool,
    /// The program does not ask first.
    pub is_forced: bool,
    /// Origin of code that is run.
    pub code: Option<CodeSource>,
}

words! {
    /// Kind of an effect.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum EffectKind = "effect" {
        /// Starts a program.
        Run = "run",
        /// Creates or changes a file.
        Write = "write",
        /// Deletes a path.
        Delete = "delete",
        /// Reads a file or lists a directory.
        Read = "read",
        /// Talks to a host.
        Network = "network",
        /// Runs code that the analysis does not read.
        Code = "code",
        /// Sends a signal.
        Signal = "signal",
        /// Runs as another user, or lets others do so.
        Privilege = "privilege",
        /// Installs or removes packages.
        Package = "package",
        /// Runs or changes containers.
        Container = "container",
        /// Publishes something.
        Publish = "publish",
        /// Runs commands on another machine, or exchanges files with it.
        Remote = "remote",
        /// Changes a service.
        Service = "service",
        /// Stops or restarts the machine.
        Power = "power",
        /// Uses a disk past its file system.
        Disk = "disk",
        /// Lets something run later.
        Persist = "persist",
        /// Changes owners or modes.
        Permissions = "permissions",
        /// Changes users or groups.
        Account = "account",
        /// Changes policies, approvals or audit records.
        Govern = "govern",
        /// Reads or replaces credentials.
        Secrets = "secrets",
        /// Changes mounts, network, clock or records of the system.
        System = "system",
        /// Changes the running kernel.
        Kernel = "kernel",
    }
}

words! {
    /// Origin of code that is run without being read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum CodeSource {
        /// The code is written in the command.
        Inline = "inline",
        /// The code is in a file.
        File = "file",
        /// The code comes from a pipe or a download.
        Pipe = "pipe",
        /// The origin is not known.
        Unknown = "unknown",
    }
}

impl EffectKind {
    /// Returns `true` if the object of such an effect is a resource such as a service.
    pub(crate) fn names_objects(self) -> bool {
        matches!(self, Self::Service | Self::Package | Self::Account | Self::Container)
    }
}

impl Effect {
    /// Builds an effect with its object.
    pub fn new(kind: EffectKind, object: Option<String>) -> Self {
        Self {
            kind,
            object,
            link_target: LinkDestination::Same,
            is_partial: false,
            may_climb: false,
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
