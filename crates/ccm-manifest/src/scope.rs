//! Evaluating an expression of a manifest.

mod awaiting;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_data::templates::{self, ScopeError, TemplateError, TemplateFault, TemplateScope};
use ccm_expr::{Cause, FunctionError, Scope, Timestamp, Value};
use ccm_model::{Map, ResourceIndex, SYSTEM_FACTS, SourceId, Span, closest};

use crate::paths::normal;
use crate::wording::shown_path;
use crate::world::{NAMES, World};

/// Said of what is worked out before the values of the manifest are known.
const TOO_EARLY: &str =
    "what stands in `data`, `hierarchy` and `overrides` may name `Facts` and `Environ` only";

/// How many templates may be looked into for what another one includes, each within the other.
const MOST_INCLUDES: usize = 64;

/// How many places in templates are shown for one mistake: the nearest of includes within includes.
const MOST_PLACES: usize = 5;

/// A manifest as its expressions see it.
#[derive(Clone, Debug)]
pub(crate) struct ManifestScope {
    /// Its text.
    pub(crate) text: Arc<str>,
    /// The directory it is in.
    pub(crate) directory: PathBuf,
    /// Its resolved values.
    pub(crate) data: Value,
    /// What it says below `ccm` for all resources of a type, by the position of the type.
    pub(crate) settings: Vec<Arc<Map>>,
    /// Some of them could not be had, which was reported: what is not there may be meant to be.
    pub(crate) is_incomplete: bool,
}

/// What is known when an expression is evaluated.
#[derive(Clone, Copy)]
pub(crate) enum Moment<'a> {
    /// While the values of the manifest are put together: facts and environment.
    Data,
    /// While it is found out who the resources are: the values too. Which files will be managed is not known
    /// yet, so the world remembers those that were read.
    Names,
    /// Before a run: the same. Now it is known that these files will be managed, so that their content is not.
    Early(&'a Managed),
    /// When a resource is reached: all that it waited for.
    Late(&'a dyn Reached),
}

/// The paths that the catalog manages, each with the resources that claim it or a part of it.
pub(crate) type Managed = HashMap<Arc<str>, Vec<ResourceIndex>>;

/// What is known when a resource is reached.
pub(crate) trait Reached {
    /// What was captured, by the names and aliases of the resources that did.
    fn captures(&self) -> Value;

    /// Tells what has become of what a resource of that name or alias captures.
    fn captured(&self, name: &str) -> Captured;

    /// The resource that manages a file and that has not done so, because it is in noop.
    fn not_before(&self, path: &str) -> Option<ResourceIndex>;
}

/// What has become of what a resource captures.
pub(crate) enum Captured {
    /// It is known.
    Known,
    /// It will be known once that resource was executed, which noop does not do.
    NotBefore(ResourceIndex),
    /// There is nothing, for this reason.
    Nothing(String),
}

/// Why an expression has no value.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// There is a mistake in it.
    Mistake(Mistake),
    /// It names the results of resources, and can be evaluated when those were reached.
    Late(Vec<LateOn>),
    /// What it needs could not be had, which was reported.
    Reported,
}

/// A mistake in an expression.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// Bytes of the expression.
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
    /// Name that was probably meant, which one of the hints names too.
    pub(crate) nearest: Option<Box<str>>,
    /// Places in templates that it comes from, the nearest first, each with what is there.
    pub(crate) places: Vec<(Span, String)>,
    /// The path that led to nothing, if that is the mistake: as far as its keys are written outright.
    pub(crate) missing: Option<Box<[String]>>,
}

/// Returns `true` if a path leads to a fact that is gathered of every machine.
pub fn is_of_system_fact(path: &[String]) -> bool {
    matches!(path, [root, fact, ..] if is_facts(root) && SYSTEM_FACTS.contains(&&**fact))
}

fn is_facts(root: &str) -> bool {
    matches!(root, "Facts" | "facts")
}

impl Mistake {
    /// What says which fact was probably meant by one that is not there.
    pub(crate) fn near_fact(&self) -> Option<String> {
        let fact = || self.missing.as_deref()?.get(1);
        let near = self.nearest.as_deref().or_else(|| closest(fact()?, SYSTEM_FACTS));
        near.map(|meant| format!("did you mean `{meant}`?"))
    }

