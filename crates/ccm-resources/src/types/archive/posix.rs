//! Provider posix: downloads to local files, and extracts there.

use std::path::{Path, PathBuf};

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_fetch::{
    ExtractError, ExtractRequest, Extracted, HttpError, HttpRequest, MAX_ARCHIVE_ENTRIES, extract,
};
use ccm_host::{
    ChangedPart, FileAttributes, FileError, FileKind, Files, HashPolicy, InspectOptions, OpenFile, StagedFile,
};
use ccm_model::{Failure, FailureKind};

use super::decide::{ArchivePlan, ArchiveResource, plan};
use super::desired::{DesiredArchive, Extraction, Origin};
use super::extracted::{extracted_checksum, remember};
use super::state::{ArchiveEffect, ArchiveState};
use crate::parts::accounts::lookup::Accounts;
use crate::parts::checksum_list::{find_checksum, other_algorithm};
use crate::parts::path_walk::{make_parents, missing_parents, parents_note};
use crate::parts::web;
use crate::support::file_failure::{check_writable, file_failure};
use crate::support::values::principal::principal_number;

/// Maximum size of a list of checksums.
const MAX_LIST: u64 = 4 << 20;

pub(crate) struct Downloader;

impl Provider<ArchiveResource> for Downloader {
    async fn status(
        &self,
        archive: &DesiredArchive,
        reading: ReadPurpose<'_, ArchiveEffect>,
        context: &mut Context<'_>,
    ) -> Result<ArchiveState, Failure> {
        let accounts = Accounts::of(context).await;
        status(archive, &reading, &accounts, context)
    }

    async fn execute(
        &self,
        archive: &DesiredArchive,
        state: &ArchiveState,
        context: &mut Context<'_>,
    ) -> Result<ArchiveEffect, Failure> {
        let attributes = FileAttributes { uid: state.uid, gid: state.gid, mode: archive.mode };
        let path = &archive.path;
        let files = context.host.files;
        match (plan(archive, state), &archive.origin) {
            (ArchivePlan::Keep(_), _) => Ok(ArchiveEffect::default()),
            (ArchivePlan::Fail(failure), _) => Err(failure),
            (ArchivePlan::Fetch(_), Some(origin)) => fetch(archive, origin, state, context).await,
            (ArchivePlan::Extract(_), _) => extract_present(archive, state, context).await,
            (ArchivePlan::SetAttributes(_), _) => {
                files.set_attributes(path, attributes).map_err(|error| file_failure(&error))?;
                Ok(ArchiveEffect::default())
            }
            (ArchivePlan::Remove | ArchivePlan::Fetch(_), _) => {
                files.remove(path, false).map_err(|error| file_failure(&error))?;
                Ok(ArchiveEffect::default())
            }
        }
    }
}

fn status(
    archive: &DesiredArchive,
    reading: &ReadPurpose<'_, ArchiveEffect>,
    accounts: &Accounts<'_>,
    context: &Context<'_>,
) -> Result<ArchiveState, Failure> {
    let files = context.host.files;
    let mut state = ArchiveState::default();
    if let Some(origin) = &archive.origin {
        hide_secrets(origin, context);
        state.uid = principal_number(archive.owner.as_deref(), "user", |name| accounts.user(name))?;
        state.gid = principal_number(archive.group.as_deref(), "group", |name| accounts.group(name))?;
    }
    // The checksum of a new file was computed while it was written.
    let hash = match (reading, archive.origin.as_ref().and_then(|origin| origin.checksum.as_ref())) {
        (ReadPurpose::Before { .. }, Some(_)) => HashPolicy::Required(archive.max_size),
        _ => HashPolicy::Never,
    };
    let options = InspectOptions { hash, ..InspectOptions::default() };
    state.found = match files.inspect(&archive.path, options) {
        Ok(found) => found,
        // Nothing exists below a path that is not a directory.
        Err(FileError::NotADirectory { .. }) if archive.origin.is_none() => ccm_host::PathInfo::default(),
        Err(error) => return Err(file_failure(&error)),
    };
    if state.found.parent_missing
        && archive.path.parent().is_some_and(|parent| context.would_be_directory(parent))
    {
        state.found.parent_missing = false;
    }
    if let ReadPurpose::After(effect) = reading {
        state.written = Some((*effect).clone());
    }
    if let Some(creates) = &archive.creates {
        state.creates_exists = exists(creates, context)?;
        state.extracted_checksum = extracted_checksum(archive, context);
    }
    state.names = state
        .found
        .target
        .as_ref()
        .map(|target| (accounts.user_name(target.uid), accounts.group_name(target.gid)));
    let plan = plan(archive, &state);
    if matches!(plan, ArchivePlan::Fetch(_) | ArchivePlan::Remove) {
        let mount = files.blocking_mount(&archive.path, false);
        state.mount = match mount {
            Err(FileError::ParentMissing(_)) => None,
            mount => mount.map_err(|error| file_failure(&error))?,
        };
    }
    if let (ArchivePlan::Fetch(_) | ArchivePlan::Extract(_), Some(extraction)) = (&plan, &archive.extraction)
    {
        complete_extraction(extraction, &mut state, context)?;
    }
    if matches!(reading, ReadPurpose::Before { .. }) {
        check_changes(archive, &state, files)?;
    }
    Ok(state)
}

