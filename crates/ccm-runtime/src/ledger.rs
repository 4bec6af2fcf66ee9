//! The ledger of a manifest, and its key.

use std::path::{Component, Path, PathBuf};

use ccm_engine::{Ledger, LedgerError, LedgerRun};
use ccm_host::state::Directory;
use ccm_host::{Files, InspectOptions};
use ccm_report::RunIdentity;

use crate::input::STANDARD_INPUT;
use crate::manifest::LoadedManifest;
use crate::session::Notice;

/// Error of a manifest from standard input, a pipe or a descriptor with `subscribe` but without a name, under
/// which pending refreshes would be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a manifest from {0} that has `subscribe` needs a name")]
pub struct NameMissing(String);

impl LoadedManifest<'_> {
    /// Checks that pending refreshes of the manifest can be stored.
    pub fn check_name(&self) -> Result<(), NameMissing> {
        let is_file = !self.input.is_transient();
        let asks = |catalog: &ccm_model::Catalog| {
            catalog.resources.iter().any(|resource| !resource.subscribe.is_empty())
        };
        if is_file || self.catalog.name.is_some() || !asks(&self.catalog) {
            return Ok(());
        }
        Err(NameMissing(self.input.name().to_owned()))
    }

    /// Opens the ledger; `None` if the manifest can have no pending refresh. Without a state directory, the
    /// ledger at `state_path` is only read.
    pub(crate) fn ledger(
        &self,
        run: &RunIdentity,
        state: Option<&Directory>,
        state_path: Option<&Path>,
    ) -> Result<Option<Ledger>, LedgerError> {
        let is_file = !self.input.is_transient();
        let manifest = if is_file {
            without_parents(&run.manifest, &*self.session.doors.files)
        } else {
            // The path of a descriptor would name a file that never existed.
            STANDARD_INPUT.to_owned()
        };
        let key = match &self.catalog.name {
            Some(name) => self.session.secrets.redact(name).into_owned(),
            None if is_file => manifest.clone(),
            None => return Ok(None),
        };
        let run = LedgerRun { key, manifest, run_id: run.run_id.clone() };
        let ledger = match (state, state_path) {
            (Some(directory), _) => Ledger::open(directory, run)?,
            (None, Some(path)) => Ledger::inspect(path, run)?,
            // Without a state path, no refresh was ever stored.
            (None, None) => return Ok(None),
        };
        if let Some(error) = ledger.untrusted() {
            (self.session.notices)(&Notice::UntrustedLedger(error));
        }
        if let Some(damage) = ledger.damage() {
            (self.session.notices)(&Notice::DamagedLedger { damage, is_kept: state.is_some() });
        }
        Ok(Some(ledger))
    }
}

/// Returns a path without `..`. Links are kept, because their targets may change later. The parent of a link
/// is the parent of its target, as for the kernel.
fn without_parents(path: &str, files: &dyn Files) -> String {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => match parent_of(&plain, files) {
                Some(above) => plain = above,
                None => plain.push(component),
            },
            Component::CurDir => {}
            component => plain.push(component),
        }
    }
    plain.display().to_string()
}

/// Returns the parent of a directory; `None` if it is unknown, so that the path stays as it was given.
fn parent_of(path: &Path, files: &dyn Files) -> Option<PathBuf> {
    // The root is its own parent. Above an unknown parent, everything is unknown.
    if path.parent().is_none() {
        return Some(path.to_owned());
    }
    if path.ends_with("..") {
        return None;
    }
    let found = files.inspect(path, InspectOptions::default()).ok()?;
    found.target.as_ref()?;
    let led = if found.link { files.canonical(path).ok()? } else { path.to_owned() };
    Some(led.parent().unwrap_or(&led).to_owned())
}

#[cfg(test)]
mod tests {
    use ccm_host::{Cancellation, SystemFiles};
    use ccm_testkit::Scratch;

    use super::*;

    #[test]
    fn a_path_loses_its_parents_as_the_kernel_follows_them() {
        let scratch = Scratch::new();
        scratch.write("far/inner/m.yaml", "");
        scratch.write("far/m.yaml", "");
        scratch.write("near/m.yaml", "");
        std::os::unix::fs::symlink(scratch.at("far/inner"), scratch.at("near/link")).unwrap();
        std::os::unix::fs::symlink("link", scratch.at("near/again")).unwrap();
        let files = SystemFiles::new(Cancellation::never());
        for (path, expected) in [
            ("near/m.yaml", "near/m.yaml"),
            ("near/../far/./m.yaml", "far/m.yaml"),
            // A link that may get another target keeps its name.
            ("near/link/m.yaml", "near/link/m.yaml"),
            ("far/../near/link/m.yaml", "near/link/m.yaml"),
            ("near/link/../m.yaml", "far/m.yaml"),
            ("near/again/../m.yaml", "far/m.yaml"),
            ("near/link/../../near/m.yaml", "near/m.yaml"),
            ("near/nosuch/../m.yaml", "near/nosuch/../m.yaml"),
            ("near/nosuch/../../far/m.yaml", "near/nosuch/../../far/m.yaml"),
        ] {
            assert_eq!(without_parents(&scratch.at(path), &files), scratch.at(expected), "{path}");
        }
        assert_eq!(without_parents("/../../m.yaml", &files), "/m.yaml");
    }
}