    /// Returns `true` if it is a value of the data that is not there.
    pub(crate) fn is_of_data(&self) -> bool {
        let root = self.missing.as_deref().and_then(<[_]>::first);
        matches!(root.map(String::as_str), Some("Data" | "data"))
    }

    /// Tells whether it is nothing but a fact that is not there and that no machine has to have: below what
    /// is gathered of every machine, a name that is not there is misspelt.
    pub(crate) fn is_of_absent_fact(&self, known: &Value) -> bool {
        let Some([root, path @ ..]) = self.missing.as_deref() else { return false };
        let is_gathered = |fact: &String| SYSTEM_FACTS.contains(&&**fact) && known.get(fact).is_some();
        is_facts(root) && !path.first().is_some_and(is_gathered)
    }
}

/// What a value waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LateOn {
    /// The file that a resource manages.
    File(ResourceIndex),
    /// What a resource captures.
    Capture {
        /// Its name or alias; none if that is worked out.
        name: Option<String>,
        /// What of it; none if that is worked out, or if it is all.
        key: Option<String>,
        /// Bytes of the expression that name it; none if a template does.
        range: Option<Range<usize>>,
    },
    /// The execution of a resource, which noop does not do.
    Execution(ResourceIndex),
    /// Nothing any more: what it needs has no value, for this reason.
    NoValue(String),
}

/// Evaluates the expressions of one manifest at one moment.
pub(crate) struct Evaluator<'a, 's> {
    pub(crate) world: &'a World<'s>,
    pub(crate) manifest: &'a ManifestScope,
    pub(crate) moment: Moment<'a>,
}

impl Evaluator<'_, '_> {
    /// Evaluates an expression.
    pub(crate) fn evaluate(&self, text: &str) -> Result<Value, Trouble> {
        let read = self.world.expression(text);
        let expression = match &read.expression {
            Ok(expression) => expression,
            Err(error) => return Err(Trouble::Mistake(self.mistake(error))),
        };
        if matches!(self.moment, Moment::Data) && (read.data || !read.captures.is_empty()) {
            return Err(Trouble::Mistake(Mistake {
                range: 0..text.len(),
                message: TOO_EARLY.to_owned(),
                hints: Vec::new(),
                places: Vec::new(),
                nearest: None,
                missing: None,
            }));
        }
        let calling = Calling::new(self);
        if let Some(trouble) = calling.awaits(&read) {
            return Err(trouble);
        }
        if !read.facts.is_empty() {
            calling.facts.replace(calling.facts(&read.facts));
        }
        let evaluated = expression.evaluate(&calling);
        let outcome = calling.outcome(evaluated, |error| self.mistake(&error));
        match outcome {
            Ok(Value::Null) | Err(Trouble::Mistake(_)) if self.manifest.is_incomplete && read.data => {
                Err(Trouble::Reported)
            }
            outcome => outcome,
        }
    }

    /// Renders a template beside the manifest.
    pub(crate) fn template(&self, path: &str) -> Result<String, Trouble> {
        let calling = Calling::new(self);
        let rendered = calling.template(path);
        let outcome = calling.outcome(rendered, |error| Mistake {
            range: 0..0,
            message: error.message,
            hints: error.hints,
            nearest: error.nearest,
            places: Vec::new(),
            missing: None,
        });
        match outcome {
            // What is wrong with the data was reported.
            Err(Trouble::Mistake(mistake)) if self.manifest.is_incomplete && mistake.is_of_data() => {
                Err(Trouble::Reported)
            }
            outcome => outcome,
        }
    }

    fn mistake(&self, error: &ccm_expr::Error) -> Mistake {
        let mut hints = error.hints.clone();
        let mut missing = None;
        match &error.cause {
            Cause::MissingKey(path) => missing = Some(path.as_slice().into()),
            Cause::UnknownName(name) if self.manifest.data.get(name).is_some() => {
                hints = vec![format!("a value of the manifest is `Data.{name}`")];
            }
            Cause::UnknownName(_) if hints.is_empty() => {
                hints.push("the names are `Facts`, `Data`, `Environ` and `Captures`".to_owned());
            }
            _ => {}
        }
        let Range { start, end } = error.range;
        let (message, nearest) = (error.message.clone(), error.nearest.clone());
        Mistake { range: start..end, message, hints, nearest, places: Vec::new(), missing }
    }
}

