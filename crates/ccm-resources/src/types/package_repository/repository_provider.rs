//! The provider of repositories, shared by the formats of the package tools.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{FileAttributes, FileError, FileStep, Host, NewContent, NewFile};
use ccm_model::{ClaimKind, Failure, FailureKind, MissingPrerequisite};

use super::armored_key::fingerprints;
use super::decide::{RepositoryState, has_other_key};
use super::desired::DesiredRepository;
use super::rivals::{DefinitionFile, Rival, definition_files};
use super::values::KeySource;
use crate::parts::packages::{Tool, outdate_index};
use crate::support::file_failure::{check_replaceable, file_failure};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};

/// First line of each definition.
pub(crate) const COMMENT: &str = "# Managed by ccm; changes are overwritten.\n";

const MODE: u32 = 0o644;
const MAX_DEFINITION: u64 = 1 << 20;
const MAX_KEY: u64 = 1 << 20;

/// Definition of a repository for a package tool.
pub(crate) trait RepositoryFormat: Sync + 'static {
    type Tool: Tool;

    const TOOL: Self::Tool;

    /// Path of the definition.
    fn definition(&self, name: &str) -> PathBuf;

    /// Path of the key file.
    fn key(&self, name: &str) -> PathBuf;

    /// Text of the definition; a failure if the tool can't have such a repository.
    fn text(&self, desired: &DesiredRepository) -> Result<String, Failure>;

    /// Files with definitions, directories with more of them, and the extensions of these, in the order in which the tool
    /// reads them.
    fn definitions(&self) -> (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

    /// Finds other definitions of the repository in the file `own`.
    fn rivals(&self, files: &[DefinitionFile], own: &Path) -> Vec<Rival>;

    /// Clause on what the tool does with definitions that contradict one another.
    fn consequence(&self) -> &'static str;

    /// Separator of the name of a field and its value.
    fn separator(&self) -> &'static str;

    /// Fields of the definition, with their names in reports.
    fn aspects(&self) -> &'static [(&'static str, &'static str)];
}

pub(crate) struct RepositoryProvider<F>(pub F);

impl<F: RepositoryFormat> Provider<Object<DesiredRepository>> for RepositoryProvider<F> {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        F::TOOL.suitability(host)
    }

    async fn status(
        &self,
        repository: &DesiredRepository,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<RepositoryState, Failure> {
        let mut state = self.read(repository, context)?;
        if reading.is_before() && !repository.is_absent {
            state.rivals = self.rivals(repository, &state.desired_definition, context);
            state.consequence = self.0.consequence();
        }
        let plan = repository.plan(&state);
        if reading.is_before() && !matches!(plan, ObjectPlan::Keep { .. } | ObjectPlan::Fail(_)) {
            let is_removed = matches!(plan, ObjectPlan::Remove);
            let name = &repository.name;
            if is_removed || has_other_key(repository, &state) {
                check_replaceable(&self.0.key(name), context.host.files)?;
            }
            if is_removed || state.definition.as_ref() != Some(&state.desired_definition) {
                check_replaceable(&self.0.definition(name), context.host.files)?;
            }
        }
        Ok(state)
    }

    async fn execute(
        &self,
        repository: &DesiredRepository,
        state: &RepositoryState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        self.change(repository, state, context).await
    }
}

/// Definitions that resources of the run have, by their paths. In noop they are not written yet.
#[derive(Default)]
struct PlannedDefinitions(RefCell<BTreeMap<PathBuf, String>>);

impl<F: RepositoryFormat> RepositoryProvider<F> {
    /// Reads the definition of a repository.
    pub(super) fn definition_text(
        format: &F,
        name: &str,
        context: &Context<'_>,
    ) -> Result<Option<String>, Failure> {
        text(&format.definition(name), MAX_DEFINITION, context)
    }

    /// Reads the key file of a repository.
    pub(super) fn key_text(format: &F, name: &str, context: &Context<'_>) -> Result<Option<String>, Failure> {
        text(&format.key(name), MAX_KEY, context)
    }

