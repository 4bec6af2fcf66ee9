//! Manifests and values before they are loaded.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ccm_governance::policy::FoundPolicy;
use ccm_governance::signed::ReadRecord;
use ccm_host::{Files, STANDARD_INPUT, TextError, absolute, is_transient};
use ccm_manifest::{DataFile, Request, Sources as _};
use ccm_model::{Node, NodeEntry, NodeMap, SourceId, SourceVersion, closest, normalize};
use ccm_yaml::Limits;

use crate::ensure::SharedOutcomes;
use crate::machine::{MachineSources, url_hint};
use crate::plain_path::without_parents;
use crate::session::Session;

/// Default limit of the size of a manifest, in bytes.
pub const MAX_MANIFEST_SIZE: u64 = 64 << 20;

/// Facts over those of this machine.
#[derive(Clone, Debug, Default)]
pub struct GivenFacts {
    /// Files of facts, YAML or JSON, the lowest first.
    pub files: Vec<PathBuf>,
    /// Facts over those of all files, each as `KEY=VALUE`.
    pub assignments: Vec<String>,
}

/// Values over those of a manifest.
#[derive(Clone, Debug, Default)]
pub struct GivenData {
    /// Files of values, the lowest first.
    pub files: Vec<PathBuf>,
    /// Values over those of all files, each as `KEY=VALUE`.
    pub assignments: Vec<String>,
    /// Assignments may have keys that no data has.
    pub allows_new_keys: bool,
}

/// Facts, values and environment that expressions of a manifest can name.
#[derive(Clone, Debug, Default)]
pub struct GivenValues {
    /// Facts.
    pub facts: GivenFacts,
    /// Values.
    pub data: GivenData,
    /// Ignores the file `.env` beside the manifest.
    pub no_dotenv: bool,
}

/// Source of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestSource {
    /// A file.
    File(PathBuf),
    /// Standard input, read to its end.
    StandardInput,
    /// A file of a version that was accepted from a source.
    Accepted {
        /// Path of the manifest in the version.
        path: PathBuf,
        /// Directory of the version, which no other user may enter.
        directory: PathBuf,
        /// Name of the manifest, which is the same in every version.
        name: String,
        /// The version.
        version: SourceVersion,
        /// Somebody who may do so has signed it.
        is_signed: bool,
    },
    /// A resource without a manifest. Holds the name for records.
    Declared(String),
}

impl ManifestSource {
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Accepted { path, .. } => Some(path),
            Self::StandardInput | Self::Declared(_) => None,
        }
    }

    /// Returns the name that records use: an absolute path without `..`, with its links as they are. A manifest has
    /// one name, whichever way the path takes through directories.
    pub(crate) fn full_name(&self, files: &dyn Files) -> String {
        if let Self::Accepted { name, .. } | Self::Declared(name) = self {
            return name.clone();
        }
        let Some(path) = self.path() else { return STANDARD_INPUT.to_owned() };
        // The given path is also a name, if the current directory does not exist any more.
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        without_parents(&path, files).display().to_string()
    }

    /// Returns the name in messages: the path as it was given.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Accepted { name, .. } | Self::Declared(name) => name.clone(),
            Self::StandardInput => STANDARD_INPUT.to_owned(),
        }
    }

    /// Returns the directory of the version of the source that the manifest comes from.
    pub(crate) fn version_directory(&self) -> Option<&Path> {
        match self {
            Self::Accepted { directory, .. } => Some(directory),
            Self::File(_) | Self::StandardInput | Self::Declared(_) => None,
        }
    }

    /// Returns the version of the source that the manifest comes from.
    pub(crate) fn version(&self) -> Option<SourceVersion> {
        match self {
            Self::Accepted { version, .. } => Some(version.clone()),
            Self::File(_) | Self::StandardInput | Self::Declared(_) => None,
        }
    }

    /// Returns the directory of the manifest, absolute; the current one for standard input.
    fn directory(&self) -> io::Result<PathBuf> {
        match self.path() {
            None => absolute(Path::new(".")),
            Some(path) => Ok(absolute(path)?.parent().unwrap_or(Path::new("/")).to_owned()),
        }
    }
}

