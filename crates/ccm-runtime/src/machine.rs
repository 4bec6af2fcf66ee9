//! Sources of manifests beside their own text: files, facts and the environment of this machine.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ccm_data::{assignment, dotenv, facts, merge};
use ccm_expr::{Timestamp, Value};
use ccm_facts::{Subtree, Subtrees};
use ccm_governance::signed::ReadRecord;
use ccm_host::{
    CancellationLevel, ConfigurationError, CredentialError, FileError, TreeEntryKind, WalkStep, file_text,
    is_of_root,
};
use ccm_manifest::{
    CopiedContent, CopiedFile, FactPath, SecretFault, SecretReach, ShellTextError, Sources, is_of_system_fact,
};
use ccm_model::{
    Diagnostic, DiagnosticKind, FileVersion, Severity, SourceMap, closest, error_layers, escape_control,
};
use ccm_redaction::Secrets;

use crate::doors::OpenDoors;
use crate::encrypted_values::EncryptedValues;
use crate::input::GivenFacts;
use crate::notices::Notices;
use crate::session::InputBounds;
use crate::session::Notice;
use crate::session_doors::SessionDoors;

/// Maximum size of a file that a manifest reads, in bytes.
const MAX_FILE_SIZE: u64 = 64 << 20;

/// Hint for a missing file with a relative path.
pub const RELATIVE_PATH_HINT: &str = "check the path, which is relative to the current directory";

/// This machine, with the facts that the caller gives.
pub(crate) struct MachineSources {
    doors: Rc<OpenDoors>,
    encrypted: Rc<EncryptedValues>,
    now: Timestamp,
    given: GivenFacts,
    notices: Notices,
    secrets: Secrets,
    /// Bounds of what is read and computed, with the time of their end, if somebody with fewer rights than this process may
    /// have chosen the manifest and its directory.
    bounds: Option<(InputBounds, Duration)>,
    /// The given facts describe another machine, so that no fact of this machine is gathered.
    is_other_machine: bool,
    /// The variables of the environment are facts as well.
    has_environment: bool,
    /// File of variables beside the manifest, if it is read.
    dotenv: Option<PathBuf>,
    gathered: Cell<Subtrees>,
    of_machine: RefCell<Value>,
    /// Files that the manifest and its values were read from. Facts and the environment are no part of them.
    pub(crate) reads: Rc<ReadRecord>,
    /// Paths of facts that expressions name.
    needed: RefCell<Vec<FactPath>>,
    /// Facts in files, and given facts.
    file_facts: OnceCell<Result<Value, Vec<Diagnostic>>>,
}

impl MachineSources {
    /// Creates the sources of this machine. `dotenv` is the file of variables beside the manifest, which need
    /// not exist.
    pub(crate) fn new(
        session: &SessionDoors,
        given: GivenFacts,
        dotenv: Option<PathBuf>,
        reads: ReadRecord,
    ) -> Self {
        let doors = Rc::clone(&session.doors);
        let now = Timestamp::try_from(doors.clock.now()).unwrap_or_default();
        let begun = doors.clock.monotonic();
        let bounds = session.bounds.clone().map(|bounds| {
            let end = begun.saturating_add(bounds.max_time);
            (bounds, end)
        });
        Self {
            doors,
            encrypted: Rc::clone(&session.encrypted),
            now,
            given,
            notices: session.notices.clone(),
            secrets: session.secrets.clone(),
            bounds,
            is_other_machine: false,
            has_environment: false,
            dotenv,
            reads: Rc::new(reads),
            needed: RefCell::default(),
            gathered: Cell::new(Subtrees::NONE),
            of_machine: RefCell::new(Value::map::<&str>([])),
            file_facts: OnceCell::new(),
        }
    }

    /// Reads a text file of at most 64 MiB.
    fn text(&self, path: &Path) -> io::Result<Vec<u8>> {
        let content = self.doors.files.content(path, MAX_FILE_SIZE).map_err(as_io)?;
        content.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
    }