/// One evaluation.
struct Calling<'a, 'e, 's> {
    evaluator: &'a Evaluator<'e, 's>,
    /// The facts that the expression names; none if they can't be had.
    facts: RefCell<Option<Value>>,
    /// What keeps it from being evaluated now.
    late: RefCell<Vec<LateOn>>,
    /// Why what it names was not captured; only a default makes up for that.
    nothing: RefCell<Option<String>>,
    /// Something that it asked for could not be had, which was reported.
    is_refused: Cell<bool>,
    /// A path that `lookup` found nothing at.
    missing: RefCell<Option<Box<[String]>>>,
    /// The templates that are being rendered, each by the one before.
    rendering: RefCell<Vec<PathBuf>>,
    /// What was wrong with a template that another one renders.
    broken: RefCell<Option<String>>,
    /// The places in templates that the error came from.
    places: RefCell<Vec<(Span, String)>>,
}

impl Scope for Calling<'_, '_, '_> {
    fn name(&self, name: &str) -> Option<Value> {
        match name {
            "Facts" => self.facts.borrow().clone(),
            "Data" => Some(self.evaluator.manifest.data.clone()),
            "Environ" => self.environment(),
            "Captures" => match self.evaluator.moment {
                Moment::Late(reached) => Some(reached.captures()),
                _ => None,
            },
            name => self.evaluator.world.variables.get(name).cloned(),
        }
    }

    fn names(&self) -> Vec<String> {
        let usual = NAMES.iter().map(|(name, _)| (*name).to_owned());
        usual.chain(self.evaluator.world.variables.keys().map(ToString::to_string)).collect()
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        let text = match &arguments[0] {
            Value::Text(text) => text,
            other => {
                return Err(FunctionError::new(format!("expected a path, found {}", other.kind())));
            }
        };
        match function {
            "lookup" => self.lookup(text, arguments.get(1)),
            "file" => self.file(text),
            _ => self.template(text).map(Value::text),
        }
    }

    fn now(&self) -> Timestamp {
        self.evaluator.world.sources.now()
    }

    fn strict(&self) -> bool {
        true
    }
}

impl<'a, 'e, 's> Calling<'a, 'e, 's> {
    fn new(evaluator: &'a Evaluator<'e, 's>) -> Self {
        Self {
            evaluator,
            facts: RefCell::new(Some(Value::Null)),
            late: RefCell::default(),
            nothing: RefCell::default(),
            is_refused: Cell::new(false),
            missing: RefCell::default(),
            rendering: RefCell::default(),
            broken: RefCell::default(),
            places: RefCell::default(),
        }
    }

    /// What came of it. What it has to wait for counts even if it made do without.
    fn outcome<T, E>(self, result: Result<T, E>, mistake: impl Fn(E) -> Mistake) -> Result<T, Trouble> {
        let late = self.late.into_inner();
        if !late.is_empty() {
            return Err(Trouble::Late(late));
        }
        if self.is_refused.get() {
            return Err(Trouble::Reported);
        }
        let nothing = self.nothing.into_inner();
        result.map_err(|error| {
            if let Some(reason) = nothing {
                return Trouble::Late(vec![LateOn::NoValue(reason)]);
            }
            let mut mistake = mistake(error);
            mistake.places = self.places.into_inner();
            mistake.places.dedup();
            mistake.places.truncate(MOST_PLACES);
            mistake.missing = mistake.missing.or(self.missing.into_inner());
            Trouble::Mistake(mistake)
        })
    }

    fn facts(&self, needed: &[Vec<String>]) -> Option<Value> {
        let facts = self.evaluator.world.facts(needed);
        self.is_refused.set(self.is_refused.get() || facts.is_none());
        facts
    }

    fn environment(&self) -> Option<Value> {
        let environment = self.evaluator.world.environment();
        self.is_refused.set(self.is_refused.get() || environment.is_none());
        environment
    }

    fn late(&self, on: LateOn) -> FunctionError {
        self.late.borrow_mut().push(on);
        FunctionError::new("this is known only during a run")
    }

