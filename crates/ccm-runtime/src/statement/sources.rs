//! Local files that the resources of a manifest copy or extract.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use ccm_governance::signed::{LocalSources, ManifestSignatureError, SourceEntry};
use ccm_host::{FileError, TreeEntryKind, WalkStep};
use ccm_model::{ClaimKind, Control, Node, Resource, normalize};
use ccm_resources::IgnoredPaths;

use crate::machine::url_hint;
use crate::manifest::LoadedManifest;

/// Path that a resource copies or extracts.
pub(crate) struct CopiedPath<'m> {
    resource: &'m Resource,
    /// The path.
    pub(crate) path: PathBuf,
    /// Use of the path.
    pub(crate) kind: CopyKind,
}

/// Use of a path that a resource names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyKind {
    /// The file is copied.
    File,
    /// The directory is copied with what is in it.
    Tree,
    /// The archive is extracted.
    Extracted,
}

impl LoadedManifest<'_> {
    /// Reads the files that the resources copy or extract. A path that depends on results of the run is not known.
    pub(crate) fn local_sources(&self) -> Result<LocalSources, ManifestSignatureError> {
        let mut found = LocalSources::default();
        for source in self.copied_paths() {
            match source.kind {
                CopyKind::Tree => self.add_tree(source.resource, &source.path, &mut found)?,
                CopyKind::File | CopyKind::Extracted => self.add_file(&source.path, &mut found)?,
            }
        }
        Ok(found)
    }

    /// Returns the paths that resources copy or extract and that no other resource makes.
    pub(crate) fn copied_paths(&self) -> Vec<CopiedPath<'_>> {
        let managed = self.managed_paths();
        let mut copied = Vec::new();
        for (index, resource) in self.catalog.resources.iter().enumerate() {
            // What another resource manages is made by the run.
            let is_made = |path: &Path| {
                let path = normalize(path);
                path.ancestors().any(|above| {
                    managed.get(above).is_some_and(|owners| owners.iter().any(|owner| *owner != index))
                })
            };
            if matches!(resource.control, Control::NotManaged { .. }) {
                continue;
            }
            let spec = self.session.types.iter().find(|spec| *spec.name() == *resource.id.type_name);
            let Some(sources) = spec.and_then(|spec| spec.sources()) else { continue };
            let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
            let tree = sources.tree(ensure).map(|tree| tree.property);
            let property = tree.or_else(|| sources.template().map(|(source, _)| source));
            let written = property.and_then(|name| resource.properties.get(name)).and_then(Node::as_text);
            if let Some(written) = written.filter(|written| is_known(written)) {
                let path = self.directory_of(resource).join(written);
                if is_made(&path) {
                    continue;
                }
                let kind = tree.map_or(CopyKind::File, |_| CopyKind::Tree);
                copied.push(CopiedPath { resource, path, kind });
            }
            if let Some(path) =
                sources.extracted_file(resource).filter(|path| is_known(path) && !is_made(Path::new(path)))
            {
                copied.push(CopiedPath { resource, path: PathBuf::from(path), kind: CopyKind::Extracted });
            }
        }
        copied
    }

    /// Returns the paths that resources manage, with the positions of these resources.
    pub(super) fn managed_paths(&self) -> HashMap<PathBuf, Vec<usize>> {
        let mut managed: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        for (index, resource) in self.catalog.resources.iter().enumerate() {
            let spec = self.session.types.iter().find(|spec| *spec.name() == *resource.id.type_name);
            let claims = spec.map(|spec| spec.claims(resource)).unwrap_or_default();
            for claim in claims.into_iter().filter(|claim| claim.kind == ClaimKind::Path) {
                managed.entry(PathBuf::from(&*claim.key)).or_default().push(index);
            }
        }
        managed
    }

    fn directory_of(&self, resource: &Resource) -> &Path {
        match resource.group {
            Some(group) => &self.catalog.group(group).directory,
            None => self.input.directory(),
        }
    }

    /// Adds a file, or every file below a directory, that the caller names.
    pub(super) fn add_named(
        &self,
        path: &Path,
        found: &mut LocalSources,
    ) -> Result<(), ManifestSignatureError> {
        let files = &self.session.doors.files;
        if !files.is_directory(path).unwrap_or(false) {
            self.add_file(path, found)?;
            return match found.absent.iter().find(|absent| **absent == normalize(path)) {
                Some(absent) => Err(ManifestSignatureError::Gone(absent.display().to_string())),
                None => Ok(()),
            };
        }
        let walked = files.walk(path, &|_, _| WalkStep::Enter).map_err(ManifestSignatureError::Source)?;
        for entry in walked.unwrap_or_default() {
            if entry.kind == TreeEntryKind::File {
                self.add_file(&path.join(&entry.path), found)?;
            }
        }
        Ok(())
    }

    fn add_file(&self, path: &Path, found: &mut LocalSources) -> Result<(), ManifestSignatureError> {
        let files = &self.session.doors.files;
        let key = normalize(path);
        if files.exists(path).is_ok_and(|exists| !exists) {
            found.absent.push(key);
            return Ok(());
        }
        let entry = SourceEntry { sha256: Some(self.digest(path, found)?), ..SourceEntry::default() };
        found.add(key, entry)
    }

    /// Returns the sha256 of a file, within the bounds of the session.
    fn digest(&self, path: &Path, found: &mut LocalSources) -> Result<String, ManifestSignatureError> {
        let (max_files, max_bytes) = self
            .session
            .bounds
            .as_ref()
            .map_or((usize::MAX, u64::MAX), |bounds| (bounds.max_files, bounds.max_bytes));
        let too_much = || ManifestSignatureError::TooMuch { files: max_files, bytes: max_bytes };
        if found.files >= max_files {
            return Err(too_much());
        }
        let read = self.session.doors.files.digest(path, max_bytes - found.bytes);
        let (sha256, size) = read.map_err(|error| match error {
            FileError::Step { source, .. } if source.kind() == io::ErrorKind::FileTooLarge => too_much(),
            error => ManifestSignatureError::Source(error),
        })?;
        found.files += 1;
        found.bytes += size;
        Ok(sha256)
    }

    fn add_tree(
        &self,
        resource: &Resource,
        path: &Path,
        found: &mut LocalSources,
    ) -> Result<(), ManifestSignatureError> {
        let files = &self.session.doors.files;
        if files.exists(path).is_ok_and(|exists| !exists) {
            found.absent.push(normalize(path));
            return Ok(());
        }
        let unreadable = |source| ManifestSignatureError::Source(FileError::unreadable(path, source));
        let root = files.canonical(path).map_err(unreadable)?;
        let ignored = IgnoredPaths::of(resource);
        let step = |path: &Path, _| if ignored.matches(path) { WalkStep::Skip } else { WalkStep::Enter };
        let walked = files.walk(&root, &step).map_err(ManifestSignatureError::Source)?;
        for entry in walked.unwrap_or_default() {
            let at = root.join(&entry.path);
            match entry.kind {
                TreeEntryKind::File => {
                    let sha256 = Some(self.digest(&at, found)?);
                    let executable = entry.mode & 0o100 != 0;
                    found.add(at, SourceEntry { sha256, executable, link: None })?;
                }
                TreeEntryKind::Link(text) => {
                    let link = Some(text.display().to_string());
                    found.add(at, SourceEntry { link, ..SourceEntry::default() })?;
                }
                // The run refuses what can't be copied.
                _ => {}
            }
        }
        if !found.trees.contains(&root) {
            found.trees.push(root);
        }
        Ok(())
    }
}

/// Returns `true` for a path on this machine that is known before the run.
fn is_known(written: &str) -> bool {
    !written.contains("{{") && url_hint(Path::new(written)).is_none()
}