    /// Uses the given facts as those of another machine.
    pub(crate) fn for_other_machine(mut self) -> Self {
        self.is_other_machine = true;
        self
    }

    /// Adds the variables of the environment to the facts.
    pub(crate) fn with_environment(mut self) -> Self {
        self.has_environment = true;
        self
    }

    /// Gathers the facts at or below these paths that were not gathered before.
    fn gather(&self, needed: &[FactPath]) {
        if self.is_other_machine {
            return;
        }
        let needed = needed.iter().map(|path| {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            Subtree::needed_for(&path)
        });
        let desired = needed.fold(Subtrees::NONE, Subtrees::union);
        let gathered = self.gathered.get();
        let missing: Subtrees = Subtree::ALL
            .into_iter()
            .filter(|subtree| desired.contains(*subtree) && !gathered.contains(*subtree))
            .collect();
        if missing.is_empty() {
            return;
        }
        self.gathered.set(gathered.union(missing));
        let (found, warnings) = ccm_facts::gather(&*self.doors.machine, &*self.doors.clock, missing);
        self.warn(&warnings);
        merge::deep(&mut self.of_machine.borrow_mut(), &Value::from(found));
    }

    /// Reads the facts in files of this machine, in given files, and in assignments.
    fn file_facts(&self, texts: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        let mut facts_in_files = Value::map::<&str>([]);
        if self.has_environment {
            let variables =
                self.doors.doors.environment().into_iter().map(|(name, value)| (name, Value::text(value)));
            facts_in_files = Value::map(variables);
        }
        let mut errors = Vec::new();
        if !self.is_other_machine {
            let (custom, warnings) = self.doors.doors.custom_facts().read();
            self.warn(&warnings);
            for file in custom {
                match read_facts(&file.path, &file.text, texts) {
                    Ok(found) => merge::facts(&mut facts_in_files, &found),
                    Err(found) => errors.extend(found),
                }
            }
        }
        match self.given(texts) {
            Ok(given) => given.iter().for_each(|found| merge::facts(&mut facts_in_files, found)),
            Err(found) => errors.extend(found),
        }
        if errors.is_empty() { Ok(facts_in_files) } else { Err(errors) }
    }

    /// Reads the given facts, the lowest first.
    fn given(&self, texts: &mut SourceMap) -> Result<Vec<Value>, Vec<Diagnostic>> {
        let mut given = Vec::new();
        let mut errors = Vec::new();
        for path in &self.given.files {
            if let Some(hint) = url_hint(path) {
                let message =
                    format!("the facts file {}: a URL is not supported in this version", path.display());
                errors
                    .push(Diagnostic::without_location(DiagnosticKind::Unsupported, message).with_hint(hint));
                continue;
            }
            match self.text(path).and_then(file_text) {
                Ok(text) => match read_facts(path, &text, texts) {
                    Ok(found) => given.push(found),
                    Err(found) => errors.extend(found),
                },
                Err(error) => {
                    let message = format!("the facts file {} can't be read: {error}", path.display());
                    let found = Diagnostic::without_location(DiagnosticKind::Unreadable, message);
                    let is_misnamed = error.kind() == io::ErrorKind::NotFound && path.is_relative();
                    errors.push(if is_misnamed { found.with_hint(RELATIVE_PATH_HINT) } else { found });
                }
            }
        }
        for pair in &self.given.assignments {
            match assignment::read(pair) {
                Ok(value) => given.push(value),
                Err(error) => {
                    let message = format!("a fact can't be read: {error}");
                    errors.push(Diagnostic::without_location(error.kind(), message).with_hint(error.hint()));
                }
            }
        }
        if errors.is_empty() { Ok(given) } else { Err(errors) }
    }