    fn lookup(&self, text: &str, default: Option<&Value>) -> Result<Value, FunctionError> {
        let read = self.evaluator.world.path(text);
        let path = match &*read {
            Ok(path) => path,
            Err(error) => {
                return Err(FunctionError::new(format!("the path can't be read: {}", error.message)));
            }
        };
        let prefix = path.constant_prefix();
        let root = self.root(&prefix)?;
        let found = path.find(&root).map_err(|error| FunctionError::new(error.to_string()))?;
        match (found, default) {
            (Some(found), _) => Ok(found),
            (None, Some(default)) => Ok(default.clone()),
            (None, None) => {
                self.missing.replace(Some(prefix.as_slice().into()));
                let mut error = FunctionError::new(format!("there is no `{}`", text.escape_debug()));
                let roots = ["facts", "data", "environ", "captures"];
                let near = match prefix.first() {
                    Some(first) if !roots.contains(&first.as_str()) => {
                        closest(first, roots).map(str::to_owned)
                    }
                    _ => path.closest(&root),
                };
                error.hints.extend(near.iter().map(|near| format!("did you mean `{near}`?")));
                error.nearest = near.map(String::into_boxed_str);
                error.hints.push(format!("give a default if it may be missing: `lookup('{text}', '')`"));
                Err(error)
            }
        }
    }

    /// What a path starts from, with no more in it than the path may need.
    fn root(&self, prefix: &[String]) -> Result<Value, FunctionError> {
        let Evaluator { manifest, moment, .. } = self.evaluator;
        let all = prefix.is_empty();
        let names = |root: &str| all || prefix[0] == root;
        let mut roots: Vec<(&str, Value)> = Vec::with_capacity(1);
        if names("facts") {
            let facts = self.facts(&[prefix.get(1..).unwrap_or_default().to_vec()]);
            roots.push(("facts", facts.unwrap_or_default()));
        }
        if names("data") {
            if matches!(moment, Moment::Data) && !all {
                return Err(FunctionError::new(TOO_EARLY));
            }
            roots.push(("data", manifest.data.clone()));
        }
        if names("environ") {
            roots.push(("environ", self.environment().unwrap_or_default()));
        }
        if names("captures") && !all {
            self.captures(prefix.get(1..).unwrap_or_default(), None)?;
            if let Moment::Late(reached) = moment {
                roots.push(("captures", reached.captures()));
            }
        }
        Ok(Value::map(roots))
    }

    fn file(&self, written: &str) -> Result<Value, FunctionError> {
        self.read(&self.settled(written)?).map(Value::Text)
    }

    /// The path of a file whose content is what it will be when it is used.
    fn settled(&self, written: &str) -> Result<PathBuf, FunctionError> {
        let path = normal(&self.evaluator.manifest.directory.join(written));
        let waits_for = match self.evaluator.moment {
            Moment::Early(managed) => managed.get(&*path.to_string_lossy()).cloned().unwrap_or_default(),
            Moment::Late(reached) => reached.not_before(&path.to_string_lossy()).into_iter().collect(),
            Moment::Data | Moment::Names => {
                self.evaluator.world.remember_read(&path);
                Vec::new()
            }
        };
        let mut settled = Ok(path);
        for index in waits_for {
            settled = Err(self.late(LateOn::File(index)));
        }
        settled
    }

    fn read(&self, path: &Path) -> Result<Arc<str>, FunctionError> {
        self.evaluator.world.read(path).map_err(|source| {
            let message = format!("`{}` can't be read", shown_path(path));
            FunctionError { message: format!("{message}: {source}"), ..FunctionError::default() }
        })
    }

    fn template(&self, written: &str) -> Result<String, FunctionError> {
        let path = self.settled(written)?;
        if self.rendering.borrow().contains(&path) {
            // Nothing is passed to a template, so it would do the same again.
            let message = format!("the template `{written}` renders itself");
            self.broken.replace(Some(message.clone()));
            return Err(FunctionError::new(message));
        }
        let text = self.read(&path)?;
        self.awaits_template(written, &mut HashSet::new())?;
        if !self.late.borrow().is_empty() {
            return Err(FunctionError::new("this is known only during a run"));
        }
        let source = self.evaluator.world.template_source(&path, &path.display().to_string(), &text);
        let rendering = Rendering { calling: self, mentions: RefCell::default() };
        rendering.mention(&text, &mut HashSet::new());
        self.rendering.borrow_mut().push(path);
        let rendered = templates::render(written, &text, &rendering);
        self.rendering.borrow_mut().pop();
        rendered.map_err(|error| self.refuse(written, source, &error))
    }

