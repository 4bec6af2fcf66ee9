//! Shared state of all evaluations: facts, environment, parsed expressions and files.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ccm_expr::path::PathError;
use ccm_expr::{Expression, Function, Map, NameKind, ParseContext, Value};
use ccm_model::{
    Diagnostic, DiagnosticKind, FileVersion, PathSpellings, Severity, SourceId, SourceMap, Span,
};

use crate::read::other_braces;
use crate::resolve::machine_secrets::MachineSecrets;
use crate::resolve::parsed_expression::ParsedExpression;
use crate::sources::{FactPath, SecretFault, SecretReach, Sources};
use crate::unchecked::{LeftOut, OmittedInputs};

/// Functions that expressions have in addition to those of the language.
pub(crate) const FUNCTIONS: [Function<'static>; 5] = [
    Function { name: "lookup", min_arguments: 1, max_arguments: 2 },
    Function { name: "file", min_arguments: 1, max_arguments: 1 },
    // The name of `file` in other programs.
    Function { name: "readFile", min_arguments: 1, max_arguments: 1 },
    Function { name: "template", min_arguments: 1, max_arguments: 1 },
    Function { name: "credential", min_arguments: 1, max_arguments: 1 },
];

/// Names that expressions have.
pub(crate) const NAMES: [(&str, NameKind); 5] = [
    ("Facts", NameKind::Map),
    ("Data", NameKind::Map),
    ("Environ", NameKind::Map),
    ("Captures", NameKind::Map),
    ("Manifest", NameKind::Map),
];

/// Names that expressions have in the resources of a `foreach`.
pub(crate) const ITEM_NAMES: [&str; 2] = ["Item", "Index"];

/// First parts of the paths of `lookup`. Those of items are the last.
pub(crate) const LOOKUP_ROOTS: [&str; 7] =
    ["facts", "data", "environ", "captures", "manifest", "item", "index"];

/// Number of the first parts that every expression has.
pub(crate) const STANDARD_ROOTS: usize = LOOKUP_ROOTS.len() - ITEM_NAMES.len();

/// Names that `let` may not shadow.
const RESERVED_NAMES: [(&str, NameKind); 7] = [
    NAMES[0],
    NAMES[1],
    NAMES[2],
    NAMES[3],
    NAMES[4],
    (ITEM_NAMES[0], NameKind::Anything),
    (ITEM_NAMES[1], NameKind::Anything),
];

/// Maximum size of an expanded text.
pub(crate) const MAX_TEXT_BYTES: usize = 16 << 20;

/// Maximum size of a cached file.
const MAX_CACHED_FILE_BYTES: usize = 1 << 20;

/// Maximum total size of the values of all expressions before a run.
const MAX_COMPUTED_BYTES: usize = 256 << 20;

type LookupPath = Rc<Result<ccm_expr::path::Path, PathError>>;

/// State that all evaluations share. Each part is fetched once, when first needed.
pub(crate) struct EvalContext<'s> {
    pub(crate) sources: &'s dyn Sources,
    /// Spellings of the paths of this machine.
    pub(crate) spellings: PathSpellings<'s>,
    pub(crate) texts: RefCell<SourceMap>,
    /// Names in addition to [`NAMES`].
    pub(crate) variables: Map,
    facts: RefCell<Facts>,
    environment: OnceCell<Option<Value>>,
    expressions: RefCell<HashMap<Box<str>, Rc<ParsedExpression>>>,
    paths: RefCell<HashMap<Box<str>, LookupPath>>,
    /// Contents of files, by path.
    files: RefCell<HashMap<PathBuf, Arc<str>>>,
    /// Versions of files before they were first read.
    versions: RefCell<HashMap<PathBuf, Option<FileVersion>>>,
    /// Files read since the last call of [`EvalContext::take_reads`].
    reads: RefCell<Vec<PathBuf>>,
    pub(crate) secrets: MachineSecrets,
    /// The first file that the current evaluation did not find.
    missing_file: RefCell<Option<PathBuf>>,
    /// Source and text of templates, by path.
    templates: RefCell<HashMap<PathBuf, (SourceId, Arc<str>)>>,
    /// Templates that were searched for what looks like an expression.
    searched: RefCell<HashSet<PathBuf>>,
    /// Depth of nested template renders.
    pub(crate) renders: Cell<usize>,
    /// Total size of the values that expressions returned.
    computed: Cell<usize>,
    /// The end of the time for loading was reported.
    was_over: Cell<bool>,
    /// Errors from fetching facts and environment.
    errors: RefCell<Vec<Diagnostic>>,
    /// Files read before the managed files were known, and not yet attributed to a span.
    early_reads: RefCell<Vec<PathBuf>>,
    /// Files read before the managed files were known, each with the span that uses its content.
    early_uses: RefCell<Vec<(PathBuf, Span)>>,
    pub(crate) omitted: OmittedInputs,
    /// Inputs that were left out, and not yet attributed to a span.
    left_out: RefCell<Vec<LeftOut>>,
    /// Notes about the inputs that were left out.
    unchecked: RefCell<Vec<Diagnostic>>,
    /// Warnings about the last expression that was evaluated.
    doubts: RefCell<Vec<Doubt>>,
}