/// Returns the failure of a plan that a file system or a flag of a file forbids.
fn check_changes(archive: &DesiredArchive, state: &ArchiveState, files: &dyn Files) -> Result<(), Failure> {
    let (own, extracts) = match plan(archive, state) {
        ArchivePlan::Keep(_) | ArchivePlan::Fail(_) => return Ok(()),
        ArchivePlan::Fetch(_) => (Some(ChangedPart::Entry), true),
        ArchivePlan::Extract(_) => (archive.cleanup.then_some(ChangedPart::Entry), true),
        ArchivePlan::SetAttributes(_) => (Some(ChangedPart::Attributes), false),
        ArchivePlan::Remove => (Some(ChangedPart::Entry), false),
    };
    own.map_or(Ok(()), |part| check_writable(&archive.path, part, files))?;
    match archive.extraction.as_ref().filter(|_| extracts) {
        Some(Extraction { into, .. }) => check_writable(into, ChangedPart::Inside, files)
            .map_err(|failure| failure.of_property("extract_parent")),
        None => Ok(()),
    }
}

/// Returns `true` if the path exists. A dangling link exists too.
fn exists(path: &Path, context: &Context<'_>) -> Result<bool, Failure> {
    match context.host.files.inspect(path, InspectOptions::default()) {
        Ok(found) => Ok(found.link || found.target.is_some()),
        Err(FileError::NotADirectory { .. }) => Ok(false),
        Err(error) => Err(file_failure(&error).of_property("creates")),
    }
}

fn complete_extraction(
    extraction: &Extraction,
    state: &mut ArchiveState,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let files = context.host.files;
    let into = &extraction.into;
    let of_property = |failure: Failure| failure.of_property("extract_parent");
    let found = files.inspect(into, InspectOptions::default());
    let found = found.map_err(|error| of_property(file_failure(&error)))?;
    match found.target.map(|target| target.kind) {
        Some(FileKind::Directory { .. }) => {}
        Some(FileKind::File) => state.obstacle = Some("a file"),
        Some(FileKind::Special(what)) => state.obstacle = Some(what),
        None if found.link => state.obstacle = Some("a symbolic link that leads to no directory"),
        None if context.would_be_directory(into) => {}
        None => {
            let missing = missing_parents(into, files, |parent| context.would_be_directory(parent));
            state.missing_directories = missing.map_err(of_property)?;
            state.missing_directories.push(into.clone());
        }
    }
    Ok(())
}

/// Marks what must not be shown anywhere: passwords, and header fields that carry them.
fn hide_secrets(origin: &Origin, context: &Context<'_>) {
    let password = origin.credentials.as_ref().map(|credentials| credentials.password.as_str());
    context.secrets.add(password.filter(|password| !password.is_empty()));
    let secret_names = ["authorization", "cookie", "token", "key", "secret", "password"];
    let secret = origin.headers.iter().filter(|field| {
        let name = field.name.to_ascii_lowercase();
        secret_names.iter().any(|secret| name.contains(secret))
    });
    context.secrets.add(secret.flat_map(|field| {
        // The part after `Bearer` is the secret.
        [field.value.as_str(), field.value.rsplit(' ').next().unwrap_or_default()]
    }));
}

