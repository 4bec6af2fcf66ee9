//! Reasons why commands do not start.

use std::path::{Path, PathBuf};

use ccm_model::{Failure, FailureKind, Refusal};
use serde::{Deserialize, Serialize};

use super::launch_protocol::{io_error, path};
use crate::account::AccountError;
use crate::executor::ContainerError;

/// Reason why a command was not started or has no result. Variants that no launcher reports are not serialized.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no such program.
    #[error("\"{name}\" not found{}", if name.contains('/') { "" } else { " in PATH" })]
    NotFound {
        /// Name of the program, as the command has it.
        name: String,
        /// Search path.
        path: String,
    },
    /// The program is a directory.
    #[error("\"{}\" is a directory", program.display())]
    IsDirectory {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program may not be executed.
    #[error("\"{}\" is not executable", program.display())]
    NotExecutable {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program is on a file system that forbids execution.
    #[error("\"{}\" is on a file system that is mounted noexec", program.display())]
    MountedNoexec {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program is neither a binary for this machine nor a script with an interpreter line.
    #[error("\"{}\" is neither an executable for the architecture of this machine nor a script that begins with #!", program.display())]
    NoInterpreter {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program is a script whose interpreter is missing.
    #[error("\"{}\" needs the interpreter \"{interpreter}\", which does not exist", program.display())]
    InterpreterMissing {
        /// Path of the script.
        #[serde(with = "path")]
        program: PathBuf,
        /// Interpreter that the first line names.
        interpreter: String,
    },
    /// A file that the kernel needs to run the program is missing.
    #[error("the interpreter or loader of \"{}\" is missing", program.display())]
    LoaderMissing {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The working directory can't be entered.
    #[error("working directory \"{}\" can't be entered", path.display())]
    WorkingDirectory {
        /// Path of the directory.
        #[serde(with = "path")]
        path: PathBuf,
        /// Error of the system.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// The user of the command may not enter the working directory.
    #[serde(skip)]
    #[error("working directory \"{}\" can't be entered: \"{}\" belongs to `{owner}`, and `{user}` may not enter it", path.display(), directory.display())]
    ClosedDirectory {
        /// Path of the working directory.
        path: Box<Path>,
        /// Directory that the user may not enter.
        directory: Box<Path>,
        /// Owner of that directory.
        owner: Box<str>,
        /// User of the command.
        user: Box<str>,
    },
    /// The command was run, but a tracer of it withholds its exit code, or another part of this program took it.
    #[serde(skip)]
    #[error(
        "\"{}\" was run, but its exit code was taken by its tracer or by another part of this program",
        program.display()
    )]
    StatusLost {
        /// Path of the program.
        program: PathBuf,
    },
    /// ccm is not root and can't run a command as another user.
    #[serde(skip)]
    #[error(
        "`{property}` can't be changed: only root can run a command as another user, and ccm runs as uid {uid}"
    )]
    NotRoot {
        /// Property that can't be changed: `user` or `group`.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
        /// UID of the user who runs ccm.
        uid: u32,
    },
    /// The command needs a launcher, and the runner has none.
    #[serde(skip)]
    #[error("`{property}` needs a launcher, and this program names none")]
    NoLauncher {
        /// Property that needs a launcher: `user`, `umask` or `sandbox`; `cwd` with a glibc before 2.29.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
    },
    /// The launcher could not be started.
    #[serde(skip)]
    #[error("the launcher \"{}\" could not be started", launcher.display())]
    Launcher {
        /// Path of the launcher.
        launcher: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The launcher ended before it replied.
    #[serde(skip)]
    #[error("the launcher \"{}\" ended without a reply", launcher.display())]
    NoReply {
        /// Path of the launcher.
        launcher: PathBuf,
    },
    /// The sandbox allows the programs that the command starts, and they can't be determined.
    #[error("the programs that the command starts, which its sandbox allows, can't be determined: {reason}")]
    UnknownPrograms {
        /// Reason, as a clause in lower case.
        reason: String,
    },
    /// A step of taking on the user, the umask or the sandbox failed.
    #[error("`{property}`: {step}")]
    Step {
        /// Property that the step belongs to.
        property: String,
        /// Step that failed, as a sentence.
        step: String,
        /// Error of the system.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// A path of the sandbox can't be opened to the command.
    #[error("`{property}` of the sandbox: \"{}\" can't be opened", path.display())]
    SandboxPath {
        /// Property with the path: `workdir`, `read`, `write` or `programs`.
        property: String,
        /// The path.
        #[serde(with = "path")]
        path: PathBuf,
        /// Error of the system.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// The kernel can't enforce the sandbox.
    #[error("this kernel can't enforce the sandbox: {}", missing.join("; "))]
    NotEnforceable {
        /// Parts that can't be enforced, each with the means that the kernel lacks.
        missing: Vec<String>,
    },
    /// The working directory exists, but not inside the sandbox.
    #[serde(skip)]
    #[error("working directory \"{}\" is not open in the sandbox", path.display())]
    DirectoryOutsideSandbox {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The program exists, but not inside the sandbox.
    #[serde(skip)]
    #[error("\"{}\" can't be seen from inside the sandbox", program.display())]
    OutsideSandbox {
        /// Path of the program.
        program: PathBuf,
    },
    /// The user or the group is not known.
    #[serde(skip)]
    #[error("`{property}` can't be used")]
    Account {
        /// Property with the name: `user` or `group`.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
        /// Error of the lookup.
        source: AccountError,
    },
    /// The user who runs ccm is not known.
    #[serde(skip)]
    #[error("the user who runs ccm can't be determined")]
    OwnIdentity {
        /// Error of the kernel.
        source: std::io::Error,
    },
    /// The directory of the manifest, where paths of a sandbox start, is missing or can't be read.
    #[serde(skip)]
    #[error("the directory of the manifest, \"{}\", can't be found", path.display())]
    ManifestDirectory {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the lookup.
        source: std::io::Error,
    },
    /// The private directory of a sandbox can't be made.
    #[serde(skip)]
    #[error("the private directory of the sandbox can't be created")]
    PrivateDirectory {
        /// Error of the step that failed.
        source: std::io::Error,
    },
    /// The program lies where a sandbox may start none.
    #[serde(skip)]
    #[error("\"{name}\" is outside the directories from which this sandbox may start programs")]
    NotAllowedInSandbox {
        /// Name of the program, as the command has it.
        name: String,
        /// Directory of the manifest, below which programs may lie.
        directory: PathBuf,
    },
    /// The path of the program is not UTF-8.
    #[serde(skip)]
    #[error("\"{}\" is not UTF-8", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// The gate of the run refused the command.
    #[serde(skip)]
    #[error("{refusal}")]
    Refused {
        /// Answer of the gate.
        refusal: Refusal,
        /// `true` if the gate was asked in noop, in which nothing is approved.
        noop: bool,
    },
    /// The container of the command can't be used, or was lost while the command ran.
    #[serde(skip)]
    #[error(transparent)]
    Container(Box<ContainerError>),
    /// This program starts no containers.
    #[serde(skip)]
    #[error("this program can't start containers")]
    NoContainers,
    /// The command would need a container, and noop starts none.
    #[serde(skip)]
    #[error("noop starts no container")]
    NotInNoop,
    /// Any other error.
    #[error("\"{}\" could not be started", program.display())]
    Spawn {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
        /// Error of the system.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
}

impl StartError {
    /// Builds the failure of a resource whose command was not started, or has ended in an unknown way.
    pub fn failure(&self) -> Failure {
        let failure = match self {
            Self::Refused { refusal, .. } => Failure::refused(refusal),
            Self::StatusLost { .. } => {
                Failure { changed: true, ..Failure::from_error(FailureKind::Exit, self) }
            }
            Self::Container(error) => Failure {
                hints: error.hints.clone(),
                changed: error.has_run,
                missing: error.missing.clone().map(Into::into),
                ..Failure::from_error(
                    if error.has_run { FailureKind::Exit } else { FailureKind::Start },
                    self,
                )
            },
            _ => Failure::from_error(FailureKind::Start, self),
        };
        Failure { property: self.property().map(Into::into), ..failure }
    }

    /// Returns `true` if the program is open for writing, so that a later try may succeed.
    pub fn is_of_busy_program(&self) -> bool {
        matches!(self, Self::Spawn { source, .. } if source.raw_os_error() == Some(libc::ETXTBSY))
    }

    /// Returns the property of the resource that caused the failed step.
    pub fn property(&self) -> Option<&'static str> {
        match self {
            Self::NotRoot { property, .. }
            | Self::NoLauncher { property }
            | Self::Account { property, .. } => Some(property),
            // The launcher's own steps belong to no property.
            Self::Step { property, .. } => {
                ["user", "group", "umask", "sandbox"].into_iter().find(|known| known == property)
            }
            Self::SandboxPath { .. } | Self::NotEnforceable { .. } => Some("sandbox"),
            Self::Container(error) => error.property,
            Self::NoContainers => Some("executor"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_names_its_property_unless_it_is_of_the_launcher() {
        let step = |property: &str| StartError::Step {
            property: property.to_owned(),
            step: "the user can't be set".to_owned(),
            source: std::io::Error::from_raw_os_error(1),
        };
        for property in ["user", "group", "umask", "sandbox"] {
            assert_eq!(step(property).property(), Some(property));
        }
        assert_eq!(step("launcher").property(), None);
        assert_eq!(StartError::NoLauncher { property: "umask" }.property(), Some("umask"));
    }
}
