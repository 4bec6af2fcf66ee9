//! Sandboxes, and the parts of them that the kernel enforces.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::allowed_programs::AllowedPrograms;
use super::launch_protocol::{optional_path, path, paths};
use super::limits::SandboxLimits;

/// Confinement of a command.
///
/// The command reads the files that programs need to run (`/usr`, `/bin`, `/lib*`, a list of files in `/etc`
/// without secrets), `read`, `write` and `workdir`. It writes only `write`, `workdir` and a private `/tmp`,
/// which is removed with the sandbox. It gains no privilege, whatever it executes.
///
/// Paths are absolute, exist, and lead over no symbolic link, because the owner of a link could choose the
/// file that is opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Working directory, which the command may read and write.
    #[serde(with = "path")]
    pub workdir: PathBuf,
    /// The working directory or a path of `write` that no one else uses. Where there are mounts, each command
    /// gets an empty one in memory in its place, for at most 1 GiB and with the same owner.
    #[serde(with = "optional_path")]
    pub private: Option<PathBuf>,
    /// Further paths that the command may read and execute.
    #[serde(with = "paths")]
    pub read: Vec<PathBuf>,
    /// Further paths that the command may read, execute and write.
    #[serde(with = "paths")]
    pub write: Vec<PathBuf>,
    /// Programs that may be executed besides the command itself; `None` is any.
    pub programs: Option<AllowedPrograms>,
    /// Allows the network: IPv4 and IPv6, and questions to the kernel about addresses and routes.
    pub network: bool,
    /// Allows Unix sockets. The command sees only its own.
    pub unix_sockets: bool,
    /// Limits of what the command uses.
    pub limits: SandboxLimits,
    /// Runs the command also if not all of this can be enforced.
    pub advisory: bool,
}

impl Sandbox {
    /// Returns the sandbox that opens only a working directory.
    pub fn new(workdir: impl Into<PathBuf>) -> Self {
        Self {
            workdir: workdir.into(),
            private: None,
            read: Vec::new(),
            write: Vec::new(),
            programs: None,
            network: false,
            unix_sockets: false,
            limits: SandboxLimits::default(),
            advisory: false,
        }
    }
}

/// Returns the reason why no sandbox opens a path, if the path alone shows one.
///
/// Paths below `/proc`, `/sys` and `/dev`, except `/dev/shm`, are never opened for writing: a write would act
/// on the kernel and its devices.
pub fn never_opened(path: &Path, to_write: bool) -> Option<&'static str> {
    let mut whole = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            other => whole.push(other),
        }
    }
    let is_in = |directories: &[&str]| directories.iter().any(|directory| whole.starts_with(directory));
    let is_number = |part: Component<'_>| part.as_os_str().as_encoded_bytes().iter().all(u8::is_ascii_digit);
    if whole.parent().is_none() {
        return Some("it is the whole file system");
    }
    if to_write && is_in(&["/proc", "/sys", "/dev"]) && !is_in(&["/dev/shm"]) {
        return Some("a sandbox never opens files of the kernel or devices for writing");
    }
    let is_process = is_in(&["/proc"]) && whole.components().nth(2).is_some_and(is_number);
    is_process.then_some("a sandbox has its own /proc, which is always open")
}

/// Means of the kernel that enforces a part of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Means {
    /// View of the file system that holds only the opened paths.
    Mounts,
    /// Separate network or shared memory.
    Namespace,
    /// Landlock, rules of the kernel for files.
    Landlock,
    /// Filter of system calls.
    Seccomp,
    /// Limits of all processes together.
    ControlGroup,
    /// Limits of each process, or of the processes in a user namespace.
    ResourceLimit,
}

impl fmt::Display for Means {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Mounts => "mounts",
            Self::Namespace => "namespace",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::ControlGroup => "cgroup",
            Self::ResourceLimit => "rlimit",
        })
    }
}

/// Enforced parts of a sandbox, each with its means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforced {
    /// Reading and writing only the opened paths.
    pub filesystem: Vec<Means>,
    /// Executing only the allowed programs; empty if any may be executed.
    pub programs: Vec<Means>,
    /// No network; empty if the network was allowed.
    pub network: Vec<Means>,
    /// No access to the shared memory of other processes.
    pub shared_memory: Vec<Means>,
    /// No signals to processes outside. Not every kernel can, and no sandbox asks for it.
    pub signals: Vec<Means>,
    /// The maximum number of processes.
    pub processes: Vec<Means>,
    /// The maximum memory.
    pub memory: Vec<Means>,
    /// Requested parts that could not be enforced, in words. Then only an advisory sandbox runs.
    pub missing: Vec<String>,
    /// Limits that no manifest requested and that could not be enforced, and facts that this kernel does not
    /// hide from the command, in words. No sandbox is refused because of them.
    pub not_required: Vec<String>,
}

