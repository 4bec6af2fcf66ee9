//! The pure decision about a mount.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::Described;
use ccm_model::{Failure, MissingPrerequisite};

use super::desired::{DesiredMount, MountEnsure};
use super::fstab::{Fstab, FstabLine};
use super::mount_options::differing;
use crate::parts::mounts::MountedFilesystem;
use crate::parts::text::shown;
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType, yes_or_no};

/// State of a mount, with the obstacles to mounting it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MountState {
    pub fstab: Rc<Fstab>,
    /// The mount point as `/etc/fstab` spells it.
    pub spelling: String,
    /// The mount point without links.
    pub directory: String,
    /// Failure of mounting or unmounting, because a stranger could lead the programs elsewhere.
    pub refusal: Option<Failure>,
    /// File system that is mounted on the directory.
    pub mounted: Option<MountedFilesystem>,
    /// Number of file systems that are mounted on the directory, one over the other.
    pub layers: usize,
    /// The mounted file system is another one than the desired one.
    pub is_other: bool,
    /// Missing directories, from the outermost to the mount point.
    pub missing_directories: Vec<PathBuf>,
    /// Obstacle to mounting the file system; only known if it is to be mounted and is not.
    pub obstacle: Option<MountObstacle>,
}

impl MountState {
    /// Returns the lines of the mount in `/etc/fstab`.
    pub(super) fn lines(&self) -> &[FstabLine] {
        self.fstab.lines(&self.spelling)
    }
}

/// What a file system can't be mounted without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MountObstacle {
    /// The mount point is no directory, but this.
    NoDirectory(&'static str),
    NoDevice,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MountDifference {
    /// Field of the line in `/etc/fstab`.
    Field {
        name: &'static str,
        from: Option<String>,
        to: String,
    },
    /// Number of lines in `/etc/fstab`.
    Lines(usize),
    /// Another file system is mounted.
    Other {
        from: String,
        to: String,
    },
    /// Options of the mounted file system.
    MountedOptions {
        from: String,
        to: String,
    },
    Mounted(bool),
    /// The directory of the mount point is missing.
    NoDirectory,
}

impl ObjectDifference for MountDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Field { name, .. } => name,
            Self::Lines(_) => "lines",
            Self::Other { .. } => "mounted device",
            Self::MountedOptions { .. } => "mounted options",
            Self::Mounted(_) => "mounted",
            Self::NoDirectory => "directory",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Field { from, to, .. } => (from.clone(), Some(to.clone())),
            Self::Other { from, to } | Self::MountedOptions { from, to } => {
                (Some(from.clone()), Some(to.clone()))
            }
            Self::Lines(count) => (Some(count.to_string()), Some("1".to_owned())),
            Self::Mounted(to) => (Some(yes_or_no(!to)), Some(yes_or_no(*to))),
            Self::NoDirectory => (None, Some("made".to_owned())),
        }
    }
}

impl ObjectType for DesiredMount {
    type State = MountState;
    type Difference = MountDifference;
    type Effect = ();

    fn plan(&self, state: &MountState) -> ObjectPlan<MountDifference> {
        let plan = trusting_plan(self, state);
        match &state.refusal {
            // Nothing is mounted or unmounted, and no line is left for the next boot.
            _ if matches!(plan, ObjectPlan::Keep { .. }) => plan,
            _ if matches!(plan, ObjectPlan::Remove) && state.mounted.is_none() => plan,
            Some(refusal) => ObjectPlan::Fail(refusal.clone()),
            None => plan,
        }
    }

    fn shown(&self) -> String {
        format!("mount `{}`", self.mount_point)
    }

    fn describe(&self, state: &MountState) -> Described {
        let line = state.lines().first();
        let ensure = match (&state.mounted, line) {
            (Some(_), _) => "mounted",
            (None, Some(_)) => "unmounted",
            (None, None) => "absent",
        };
        Described::new(ensure)
            .with("device", line.map(|line| shown(&line.device)))
            .with("fstype", line.map(|line| shown(&line.fstype)))
            .with("options", line.map(|line| shown(&line.options)))
            .with("mounted_device", state.mounted.as_ref().map(|found| found.source.clone()))
            .with("mounted_options", state.mounted.as_ref().map(|found| found.options.clone()))
    }
}

