//! Provider posix: parts of local files.

use std::marker::PhantomData;
use std::path::Path;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{ChangedPart, FileAttributes, FileError, Files, InspectOptions};
use ccm_model::{Failure, MissingPrerequisite};

use super::cache::ReadFiles;
use super::decide::{EditPlan, PartKind, plan};
use super::state::PartState;
use super::text_file::{NEW_FILE, TextFile, existing, replace, too_large, written_path};
use super::{FilePart, PartChange};
use crate::parts::backup::back_up;
use crate::parts::diff::hidden_lines;
use crate::parts::validator::{NewText, validate};
use crate::support::file_failure::{check_writable, file_failure};
use crate::support::secret_content::mark_secret;
use crate::support::values::file_mode::is_world_readable;

/// Mode of a new file with a secret.
const NEW_SECRET_FILE: u32 = 0o600;

/// Edits local files.
pub(crate) struct PartEditor<P>(PhantomData<fn() -> P>);

impl<P> PartEditor<P> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl<P: FilePart> Provider<PartKind<P>> for PartEditor<P> {
    async fn status(
        &self,
        part: &P,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<PartState, Failure> {
        let cache = ReadFiles::of(context).await;
        let before = matches!(reading, ReadPurpose::Before { .. });
        status(part, before, &cache, context)
    }

    async fn preflight(
        &self,
        part: &P,
        state: &PartState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        let warnings = preflight(&part.target().path, context.host.files)?;
        if let EditPlan::Create(change) | EditPlan::Edit(change) = plan(part, state)? {
            validate_change(part, &change, context).await?;
        }
        Ok(warnings)
    }

    async fn execute(&self, part: &P, state: &PartState, context: &mut Context<'_>) -> Result<(), Failure> {
        execute(part, state, context).await
    }
}

fn status<P: FilePart>(
    part: &P,
    before: bool,
    cache: &ReadFiles,
    context: &Context<'_>,
) -> Result<PartState, Failure> {
    let target = part.target();
    let files = context.host.files;
    if target.sensitive {
        part.texts().into_iter().for_each(|text| mark_secret(text.as_bytes(), context.secrets));
    }
    let found = match cache.content(&target.path, files) {
        Ok(None) => return Err(too_large(&target.path).of_property("path")),
        found => existing(&target.path, found, files)?,
    };
    let mut state =
        PartState { content: found, can_back_up: context.state_directory.is_some(), ..PartState::default() };
    state.is_as_desired = matches!(plan(part, &state), Ok(EditPlan::Keep));
    // What only a change needs is not read for a file that is as desired.
    if state.is_as_desired || !before {
        return Ok(state);
    }
    let inspected =
        files.inspect(&target.path, InspectOptions::default()).map_err(|error| file_failure(&error))?;
    let written = written_path(&target.path, files)?;
    let would_be = |parent: &Path| context.would_be_directory(parent);
    state.parent_missing = inspected.parent_missing && !target.path.parent().is_some_and(would_be);
    let Ok(EditPlan::Create(change) | EditPlan::Edit(change)) = plan(part, &state) else { return Ok(state) };
    if state.content.is_some() {
        state.mount = files.blocking_mount(&written, false).map_err(|error| file_failure(&error))?;
    }
    if state.mount.is_none() && !state.parent_missing {
        check_writable(&written, ChangedPart::Entry, files)?;
    }
    let redactor = context.secrets.redactor();
    let holds_secret = target.sensitive || part.texts().iter().any(|text| redactor.finds(text.as_bytes()));
    if holds_secret && !target.is_absent && state.content.is_some() {
        refuse_exposure::<P>(&target.path, &written, files)?;
    }
    state.holds_secret =
        target.sensitive || redactor.finds(state.content()) || redactor.finds(&change.content);
    state.diff = context.diff;
    if state.diff {
        state.hidden_lines =
            (hidden_lines(&redactor, state.content()), hidden_lines(&redactor, &change.content));
    }
    Ok(state)
}

/// Refuses to write a secret to a file that everybody can read.
fn refuse_exposure<P: FilePart>(path: &Path, written: &Path, files: &dyn Files) -> Result<(), Failure> {
    let found = files.inspect(written, InspectOptions::default()).map_err(|error| file_failure(&error))?;
    let Some(mode) = found.target.map(|file| file.mode).filter(|mode| is_world_readable(*mode)) else {
        return Ok(());
    };
    let shown = path.display();
    let message =
        format!("everybody can read \"{shown}\" (mode {mode:04o}), and the {} holds a secret", P::NAME);
    Err(Failure::conflict(message)
        .of_property("path")
        .with_missing(MissingPrerequisite::Path(path.to_owned()))
        .with_hint("set its mode before, with a `file` resource and `mode: \"0600\"`"))
}

/// Returns the error or the warning that a write would end with.
fn preflight(path: &Path, files: &dyn Files) -> Result<Vec<String>, Failure> {
    let path = &written_path(path, files)?;
    // A new file takes the place of the old one, so that other errors do not matter.
    if let Err(error @ FileError::SharedDirectory { .. }) =
        files.check_attributes(path, FileAttributes::default())
    {
        return Err(file_failure(&error));
    }
    let found = files.inspect(path, InspectOptions::default()).map_err(|error| file_failure(&error))?;
    let is_allowed = found.target.is_none_or(|file| files.can_chown(Some(file.uid), Some(file.gid)));
    let warning = "only root can keep the owner of the file, which belongs to another user or group";
    Ok((!is_allowed).then(|| warning.to_owned()).into_iter().collect())
}

async fn validate_change<P: FilePart>(
    part: &P,
    change: &PartChange,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let target = part.target();
    let new = NewText { path: &target.path, content: &change.content, sensitive: target.sensitive };
    validate(&target.validators, new, context).await
}

async fn execute<P: FilePart>(part: &P, state: &PartState, context: &mut Context<'_>) -> Result<(), Failure> {
    let target = part.target();
    let files = context.host.files;
    let (change, is_new) = match plan(part, state)? {
        EditPlan::Keep => return Ok(()),
        EditPlan::Create(change) => (change, true),
        EditPlan::Edit(change) => (change, false),
    };
    validate_change(part, &change, context).await?;
    let written = TextFile::found(&target.path, state.content.clone()).unchanged(files)?;
    if target.backup && !is_new {
        back_up(&written, context)?;
    }
    let mode = if state.holds_secret { NEW_SECRET_FILE } else { NEW_FILE };
    let attributes = FileAttributes { mode: is_new.then_some(mode), ..FileAttributes::default() };
    replace(&written, &change.content, attributes, files)
}