    /// Finds definitions of the same repository in other files. Those that the manifest removes do not count.
    fn rivals(&self, repository: &DesiredRepository, definition: &str, context: &Context<'_>) -> Vec<Rival> {
        let own = self.0.definition(&repository.name);
        let planned: Rc<PlannedDefinitions> = context.run_cache();
        planned.0.borrow_mut().insert(own.clone(), definition.to_owned());
        let planned = planned.0.borrow();
        let (files, directories, extensions) = self.0.definitions();
        let mut paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        for directory in directories.iter().map(Path::new) {
            let mut found = definition_files(directory, extensions, context.host.files);
            found.extend(planned.keys().filter(|path| path.parent() == Some(directory)).cloned());
            found.sort_unstable();
            found.dedup();
            paths.extend(found);
        }
        paths.retain(|path| *path == own || !context.is_removed(ClaimKind::Path, &path.to_string_lossy()));
        let read = |path: PathBuf| {
            let written = planned.get(&path).cloned();
            // A file that can't be read is for the tool to report.
            let text = written.or_else(|| text(&path, MAX_DEFINITION, context).ok().flatten())?;
            Some(DefinitionFile { path, text })
        };
        let files: Vec<DefinitionFile> = paths.into_iter().filter_map(read).collect();
        let mut rivals = self.0.rivals(&files, &own);
        for rival in &mut rivals {
            rival.is_planned = planned.contains_key(&rival.path);
        }
        rivals
    }

    fn read(
        &self,
        repository: &DesiredRepository,
        context: &Context<'_>,
    ) -> Result<RepositoryState, Failure> {
        let name = &repository.name;
        let key = text(&self.0.key(name), MAX_KEY, context)?;
        let found = key.as_deref().and_then(|key| fingerprints(key).ok()).unwrap_or_default();
        let mut state = RepositoryState {
            definition: text(&self.0.definition(name), MAX_DEFINITION, context)?,
            key,
            fingerprints: found,
            aspects: self.0.aspects(),
            separator: self.0.separator(),
            ..RepositoryState::default()
        };
        if repository.is_absent {
            return Ok(state);
        }
        state.desired_definition = self.0.text(repository)?;
        if let Some(KeySource::File(path)) = &repository.key {
            let path = context.directory.join(path);
            let Some(key) = text(&path, MAX_KEY, context)? else {
                let message = format!("the key \"{}\" does not exist", path.display());
                return Err(Failure::new(FailureKind::Read, message)
                    .of_property("key")
                    .with_missing(MissingPrerequisite::Path(path))
                    .with_hint("check `key`, or write the file with an earlier `file` resource"));
            };
            state.desired_fingerprints = checked(&key, &path.display().to_string())?;
            state.desired_key = Some(key);
        }
        Ok(state)
    }

    async fn change(
        &self,
        repository: &DesiredRepository,
        state: &RepositoryState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let name = &repository.name;
        let (definition, key) = (self.0.definition(name), self.0.key(name));
        match repository.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Remove => {
                outdate_index(F::Tool::NAME, context);
                let mut changed = false;
                for (path, found) in [(definition, &state.definition), (key, &state.key)] {
                    if found.is_some() {
                        let removed = context.host.files.remove(&path, false);
                        removed.map_err(|error| Failure { changed, ..file_failure(&error) })?;
                        changed = true;
                    }
                }
            }
            ObjectPlan::Create(_) | ObjectPlan::Change(_) => {
                let changes_key = has_other_key(repository, state);
                let new_key = match (&state.desired_key, &repository.key) {
                    _ if !changes_key => None,
                    (Some(text), _) => Some(text.clone()),
                    (None, Some(KeySource::Web(url))) => {
                        Some(download(url, &key, &repository.fingerprints, context).await?)
                    }
                    (None, _) => Some(String::new()),
                };
                // A run that is killed after the change would leave an index without the repository that counts as
                // fresh.
                outdate_index(F::Tool::NAME, context);
                if let Some(text) = new_key {
                    write(&key, &text, context)?;
                }
                // The definition comes last, so that the tool never sees a repository without its key.
                if state.definition.as_ref() != Some(&state.desired_definition) {
                    let written = write(&definition, &state.desired_definition, context);
                    written.map_err(|failure| Failure { changed: changes_key, ..failure })?;
                }
            }
        }
        Ok(())
    }
}

