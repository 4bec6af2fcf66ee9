//! What expressions can know: the facts, the environment, and what was read so far.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ccm_expr::path::PathError;
use ccm_expr::{Expression, Function, Kind, Known, Map, Value};
use ccm_model::{Diagnostic, SourceId, SourceMap, Span};

use crate::sources::{FactPath, Sources};

/// The functions that expressions have beside those of the language.
pub(crate) const FUNCTIONS: [Function<'static>; 3] = [
    Function { name: "lookup", least: 1, most: 2 },
    Function { name: "file", least: 1, most: 1 },
    Function { name: "template", least: 1, most: 1 },
];

/// The names that expressions have.
pub(crate) const NAMES: [(&str, Kind); 4] =
    [("Facts", Kind::Map), ("Data", Kind::Map), ("Environ", Kind::Map), ("Captures", Kind::Map)];

/// How many bytes a text may have that is made of literals and values.
pub(crate) const LONGEST_TEXT: usize = 16 << 20;

/// A text longer than this is not kept for the next time it is asked for.
const LONGEST_KEPT: usize = 1 << 20;

/// How many bytes the values may have together that expressions yield before a run.
const MOST_COMPUTED: usize = 256 << 20;

/// A path of `lookup` that was read.
type LookupPath = Rc<Result<ccm_expr::path::Path, PathError>>;

/// What expressions can know, each part asked for when it is first needed and once.
pub(crate) struct World<'s> {
    pub(crate) sources: &'s dyn Sources,
    pub(crate) texts: RefCell<SourceMap>,
    /// Names that expressions have beside the usual ones.
    pub(crate) variables: Map,
    facts: RefCell<Facts>,
    environment: OnceCell<Option<Value>>,
    expressions: RefCell<HashMap<Box<str>, Rc<Read>>>,
    paths: RefCell<HashMap<Box<str>, LookupPath>>,
    /// What was read, by path.
    files: RefCell<HashMap<PathBuf, Arc<str>>>,
    /// Templates by path: the number of the text, so that mistakes in it can be shown, and the text.
    templates: RefCell<HashMap<PathBuf, (SourceId, Arc<str>)>>,
    /// Number of renders that wait for a template that they asked for.
    pub(crate) renders: Cell<usize>,
    /// How many bytes the values have that expressions yielded.
    computed: Cell<usize>,
    /// What was wrong with what was asked for.
    mistakes: RefCell<Vec<Diagnostic>>,
    /// Files that were read before it was known which ones are managed.
    read_early: RefCell<Vec<PathBuf>>,
    /// The same, with where their content went.
    used_early: RefCell<Vec<(PathBuf, Span)>>,
}

#[derive(Default)]
struct Facts {
    value: Value,
    asked: HashSet<FactPath>,
    /// In the order in which they were asked for.
    in_order: Vec<FactPath>,
    /// They can't be had.
    is_broken: bool,
}

/// Whether a value is within what may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Within,
    /// It is the first that is too much.
    First,
    /// There was too much before.
    Beyond,
}

/// An expression that was read, and what it names.
pub(crate) struct Read {
    pub(crate) expression: Result<Expression, ccm_expr::Error>,
    /// The facts it names outright.
    pub(crate) facts: Vec<FactPath>,
    /// The paths into `Captures` that it names, as far as they are known, and where it does so.
    pub(crate) captures: Vec<(Vec<String>, Range<usize>)>,
    /// The files and the templates that it names outright.
    pub(crate) files: Vec<String>,
    pub(crate) templates: Vec<String>,
    /// It names the values of the manifest.
    pub(crate) data: bool,
}

impl<'s> World<'s> {
    pub(crate) fn new(sources: &'s dyn Sources, texts: SourceMap) -> Self {
        Self {
            sources,
            texts: RefCell::new(texts),
            variables: Map::new(),
            facts: RefCell::default(),
            environment: OnceCell::new(),
            expressions: RefCell::default(),
            paths: RefCell::default(),
            files: RefCell::default(),
            templates: RefCell::default(),
            renders: Cell::default(),
            computed: Cell::default(),
            mistakes: RefCell::default(),
            read_early: RefCell::default(),
            used_early: RefCell::default(),
        }
    }

    /// Reads an expression; the same text is read once.
    pub(crate) fn expression(&self, text: &str) -> Rc<Read> {
        if let Some(read) = self.expressions.borrow().get(text) {
            return Rc::clone(read);
        }
        let known = Known { names: &NAMES, functions: &FUNCTIONS };
        let read = Rc::new(Read::new(Expression::parse_with(text, &known)));
        self.expressions.borrow_mut().insert(text.into(), Rc::clone(&read));
        read
    }

    /// Reads a path of `lookup`; the same text is read once.
    pub(crate) fn path(&self, text: &str) -> LookupPath {
        if let Some(path) = self.paths.borrow().get(text) {
            return Rc::clone(path);
        }
        let path = Rc::new(ccm_expr::path::Path::parse(text));
        self.paths.borrow_mut().insert(text.into(), Rc::clone(&path));
        path
    }

    /// The facts that were asked for so far.
    pub(crate) fn known_facts(&self) -> Value {
        self.facts.borrow().value.clone()
    }