/// Warning about a part of an expression.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    pub(crate) kind: DiagnosticKind,
    /// Bytes in the expression.
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Doubt {
    pub(crate) fn warning(self, span: Span) -> Diagnostic {
        Diagnostic::warning(self.kind, span, self.message).with_hint(self.hint)
    }
}

#[derive(Default)]
struct Facts {
    value: Value,
    requested: HashSet<FactPath>,
    /// Requested paths, oldest first.
    request_order: Vec<FactPath>,
    /// The facts are unavailable.
    is_unavailable: bool,
}

/// Result of counting a value against [`MAX_COMPUTED_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitCheck {
    Within,
    /// This value is the first above the limit.
    JustExceeded,
    /// An earlier value exceeded the limit.
    AlreadyExceeded,
}

impl<'s> EvalContext<'s> {
    pub(crate) fn new(sources: &'s dyn Sources, texts: SourceMap) -> Self {
        Self {
            sources,
            spellings: PathSpellings::new(|directory| sources.real_directory(directory)),
            texts: RefCell::new(texts),
            variables: Map::new(),
            facts: RefCell::default(),
            environment: OnceCell::new(),
            expressions: RefCell::default(),
            paths: RefCell::default(),
            files: RefCell::default(),
            versions: RefCell::default(),
            reads: RefCell::default(),
            secrets: MachineSecrets::default(),
            missing_file: RefCell::default(),
            templates: RefCell::default(),
            searched: RefCell::default(),
            renders: Cell::default(),
            computed: Cell::default(),
            was_over: Cell::default(),
            errors: RefCell::default(),
            early_reads: RefCell::default(),
            early_uses: RefCell::default(),
            omitted: OmittedInputs::default(),
            left_out: RefCell::default(),
            unchecked: RefCell::default(),
            doubts: RefCell::default(),
        }
    }

    /// Evaluates without these inputs of the machine.
    pub(crate) fn omitting(mut self, omitted: OmittedInputs) -> Self {
        if omitted.files {
            self.spellings = PathSpellings::new(|_| None);
        }
        self.omitted = omitted;
        self
    }

    /// Returns the canonical spelling of a path, by which managed paths are found.
    pub(crate) fn spelling(&self, path: &Path) -> String {
        self.spellings.canonical(&path.to_string_lossy()).into_owned()
    }

    pub(crate) fn expression(&self, text: &str) -> Rc<ParsedExpression> {
        if let Some(read) = self.expressions.borrow().get(text) {
            return Rc::clone(read);
        }
        let known = ParseContext { names: &RESERVED_NAMES, functions: &FUNCTIONS };
        let read = Rc::new(ParsedExpression::new(Expression::parse_with(text, &known)));
        self.expressions.borrow_mut().insert(text.into(), Rc::clone(&read));
        read
    }

    pub(crate) fn path(&self, text: &str) -> LookupPath {
        if let Some(path) = self.paths.borrow().get(text) {
            return Rc::clone(path);
        }
        let path = Rc::new(ccm_expr::path::Path::parse(text));
        self.paths.borrow_mut().insert(text.into(), Rc::clone(&path));
        path
    }

    /// Returns `true` if the time for loading is over, which is an error of the manifest.
    pub(crate) fn is_over(&self) -> bool {
        if !self.sources.is_over() {
            return false;
        }
        let error = Diagnostic::without_location(
            DiagnosticKind::LimitExceeded,
            "its expressions and templates take too long".to_owned(),
        );
        if !self.was_over.replace(true) {
            self.errors.borrow_mut().push(error);
        }
        true
    }

    /// Returns the facts fetched so far.
    pub(crate) fn known_facts(&self) -> Value {
        self.facts.borrow().value.clone()
    }

    /// Returns the facts that were asked for, each once, with their values. The others below a fact that was asked for as a
    /// whole are part of its value.
    pub(crate) fn used_facts(&self) -> Vec<(FactPath, Value)> {
        let facts = self.facts.borrow();
        let value = |path: &FactPath| {
            let found = path.iter().try_fold(&facts.value, |value, key| value.get(key));
            Some((path.clone(), found?.clone()))
        };
        facts.request_order.iter().filter_map(value).collect()
    }

