//! Classes of commands that the guard knows, with their default verdicts.

use crate::verdict::{Caller, PolicyVerdict};

/// Class of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GuardClass {
    /// A text that can't be read with certainty.
    Unreadable,
    /// A text that shells read in different ways.
    Ambiguous,
    /// Characters with which a text shows something else than it runs.
    Hidden,
    /// Reads, writes or formats a disk past its file system.
    Disk,
    /// Stops or restarts the machine.
    Power,
    /// Starts itself over and over.
    ForkBomb,
    /// Changes the running kernel: modules, its memory, its image.
    Kernel,
    /// Changes the governance itself: policies, approvals, audit records.
    Govern,
    /// Reads or replaces keys, passwords and other credentials.
    Secrets,
    /// Gives a shell of this machine to another, or opens a raw connection.
    RemoteShell,
    /// Asks the metadata service of a cloud, which hands out credentials.
    Metadata,
    /// Sends a signal to init, or to every process.
    SignalAll,
    /// Starts a container that opens the machine.
    ContainerOpen,
    /// Runs as another user, or lets others do so.
    Privilege,
    /// Runs code from a pipe or a download.
    CodePipe,
    /// Deletes recursively or forced, outside the workspace or where it is not known.
    DeleteOutside,
    /// Deletes recursively or forced, or throws work away, inside the workspace.
    DeleteInside,
    /// Writes a file of the system.
    WriteSystem,
    /// Writes outside the workspace, but no file of the system.
    WriteOutside,
    /// Runs code that is written in the command.
    CodeInline,
    /// Runs a file from outside the workspace that is no program of the system.
    CodeOutside,
    /// Runs a program whose name is not known.
    ProgramUnknown,
    /// Runs a text or a file in the shell that is not known: `eval`, `source`.
    Eval,
    /// An option, setting or subcommand of a program runs other programs.
    Options,
    /// A variable loads code or changes the programs that are run.
    Variables,
    /// Changes owners, modes or access lists.
    Permissions,
    /// Ends or signals processes.
    Signal,
    /// Starts, stops or changes services.
    Service,
    /// Installs or removes packages.
    Package,
    /// Runs or changes containers.
    Container,
    /// Publishes: pushes, releases, uploads to registries.
    Publish,
    /// Runs commands on other machines, or exchanges files with them.
    Remote,
    /// Lets something run later: timers, start files, jobs.
    Persist,
    /// Changes users and groups.
    Account,
    /// Changes mounts, the network, the clock or records of the system.
    System,
    /// Uses a path outside the workspace while commands are restricted to the workspace.
    OutsideWorkspace,
}

/// Properties of a class.
struct ClassRow {
    class: GuardClass,
    name: &'static str,
    tool: PolicyVerdict,
    apply: PolicyVerdict,
    description: &'static str,
}

const fn row(
    class: GuardClass,
    name: &'static str,
    tool: PolicyVerdict,
    apply: PolicyVerdict,
    description: &'static str,
) -> ClassRow {
    ClassRow { class, name, tool, apply, description }
}