    /// Remembers where in templates an error came from, and puts it into words.
    fn refuse(&self, written: &str, source: SourceId, error: &TemplateError) -> FunctionError {
        let mut places = self.places.borrow_mut();
        for place in &error.places {
            let source = if place.template == written {
                source
            } else {
                let path = self.evaluator.manifest.directory.join(&place.template);
                let Ok(text) = self.evaluator.world.read(&path) else { continue };
                self.evaluator.world.template_source(&path, &path.display().to_string(), &text)
            };
            places.push((Span::new(source, place.range.start, place.range.end), String::new()));
        }
        // Of templates that render one another the first and the last are named; the places show the others.
        let passed_on = match (&error.fault, &*self.broken.borrow()) {
            (TemplateFault::Refused(message), Some(broken)) if message == broken => Some(broken.clone()),
            _ => None,
        };
        let message = match passed_on {
            Some(message) if !self.rendering.borrow().is_empty() => message,
            _ => format!("the template `{written}` can't be rendered: {error}"),
        };
        self.broken.replace(Some(message.clone()));
        if let TemplateFault::Undefined { expression: Some(_), path } = &error.fault {
            self.missing.borrow_mut().get_or_insert_with(|| path.as_slice().into());
        }
        FunctionError { message, hints: error.hints.clone(), ..FunctionError::default() }
    }
}

/// A template that is being rendered.
struct Rendering<'a, 'c, 'e, 's> {
    calling: &'a Calling<'c, 'e, 's>,
    /// The facts that it mentions.
    mentions: RefCell<Vec<Vec<String>>>,
}

impl Rendering<'_, '_, '_, '_> {
    /// Remembers what a text of it mentions, with what that includes.
    fn mention(&self, text: &str, seen: &mut HashSet<String>) {
        let found = templates::mentions(text);
        {
            let mut mentions = self.mentions.borrow_mut();
            if found.dynamic {
                mentions.push(Vec::new());
            }
            let facts = found.paths.iter().filter(|path| path.first().is_some_and(|first| first == "facts"));
            mentions.extend(facts.map(|path| path[1..].to_vec()));
        }
        for include in found.includes {
            let path = self.calling.evaluator.manifest.directory.join(&include);
            if !seen.insert(include) {
                continue;
            }
            // Includes that are many and deep are refused when they are rendered.
            if seen.len() > MOST_INCLUDES {
                self.mentions.borrow_mut().push(Vec::new());
                return;
            }
            if let Ok(text) = self.calling.evaluator.world.read(&path) {
                self.mention(&text, seen);
            }
        }
    }
}

impl TemplateScope for Rendering<'_, '_, '_, '_> {
    fn renders(&self) -> &Cell<usize> {
        &self.calling.evaluator.world.renders
    }

    fn name(&self, name: &str) -> Option<Value> {
        let evaluator = self.calling.evaluator;
        match name {
            "Facts" => self.calling.facts(&self.mentions.borrow()),
            "Captures" if matches!(evaluator.moment, Moment::Names | Moment::Early(_)) => {
                let _ = self.calling.late(LateOn::Capture { name: None, key: None, range: None });
                None
            }
            "Data" if matches!(evaluator.moment, Moment::Data) => None,
            _ => self.calling.name(name),
        }
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScopeError> {
        let most = if function == "lookup" { 2 } else { 1 };
        if arguments.is_empty() || arguments.len() > most {
            let takes = if most == 2 { "one or two arguments" } else { "one argument" };
            return Err(ScopeError::new(format!("`{function}` takes {takes}, found {}", arguments.len())));
        }
        Scope::call(self.calling, function, arguments).map_err(|error| {
            let mut refused = ScopeError::new(error.message);
            refused.hints = error.hints;
            refused
        })
    }

    fn include(&self, path: &str) -> Result<Option<String>, ScopeError> {
        let path = self.calling.settled(path).map_err(|error| ScopeError::new(error.message))?;
        match self.calling.evaluator.world.read(&path) {
            Ok(text) => Ok(Some(text.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ScopeError::new(format!("`{}` can't be read: {error}", shown_path(&path)))),
        }
    }
}