    /// Returns the facts, at least those at or below these paths, or `None` after recording an error.
    pub(crate) fn facts(&self, needed: &[FactPath]) -> Option<Value> {
        let mut facts = self.facts.borrow_mut();
        let before = facts.request_order.len();
        for path in needed {
            let is_requested = (0..=path.len()).any(|end| facts.requested.contains(&path[..end]));
            if !is_requested {
                facts.requested.insert(path.clone());
                facts.request_order.push(path.clone());
            }
        }
        if facts.request_order.len() > before && !facts.is_unavailable {
            match self.sources.facts(&facts.request_order, &mut self.texts.borrow_mut()) {
                Ok(value) => facts.value = value,
                Err(errors) => {
                    facts.is_unavailable = true;
                    self.errors.borrow_mut().extend(errors);
                }
            }
        }
        (!facts.is_unavailable).then(|| facts.value.clone())
    }

    /// Returns the environment as a map, or `None` after recording an error.
    pub(crate) fn environment(&self) -> Option<Value> {
        let fetch = || match self.sources.environment(&mut self.texts.borrow_mut()) {
            Ok(variables) => {
                Some(Value::map(variables.into_iter().map(|(name, value)| (name, Value::text(value)))))
            }
            Err(errors) => {
                self.errors.borrow_mut().extend(errors);
                None
            }
        };
        self.environment.get_or_init(fetch).clone()
    }

    pub(crate) fn read(&self, path: &Path) -> std::io::Result<Arc<str>> {
        self.reads.borrow_mut().push(path.to_owned());
        if let Some(text) = self.files.borrow().get(path) {
            return Ok(Arc::clone(text));
        }
        // A change between the two calls makes the content newer than its version, which is harmless.
        if !self.versions.borrow().contains_key(path) {
            self.versions.borrow_mut().insert(path.to_owned(), self.sources.version(path));
        }
        let text: Arc<str> = match self.sources.read(path) {
            Ok(text) => text.into(),
            Err(error) => {
                if error.kind() == std::io::ErrorKind::NotFound {
                    self.missing_file.borrow_mut().get_or_insert_with(|| path.to_owned());
                }
                return Err(error);
            }
        };
        if text.len() <= MAX_CACHED_FILE_BYTES {
            self.files.borrow_mut().insert(path.to_owned(), Arc::clone(&text));
        }
        Ok(text)
    }

    /// Returns the paths of all files that were read.
    pub(crate) fn paths_read(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.versions.borrow().keys().cloned().collect();
        paths.sort_unstable();
        paths
    }