/// Error of reading a manifest or values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The current directory can't be found.
    #[error("the current directory can't be found")]
    Directory(#[source] io::Error),
    /// The manifest can't be read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A file of values is named by a URL.
    #[error("{}: a URL is not supported in this version", .0.display())]
    DataUrl(PathBuf),
    /// A file of values can't be read.
    #[error("{} can't be read", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// A manifest that was read but not checked, with the values that expressions can name.
pub struct Input {
    pub(crate) machine: Rc<MachineSources>,
    source: ManifestSource,
    pub(crate) full_name: String,
    /// `true` if another run, or another reading, may find a different manifest at the same place.
    is_transient: bool,
    request: Request,
    values: GivenValues,
    max_size: u64,
    /// Executor whose command stands in place of the resources.
    executor: Option<Box<str>>,
    /// Outcomes of the session that the call belongs to.
    pub(crate) outcomes: Option<Rc<SharedOutcomes>>,
}

impl Session {
    /// Returns `true` for a directory, links followed.
    pub fn is_directory(&self, path: &Path) -> bool {
        self.doors.files.is_directory(path).unwrap_or(false)
    }

    /// Returns `true` for anything but a directory, links followed.
    pub fn is_file(&self, path: &Path) -> bool {
        self.doors.files.canonical(path).is_ok() && !self.is_directory(path)
    }

    /// Creates a file, such as a manifest. An existing file is an error of kind [`io::ErrorKind::AlreadyExists`].
    pub fn create_file(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.doors.doors.create_file(path, content)
    }

    /// Returns `true` if root runs the program.
    pub fn is_root(&self) -> bool {
        self.doors
            .commands(&self.secrets, self.launcher.as_deref())
            .is_ok_and(|commands| commands.own_identity().is_ok_and(|own| own.uid == 0))
    }

    /// Returns the YAML files below a directory, sorted by path. Hidden files and directories are left out,
    /// and no link is followed.
    pub fn yaml_files_below(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let mut files = self.doors.doors.files_below(directory)?;
        files.retain(|path| {
            let ending = path.extension();
            ending
                .is_some_and(|ending| ["yaml", "yml"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
        });
        Ok(files)
    }

    /// Reads a manifest of at most `max_size` bytes.
    pub fn read(
        &self,
        source: ManifestSource,
        values: &GivenValues,
        max_size: u64,
    ) -> Result<Input, InputError> {
        self.read_with(source, values, max_size, (None, self.records_reads()))
    }

    /// Reads a manifest of at most `max_size` bytes, to sign it.
    pub fn read_to_sign(
        &self,
        source: ManifestSource,
        values: &GivenValues,
        max_size: u64,
    ) -> Result<Input, InputError> {
        self.read_with(source, values, max_size, (None, true))
    }

    /// Returns `true` if the digests of the files of a manifest are needed.
    pub(crate) fn records_reads(&self) -> bool {
        self.handles_plans || self.signature_matters()
    }

    /// Returns `true` if a signature of a manifest may matter.
    pub(crate) fn signature_matters(&self) -> bool {
        self.requires_signed || !self.governance.found_policy().is_ok_and(FoundPolicy::is_absent)
    }

    /// Reads a manifest and its values again, as a new run would. Standard input and pipes can't be read twice,
    /// so their first text is reused.
    pub fn read_again(&self, input: &Input) -> Result<Input, InputError> {
        let text = input.is_transient.then(|| (input.request.name.clone(), Arc::clone(&input.request.text)));
        let records = input.machine.reads.is_kept();
        self.read_with(input.source.clone(), &input.values, input.max_size, (text, records))
    }

    pub(crate) fn read_with(
        &self,
        source: ManifestSource,
        values: &GivenValues,
        max_size: u64,
        (text, records): (Option<(String, Arc<str>)>, bool),
    ) -> Result<Input, InputError> {
        let directory = source.directory().map_err(InputError::Directory)?;
        let dotenv = (!values.no_dotenv).then(|| directory.join(".env"));
        let machine =
            MachineSources::new(&self.shared, values.facts.clone(), dotenv, ReadRecord::new(records));
        let is_transient = source.path().is_none_or(is_transient);
        let (name, text) = if let Some(kept) = text {
            kept
        } else {
            let (name, text) = self.read_text(source.path(), max_size, "manifest")?;
            match &source {
                ManifestSource::Accepted { name, .. } => (name.clone(), text.into()),
                _ => (name, text.into()),
            }
        };
        if let Some(file) = source.path().and_then(Path::file_name) {
            machine.reads.add(&directory.join(file), Some(text.as_bytes())).map_err(InputError::Directory)?;
        }
        let hiera = data_files(&values.data.files, &machine)?;
        let assignments = values.data.assignments.clone();
        let full_name = source.full_name(&*self.doors.files);
        let allows_new_keys = values.data.allows_new_keys;
        let request = Request {
            name,
            text,
            directory,
            hiera,
            assignments,
            allows_new_keys,
            resources: None,
            root: None,
            earlier: None,
        };
        let (machine, values) = (Rc::new(machine), values.clone());
        let (executor, outcomes) = (None, None);
        Ok(Input { machine, source, full_name, is_transient, request, values, max_size, executor, outcomes })
    }
}

impl Input {
    /// Builds the input of a resource without a manifest.
    pub(crate) fn declared(
        source: ManifestSource,
        request: Request,
        values: GivenValues,
        machine: Rc<MachineSources>,
    ) -> Self {
        let full_name = source.name();
        let (max_size, executor, outcomes) = (MAX_MANIFEST_SIZE, None, None);
        Self { machine, source, full_name, is_transient: true, request, values, max_size, executor, outcomes }
    }

    /// Returns `true` for a resource without a manifest.
    pub(crate) fn is_declared(&self) -> bool {
        matches!(self.source, ManifestSource::Declared(_))
    }

    /// Makes a resource without a manifest part of a session: its references may name the resources of earlier calls, and
    /// later calls see its outcome.
    #[must_use]
    pub fn in_session(mut self, outcomes: Rc<SharedOutcomes>) -> Self {
        self.request.earlier = Some(Rc::new(outcomes.resources()));
        self.outcomes = Some(outcomes);
        self
    }

    /// Returns the source of the manifest.
    pub fn source(&self) -> &ManifestSource {
        &self.source
    }

    /// Returns the name of the manifest in messages: its path as it was given.
    pub fn name(&self) -> &str {
        &self.request.name
    }

    /// Returns `true` if everything that the manifest is made of was signed as part of a version of a source. Values of the
    /// command line were not.
    pub(crate) fn is_of_signed_source(&self) -> bool {
        let data = self.data();
        matches!(self.source, ManifestSource::Accepted { is_signed: true, .. })
            && data.files.is_empty()
            && data.assignments.is_empty()
    }

    /// Returns the executor whose command stands in place of the resources.
    pub(crate) fn executor(&self) -> Option<&str> {
        self.executor.as_deref()
    }

    /// Returns the text of the manifest.
    pub fn text(&self) -> &str {
        &self.request.text
    }

    /// Returns the name of the manifest in records: an absolute path, or `standard input`.
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    /// Returns the name of a run in its record.
    pub(crate) fn record_name(&self) -> Cow<'_, str> {
        match self.executor() {
            None => self.full_name().into(),
            Some(executor) => format!("executor {executor} of {}", self.full_name()).into(),
        }
    }

    /// Returns `true` if another run may find a different manifest at the same place, such as a pipe.
    pub(crate) fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// Returns `false` if the text is valid YAML without a `ccm` key: a file of values or of facts.
    pub fn is_manifest(&self) -> bool {
        let parsed = ccm_yaml::parse_any(SourceId(0), &self.request.text, &Limits::default());
        let Ok(Some(root)) = parsed else { return true };
        root.as_map().is_some_and(|map| map.get("ccm").is_some() || is_meant_as_manifest(map))
    }

    /// Returns the absolute path of the manifest; `None` for standard input.
    pub fn path(&self) -> Option<PathBuf> {
        Some(normalize(&self.request.directory.join(self.source.path()?.file_name()?)))
    }

    /// Returns the absolute paths of the manifests that this one applies, as far as their names are written in it and
    /// no values.
    pub fn applied_manifests(&self) -> Vec<PathBuf> {
        let Ok(Some(root)) = ccm_yaml::parse_any(SourceId(0), &self.request.text, &Limits::default()) else {
            return Vec::new();
        };
        let below = |node: &Node, key: &str| node.as_map().and_then(|map| map.get(key)).cloned();
        let resources = below(&root, "ccm").and_then(|ccm| below(&ccm, "resources"));
        let items = resources.as_ref().and_then(Node::as_list).unwrap_or_default().iter();
        let applied = items.filter_map(|item| below(item, "apply"));
        let names = applied.flat_map(|node| applied_names(&node));
        names.map(|name| normalize(&self.request.directory.join(name))).collect()
    }

    /// Returns the files that were read, if they are recorded.
    pub(crate) fn reads(&self) -> &ReadRecord {
        &self.machine.reads
    }

    /// Returns the values over those of the manifest.
    pub(crate) fn data(&self) -> &GivenData {
        &self.values.data
    }

    /// Returns the name of the manifest in its directory; `None` for standard input.
    pub(crate) fn file_name(&self) -> Option<String> {
        Some(self.source.path()?.file_name()?.display().to_string())
    }

    pub(crate) fn facts(&self) -> &GivenFacts {
        &self.values.facts
    }

    /// Returns the same manifest for another machine with these facts.
    pub(crate) fn for_machine(&self, session: &Session, facts: GivenFacts) -> Self {
        let dotenv = (!self.values.no_dotenv).then(|| self.request.directory.join(".env"));
        Self {
            machine: Rc::new(
                MachineSources::new(&session.shared, facts, dotenv, ReadRecord::default())
                    .for_other_machine(),
            ),
            source: self.source.clone(),
            full_name: self.full_name.clone(),
            is_transient: self.is_transient,
            request: self.request(),
            values: self.values.clone(),
            max_size: self.max_size,
            executor: self.executor.clone(),
            outcomes: None,
        }
    }

    /// Returns the same manifest with these resources of an executor in place of its own.
    pub(crate) fn for_executor(&self, session: &Session, executor: &str, resources: String) -> Self {
        let dotenv = (!self.values.no_dotenv).then(|| self.request.directory.join(".env"));
        let facts = self.values.facts.clone();
        Self {
            machine: Rc::new(MachineSources::new(
                &session.shared,
                facts,
                dotenv,
                ReadRecord::new(self.machine.reads.is_kept()),
            )),
            source: self.source.clone(),
            full_name: self.full_name.clone(),
            is_transient: self.is_transient,
            request: Request { resources: Some(resources.into()), ..self.request() },
            values: self.values.clone(),
            max_size: self.max_size,
            executor: Some(executor.into()),
            outcomes: None,
        }
    }

    pub(crate) fn request(&self) -> Request {
        let Request { name, text, directory, hiera, assignments, allows_new_keys, resources, root, earlier } =
            &self.request;
        Request {
            name: name.clone(),
            text: Arc::clone(text),
            directory: directory.clone(),
            hiera: hiera.clone(),
            assignments: assignments.clone(),
            allows_new_keys: *allows_new_keys,
            resources: resources.clone(),
            root: root.clone(),
            earlier: earlier.clone(),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.request.directory
    }
}

/// Returns `true` for a file without `ccm` that is a manifest but for this key: it is misspelt or missing.
fn is_meant_as_manifest(map: &NodeMap) -> bool {
    let is_resource = |item: &Node| {
        let types = ["file", "exec", "package", "service", "apply", "user", "group", "line", "block"];
        item.as_map().is_some_and(|item| types.iter().any(|name| item.get(name).is_some()))
    };
    let has_resources = |map: &NodeMap| {
        let resources = map.get("resources").and_then(Node::as_list);
        resources.is_some_and(|items| items.first().is_some_and(is_resource))
    };
    let is_misspelt = |entry: &NodeEntry| {
        closest(&entry.key.text, ["ccm"]).is_some() && entry.value.as_map().is_some_and(has_resources)
    };
    has_resources(map) || map.entries().iter().any(is_misspelt)
}

/// Returns the names of `apply` resources: the `name` of one, or the keys of a list.
fn applied_names(node: &Node) -> Vec<String> {
    if let Some(name) = node.as_map().and_then(|map| map.get("name")) {
        return name.as_text().map(str::to_owned).into_iter().collect();
    }
    let entries = node.as_list().unwrap_or_default().iter().filter_map(Node::as_map);
    entries.flat_map(|map| map.entries().iter().map(|entry| entry.key.text.to_string())).collect()
}

/// Reads files of values.
pub(crate) fn data_files(paths: &[PathBuf], machine: &MachineSources) -> Result<Vec<DataFile>, InputError> {
    let read = |path: &PathBuf| {
        if url_hint(path).is_some() {
            return Err(InputError::DataUrl(path.clone()));
        }
        match machine.read(path) {
            Ok(text) => Ok(DataFile { name: path.display().to_string(), text: text.into() }),
            Err(source) => Err(InputError::Data { path: path.clone(), source }),
        }
    };
    paths.iter().map(read).collect()
}
