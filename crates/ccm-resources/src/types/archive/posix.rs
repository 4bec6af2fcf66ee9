//! Provider posix: downloads to local files, and extracts there.

use std::path::Path;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_fetch::{HttpError, HttpRequest};
use ccm_host::{
    ChangedPart, FileAttributes, FileError, FileKind, Files, HashPolicy, InspectOptions, StagedFile,
};
use ccm_model::{Failure, FailureKind};

use super::decide::{ArchivePlan, ArchiveResource, plan};
use super::desired::{DesiredArchive, Extraction, Origin};
use super::extracted::{extracted_checksum, remember};
use super::extraction::{ArchiveFile, after, extract_file, extract_present};
use super::rules::ArchiveRule;
use super::state::{ArchiveEffect, ArchiveState};
use crate::parts::accounts::lookup::Accounts;
use crate::parts::checksum_list::{find_checksum, other_algorithm};
use crate::parts::path_walk::missing_parents;
use crate::parts::web;
use crate::support::file_failure::{check_writable, file_failure};
use crate::support::values::principal::desired_number;

/// Maximum size of a list of checksums.
const MAX_LIST: u64 = 4 << 20;

/// Mode of a new file.
const NEW_FILE: u32 = 0o644;

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
        let own = context.host.system.own_identity();
        state.own = own.map(|own| (own.uid, own.gid)).unwrap_or_default();
        let would_be = |name: &str| context.would_be_principal(name);
        state.uid = desired_number(archive.owner.as_deref(), "user", |name| accounts.user(name), would_be)?;
        state.gid = desired_number(archive.group.as_deref(), "group", |name| accounts.group(name), would_be)?;
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
    let attributes = new_attributes(archive, state);
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
        let archived = ArchiveFile { file, sha256: None };
        effect.extracted = Some(extract_file(archived, archive, extraction, state, context).await?);
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

/// Returns the attributes of a file that was downloaded. Those that the manifest does not give stay, but for the file of a
/// stranger.
fn new_attributes(archive: &DesiredArchive, state: &ArchiveState) -> FileAttributes {
    let given = FileAttributes { uid: state.uid, gid: state.gid, mode: archive.mode };
    if !matches!(plan(archive, state), ArchivePlan::Fetch(ArchiveRule::Stranger(_))) {
        return given;
    }
    let (uid, gid) = state.own;
    FileAttributes {
        uid: given.uid.or(Some(uid)),
        gid: given.gid.or(Some(gid)),
        mode: given.mode.or(Some(NEW_FILE)),
    }
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