/// Downloads the file beside its place, extracts it, and moves it into place last: a run that dies before does all
/// of it again.
async fn fetch(
    archive: &DesiredArchive,
    origin: &Origin,
    state: &ArchiveState,
    context: &mut Context<'_>,
) -> Result<ArchiveEffect, Failure> {
    let attributes = FileAttributes { uid: state.uid, gid: state.gid, mode: archive.mode };
    let files = context.host.files;
    let staged = files.stage(&archive.path, attributes).map_err(|error| file_failure(&error))?;
    let expected = match (&origin.checksum, &origin.checksum_url) {
        (Some(checksum), _) => Some(checksum.clone()),
        (None, Some(_)) => Some(listed_checksum(archive, origin, &staged, context).await?),
        (None, None) => None,
    };
    let request = HttpRequest { url: origin.url.clone(), ..request(archive, origin, context) };
    let downloaded = web::fetch(request, &staged, HttpError::hint, context).await?;
    if let Some(expected) = expected.filter(|expected| *expected != downloaded.sha256) {
        let property = if origin.checksum.is_some() { "checksum" } else { "checksum_url" };
        return Err(web::wrong_checksum(&origin.url, property, &expected, &downloaded));
    }
    let mut effect =
        ArchiveEffect { downloaded: Some((downloaded.sha256, downloaded.size)), extracted: None };
    if let Some(extraction) = &archive.extraction {
        let file = staged.open().map_err(|error| file_failure(&error))?;
        effect.extracted = Some(extract_file(file, archive, extraction, state, context).await?);
        let checksum = effect.downloaded.as_ref().map(|(sha256, _)| &**sha256);
        remember(archive, checksum, context);
    }
    let changed = effect.extracted.is_some();
    let placed = if archive.cleanup {
        drop(staged);
        if state.found.target.is_some() { files.remove(&archive.path, false) } else { Ok(()) }
    } else {
        staged.place()
    };
    placed.map_err(|error| after(changed, file_failure(&error)))?;
    Ok(effect)
}

fn request(archive: &DesiredArchive, origin: &Origin, context: &Context<'_>) -> HttpRequest {
    HttpRequest {
        headers: origin.headers.clone(),
        credentials: origin.credentials.clone(),
        ca_file: origin.ca_file.clone(),
        proxies: web::proxies(context),
        timeout: archive.timeout,
        ..HttpRequest::new(origin.url.clone(), archive.max_size)
    }
}

/// Reads the checksum of the file from the list on the server.
async fn listed_checksum(
    archive: &DesiredArchive,
    origin: &Origin,
    staged: &StagedFile,
    context: &mut Context<'_>,
) -> Result<String, Failure> {
    let Some(url) = &origin.checksum_url else { return Ok(String::new()) };
    let mut request =
        HttpRequest { url: url.clone(), max_size: MAX_LIST, ..request(archive, origin, context) };
    if !url.is_same_server(&origin.url) {
        request.headers.clear();
        request.credentials = None;
    }
    // The list has the place of the file until it is read.
    let fetched = web::fetch(request, staged, HttpError::hint, context).await;
    fetched.map_err(|failure| failure.of_property("checksum_url"))?;
    let list = staged.take_text().map_err(|error| file_failure(&error))?;
    let local_name = archive.path.file_name().unwrap_or_default().to_string_lossy();
    find_checksum(&list, &[origin.url.file_name(), &local_name]).ok_or_else(|| {
        let message =
            format!("{url} holds no SHA-256 checksum of `{}`", origin.url.file_name().escape_debug());
        let failure = Failure::new(FailureKind::Read, message).of_property("checksum_url");
        match other_algorithm(&list) {
            Some(algorithm) => failure.with_hint(format!(
                "the list has checksums of {algorithm}: look for one of SHA-256, or write that as `checksum`"
            )),
            None => failure.with_hint("check `checksum_url`, or write the checksum as `checksum`"),
        }
    })
}