    /// Returns the paths of the files below a directory. A later change of the directory itself counts as one of a
    /// file that was read.
    pub(crate) fn files_below(&self, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
        self.reads.borrow_mut().push(directory.to_owned());
        if !self.versions.borrow().contains_key(directory) {
            self.versions.borrow_mut().insert(directory.to_owned(), self.sources.version(directory));
        }
        let listed = self.sources.files_below(directory);
        if listed.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            self.missing_file.borrow_mut().get_or_insert_with(|| directory.to_owned());
        }
        listed
    }

    /// Returns the name in the directory of a path that is most like the name of the path, for a hint.
    pub(crate) fn near_name(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let names = self.sources.names_in(path.parent()?);
        let with_ending = |ending: &str| names.iter().find(|known| known.strip_suffix(ending) == Some(name));
        if let Some(known) = [".yaml", ".yml", ".j2"].into_iter().find_map(with_ending) {
            return Some(known.clone());
        }
        ccm_model::closest(name, names.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Takes the files read since the last call, each with its version before it was first read.
    pub(crate) fn take_reads(&self) -> Vec<(PathBuf, Option<FileVersion>)> {
        let mut paths = self.reads.take();
        paths.sort_unstable();
        paths.dedup();
        let versions = self.versions.borrow();
        let with_version = |path: PathBuf| {
            let version = versions.get(&path).copied().flatten();
            (path, version)
        };
        paths.into_iter().map(with_version).collect()
    }

    /// Returns `true` if this is the first file that was not found since the last take.
    pub(crate) fn is_missing_file(&self, path: &Path) -> bool {
        self.missing_file.borrow().as_deref() == Some(path)
    }

    /// Takes the first file that was not found since the last call.
    pub(crate) fn take_missing_file(&self) -> Option<PathBuf> {
        self.missing_file.take()
    }

    /// Clears the file cache: applying a resource may change files.
    pub(crate) fn invalidate_files(&self) {
        self.files.borrow_mut().clear();
    }

    /// Returns the source of a template, for locations of errors in its text.
    pub(crate) fn template_source(&self, path: &Path, name: &str, text: &Arc<str>) -> SourceId {
        let mut templates = self.templates.borrow_mut();
        if let Some((source, _)) = templates.get(path).filter(|(_, before)| before == text) {
            return *source;
        }
        let source = self.texts.borrow_mut().add(name, Arc::clone(text));
        templates.insert(path.to_owned(), (source, Arc::clone(text)));
        source
    }

    /// Adds a warning.
    pub(crate) fn warn(&self, warning: Diagnostic) {
        self.errors.borrow_mut().push(warning);
    }

    /// Warns, once for each template, of what looks like an expression in it and is text. Returns `true` for the first time.
    pub(crate) fn warn_of_text(&self, path: &Path, text: &Arc<str>, data: &Value) -> bool {
        let is_first = self.searched.borrow_mut().insert(path.to_owned());
        if is_first {
            let source = self.template_source(path, &path.display().to_string(), text);
            let found = other_braces::warnings_in_template(source, text, data);
            self.errors.borrow_mut().extend(found);
        }
        is_first
    }

    /// Records that a file was read before the managed files are known.
    pub(crate) fn record_early_read(&self, path: &Path) {
        self.early_reads.borrow_mut().push(path.to_owned());
    }

    /// Counts the size of a value that stays in memory until the run.
    pub(crate) fn count_bytes(&self, bytes: usize) -> LimitCheck {
        let before = self.computed.get();
        let after = before.saturating_add(bytes);
        self.computed.set(after);
        match (before > MAX_COMPUTED_BYTES, after > MAX_COMPUTED_BYTES) {
            (false, false) => LimitCheck::Within,
            (false, true) => LimitCheck::JustExceeded,
            (true, _) => LimitCheck::AlreadyExceeded,
        }
    }

    /// Attributes the files read since the last call to the span that uses their content.
    pub(crate) fn record_early_uses(&self, span: Span) {
        self.record_unchecked(span);
        let read = self.early_reads.borrow_mut().drain(..).map(|path| (path, span)).collect::<Vec<_>>();
        self.early_uses.borrow_mut().extend(read);
    }

    /// Drops the files read since the last call, and returns `true` if there were any.
    pub(crate) fn take_early_reads(&self) -> bool {
        !std::mem::take(&mut *self.early_reads.borrow_mut()).is_empty()
    }

    /// Takes the files read before the managed files were known, each with the span that uses it.
    pub(crate) fn take_early_uses(&self) -> Vec<(PathBuf, Span)> {
        self.early_uses.take()
    }

    /// Records an input that the current evaluation needs and that is left out.
    /// Returns `true` if an encrypted value that could not be opened is no error: only another machine can open it, or nothing
    /// is to be applied here.
    pub(crate) fn may_stay_closed(&self, fault: &SecretFault) -> bool {
        match fault.reach {
            SecretReach::Here => self.omitted.encrypted || self.omitted.files,
            SecretReach::Elsewhere => true,
            SecretReach::Nowhere => false,
        }
    }

    pub(crate) fn leave_out(&self, input: LeftOut) {
        self.left_out.borrow_mut().push(input);
    }

    /// Attributes the inputs left out since the last call to the span that uses them.
    pub(crate) fn record_unchecked(&self, span: Span) {
        let notes = self.left_out.take().into_iter().map(|input| input.note(span));
        self.unchecked.borrow_mut().extend(notes);
    }

    /// Takes the notes about the inputs that were left out.
    pub(crate) fn take_unchecked(&self) -> Vec<Diagnostic> {
        self.unchecked.take()
    }

    /// Replaces the warnings about the last expression.
    pub(crate) fn set_doubts(&self, doubts: Vec<Doubt>) {
        self.doubts.replace(doubts);
    }

    /// Adds warnings about the last expression.
    pub(crate) fn add_doubts(&self, doubts: Vec<Doubt>) {
        self.doubts.borrow_mut().extend(doubts);
    }

    /// Takes the warnings about the last expression.
    pub(crate) fn take_doubts(&self) -> Vec<Doubt> {
        self.doubts.take()
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors.borrow().iter().any(|error| error.severity == Severity::Error)
    }

    /// Removes and returns the errors from fetching facts and environment, and the warnings about templates.
    pub(crate) fn take_errors(&self) -> Vec<Diagnostic> {
        self.errors.take()
    }
}