    /// Reports facts that could not be gathered.
    fn warn(&self, warnings: &[ccm_facts::Warning]) {
        for warning in warnings {
            self.notices.report(&Notice::Facts(warning));
        }
    }

    /// Adds a hint to errors about facts of the system that the files of another machine lack.
    pub(crate) fn explain_missing_facts(&self, diagnostics: &mut [Diagnostic]) {
        let Some(Ok(facts)) = self.file_facts.get() else { return };
        if !self.is_other_machine || self.given.files.is_empty() {
            return;
        }
        let names: Vec<String> = self.given.files.iter().map(|path| path.display().to_string()).collect();
        for diagnostic in diagnostics {
            let missing = diagnostic.missing.as_deref().filter(|path| is_of_system_fact(path));
            let Some(fact) = missing.and_then(|path| path.get(1)).filter(|fact| facts.get(fact).is_none())
            else {
                continue;
            };
            let hint = format!(
                "{} has no `{fact}`: with given facts, nothing is read from this machine",
                names.join(", ")
            );
            diagnostic.hints.push(hint);
        }
    }

    /// Returns the facts that expressions have named, if reads are recorded, by their paths.
    pub(crate) fn used_facts(&self) -> BTreeMap<String, Value> {
        let mut facts = self.of_machine.borrow().clone();
        if let Some(Ok(in_files)) = self.file_facts.get() {
            merge::facts(&mut facts, in_files);
        }
        let value = |path: &FactPath| {
            let found = path.iter().try_fold(&facts, |value, key| value.get(key));
            (path.join("."), found.cloned().unwrap_or_default())
        };
        self.needed.borrow().iter().map(value).collect()
    }

    /// Returns the errors in given facts that no expression names. Gathers no fact of this machine.
    pub(crate) fn errors_of_unread(&self, texts: &mut SourceMap) -> Vec<Diagnostic> {
        match self.file_facts.get() {
            Some(_) => Vec::new(),
            None => self.given(texts).err().unwrap_or_default(),
        }
    }

    /// Returns a warning for each fact that was assigned and that nothing names: neither an expression that was evaluated nor
    /// any text that was read.
    pub(crate) fn unused_assignments(&self, texts: &SourceMap) -> Vec<Diagnostic> {
        let needed = self.needed.borrow();
        let is_used = |path: &[String]| {
            let is_needed = needed.iter().any(|needed| path.starts_with(needed) || needed.starts_with(path));
            is_needed || path.last().is_none_or(|key| texts.iter().any(|source| has_word(&source.text, key)))
        };
        let known = needed.iter().map(|path| path.join("."));
        let known: Vec<String> = known.collect();
        let warning = |path: Vec<String>| {
            let name = path.join(".");
            let message = format!("--fact {}: no expression uses this fact", escape_control(&name));
            let near = closest(&name, known.iter().map(String::as_str));
            Diagnostic::without_location(DiagnosticKind::NoEffect, message).with_suggestion(near)
        };
        let paths = self.given.assignments.iter().filter_map(|pair| assignment::path(pair).ok());
        let unused = paths.filter(|path| !is_used(path)).map(warning);
        unused.map(|found| Diagnostic { severity: Severity::Warning, ..found }).collect()
    }
}

/// Returns `true` if a text holds a word, and not only as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |part: char| part.is_alphanumeric() || part == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// Reads a file of facts.
fn read_facts(path: &Path, text: &str, texts: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let source = texts.add(name.clone(), text);
    facts::read(&facts::FactFile { source, text, format: format_of(&name) })
}

impl Sources for MachineSources {
    fn read(&self, path: &Path) -> io::Result<String> {
        match self.text(path) {
            Ok(content) => {
                self.reads.add(path, Some(&content))?;
                file_text(content)
            }
            Err(error) => {
                if is_absence(&error) {
                    self.reads.add(path, None)?;
                }
                Err(error)
            }
        }
    }