    /// The facts, at least what is at or below these paths; none if they can't be had, which is reported.
    pub(crate) fn facts(&self, needed: &[FactPath]) -> Option<Value> {
        let mut facts = self.facts.borrow_mut();
        let before = facts.in_order.len();
        for path in needed {
            let is_asked = (0..=path.len()).any(|end| facts.asked.contains(&path[..end]));
            if !is_asked {
                facts.asked.insert(path.clone());
                facts.in_order.push(path.clone());
            }
        }
        if facts.in_order.len() > before && !facts.is_broken {
            match self.sources.facts(&facts.in_order, &mut self.texts.borrow_mut()) {
                Ok(value) => facts.value = value,
                Err(mistakes) => {
                    facts.is_broken = true;
                    self.mistakes.borrow_mut().extend(mistakes);
                }
            }
        }
        (!facts.is_broken).then(|| facts.value.clone())
    }

    /// The environment as a map; none if it can't be had, which is reported.
    pub(crate) fn environment(&self) -> Option<Value> {
        let asked = || match self.sources.environment(&mut self.texts.borrow_mut()) {
            Ok(variables) => {
                Some(Value::map(variables.into_iter().map(|(name, value)| (name, Value::text(value)))))
            }
            Err(mistakes) => {
                self.mistakes.borrow_mut().extend(mistakes);
                None
            }
        };
        self.environment.get_or_init(asked).clone()
    }

    /// The text of a file; the same is read once before a run.
    pub(crate) fn read(&self, path: &Path) -> std::io::Result<Arc<str>> {
        if let Some(text) = self.files.borrow().get(path) {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> = self.sources.read(path)?.into();
        if text.len() <= LONGEST_KEPT {
            self.files.borrow_mut().insert(path.to_owned(), Arc::clone(&text));
        }
        Ok(text)
    }

    /// Forgets what was read: while resources are applied, files change.
    pub(crate) fn forget_files(&self) {
        self.files.borrow_mut().clear();
    }

    /// The number of a template's text, so that mistakes can point into it.
    pub(crate) fn template_source(&self, path: &Path, name: &str, text: &Arc<str>) -> SourceId {
        let mut templates = self.templates.borrow_mut();
        if let Some((source, _)) = templates.get(path).filter(|(_, before)| before == text) {
            return *source;
        }
        let source = self.texts.borrow_mut().add(name, Arc::clone(text));
        templates.insert(path.to_owned(), (source, Arc::clone(text)));
        source
    }

    /// Remembers that a file was read before it is known which ones are managed.
    pub(crate) fn remember_read(&self, path: &Path) {
        self.read_early.borrow_mut().push(path.to_owned());
    }

    /// Counts a value that an expression yielded and that is kept, by its bytes. Tells whether it is still
    /// within what may be kept.
    pub(crate) fn keep(&self, bytes: usize) -> Kept {
        let before = self.computed.get();
        let after = before.saturating_add(bytes);
        self.computed.set(after);
        match (before > MOST_COMPUTED, after > MOST_COMPUTED) {
            (false, false) => Kept::Within,
            (false, true) => Kept::First,
            (true, _) => Kept::Beyond,
        }
    }

    /// Says where the content of the files went that were remembered last.
    pub(crate) fn used_at(&self, span: Span) {
        let read = self.read_early.borrow_mut().drain(..).map(|path| (path, span)).collect::<Vec<_>>();
        self.used_early.borrow_mut().extend(read);
    }

    /// Forgets the files that were remembered last. Tells whether there were any.
    pub(crate) fn forget_read(&self) -> bool {
        !std::mem::take(&mut *self.read_early.borrow_mut()).is_empty()
    }

    /// The files whose content was used before it was known which ones are managed, and where it went.
    pub(crate) fn take_used_early(&self) -> Vec<(PathBuf, Span)> {
        self.used_early.take()
    }

    /// Tells whether something was wrong with what was asked for.
    pub(crate) fn has_mistakes(&self) -> bool {
        !self.mistakes.borrow().is_empty()
    }

    /// What was wrong with what was asked for.
    pub(crate) fn take_mistakes(&self) -> Vec<Diagnostic> {
        self.mistakes.take()
    }
}

impl Read {
    fn new(expression: Result<Expression, ccm_expr::Error>) -> Self {
        let mut read = Self {
            expression,
            facts: Vec::new(),
            captures: Vec::new(),
            files: Vec::new(),
            templates: Vec::new(),
            data: false,
        };
        let Ok(expression) = &read.expression else { return read };
        let mentions = expression.mentions();
        for name in &mentions.names {
            match name.path.first().map(String::as_str) {
                Some("Facts") => read.facts.push(name.path[1..].to_vec()),
                Some("Captures") => read.captures.push((name.path[1..].to_vec(), name.range.clone())),
                Some("Data") => read.data = true,
                _ => {}
            }
        }
        for call in &mentions.calls {
            let Some(argument) = &call.argument else { continue };
            match &*call.name {
                "lookup" => {
                    let of_data = argument.strip_prefix("data");
                    read.data |= of_data.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '|']));
                    let path = captured_path(argument).map(|path| (path, call.range.clone()));
                    read.captures.extend(path);
                }
                "file" => read.files.push(argument.clone()),
                "template" => read.templates.push(argument.clone()),
                _ => {}
            }
        }
        if !mentions.environment.is_empty() {
            read.facts.push(Vec::new());
        }
        read
    }
}

/// The part of a path of `lookup` behind `captures`, as far as it is known; none if it leads elsewhere.
pub(crate) fn captured_path(path: &str) -> Option<Vec<String>> {
    let prefix = ccm_expr::path::Path::parse(path).ok()?.constant_prefix();
    let (first, rest) = prefix.split_first()?;
    (first == "captures").then(|| rest.to_vec())
}