/// Means that this kernel offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AvailableMeans {
    /// Reason why there are no namespaces; `None` if there are.
    pub(crate) no_namespaces: Option<String>,
    /// Version of Landlock; zero without Landlock.
    pub(crate) landlock: u32,
    /// Can filter system calls.
    pub(crate) seccomp: bool,
    /// Reason why the command could change the program of its launcher; `None` if it can't.
    pub(crate) exposed: Option<String>,
    /// Means that limits the number of processes.
    pub(crate) processes: Option<Means>,
    /// Means that limits the memory.
    pub(crate) memory: Means,
}

/// First version of Landlock that keeps files from being truncated.
const MIN_LANDLOCK: u32 = 3;
/// First versions of Landlock that keep signals inside and abstract sockets outside.
const LANDLOCK_FOR_SIGNALS: u32 = 6;
const LANDLOCK_FOR_ABSTRACT_SOCKETS: u32 = 6;

const NO_PROCESS_LIMIT: &str =
    "`processes`: this kernel offers neither a control group nor a user namespace that counts processes";

impl AvailableMeans {
    /// Returns the parts of a sandbox that these means enforce, and those that they do not.
    pub(crate) fn enforce(&self, sandbox: &Sandbox) -> Enforced {
        let namespaces = self.no_namespaces.is_none();
        let landlock = self.landlock > 0;
        let chosen = |means: &[(bool, Means)]| {
            means.iter().filter(|(is_there, _)| *is_there).map(|(_, means)| *means).collect()
        };
        let mut enforced = Enforced {
            filesystem: chosen(&[(namespaces, Means::Mounts), (landlock, Means::Landlock)]),
            shared_memory: chosen(&[
                (namespaces, Means::Namespace),
                (!namespaces && self.seccomp, Means::Seccomp),
            ]),
            signals: chosen(&[(self.landlock >= LANDLOCK_FOR_SIGNALS, Means::Landlock)]),
            processes: self.processes.into_iter().collect(),
            memory: vec![self.memory],
            ..Enforced::default()
        };
        if !sandbox.network {
            enforced.network = chosen(&[(namespaces, Means::Namespace), (self.seccomp, Means::Seccomp)]);
        }
        if sandbox.programs.is_some() {
            enforced.programs = chosen(&[(landlock, Means::Landlock)]);
        }
        enforced.missing = self.missing(sandbox);
        if let Some(reason) = &self.no_namespaces {
            let hidden = [
                "names, sizes, modes, times and extended attributes of files",
                "other processes",
                "files of the kernel in /proc",
            ];
            let without = |what| format!("hiding {what}: this kernel offers no namespaces ({reason})");
            enforced.not_required = hidden.map(without).into();
            if sandbox.private.is_some() {
                enforced.not_required.push(format!(
                    "the limit of 1 GiB for the private directory: this kernel offers no namespaces ({reason})"
                ));
            }
        }
        if self.processes.is_none() && !sandbox.limits.processes.is_requested {
            enforced.not_required.push(NO_PROCESS_LIMIT.to_owned());
        }
        enforced
    }

    /// Returns the missing part of a sandbox without Landlock and without a user namespace of its own.
    pub(crate) fn users_are_shared(error: &std::io::Error) -> String {
        format!(
            "`read` and `write`: this kernel has no Landlock and no user namespace ({error}), and other processes of the same user lead out of the mounts"
        )
    }

