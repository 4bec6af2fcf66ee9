//! The ledger of a manifest: its key, and words about why it can't be had.

use std::path::{Component, Path, PathBuf};

use ccm_engine::{Ledger, LedgerError, LedgerRun};
use ccm_host::state::Directory;
use ccm_host::{Cancellation, Files, Look, SystemFiles};
use ccm_model::Catalog;
use ccm_report::RunIdentity;

use crate::arguments::{Apply, ManifestArguments};
use crate::exit::Code;
use crate::messages;
use crate::secrets::secrets;
use crate::state;

/// Opens the ledger of a manifest; none if it can owe nothing.
pub(crate) fn ledger(
    arguments: &Apply,
    catalog: &Catalog,
    run: &RunIdentity,
    state: Option<&Directory>,
    place: Option<&Path>,
) -> Result<Option<Ledger>, Code> {
    let is_file = arguments.manifest.path != Path::new("-");
    let manifest = if is_file {
        without_parents(&run.manifest, &SystemFiles::new(Cancellation::never()))
    } else {
        run.manifest.clone()
    };
    named(&arguments.manifest, catalog)?;
    let key = match &catalog.name {
        Some(name) => secrets().redact(name).into_owned(),
        None if is_file => manifest.clone(),
        None => return Ok(None),
    };
    let run = LedgerRun { key, manifest, run_id: run.run_id.clone() };
    let opened = match (state, place) {
        (Some(directory), _) => Ledger::open(directory, run),
        (None, Some(place)) => Ledger::look(place, run),
        // Without a place for it, nothing was ever remembered.
        (None, None) => return Ok(None),
    };
    let ledger = opened.map_err(|error| {
        messages::from_error(&error, "nothing was run", &[hint(&error)]);
        Code::NothingRun
    })?;
    if let Some(error) = ledger.untrusted() {
        messages::warning_of(error);
        messages::note(&format!("a run refuses it; {}", hint(error)));
    }
    if let Some(damage) = ledger.damage() {
        messages::warning_of(damage);
        messages::note(&match state {
            Some(_) => format!(
                "every refresh of this manifest counts as owed; the file is kept as {}",
                damage.kept_as
            ),
            None => "every refresh of this manifest counts as owed; a run keeps the file under another name"
                .to_owned(),
        });
    }
    Ok(Some(ledger))
}

/// Refuses a manifest that may owe something and has neither a path nor a name.
pub(crate) fn named(arguments: &ManifestArguments, catalog: &Catalog) -> Result<(), Code> {
    let is_file = arguments.path != Path::new("-");
    if is_file
        || catalog.name.is_some()
        || catalog.resources.iter().all(|resource| resource.subscribe.is_empty())
    {
        return Ok(());
    }
    let message = "a manifest from standard input that has `subscribe` needs a name; nothing was run";
    let cause = "what it owes to subscribers is remembered for the next run under its name".to_owned();
    messages::error(message, &[cause], &["add `name` below `ccm`".to_owned()]);
    Err(Code::NothingRun)
}

/// A path without `..` in it. Links stay as they are, so that one that leads elsewhere by and by changes nothing; but
/// what is above a link is what is above the place it leads to, as the kernel has it.
fn without_parents(path: &str, files: &dyn Files) -> String {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => match above(&plain, files) {
                Some(above) => plain = above,
                None => plain.push(component),
            },
            Component::CurDir => {}
            component => plain.push(component),
        }
    }
    plain.display().to_string()
}

/// What is above a directory; none if that can't be told, so that the path stays as it was given.
fn above(path: &Path, files: &dyn Files) -> Option<PathBuf> {
    // Nothing is above the root, and what could not be told before is not known now.
    if path.parent().is_none() {
        return Some(path.to_owned());
    }
    if path.ends_with("..") {
        return None;
    }
    let found = files.look(path, Look::default()).ok()?;
    found.target.as_ref()?;
    let led = if found.link { files.canonical(path).ok()? } else { path.to_owned() };
    Some(led.parent().unwrap_or(&led).to_owned())
}

/// What to do about a ledger that can't be had.
pub(crate) fn hint(error: &LedgerError) -> String {
    match error {
        LedgerError::Newer { .. } => "run that ccm, or one that is newer still".to_owned(),
        LedgerError::Directory { path, source } => state::hint(path, source),
        LedgerError::Untrusted { .. } => {
            "look at what is in it; then make it yours alone (`chown`, `chmod go-w`), or remove it".to_owned()
        }
        _ => "look at the state directory".to_owned(),
    }
}

#[cfg(test)]
mod tests {
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
            // A link that may lead elsewhere tomorrow keeps its name.
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