const ROWS: [ClassRow; 36] = {
    use GuardClass as C;
    use PolicyVerdict::{Allow, Ask, Deny};
    [
        row(C::Unreadable, "unreadable", Deny, Deny, "a text that can't be read with certainty"),
        row(C::Ambiguous, "ambiguous", Deny, Deny, "a text that shells read in different ways"),
        row(
            C::Hidden,
            "hidden",
            Deny,
            Deny,
            "characters with which a text shows something else than it runs",
        ),
        row(C::Disk, "disk", Deny, Deny, "reads, writes or formats a disk past its file system"),
        row(C::Power, "power", Deny, Ask, "stops or restarts the machine"),
        row(C::ForkBomb, "fork_bomb", Deny, Deny, "starts itself over and over"),
        row(C::Kernel, "kernel", Deny, Deny, "changes the running kernel: modules, its memory, its image"),
        row(
            C::Govern,
            "govern",
            Deny,
            Deny,
            "changes the governance itself: policies, approvals, audit records",
        ),
        row(C::Secrets, "secrets", Deny, Deny, "reads or replaces keys, passwords and other credentials"),
        row(
            C::RemoteShell,
            "remote_shell",
            Deny,
            Deny,
            "gives a shell of this machine to another, or opens a raw connection",
        ),
        row(
            C::Metadata,
            "metadata",
            Deny,
            Deny,
            "asks the metadata service of a cloud, which hands out credentials",
        ),
        row(C::SignalAll, "signal_all", Deny, Deny, "sends a signal to init, or to every process"),
        row(C::ContainerOpen, "container_open", Deny, Deny, "starts a container that opens the machine"),
        row(C::Privilege, "privilege", Deny, Ask, "runs as another user, or lets others do so"),
        row(C::CodePipe, "code_pipe", Deny, Ask, "runs code from a pipe or a download"),
        row(
            C::DeleteOutside,
            "delete_outside",
            Deny,
            Ask,
            "deletes recursively or forced, outside the workspace or where it is not known",
        ),
        row(
            C::DeleteInside,
            "delete_inside",
            Ask,
            Allow,
            "deletes recursively or forced, or throws work away, inside the workspace",
        ),
        row(C::WriteSystem, "write_system", Deny, Allow, "writes a file of the system"),
        row(
            C::WriteOutside,
            "write_outside",
            Ask,
            Allow,
            "writes outside the workspace, but no file of the system",
        ),
        row(C::CodeInline, "code_inline", Ask, Allow, "runs code that is written in the command"),
        row(
            C::CodeOutside,
            "code_outside",
            Ask,
            Allow,
            "runs a file from outside the workspace that is no program of the system",
        ),
        row(C::ProgramUnknown, "program_unknown", Ask, Allow, "runs a program whose name is not known"),
        row(
            C::Eval,
            "eval",
            Ask,
            Allow,
            "runs a text or a file in the shell that is not known: `eval`, `source`",
        ),
        row(
            C::Options,
            "options",
            Ask,
            Allow,
            "an option, setting or subcommand of a program runs other programs",
        ),
        row(
            C::Variables,
            "variables",
            Ask,
            Allow,
            "a variable loads code or changes the programs that are run",
        ),
        row(C::Permissions, "permissions", Ask, Allow, "changes owners, modes or access lists"),
        row(C::Signal, "signal", Ask, Allow, "ends or signals processes"),
        row(C::Service, "service", Ask, Allow, "starts, stops or changes services"),
        row(C::Package, "package", Ask, Allow, "installs or removes packages"),
        row(C::Container, "container", Ask, Allow, "runs or changes containers"),
        row(C::Publish, "publish", Ask, Allow, "publishes: pushes, releases, uploads to registries"),
        row(C::Remote, "remote", Ask, Allow, "runs commands on other machines, or exchanges files with them"),
        row(C::Persist, "persist", Ask, Allow, "lets something run later: timers, start files, jobs"),
        row(C::Account, "account", Ask, Allow, "changes users and groups"),
        row(
            C::System,
            "system",
            Ask,
            Allow,
            "changes mounts, the network, the clock or records of the system",
        ),
        row(
            C::OutsideWorkspace,
            "outside_workspace",
            Deny,
            Allow,
            "uses a path outside the workspace while commands are restricted to the workspace",
        ),
    ]
};

impl GuardClass {
    /// Returns every class, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.class)
    }

    fn row(self) -> &'static ClassRow {
        // The rows have the order of the variants; a test compares them.
        &ROWS[self as usize]
    }

    /// Returns the name in a policy file.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the class of a name in a policy file.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|class| class.name() == name)
    }

    /// Returns a clause about the commands of the class, such as "installs or removes packages".
    pub fn description(self) -> &'static str {
        self.row().description
    }

    /// Returns the verdict of the standard guard.
    pub fn default_verdict(self, caller: Caller) -> PolicyVerdict {
        match caller {
            Caller::Tool => self.row().tool,
            Caller::Apply => self.row().apply,
        }
    }

    /// Returns `true` for a class that no rule, pattern or setting lifts: nobody knows what the text runs.
    pub fn is_unreadable(self) -> bool {
        matches!(self, Self::Unreadable | Self::Ambiguous | Self::Hidden)
    }
}

impl std::fmt::Display for GuardClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_order_of_the_classes() {
        for (position, row) in ROWS.iter().enumerate() {
            assert_eq!(row.class as usize, position, "{}", row.name);
            assert_eq!(GuardClass::parse(row.name), Some(row.class));
        }
        assert_eq!(GuardClass::parse("Package"), None);
    }

    #[test]
    fn tools_are_judged_more_strictly_than_applies() {
        for class in GuardClass::all() {
            assert!(class.default_verdict(Caller::Tool) >= class.default_verdict(Caller::Apply), "{class}");
        }
        assert_eq!(GuardClass::Power.default_verdict(Caller::Apply), PolicyVerdict::Ask);
    }

    #[test]
    fn documentation_lists_every_class() {
        let documentation = include_str!("../../../docs/guard.md");
        for row in &ROWS {
            let (tool, apply) = (row.tool.name(), row.apply.name());
            let line = format!("| `{}` | {tool} | {apply} | {} |\n", row.name, row.description);
            assert!(documentation.contains(&line), "{line}");
        }
    }
}