/// Reads a file as text; `None` if it does not exist.
fn text(path: &Path, limit: u64, context: &Context<'_>) -> Result<Option<String>, Failure> {
    match context.host.files.content(path, limit) {
        Ok(Some(bytes)) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Ok(None) => {
            let message = format!("\"{}\" is larger than {} MiB", path.display(), limit >> 20);
            Err(Failure::new(FailureKind::Read, message))
        }
        Err(FileError::Step { step: FileStep::Read, source, .. })
            if matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(file_failure(&error)),
    }
}

/// Writes a file, and makes its directory if it is missing.
fn write(path: &Path, text: &str, context: &Context<'_>) -> Result<(), Failure> {
    let files = context.host.files;
    if let Some(directory) = path.parent()
        && !files.is_directory(directory).unwrap_or(true)
    {
        let attributes = FileAttributes { mode: Some(0o755), ..FileAttributes::default() };
        files.make_directory(directory, attributes).map_err(|error| file_failure(&error))?;
    }
    let attributes = FileAttributes { mode: Some(MODE), ..FileAttributes::default() };
    let new = NewFile { content: NewContent::Bytes(text.as_bytes()), attributes };
    files.write(path, &new).map(drop).map_err(|error| file_failure(&error))
}

/// Returns the fingerprints of a key, or the failure of a text that is none.
fn checked(key: &str, origin: &str) -> Result<Vec<String>, Failure> {
    fingerprints(key).map_err(|error| {
        Failure::from_error(FailureKind::Conflict, &error)
            .because_of(format!("\"{origin}\" is not a public key of OpenPGP"))
            .of_property("key")
            .with_hint("export the key with `gpg --armor --export`")
    })
}

/// Downloads a key, and checks its fingerprint before anything is written.
#[cfg(feature = "archive")]
async fn download(
    url: &str,
    path: &Path,
    expected: &[String],
    context: &mut Context<'_>,
) -> Result<String, Failure> {
    use ccm_fetch::{HttpError, HttpRequest, HttpUrl};

    let address = HttpUrl::parse(url)
        .map_err(|error| Failure::new(FailureKind::Properties, error.to_string()).of_property("key"))?;
    let files = context.host.files;
    if let Some(directory) = path.parent()
        && !files.is_directory(directory).unwrap_or(true)
    {
        let attributes = FileAttributes { mode: Some(0o755), ..FileAttributes::default() };
        files.make_directory(directory, attributes).map_err(|error| file_failure(&error))?;
    }
    // The download has the place of the key until it is checked, and is removed.
    let staged = files.stage(path, FileAttributes::default()).map_err(|error| file_failure(&error))?;
    let request =
        HttpRequest { proxies: crate::parts::web::proxies(context), ..HttpRequest::new(address, MAX_KEY) };
    crate::parts::web::fetch(request, &staged, HttpError::hint, context).await?;
    let key = staged.take_text().map_err(|error| file_failure(&error))?;
    let found = checked(&key, url)?;
    match found.iter().find(|found| !expected.contains(found)) {
        None => Ok(key),
        Some(found) => {
            let message = format!("the key has the fingerprint {found}, which `fingerprint` does not name");
            Err(Failure::conflict(message)
                .of_property("fingerprint")
                .with_hint("compare the key with the one that the publisher names"))
        }
    }
}

#[cfg(not(feature = "archive"))]
#[expect(clippy::unused_async, reason = "the same face as with downloads")]
async fn download(url: &str, _: &Path, _: &[String], _: &mut Context<'_>) -> Result<String, Failure> {
    let message = format!("this ccm cannot download {url}: it was built without downloads");
    Err(Failure::new(FailureKind::Properties, message)
        .of_property("key")
        .with_hint("write the key to a file"))
}