/// Extracts the file that is there, and gives it its attributes.
async fn extract_present(
    archive: &DesiredArchive,
    state: &ArchiveState,
    context: &mut Context<'_>,
) -> Result<ArchiveEffect, Failure> {
    let Some(extraction) = &archive.extraction else { return Ok(ArchiveEffect::default()) };
    let files = context.host.files;
    let file = files.open(&archive.path).map_err(|error| file_failure(&error))?;
    let extracted = extract_file(file, archive, extraction, state, context).await?;
    let checksum = state.found.target.as_ref().and_then(|target| target.sha256.as_deref());
    remember(archive, checksum, context);
    let changed = if archive.cleanup {
        files.remove(&archive.path, false)
    } else {
        let attributes = FileAttributes { uid: state.uid, gid: state.gid, mode: archive.mode };
        if attributes == FileAttributes::default() {
            Ok(())
        } else {
            files.set_attributes(&archive.path, attributes)
        }
    };
    changed.map_err(|error| after(true, file_failure(&error)))?;
    Ok(ArchiveEffect { downloaded: None, extracted: Some(extracted) })
}

async fn extract_file(
    file: OpenFile,
    archive: &DesiredArchive,
    extraction: &Extraction,
    state: &ArchiveState,
    context: &mut Context<'_>,
) -> Result<Extracted, Failure> {
    let files = context.host.files;
    let (leaf, above) = match state.missing_directories.split_last() {
        Some((leaf, above)) => (Some(leaf), above),
        None => (None, &[][..]),
    };
    let mut made = make_parents(above, files)?;
    if let Some(leaf) = leaf {
        let attributes = FileAttributes { uid: state.uid, gid: state.gid, mode: None };
        files.make_directory(leaf, attributes).map_err(|error| after(made > 0, file_failure(&error)))?;
        made += 1;
    }
    let made = &state.missing_directories[..made];
    let extracted = extract_into(file, archive, extraction, state, context).await;
    if extracted.is_ok()
        && let Some(note) = parents_note(made)
    {
        context.note(note);
    }
    // What was refused leaves no directory that was made for it.
    extracted.map_err(|failure| after(!are_removed(made, files), failure))
}

/// Removes directories that were made, the innermost first; returns `false` if one is left.
fn are_removed(made: &[PathBuf], files: &dyn Files) -> bool {
    made.iter().rev().all(|directory| files.remove(directory, false).is_ok())
}

async fn extract_into(
    file: OpenFile,
    archive: &DesiredArchive,
    extraction: &Extraction,
    state: &ArchiveState,
    context: &Context<'_>,
) -> Result<Extracted, Failure> {
    let into = context.host.files.extraction_target(&extraction.into);
    let into = into.map_err(|error| file_failure(&error))?;
    let request = ExtractRequest {
        archive: file,
        path: archive.path.clone(),
        format: extraction.format,
        into,
        strip_components: extraction.strip_components,
        uid: state.uid,
        gid: state.gid,
        max_size: archive.max_size,
        max_entries: MAX_ARCHIVE_ENTRIES,
        last: archive.creates.clone(),
        timeout: archive.timeout,
    };
    let last_line = context.host.executor.last_line();
    if let Some(last_line) = last_line {
        last_line.set("extracting");
    }
    let extracted = extract(request, context.cancellation).await;
    if let Some(last_line) = last_line {
        last_line.clear();
    }
    extracted.map_err(|error| extract_failure(&error))
}

fn extract_failure(error: &ExtractError) -> Failure {
    if let ExtractError::File(error) = error {
        return file_failure(error);
    }
    let kind = match error {
        ExtractError::Cancelled => FailureKind::Stopped,
        ExtractError::TimedOut { .. } => FailureKind::Timeout,
        ExtractError::Read { .. } | ExtractError::Thread(_) => FailureKind::Read,
        _ => FailureKind::Conflict,
    };
    let failure = Failure { changed: error.changed(), ..Failure::from_error(kind, error) };
    error.hint().into_iter().fold(failure, Failure::with_hint)
}

/// Marks that something was changed before a failure.
fn after(changed: bool, failure: Failure) -> Failure {
    Failure { changed: failure.changed || changed, ..failure }
}