    fn read_below(&self, directory: &Path, name: &Path) -> io::Result<Option<String>> {
        let content = self.doors.doors.data_file(directory, name, MAX_FILE_SIZE)?;
        self.reads.add(&directory.join(name), content.as_deref())?;
        content.map(file_text).transpose()
    }

    fn files_below(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let directory = self.doors.files.canonical(directory)?;
        let walked = self.doors.files.walk(&directory, &|_, _| WalkStep::Enter).map_err(as_io)?;
        let entries = walked.ok_or(io::ErrorKind::NotFound)?.into_iter();
        let files = entries.filter(|entry| entry.kind == TreeEntryKind::File);
        Ok(files.map(|entry| entry.path).collect())
    }

    fn names_in(&self, directory: &Path) -> Vec<String> {
        let walked = self.doors.files.walk(directory, &|_, _| WalkStep::List);
        let entries = walked.ok().flatten().unwrap_or_default().into_iter();
        entries.filter_map(|entry| entry.path.to_str().map(str::to_owned)).collect()
    }

    fn hides_directory(&self, directory: &Path) -> bool {
        let canonical = self.doors.files.canonical(directory);
        self.bounds.is_some() && !canonical.is_ok_and(|canonical| is_of_root(&canonical))
    }

    fn is_over(&self) -> bool {
        self.bounds.as_ref().is_some_and(|(bounds, end)| {
            bounds.canceller.cancellation().level() != CancellationLevel::Go
                || self.doors.clock.monotonic() >= *end
        })
    }

    fn version(&self, path: &Path) -> Option<FileVersion> {
        self.doors.files.version(path)
    }

    fn facts(&self, needed: &[FactPath], texts: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        self.gather(needed);
        if !self.given.assignments.is_empty() || self.reads.is_kept() {
            self.needed.borrow_mut().extend_from_slice(needed);
        }
        let facts_in_files = self.file_facts.get_or_init(|| self.file_facts(texts)).clone()?;
        self.gather(&misspelt(needed, &facts_in_files));
        let mut facts = self.of_machine.borrow().clone();
        merge::facts(&mut facts, &facts_in_files);
        Ok(facts)
    }

    fn credential(&self, name: &str) -> Result<String, SecretFault> {
        let value = self.doors.doors.credential(name).map_err(|error| SecretFault {
            message: error_layers(&error).join(": "),
            hint: error.hint(),
            reach: match error {
                CredentialError::OfService { .. } => SecretReach::Elsewhere,
                _ => SecretReach::Here,
            },
        })?;
        self.secrets.add([&*value]);
        Ok(value)
    }

    fn open_encrypted(&self, text: &str) -> Result<String, SecretFault> {
        let opened = self.encrypted.open(text, &self.doors).map_err(|fault| match fault.reach {
            SecretReach::Here if self.is_other_machine => {
                SecretFault { reach: SecretReach::Elsewhere, ..fault }
            }
            _ => fault,
        })?;
        // A value may be used without the line end of its file.
        self.secrets.add([opened.trim_end_matches(['\r', '\n'])]);
        Ok(opened)
    }

    fn is_not_utf8(&self, variable: &str) -> bool {
        self.doors.doors.is_not_utf8(variable)
    }

    fn environment(&self, texts: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        self.notices.report(&Notice::EnvironmentUsed);
        let mut variables = self.doors.doors.environment();
        let Some(path) = &self.dotenv else { return Ok(variables) };
        let refused = |reason: &dyn std::fmt::Display| {
            let error = Diagnostic::without_location(
                DiagnosticKind::Unreadable,
                format!("{} can't be read: {reason}", path.display()),
            );
            vec![error.with_hint("leave out `.env` with `--no-env`")]
        };
        match self.doors.doors.dotenv(path, MAX_FILE_SIZE) {
            Ok(Some(bytes)) => {
                self.reads.add(path, Some(&bytes)).map_err(|error| refused(&error))?;
                let text = file_text(bytes).map_err(|error| refused(&error))?;
                let source = texts.add(path.display().to_string(), text.as_str());
                variables.extend(dotenv::read(source, &text)?);
            }
            Ok(None) => self.reads.add(path, None).map_err(|error| refused(&error))?,
            Err(
                error @ (ConfigurationError::Foreign { .. }
                | ConfigurationError::Exposed { .. }
                | ConfigurationError::Shared { .. }),
            ) => {
                self.notices.report(&Notice::Environment(&error));
            }
            Err(ConfigurationError::Read { source, .. }) => return Err(refused(&source)),
            Err(error) => return Err(refused(&error)),
        }
        Ok(variables)
    }

