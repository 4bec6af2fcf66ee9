//! The ledger of a manifest: its key, and words about why it can't be had.

use std::path::{Component, Path, PathBuf};

use ccm_engine::{Ledger, LedgerError, LedgerRun};
use ccm_host::state::Directory;
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
    let manifest = if is_file { without_parents(&run.manifest) } else { run.manifest.clone() };
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

/// A path without `..` in it. Links stay as they are, so that one that leads elsewhere by and by changes nothing.
fn without_parents(path: &str) -> String {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            component => plain.push(component),
        }
    }
    plain.display().to_string()
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