    fn missing(&self, sandbox: &Sandbox) -> Vec<String> {
        let mut missing = Vec::new();
        let landlock = |needed| match self.landlock {
            0 => "this kernel has no Landlock".to_owned(),
            version => format!("Landlock of this kernel is too old (version {version}, {needed} is needed)"),
        };
        if let Some(reason) = &self.no_namespaces {
            let no_namespaces = format!("this kernel offers no namespaces ({reason})");
            if self.landlock < MIN_LANDLOCK {
                let mut landlock = landlock(MIN_LANDLOCK);
                if self.landlock > 0 {
                    landlock.push_str(" to protect all files");
                }
                missing.push(format!("`read` and `write`: {no_namespaces} and {landlock}"));
            } else if !self.seccomp {
                missing.push(format!(
                    "`read` and `write`: {no_namespaces} and no seccomp to protect modes and owners"
                ));
            }
            // Landlock adds the rights of a path to those of the directories above it.
            let is_writable = |read: &&PathBuf| {
                sandbox.write.iter().chain([&sandbox.workdir]).any(|path| read.starts_with(path))
            };
            if let Some(read) = sandbox.read.iter().find(is_writable) {
                missing.push(format!(
                    "`read` of \"{}\", which lies in a directory that may be written: {no_namespaces}",
                    read.display()
                ));
            }
            if sandbox.unix_sockets {
                missing.push(format!(
                    "`unix_sockets`, limited to sockets of the sandbox: {no_namespaces}, so sockets of the machine can be reached"
                ));
            }
        } else if sandbox.unix_sockets && sandbox.network && self.landlock < LANDLOCK_FOR_ABSTRACT_SOCKETS {
            missing.push(format!(
                "`unix_sockets` together with `network`: {}, so abstract sockets of the machine can be reached",
                landlock(LANDLOCK_FOR_ABSTRACT_SOCKETS)
            ));
        }
        // Without mounts, Landlock and seccomp refuse every change outside.
        if let (None, Some(reason)) = (&self.no_namespaces, &self.exposed) {
            missing.push(format!("`write`: the program that starts sandboxes can't be protected ({reason})"));
        }
        if sandbox.programs.is_some() {
            if self.landlock == 0 {
                missing.push(format!("`programs`: {}", landlock(1)));
            } else if !self.seccomp {
                missing
                    .push("`programs`: this kernel has no seccomp to keep programs out of memory".to_owned());
            }
        }
        if self.processes.is_none() && sandbox.limits.processes.is_requested {
            missing.push(NO_PROCESS_LIMIT.to_owned());
        }
        if !self.seccomp {
            let what = match (sandbox.network, sandbox.unix_sockets) {
                (true, _) => "`network: true`, limited to IPv4 and IPv6",
                (false, true) => "`network: false`",
                (false, false) => "`network: false` and `unix_sockets: false`",
            };
            missing.push(format!("{what}: this kernel has no seccomp"));
            missing.push("setuid and setgid files can't be forbidden: this kernel has no seccomp".to_owned());
        }
        missing
    }
}