    fn exists(&self, path: &Path) -> bool {
        self.doors.files.exists(path).is_ok_and(|exists| exists)
    }

    fn is_missing(&self, path: &Path, is_absolute: bool) -> bool {
        let is_known = !self.is_other_machine || !is_absolute;
        is_known && self.doors.files.exists(path).is_ok_and(|exists| !exists)
    }

    fn copied_content(&self, file: &CopiedFile<'_>) -> CopiedContent {
        if self.is_other_machine && file.is_absolute {
            return CopiedContent::Unread;
        }
        let files = &self.doors.files;
        if let Some(copy) = file.copy.filter(|copy| !self.is_other_machine && copy.is_absolute()) {
            match files.size(file.path) {
                Ok(None) => return CopiedContent::Missing,
                Ok(Some(size))
                    if size > file.max_bytes || files.size(copy).is_ok_and(|of| of == Some(size)) =>
                {
                    return CopiedContent::Unread;
                }
                _ => {}
            }
        }
        match files.source_content(file.path, file.max_bytes) {
            Ok(Some(content)) => CopiedContent::Read(content),
            Err(_) if files.exists(file.path).is_ok_and(|exists| !exists) => CopiedContent::Missing,
            Ok(None) | Err(_) => CopiedContent::Unread,
        }
    }

    fn real_directory(&self, path: &Path) -> Option<PathBuf> {
        if self.is_other_machine { None } else { self.doors.files.real_directory(path) }
    }

    fn parse_shell(&self, texts: &[&str]) -> Vec<Option<ShellTextError>> {
        if self.is_other_machine {
            return vec![None; texts.len()];
        }
        let errors = self.doors.doors.parse_shell(texts).into_iter();
        errors
            .map(|error| error.map(|error| ShellTextError { message: error.message, line: error.line }))
            .collect()
    }

    fn now(&self) -> Timestamp {
        self.now
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the facts near paths that don't exist, as candidates for a suggestion.
fn misspelt(needed: &[FactPath], facts_in_files: &Value) -> Vec<FactPath> {
    let leads_nowhere = |path: &&FactPath| {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let mut value = Some(facts_in_files);
        for name in &names {
            value = value.and_then(|value| value.get(name));
        }
        names.len() > 1 && value.is_none() && Subtree::needed_for(&names).is_empty()
    };
    needed.iter().filter(leads_nowhere).map(|path| path[..1].to_vec()).collect()
}

/// Returns advice about a URL in place of a file; `None` if the path is no URL.
pub fn url_hint(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_url =
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
    is_url.then(|| "download the file first, and use its path".to_owned())
}

/// Returns the format of a file of facts by its name.
pub(crate) fn format_of(name: &str) -> facts::FactFormat {
    let is_json = Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if is_json { facts::FactFormat::Json } else { facts::FactFormat::Yaml }
}

/// Returns the error of the system without the file, because the caller names the file.
fn as_io(error: FileError) -> io::Error {
    if error.is_of_directory() {
        return io::Error::new(io::ErrorKind::IsADirectory, error);
    }
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            return match cause.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(cause.kind(), cause.to_string()),
            };
        }
        source = cause.source();
    }
    io::Error::other(error)
}
