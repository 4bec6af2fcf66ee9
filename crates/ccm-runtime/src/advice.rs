//! Advice for a state directory that can't be used, and next steps for pending refreshes.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

use ccm_engine::PendingLedger;
use ccm_host::InspectOptions;

use crate::session::Session;

/// Advice for a path in a state directory that can't be used.
///
/// The advice is never to use another directory: pending refreshes are in this one, and its lock separates
/// runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateAdvice {
    /// The file system is read-only.
    MountWritable,
    /// The disk is full.
    FreeSpace,
    /// Another user owns it.
    RunAs {
        /// UID of the owner.
        uid: u32,
        /// Name of the owner, if there is one.
        name: Option<String>,
    },
    /// Another user, who can't be found, owns it.
    RunAsOwner,
    /// Another kind of file is at the path.
    MoveAway,
}

impl fmt::Display for StateAdvice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MountWritable => formatter.write_str("remount the file system of this path read-write"),
            Self::FreeSpace => formatter.write_str("free space on the file system of this path"),
            Self::RunAs { uid, name: Some(name) } => {
                write!(formatter, "run ccm as {name} (uid {uid}), the owner of this path")
            }
            Self::RunAs { uid, name: None } => {
                write!(formatter, "run ccm as uid {uid}, the owner of this path")
            }
            Self::RunAsOwner => formatter.write_str("run ccm as the owner of this path"),
            Self::MoveAway => formatter.write_str("move away what is at this path; ccm creates it anew"),
        }
    }
}

/// Next step for the pending refreshes of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextStep {
    /// Apply the manifest at this path.
    Apply(String),
    /// Apply the manifest with this key. Its path is unknown.
    ApplyKey(String),
    /// Apply the manifest. Only the name of its ledger is known.
    ApplyUnknown,
    /// Use the version of ccm that wrote the ledger, or a newer one.
    UseNewerVersion,
    /// None: the manifest at this path does not exist, so no run does the refresh.
    Gone {
        /// The path.
        manifest: String,
        /// `true` if all refreshes of the ledger belong to this manifest, so that the ledger can be removed.
        is_whole_ledger: bool,
    },
}

impl Session {
    /// Returns advice for a path in a state directory that can't be used because of this error.
    pub fn state_advice(&self, path: &Path, error: &io::Error) -> StateAdvice {
        match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem => StateAdvice::MountWritable,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StateAdvice::FreeSpace,
            io::ErrorKind::PermissionDenied => {
                let files = &self.doors.files;
                let owner =
                    |path: &Path| Some(files.inspect(path, InspectOptions::default()).ok()?.target?.uid);
                match path.ancestors().find_map(owner) {
                    Some(uid) => StateAdvice::RunAs { uid, name: files.user_name(uid).ok().flatten() },
                    None => StateAdvice::RunAsOwner,
                }
            }
            _ => StateAdvice::MoveAway,
        }
    }

    /// Returns the next steps for the pending refreshes of a ledger. A ledger that a run refuses has no next
    /// step.
    pub fn next_steps(&self, ledger: &PendingLedger) -> Vec<NextStep> {
        if !ledger.untrusted.is_empty() {
            return Vec::new();
        }
        if ledger.unreadable.is_some() {
            return self.next_of_unreadable(ledger);
        }
        let refreshes = &ledger.refreshes;
        // A manifest from standard input has no path.
        let manifests = refreshes.iter().map(|pending| &*pending.manifest);
        let (present, gone): (BTreeSet<&str>, BTreeSet<&str>) = manifests
            .filter(|manifest| manifest.starts_with('/'))
            .partition(|manifest| self.exists(manifest));
        let mut steps: Vec<NextStep> = gone
            .iter()
            .map(|manifest| NextStep::Gone {
                manifest: (*manifest).to_owned(),
                is_whole_ledger: refreshes.iter().all(|pending| pending.manifest == *manifest),
            })
            .collect();
        let is_due = |manifest: &&str| {
            refreshes.iter().any(|pending| pending.manifest == **manifest && pending.blocked_by.is_none())
        };
        steps.extend(present.into_iter().filter(is_due).map(|manifest| NextStep::Apply(manifest.to_owned())));
        steps
    }

    fn next_of_unreadable(&self, ledger: &PendingLedger) -> Vec<NextStep> {
        if ledger.is_newer {
            return vec![NextStep::UseNewerVersion];
        }
        let is_present = |manifest: &&String| manifest.starts_with('/') && self.exists(manifest);
        let present = ledger.manifests.iter().filter(is_present).cloned();
        let steps: Vec<NextStep> = present.map(NextStep::Apply).collect();
        match &ledger.key {
            _ if !steps.is_empty() => steps,
            Some(key) => vec![NextStep::ApplyKey(key.clone())],
            None => vec![NextStep::ApplyUnknown],
        }
    }

    /// Returns `true` if a manifest exists, or if the check fails.
    pub(crate) fn exists(&self, manifest: &str) -> bool {
        self.doors.files.exists(Path::new(manifest)).unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn advice_leads_to_no_other_directory() {
        let session = Session::open(Config::default());
        for (kind, expected) in [
            (io::ErrorKind::ReadOnlyFilesystem, "remount the file system of this path read-write"),
            (io::ErrorKind::StorageFull, "free space on the file system of this path"),
            (io::ErrorKind::PermissionDenied, "run ccm as root (uid 0), the owner of this path"),
            (io::ErrorKind::IsADirectory, "move away what is at this path; ccm creates it anew"),
            (io::ErrorKind::Other, "move away what is at this path; ccm creates it anew"),
        ] {
            // The path does not exist, and root owns its parent.
            let advice = session.state_advice(Path::new("/proc/nosuch/lock"), &kind.into());
            assert_eq!(advice.to_string(), expected, "{kind}");
        }
    }
}
