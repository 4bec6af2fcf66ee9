//! The sandbox of a local plan.

use std::io;
use std::path::{Path, PathBuf};

use super::{LocalExecutor, LocalSystem};
use crate::account::Identity;
use crate::command::{Command, Process, Sandbox, StartError};
use crate::executor::{Launch, Purpose, Workdir};
use crate::files::Files;
use crate::private::PrivateDirectory;

/// Directory that every sandbox opens and every user can enter.
const ALWAYS_OPEN: &str = "/usr";

/// Sandbox of a plan, and its directories on this machine.
pub(super) struct Confined {
    pub(super) sandbox: Sandbox,
    pub(super) manifest_directory: PathBuf,
    pub(super) private: Private,
}

pub(super) enum Private {
    Made(PrivateDirectory),
    /// The directory does not exist; a run would make it.
    Planned(PathBuf),
}

impl Private {
    fn new(system: &dyn LocalSystem, owner: Option<&Identity>, purpose: Purpose) -> Result<Self, StartError> {
        let private = match purpose {
            Purpose::Run | Purpose::Noop => system.private_directory(owner).map(Self::Made),
            Purpose::Preflight => {
                system.private_parent().map(|parent| Self::Planned(parent.join("ccm-private").join("work")))
            }
        };
        private.map_err(|source| StartError::PrivateDirectory { source })
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Made(made) => made.path(),
            Self::Planned(path) => path,
        }
    }
}

impl Confined {
    pub(super) fn resolve(
        launch: &Launch,
        LocalExecutor { system, files, .. }: LocalExecutor<'_>,
        identity: Option<&Identity>,
        purpose: Purpose,
    ) -> Result<Option<Self>, StartError> {
        let Some(request) = &launch.sandbox else { return Ok(None) };
        let canonical = |property: &str, path: &Path| {
            let path = launch.manifest_directory.join(path);
            files.canonical(&path).map_err(|source| StartError::SandboxPath {
                property: property.to_owned(),
                path,
                source,
            })
        };
        let all = |property, paths: &[PathBuf]| {
            paths.iter().map(|path| canonical(property, path)).collect::<Result<Vec<_>, _>>()
        };
        let mut read = all("read", &request.read)?;
        let mut write = all("write", &request.write)?;
        let manifest_directory = files.canonical(&launch.manifest_directory).map_err(|source| {
            StartError::ManifestDirectory { path: launch.manifest_directory.clone(), source }
        })?;
        let workdir = match &request.workdir {
            Workdir::Private => None,
            Workdir::Manifest => Some(manifest_directory.clone()),
            Workdir::At(path) => Some(canonical("workdir", path)?),
        };
        for directory in write.clone().iter().chain(&workdir) {
            let FixedPaths { pinned, unchanged } = fixed(directory, &request.fixed, files)?;
            write.extend(pinned);
            read.extend(unchanged);
        }
        let private = Private::new(system, identity, purpose)?;
        if workdir.is_some() {
            // For temporary files.
            write.push(private.path().to_owned());
        }
        let sandbox = Sandbox {
            workdir: workdir.unwrap_or_else(|| private.path().to_owned()),
            private: Some(private.path().to_owned()),
            read,
            write,
            programs: None,
            network: request.network,
            unix_sockets: request.unix_sockets,
            limits: request.limits,
            advisory: request.advisory,
        };
        Ok(Some(Self { sandbox, manifest_directory, private }))
    }

    /// Confines a command, and opens one more path to it. In a preflight, a directory that only a run makes
    /// is left out or replaced by one that every sandbox opens, so that no more can be seen than in a run.
    pub(super) fn apply_to(&self, command: &mut Command, opened: Option<PathBuf>) {
        let mut sandbox = self.sandbox.clone();
        let is_open = |path: &PathBuf| {
            sandbox.write.iter().chain([&sandbox.workdir]).any(|directory| path.starts_with(directory))
        };
        let opened = opened.filter(|path| !is_open(path));
        sandbox.read.extend(opened);
        if let Private::Planned(planned) = &self.private {
            sandbox.private = None;
            sandbox.write.retain(|path| path != planned);
            for path in [&mut sandbox.workdir, &mut command.cwd] {
                if path == planned {
                    *path = PathBuf::from(ALWAYS_OPEN);
                }
            }
        }
        command.sandbox = Some(sandbox);
    }

    /// Removes the private directory. Returns a warning if that is not possible.
    pub(super) fn remove(self, left_running: &[Process]) -> Option<String> {
        let Private::Made(private) = self.private else { return None };
        let path = private.path().display().to_string();
        private.remove().err().map(|error| not_removed(&path, left_running, &error))
    }
}

/// Paths of a directory that may be written which stay as they are.
#[derive(Default)]
struct FixedPaths {
    /// Directories above them. Each is opened by itself, because what is mounted can't be renamed: the command could
    /// put another directory into its place.
    pinned: Vec<PathBuf>,
    unchanged: Vec<PathBuf>,
}

/// Finds those of the paths whose first directory exists. A path that is missing there is an error, because the
/// command could make it.
fn fixed(directory: &Path, paths: &[PathBuf], files: &dyn Files) -> Result<FixedPaths, StartError> {
    let mut fixed = FixedPaths::default();
    for path in paths {
        let failed = |source| StartError::SandboxPath {
            property: "profile".to_owned(),
            path: directory.join(path),
            source,
        };
        let top = path.components().next().map(|top| directory.join(top)).unwrap_or_default();
        if files.is_directory(&top).unwrap_or(false) {
            let pinned = files.canonical(&top).map_err(failed)?;
            if !fixed.pinned.contains(&pinned) {
                fixed.pinned.push(pinned);
            }
            fixed.unchanged.push(files.canonical(&directory.join(path)).map_err(failed)?);
        }
    }
    Ok(fixed)
}

/// Returns the warning about a private directory that still exists, with its probable cause.
fn not_removed(path: &str, left_running: &[Process], error: &io::Error) -> String {
    let left: Vec<String> = left_running.iter().map(Process::to_string).collect();
    let cause = match &left[..] {
        [] => String::new(),
        left => format!(
            ", because processes that were left running may still write into it ({})",
            left.join(", ")
        ),
    };
    format!("the private directory \"{path}\" could not be removed{cause}: {error}; the next run removes it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_hold_a_private_directory_is_named() {
        let daemon = Process::new(7, "daemon");
        let error = io::Error::other("new files keep appearing in the directory");
        for (left, cause) in [
            (&[][..], ""),
            (&[daemon], ", because processes that were left running may still write into it (7 daemon)"),
        ] {
            assert_eq!(
                not_removed("/tmp/x", left, &error),
                format!(
                    "the private directory \"/tmp/x\" could not be removed{cause}: new files keep appearing in the directory; the next \
                     run removes it"
                )
            );
        }
    }
}