/// A layer of the sandbox, for tests that switch one off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxLayer {
    /// Namespaces, and the mounts in them.
    Namespaces,
    /// Landlock.
    Landlock,
    /// Versions of Landlock after this one.
    LandlockNewerThan(u32),
    /// Filter of system calls.
    Seccomp,
    /// User namespace of a sandbox without Landlock.
    Users,
    /// Control groups.
    ControlGroups,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::limits::SandboxLimit;

    fn sandbox(network: bool) -> Sandbox {
        Sandbox { network, ..Sandbox::new("/work") }
    }

    fn all() -> AvailableMeans {
        AvailableMeans {
            no_namespaces: None,
            landlock: 7,
            seccomp: true,
            exposed: None,
            processes: Some(Means::ControlGroup),
            memory: Means::ControlGroup,
        }
    }

    #[test]
    fn what_is_missing_depends_on_what_is_there() {
        use Means::{Landlock, Mounts, Namespace, Seccomp};
        for (namespaces, landlock, seccomp, filesystem, network, missing) in [
            (true, 7, true, &[Mounts, Landlock][..], &[Namespace, Seccomp][..], 0),
            (true, 2, true, &[Mounts, Landlock], &[Namespace, Seccomp], 0),
            (true, 0, true, &[Mounts], &[Namespace, Seccomp], 0),
            (false, 3, true, &[Landlock], &[Seccomp], 0),
            (false, 2, true, &[Landlock], &[Seccomp], 1),
            (false, 0, true, &[], &[Seccomp], 1),
            (true, 7, false, &[Mounts, Landlock], &[Namespace], 2),
            (false, 7, false, &[Landlock], &[], 3),
            (false, 0, false, &[], &[], 3),
        ] {
            let no_namespaces = (!namespaces).then(|| "refused".to_owned());
            let available = AvailableMeans { no_namespaces, landlock, seccomp, exposed: None, ..all() };
            let enforced = available.enforce(&sandbox(false));
            assert_eq!(enforced.filesystem, filesystem, "{available:?}");
            assert_eq!(enforced.network, network, "{available:?}");
            assert_eq!(enforced.missing.len(), missing, "{available:?}: {enforced:?}");
            assert_eq!(enforced.not_required.is_empty(), namespaces);
            let open = available.enforce(&sandbox(true));
            assert!(open.network.is_empty());
            assert_eq!(open.missing.len(), missing, "{available:?}: {open:?}");
        }
    }

    #[test]
    fn programs_need_landlock_and_a_filter() {
        let asked = Sandbox { programs: Some(AllowedPrograms::default()), ..sandbox(false) };
        for (landlock, seccomp, missing) in [
            (1, true, None),
            (0, true, Some("`programs`: this kernel has no Landlock")),
            (7, false, Some("`programs`: this kernel has no seccomp to keep programs out of memory")),
        ] {
            let enforced = AvailableMeans { landlock, seccomp, ..all() }.enforce(&asked);
            let found = enforced.missing.iter().find(|missing| missing.starts_with("`programs`"));
            assert_eq!(found.map(String::as_str), missing);
            assert_eq!(enforced.programs.is_empty(), landlock == 0);
        }
        assert!(all().enforce(&sandbox(false)).programs.is_empty());
    }

    #[test]
    fn unix_sockets_are_its_own_or_it_is_said_that_they_are_not() {
        for (namespaces, landlock, network, expected) in [
            (true, 6, true, None),
            (true, 0, false, None),
            (
                true,
                5,
                true,
                Some(
                    "`unix_sockets` together with `network`: Landlock of this kernel is too old (version 5, 6 is needed)",
                ),
            ),
            (true, 0, true, Some("`unix_sockets` together with `network`: this kernel has no Landlock")),
            (
                false,
                7,
                false,
                Some(
                    "`unix_sockets`, limited to sockets of the sandbox: this kernel offers no namespaces (refused)",
                ),
            ),
            (
                false,
                7,
                true,
                Some(
                    "`unix_sockets`, limited to sockets of the sandbox: this kernel offers no namespaces (refused)",
                ),
            ),
        ] {
            let no_namespaces = (!namespaces).then(|| "refused".to_owned());
            let available = AvailableMeans { no_namespaces, landlock, seccomp: true, exposed: None, ..all() };
            let asked = Sandbox { unix_sockets: true, ..sandbox(network) };
            let missing = available.enforce(&asked).missing;
            assert_eq!(missing.len(), usize::from(expected.is_some()), "{available:?}: {missing:?}");
            assert!(missing.iter().all(|said| said.starts_with(expected.unwrap_or_default())), "{missing:?}");
            assert!(available.enforce(&sandbox(network)).missing.is_empty());
        }
    }

    #[test]
    fn what_is_never_opened_is_known_by_its_path() {
        let (whole, kernel) = ("it is the whole", "a sandbox never opens files of the kernel");
        for (path, to_write, expected) in [
            ("/", false, Some(whole)),
            ("/usr/../.", true, Some(whole)),
            ("/proc", true, Some(kernel)),
            ("/sys/power/state", true, Some(kernel)),
            ("/var/../dev", true, Some(kernel)),
            ("/dev/shm/mine", true, None),
            ("/dev", false, None),
            ("/process", true, None),
            ("/proc/1", false, Some("a sandbox has its own /proc")),
            ("/proc/sys", false, None),
            ("/srv", true, None),
        ] {
            let said = never_opened(Path::new(path), to_write);
            assert_eq!(said.is_some(), expected.is_some(), "{path}: {said:?}");
            assert!(said.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{path}: {said:?}");
        }
    }

    #[test]
    fn program_that_can_be_changed_past_the_mounts_is_missing() {
        for (no_namespaces, expected) in [
            (None, &["`write`: the program that starts sandboxes can't be protected (no memory)"][..]),
            (Some("refused".to_owned()), &[]),
        ] {
            let exposed = Some("no memory".to_owned());
            let available = AvailableMeans { no_namespaces, landlock: 7, seccomp: true, exposed, ..all() };
            assert_eq!(available.enforce(&sandbox(false)).missing, expected, "{available:?}");
        }
    }

    #[test]
    fn signals_stay_inside_from_a_version_on() {
        for (landlock, expected) in [(0, 0), (5, 0), (6, 1), (7, 1)] {
            let available =
                AvailableMeans { no_namespaces: None, landlock, seccomp: true, exposed: None, ..all() };
            assert_eq!(available.enforce(&sandbox(false)).signals.len(), expected);
        }
    }

    #[test]
    fn readable_path_in_a_writable_one_needs_namespaces() {
        let asked =
            |read: &str| Sandbox { read: vec![read.into()], write: vec!["/srv".into()], ..sandbox(false) };
        for (read, no_namespaces, expected) in [
            ("/srv/app", Some("refused".to_owned()), 1),
            ("/work/lib", Some("refused".to_owned()), 1),
            ("/srv2", Some("refused".to_owned()), 0),
            ("/srv/app", None, 0),
        ] {
            let available = AvailableMeans { no_namespaces, ..all() };
            assert_eq!(available.enforce(&asked(read)).missing.len(), expected, "{read}");
        }
    }

    #[test]
    fn limit_that_is_not_enforced_is_missing_if_it_was_requested() {
        let available = AvailableMeans { processes: None, ..all() };
        let by_default = available.enforce(&sandbox(false));
        assert_eq!((by_default.missing.len(), by_default.not_required.len()), (0, 1), "{by_default:?}");
        let limits = SandboxLimits { processes: SandboxLimit::requested(3), ..SandboxLimits::default() };
        let requested = available.enforce(&Sandbox { limits, ..sandbox(false) });
        assert_eq!((requested.missing.len(), requested.not_required.len()), (1, 0), "{requested:?}");
        assert_eq!(all().enforce(&sandbox(false)).processes, [Means::ControlGroup]);
    }
}
