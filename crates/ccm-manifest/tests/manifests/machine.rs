//! Machine in memory: files, facts and variables, with a record of all requests.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use ccm_expr::{Timestamp, Value};
use ccm_manifest::{
    Completion, DataFile, FactPath, LoadResult, OmittedInputs, Request, SecretFault, SecretReach, Sources,
    load, load_omitting,
};
use ccm_model::{
    Catalog, Diagnostic, DiagnosticKind, FileVersion, Node, Resource, ResourceIndex, Severity, SourceId,
    SourceMap,
};
use ccm_properties::TypeSpec;

use crate::fake::{Apply, Copy, Note, Task, line};

pub(crate) const TYPES: [&dyn TypeSpec; 4] = [&Task, &Note, &Copy, &Apply];

/// Inputs of a manifest in `/m`.
#[derive(Default)]
pub(crate) struct Machine {
    files: RefCell<BTreeMap<PathBuf, Vec<u8>>>,
    facts: Value,
    variables: Vec<(String, String)>,
    credentials: Vec<(String, String)>,
    /// Links to directories, by their paths.
    links: Vec<(String, String)>,
    hiera: Vec<DataFile>,
    assignments: Vec<String>,
    allows_new_keys: bool,
    reports_missing: bool,
    facts_are_broken: bool,
    pub(crate) requested: RefCell<Vec<FactPath>>,
    pub(crate) read: RefCell<Vec<PathBuf>>,
    pub(crate) environment_requests: Cell<usize>,
    pub(crate) credential_requests: RefCell<Vec<String>>,
}

impl Machine {
    /// Creates a machine with facts, written as YAML.
    pub(crate) fn with_facts(yaml: &str) -> Self {
        Self::knowing(value(yaml))
    }