/// Plans the change of a mount whose path nobody can lead elsewhere.
fn trusting_plan(mount: &DesiredMount, state: &MountState) -> ObjectPlan<MountDifference> {
    let lines = state.lines();
    if mount.ensure == MountEnsure::Absent {
        let exists = !lines.is_empty() || state.mounted.is_some();
        return if exists { ObjectPlan::Remove } else { ObjectPlan::Keep { exists: false } };
    }
    let mut differences = field_differences(mount, lines);
    differences.extend(mounted_difference(mount, state));
    let mounts = |difference: &MountDifference| {
        matches!(difference, MountDifference::Mounted(true) | MountDifference::Other { .. })
    };
    if let Some(obstacle) = state.obstacle.filter(|_| differences.iter().any(mounts)) {
        return ObjectPlan::Fail(blocked(mount, obstacle));
    }
    if differences.iter().any(mounts) && !state.missing_directories.is_empty() {
        differences.push(MountDifference::NoDirectory);
    }
    if differences.is_empty() {
        ObjectPlan::Keep { exists: true }
    } else if lines.is_empty() {
        ObjectPlan::Create(differences)
    } else {
        ObjectPlan::Change(differences)
    }
}

/// Field of a line, with its name.
type FstabField = (&'static str, fn(&FstabLine) -> String);

/// Returns the differences between the line in `/etc/fstab` and the desired one.
fn field_differences(mount: &DesiredMount, lines: &[FstabLine]) -> Vec<MountDifference> {
    let old = lines.first();
    let new = mount.line(old);
    if matches!(lines, [old] if *old == new) {
        return Vec::new();
    }
    let fields: [FstabField; 5] = [
        ("device", |line| shown(&line.device)),
        ("fstype", |line| shown(&line.fstype)),
        ("options", |line| shown(&line.options)),
        ("dump", |line| line.dump.to_string()),
        ("pass", |line| line.pass.to_string()),
    ];
    let mut differences = Vec::new();
    for (name, field) in fields {
        let (from, to) = (old.map(field), field(&new));
        // A new line is described by what the manifest gives.
        let is_default = old.is_none() && matches!(name, "dump" | "pass") && to == "0";
        if from.as_ref() != Some(&to) && !is_default {
            differences.push(MountDifference::Field { name, from, to });
        }
    }
    if lines.len() > 1 {
        differences.push(MountDifference::Lines(lines.len()));
    }
    differences
}

/// Returns the difference between what is mounted and what is to be mounted.
fn mounted_difference(mount: &DesiredMount, state: &MountState) -> Option<MountDifference> {
    match (mount.ensure, &state.mounted) {
        (MountEnsure::Mounted, None) => Some(MountDifference::Mounted(true)),
        (MountEnsure::Mounted, Some(mounted)) if state.is_other => Some(MountDifference::Other {
            from: format!("{} ({})", mounted.source, mounted.fstype),
            to: format!("{} ({})", mount.device, mount.fstype),
        }),
        (MountEnsure::Mounted, Some(mounted)) => {
            let (from, to) = differing(mount.options.as_deref()?, mounted)?;
            Some(MountDifference::MountedOptions { from, to })
        }
        (MountEnsure::Unmounted, Some(_)) => Some(MountDifference::Mounted(false)),
        _ => None,
    }
}

fn blocked(mount: &DesiredMount, obstacle: MountObstacle) -> Failure {
    let mount_point = Path::new(&mount.mount_point);
    match obstacle {
        MountObstacle::NoDirectory(what) => {
            let message = format!("\"{}\" is {what}, not a directory", mount_point.display());
            Failure::conflict(message)
                .with_missing(MissingPrerequisite::Path(mount_point.to_owned()))
                .with_hint("move it away, or choose another mount point")
        }
        MountObstacle::NoDevice => {
            let failure = Failure::conflict(format!("there is no device `{}`", mount.device));
            let failure = failure.of_property("device").with_hint("check the names that `lsblk -f` shows");
            match mount.device_path() {
                Some(path) => failure.with_missing(MissingPrerequisite::Path(path)),
                None => failure,
            }
        }
    }
}

#[cfg(test)]
mod tests;
