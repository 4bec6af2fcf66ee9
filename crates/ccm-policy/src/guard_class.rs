//! Classes of commands that the guard knows, with their default verdicts.

use ccm_properties::PropertySpec;

use crate::verdict::{Caller, PolicyVerdict};

/// Properties of a class.
struct ClassRow {
    class: GuardClass,
    tool: PolicyVerdict,
    apply: PolicyVerdict,
    description: &'static str,
}

/// Declares the classes: the name of each in a policy file, its default verdicts for tools and for applies, and a clause
/// about its commands.
macro_rules! classes {
    ($($class:ident = $name:literal, $tool:ident, $apply:ident, $description:literal;)*) => {
        /// Class of a command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum GuardClass {
            $(#[doc = $description] $class,)*
        }

        /// The classes in the order of the variants.
        const ROWS: [ClassRow; GuardClass::NAMES.len()] = [$(ClassRow {
            class: GuardClass::$class,
            tool: PolicyVerdict::$tool,
            apply: PolicyVerdict::$apply,
            description: $description,
        },)*];

        impl GuardClass {
    /// Returns `true` for a class that rules lift which name it, and no pattern: a pattern such as `^cat ` says nothing about
    /// what is read.
    pub(crate) fn has_to_be_named(self) -> bool {
        matches!(self, Self::Secrets | Self::Metadata | Self::Govern | Self::Kernel | Self::WriteSystem)
    }

            /// Names in a policy file.
            pub(crate) const NAMES: &'static [&'static str] = &[$($name),*];

            /// Fields of the verdicts in a policy file, one for each class.
            pub(crate) const FIELDS: &'static [PropertySpec] =
                &[$(PropertySpec::new::<PolicyVerdict>($name, &[$description]),)*];
        }
    };
}

classes! {
    Unreadable = "unreadable", Deny, Deny, "a text that can't be read with certainty";
    Ambiguous = "ambiguous", Deny, Deny, "a text that shells read in different ways";
    Hidden = "hidden", Deny, Deny, "characters with which a text shows something else than it runs";
    Disk = "disk", Deny, Deny, "reads, writes or formats a disk past its file system";
    Power = "power", Deny, Ask, "stops or restarts the machine";
    ForkBomb = "fork_bomb", Deny, Deny, "starts itself over and over";
    Kernel = "kernel", Deny, Deny, "changes the running kernel: modules, its memory, its image";
    Govern = "govern", Deny, Deny, "changes the governance itself: policies, approvals, audit records";
    Secrets = "secrets", Deny, Deny, "reads or replaces keys, passwords and other credentials";
    RemoteShell = "remote_shell", Deny, Deny, "gives a shell of this machine to another, or opens a connection of the shell, such as `/dev/tcp/HOST/PORT`";
    Metadata = "metadata", Deny, Deny, "asks the metadata service of a cloud, which hands out credentials";
    SignalAll = "signal_all", Deny, Deny, "sends a signal to init, or to every process";
    ContainerOpen = "container_open", Deny, Deny, "starts a container that opens the machine";
    Privilege = "privilege", Deny, Ask, "runs as another user, or lets others do so";
    CodePipe = "code_pipe", Deny, Ask, "runs code from a pipe or a download";
    DeleteOutside = "delete_outside", Deny, Ask, "deletes recursively or forced, outside the workspace or where it is not known";
    DeleteInside = "delete_inside", Ask, Allow, "deletes recursively or forced, or throws work away, inside the workspace";
    WriteSystem = "write_system", Deny, Allow, "writes a file of the system";
    WriteOutside = "write_outside", Ask, Allow, "writes outside the workspace, but no file of the system";
    CodeInline = "code_inline", Ask, Allow, "runs code that is written in the command";
    CodeOutside = "code_outside", Ask, Allow, "runs a file from outside the workspace that is no program of the system";
    ProgramUnknown = "program_unknown", Ask, Allow, "runs a program whose name is not known";
    Eval = "eval", Ask, Allow, "runs a text or a file in the shell that is not known: `eval`, `source`";
    Options = "options", Ask, Allow, "an option, setting or subcommand of a program runs other programs";
    OptionUnknown = "option_unknown", Ask, Allow, "has an option, setting or subcommand that the tables do not list, so that its effects are not known";
    CodeVariables = "code_variables", Deny, Allow, "a variable that the call sets loads code or changes the programs that are run";
    Variables = "variables", Ask, Allow, "a variable of a text loads code or changes the programs that are run, or a call sets one that is not known to be harmless";
    Permissions = "permissions", Ask, Allow, "changes owners, modes or access lists";
    Signal = "signal", Ask, Allow, "ends or signals processes";
    Service = "service", Ask, Allow, "starts, stops or changes services";
    Package = "package", Ask, Allow, "installs or removes packages";
    Container = "container", Ask, Allow, "runs or changes containers";
    Publish = "publish", Ask, Allow, "publishes: pushes, releases, uploads to registries";
    Remote = "remote", Ask, Allow, "runs commands on other machines, or exchanges files with them";
    Persist = "persist", Ask, Allow, "lets something run later: timers, start files, jobs";
    Account = "account", Ask, Allow, "changes users and groups";
    System = "system", Ask, Allow, "changes mounts, the network, the clock or records of the system";
    OutsideWorkspace = "outside_workspace", Deny, Allow, "uses a path outside the workspace while commands are restricted to the workspace";
}

impl GuardClass {
    /// Names of the classes that a rule can lift: all but the first three, which are unreadable, and the last,
    /// `outside_workspace`.
    pub(crate) const LIFTABLE: &'static [&'static str] = Self::NAMES.split_at(3).1.split_at(ROWS.len() - 4).0;

    /// Returns every class, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.class)
    }

    fn row(self) -> &'static ClassRow {
        &ROWS[self as usize]
    }

    /// Returns the name in a policy file.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
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
    fn names_lead_to_their_classes() {
        assert!(GuardClass::all().all(|class| GuardClass::parse(class.name()) == Some(class)));
        assert_eq!(GuardClass::parse("Package"), None);
        let is_liftable =
            |class: &GuardClass| !class.is_unreadable() && *class != GuardClass::OutsideWorkspace;
        let liftable = GuardClass::all().filter(is_liftable).map(GuardClass::name);
        assert!(liftable.eq(GuardClass::LIFTABLE.iter().copied()));
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
        let documentation = include_str!("../../../docs/reference/guard.md");
        for class in GuardClass::all() {
            let [tool, apply] =
                [Caller::Tool, Caller::Apply].map(|caller| class.default_verdict(caller).name());
            let line = format!("| `{class}` | {tool} | {apply} | {} |\n", class.description());
            assert!(documentation.contains(&line), "{line}");
        }
    }
}