    pub(crate) fn knowing(facts: Value) -> Self {
        Self { facts, ..Self::default() }
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    pub(crate) fn binary(self, path: &str, bytes: &[u8]) -> Self {
        self.files.borrow_mut().insert(Path::new("/m").join(path), bytes.to_vec());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn credential(mut self, name: &str, value: &str) -> Self {
        self.credentials.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn link(mut self, path: &str, directory: &str) -> Self {
        self.links.push((path.to_owned(), directory.to_owned()));
        self
    }

    pub(crate) fn hiera(mut self, name: &str, text: &str) -> Self {
        self.hiera.push(DataFile { name: name.to_owned(), text: text.into() });
        self
    }

    pub(crate) fn assignment(mut self, written: &str) -> Self {
        self.assignments.push(written.to_owned());
        self
    }

    pub(crate) fn reporting_missing(mut self) -> Self {
        self.reports_missing = true;
        self
    }

    pub(crate) fn with_new_keys(mut self) -> Self {
        self.allows_new_keys = true;
        self
    }

    pub(crate) fn without_facts(mut self) -> Self {
        self.facts_are_broken = true;
        self
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.files.borrow_mut().insert(Path::new("/m").join(path), text.as_bytes().to_vec());
    }

    pub(crate) fn remove(&self, path: &str) {
        self.files.borrow_mut().remove(&Path::new("/m").join(path));
    }

    pub(crate) fn load(&self, text: &str) -> LoadResult<'_> {
        self.load_as(text, &TYPES)
    }

    pub(crate) fn load_as(&self, text: &str, types: &[&'static dyn TypeSpec]) -> LoadResult<'_> {
        let loaded = load(self.request(text), types, self);
        let has_error = loaded.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        assert_eq!(loaded.catalog.is_none(), has_error, "{text}");
        loaded
    }

    fn request(&self, text: &str) -> Request {
        Request {
            name: "m.yaml".to_owned(),
            text: text.into(),
            directory: "/m".into(),
            hiera: self.hiera.clone(),
            assignments: self.assignments.clone(),
            allows_new_keys: self.allows_new_keys,
            resources: None,
            root: None,
            earlier: None,
        }
    }

    /// Returns the diagnostics of a manifest that is checked without the inputs of its machine, each as a [`line`],
    /// and the inputs that were left out.
    pub(crate) fn checked_without(&self, text: &str, omitted: OmittedInputs) -> (Vec<String>, Vec<String>) {
        let loaded = load_omitting(self.request(text), &TYPES, self, omitted);
        let sources = loaded.texts();
        let is_note = |found: &&Diagnostic| found.kind == DiagnosticKind::NotChecked;
        let note = |found: &Diagnostic| {
            let (_, position) = sources.locate(found.span().expect("a span")).expect("a location");
            // An encrypted value has no name.
            let (before, behind) = found.message.split_once(" `").unwrap_or((&found.message, ""));
            let kind = before.rsplit(' ').next().unwrap_or_default();
            let name = behind.split('`').next().unwrap_or_default();
            format!("{} {kind} {name}", position.display())
        };
        (
            loaded
                .diagnostics
                .iter()
                .filter(|found| !is_note(found))
                .map(|found| line(found, &sources))
                .collect(),
            loaded.diagnostics.iter().filter(is_note).map(note).collect(),
        )
    }

    pub(crate) fn catalog(&self, text: &str) -> Catalog {
        self.load(text).catalog.unwrap_or_else(|| panic!("{text}\n{:#?}", self.reported(text)))
    }

    /// Returns the diagnostics, each as a [`line`]. A location in another text begins with the name of that
    /// text.
    pub(crate) fn reported(&self, text: &str) -> Vec<String> {
        let loaded = self.load(text);
        let sources = loaded.texts();
        loaded.diagnostics.iter().map(|diagnostic| line(diagnostic, &sources)).collect()
    }

    /// Compares the diagnostics for each text of a table.
    pub(crate) fn check_all(&self, cases: &[(&str, &[&str])]) {
        let mut differences = String::new();
        for (text, expected) in cases {
            let found = self.reported(text);
            if found != *expected {
                differences += &format!("--- {text}\n{found:#?}\n");
            }
        }
        assert!(differences.is_empty(), "{differences}");
    }

    /// Returns a property of the only resource, as JSON.
    pub(crate) fn property(&self, text: &str, property: &str) -> String {
        let catalog = self.catalog(text);
        let resource = catalog.resources.last().expect("a resource");
        shown(resource, property)
    }
}

/// Returns a property as JSON, or an empty text.
pub(crate) fn shown(resource: &Resource, property: &str) -> String {
    resource.properties.get(property).map(json).unwrap_or_default()
}

fn json(node: &Node) -> String {
    ccm_data::nodes::to_value(node).to_json().to_string()
}

/// Returns the value of a YAML text.
pub(crate) fn value(yaml: &str) -> Value {
    let node = ccm_yaml::parse(SourceId(0), yaml, &ccm_yaml::Limits::default()).expect("YAML");
    ccm_data::nodes::to_value(&node.expect("a value"))
}

/// Completes a resource, with nothing in noop.
pub(crate) fn completed(loaded: &LoadResult<'_>, index: u32) -> Completion {
    completed_after(loaded, index, &|_| false)
}

pub(crate) fn completed_after(
    loaded: &LoadResult<'_>,
    index: u32,
    would_change: &dyn Fn(ResourceIndex) -> bool,
) -> Completion {
    let catalog = loaded.catalog.as_ref().expect("no error");
    let index = ResourceIndex(index);
    loaded.late.complete(index, catalog.resource(index), would_change)
}

/// Returns a property of a completed resource.
pub(crate) fn late_property(loaded: &LoadResult<'_>, index: u32, property: &str) -> String {
    match completed(loaded, index) {
        Completion::Resource(resource) => shown(&resource, property),
        other => panic!("{other:?}"),
    }
}

impl Sources for Machine {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.read.borrow_mut().push(path.to_owned());
        let files = self.files.borrow();
        let bytes = files.get(path).ok_or(io::ErrorKind::NotFound)?;
        String::from_utf8(bytes.clone())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
    }

    fn version(&self, path: &Path) -> Option<FileVersion> {
        let files = self.files.borrow();
        let content = files.get(path)?;
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let (device, inode, size) = (0, hasher.finish(), content.len() as u64);
        Some(FileVersion { device, inode, size, modified: (0, 0), changed: (0, 0) })
    }

    fn facts(&self, needed: &[FactPath], texts: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        *self.requested.borrow_mut() = needed.to_vec();
        if self.facts_are_broken {
            let source = texts.add("facts.yaml", "a: [");
            return Err(vec![Diagnostic::error(
                DiagnosticKind::Syntax,
                ccm_model::Span::new(source, 3, 4),
                "unclosed bracket",
            )]);
        }
        Ok(self.facts.clone())
    }

    fn credential(&self, name: &str) -> Result<String, SecretFault> {
        self.credential_requests.borrow_mut().push(name.to_owned());
        let known = self.credentials.iter().find(|(known, _)| known == name);
        known.map(|(_, value)| value.clone()).ok_or_else(|| SecretFault {
            message: format!("there is no credential `{name}`"),
            hint: Some("add `LoadCredential=`".to_owned()),
            reach: if name == "elsewhere" { SecretReach::Elsewhere } else { SecretReach::Here },
        })
    }

    fn open_encrypted(&self, text: &str) -> Result<String, SecretFault> {
        if let Some(opened) = text.strip_prefix("sealed ") {
            return Ok(opened.to_owned());
        }
        let reach = if text.starts_with("damaged") { SecretReach::Nowhere } else { SecretReach::Here };
        let hint = (reach == SecretReach::Here).then(|| "rekey".to_owned());
        Err(SecretFault { message: "it can't be opened".to_owned(), hint, reach })
    }

    fn environment(&self, _: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        self.environment_requests.set(self.environment_requests.get() + 1);
        Ok(self.variables.clone())
    }

    fn real_directory(&self, path: &Path) -> Option<PathBuf> {
        let mut real = path.to_owned();
        for (link, directory) in &self.links {
            if let Ok(below) = real.strip_prefix(link) {
                real = Path::new(directory).components().chain(below.components()).collect();
            }
        }
        Some(real)
    }

    fn is_missing(&self, path: &Path, _: bool) -> bool {
        self.reports_missing && !self.files.borrow().contains_key(path)
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}
