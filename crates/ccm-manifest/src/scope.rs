//! Evaluates the expressions of a manifest.

mod deferred;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_data::templates::{self, ScopeError, TemplateError, TemplateFault, TemplateScope};
use ccm_expr::{Cause, FunctionError, Scope, Timestamp, Value};
use ccm_model::{
    DiagnosticKind, NodeMap, ResourceIndex, SYSTEM_FACTS, SourceId, Span, closest, escape_control,
};

use crate::eval_context::{EvalContext, NAMES};
use crate::messages::shown_path;
use crate::paths::normalize;

/// Message for a name that has no value yet while `data` is resolved.
const TOO_EARLY: &str = "values in `data`, `hierarchy` and `overrides` can use only `Facts` and `Environ`";

/// Maximum number of included templates that are scanned for names.
const MAX_INCLUDES: usize = 64;

const MAX_LOCATIONS: usize = 5;

#[derive(Clone, Debug)]
pub(crate) struct ManifestScope {
    pub(crate) text: Arc<str>,
    pub(crate) directory: PathBuf,
    pub(crate) data: Value,
    /// Settings below `ccm`, by type index.
    pub(crate) settings: Vec<Arc<NodeMap>>,
    /// Some data is unavailable, which was reported. Missing keys are then no errors.
    pub(crate) is_incomplete: bool,
}

/// Step at which an expression is evaluated, which decides what it may use.
#[derive(Clone, Copy)]
pub(crate) enum Phase<'a> {
    /// Resolving data. Expressions may use facts and environment.
    Data,
    /// Reading names of resources. Expressions may use data too. The files that they read are recorded.
    Drafts,
    /// Reading all other properties. The content of these managed files is late.
    BeforeRun(&'a ManagedPaths),
    /// Applying a resource.
    Runtime(&'a dyn RuntimeContext),
}

/// Managed paths, each with the resources that claim the path or a part of it.
pub(crate) type ManagedPaths = HashMap<Arc<str>, Vec<ResourceIndex>>;

/// State of the run, for late values.
pub(crate) trait RuntimeContext {
    /// Returns the captured values, by name and alias of the capturing resource.
    fn captures(&self) -> Value;

    /// Returns the state of the values that a resource with this name or alias captures.
    fn capture_state(&self, name: &str) -> CaptureState;

    /// Returns the resource that would write this file but has not, because of noop.
    fn pending_manager(&self, path: &str) -> Option<ResourceIndex>;
}

/// State of the values that a resource captures.
pub(crate) enum CaptureState {
    Available,
    /// The resource would run but has not, because of noop.
    NotBefore(ResourceIndex),
    /// There are no values, for this reason.
    Missing(String),
}

#[derive(Debug)]
pub(crate) enum EvalError {
    Invalid(InvalidExpression),
    /// The expression depends on resources that have not run yet.
    Deferred(Vec<DeferredOn>),
    /// A value that the expression needs is unavailable, which was reported.
    Reported,
}

#[derive(Debug)]
pub(crate) struct InvalidExpression {
    pub(crate) kind: DiagnosticKind,
    pub(crate) range: Range<usize>,
    pub(crate) message: Box<str>,
    pub(crate) hints: Vec<String>,
    /// Closest valid name, which one of the hints mentions.
    pub(crate) nearest: Option<Box<str>>,
    /// Locations in templates, innermost first, each with a label.
    pub(crate) locations: Vec<(Span, String)>,
    /// Constant prefix of the path that has no value.
    pub(crate) missing: Option<Box<[String]>>,
}

/// Returns `true` if the path leads to a fact that ccm gathers on every machine.
pub fn is_of_system_fact(path: &[String]) -> bool {
    matches!(path, [root, fact, ..] if is_facts(root) && SYSTEM_FACTS.contains(&&**fact))
}

fn is_facts(root: &str) -> bool {
    matches!(root, "Facts" | "facts")
}

impl InvalidExpression {
    /// Returns a hint with the fact that was probably meant.
    pub(crate) fn fact_suggestion(&self) -> Option<String> {
        let fact = || self.missing.as_deref()?.get(1);
        let near = self.nearest.as_deref().or_else(|| closest(fact()?, SYSTEM_FACTS));
        near.map(|meant| format!("did you mean `{meant}`?"))
    }

    /// Returns `true` if the error is a missing key in the data.
    pub(crate) fn is_missing_data(&self) -> bool {
        let root = self.missing.as_deref().and_then(<[_]>::first);
        matches!(root.map(String::as_str), Some("Data" | "data"))
    }

    /// Returns `true` if the error is a missing fact, unless every machine has the fact.
    pub(crate) fn is_missing_fact(&self, known: &Value) -> bool {
        let Some([root, path @ ..]) = self.missing.as_deref() else { return false };
        let is_system_fact = |fact: &String| SYSTEM_FACTS.contains(&&**fact) && known.get(fact).is_some();
        is_facts(root) && !path.first().is_some_and(is_system_fact)
    }
}

/// Reason why a value is late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeferredOn {
    File(ResourceIndex),
    Capture {
        /// Name or alias of the resource. `None` for a computed name.
        name: Option<String>,
        /// Captured key. `None` for a computed key or for all keys.
        key: Option<String>,
        /// Byte range in the expression. `None` within a template.
        range: Option<Range<usize>>,
    },
    /// Run of a resource, which noop prevents.
    Execution(ResourceIndex),
    /// The value does not exist, for this reason.
    NoValue(String),
}

/// Evaluates the expressions of one manifest at one phase.
pub(crate) struct ManifestEvaluator<'a, 's> {
    pub(crate) context: &'a EvalContext<'s>,
    pub(crate) manifest: &'a ManifestScope,
    pub(crate) phase: Phase<'a>,
}

impl ManifestEvaluator<'_, '_> {
    pub(crate) fn evaluate(&self, text: &str) -> Result<Value, EvalError> {
        let read = self.context.expression(text);
        let expression = match &read.expression {
            Ok(expression) => expression,
            Err(error) => return Err(EvalError::Invalid(self.explain(error))),
        };
        if matches!(self.phase, Phase::Data) && (read.data || !read.captures.is_empty()) {
            return Err(EvalError::Invalid(InvalidExpression {
                kind: DiagnosticKind::LateValue,
                range: 0..text.len(),
                message: TOO_EARLY.into(),
                hints: Vec::new(),
                locations: Vec::new(),
                nearest: None,
                missing: None,
            }));
        }
        let scope = ExpressionScope::new(self);
        if let Some(error) = scope.check_deferred(&read) {
            return Err(error);
        }
        if !read.facts.is_empty() {
            scope.facts.replace(scope.facts(&read.facts));
        }
        let evaluated = expression.evaluate(&scope);
        let outcome = scope.outcome(evaluated, |error| self.explain(&error));
        match outcome {
            Ok(Value::Null) | Err(EvalError::Invalid(_)) if self.manifest.is_incomplete && read.data => {
                Err(EvalError::Reported)
            }
            outcome => outcome,
        }
    }

    pub(crate) fn template(&self, path: &str) -> Result<String, EvalError> {
        let scope = ExpressionScope::new(self);
        let rendered = scope.template(path);
        let outcome = scope.outcome(rendered, |error| InvalidExpression {
            kind: error.kind,
            range: 0..0,
            message: error.message.into(),
            hints: error.hints,
            nearest: error.nearest,
            locations: Vec::new(),
            missing: None,
        });
        match outcome {
            Err(EvalError::Invalid(error)) if self.manifest.is_incomplete && error.is_missing_data() => {
                Err(EvalError::Reported)
            }
            outcome => outcome,
        }
    }

    fn explain(&self, error: &ccm_expr::Error) -> InvalidExpression {
        let mut hints = error.hints.clone();
        let mut missing = None;
        match &error.cause {
            Cause::MissingKey(path) => missing = Some(path.as_slice().into()),
            Cause::UnknownName(name) if self.manifest.data.get(name).is_some() => {
                hints = vec![format!("write `Data.{name}` for the value of the manifest")];
            }
            Cause::UnknownName(_) if hints.is_empty() => {
                hints.push("use `Facts`, `Data`, `Environ` or `Captures`".to_owned());
            }
            Cause::UnknownFunction(_) if hints.is_empty() => {
                hints.push(
                    "use `lookup`, `file`, `template` or a function of the expression language".to_owned(),
                );
            }
            _ => {}
        }
        let Range { start, end } = error.range;
        let (mut kind, mut message) = (error.cause.kind(), error.message.clone());
        if let Cause::MissingKey(path) = &error.cause
            && let Some(reason) = self.not_utf8("Environ", path)
        {
            (kind, message, hints) = (DiagnosticKind::Unreadable, reason, Vec::new());
        }
        InvalidExpression {
            kind,
            range: start..end,
            message: message.into(),
            hints,
            nearest: error.nearest.clone(),
            locations: Vec::new(),
            missing,
        }
    }
}

impl ManifestEvaluator<'_, '_> {
    /// Returns the error of a path to a variable of the environment that is not UTF-8 text.
    fn not_utf8(&self, root: &str, path: &[String]) -> Option<String> {
        let name = path.strip_prefix(&[root.to_owned()])?.first()?;
        let is_not_utf8 = self.context.sources.is_not_utf8(name);
        is_not_utf8.then(|| format!("the environment variable `{}` is not UTF-8 text", escape_control(name)))
    }
}

/// Names and functions of one evaluation, and the reasons why it fails.
struct ExpressionScope<'a, 'e, 's> {
    evaluator: &'a ManifestEvaluator<'e, 's>,
    /// Facts that the expression uses. `None` if they are unavailable.
    facts: RefCell<Option<Value>>,
    /// Reasons why the value is late.
    deferred: RefCell<Vec<DeferredOn>>,
    /// Reason why a captured value is missing, unless a default replaces it.
    missing_capture: RefCell<Option<String>>,
    /// Facts, environment or data are unavailable, which was reported.
    is_unavailable: Cell<bool>,
    /// Path of a `lookup` without a value.
    missing: RefCell<Option<Box<[String]>>>,
    /// Templates in rendering, outermost first.
    rendering: RefCell<Vec<PathBuf>>,
    last_template_error: RefCell<Option<String>>,
    locations: RefCell<Vec<(Span, String)>>,
}

impl Scope for ExpressionScope<'_, '_, '_> {
    fn name(&self, name: &str) -> Option<Value> {
        match name {
            "Facts" => self.facts.borrow().clone(),
            "Data" => Some(self.evaluator.manifest.data.clone()),
            "Environ" => self.environment(),
            "Captures" => match self.evaluator.phase {
                Phase::Runtime(runtime) => Some(runtime.captures()),
                _ => None,
            },
            name => self.evaluator.context.variables.get(name).cloned(),
        }
    }

    fn names(&self) -> Vec<String> {
        let standard = NAMES.iter().map(|(name, _)| (*name).to_owned());
        standard.chain(self.evaluator.context.variables.keys().map(ToString::to_string)).collect()
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        let text = match &arguments[0] {
            Value::Text(text) => text,
            other => {
                return Err(FunctionError::new(
                    DiagnosticKind::InvalidOperand,
                    format!("expected a path, found {}", other.kind()),
                ));
            }
        };
        match function {
            "lookup" => self.lookup(text, arguments.get(1)),
            "file" => self.file(text),
            _ => self.template(text).map(Value::text),
        }
    }

    fn now(&self) -> Timestamp {
        self.evaluator.context.sources.now()
    }

    fn strict(&self) -> bool {
        true
    }
}

impl<'a, 'e, 's> ExpressionScope<'a, 'e, 's> {
    fn new(evaluator: &'a ManifestEvaluator<'e, 's>) -> Self {
        Self {
            evaluator,
            facts: RefCell::new(Some(Value::Null)),
            deferred: RefCell::default(),
            missing_capture: RefCell::default(),
            is_unavailable: Cell::new(false),
            missing: RefCell::default(),
            rendering: RefCell::default(),
            last_template_error: RefCell::default(),
            locations: RefCell::default(),
        }
    }

    /// Combines the result with the recorded reasons. Late values count even if a default replaced them.
    fn outcome<T, E>(
        self,
        result: Result<T, E>,
        explain: impl Fn(E) -> InvalidExpression,
    ) -> Result<T, EvalError> {
        let deferred = self.deferred.into_inner();
        if !deferred.is_empty() {
            return Err(EvalError::Deferred(deferred));
        }
        if self.is_unavailable.get() {
            return Err(EvalError::Reported);
        }
        let missing_capture = self.missing_capture.into_inner();
        result.map_err(|error| {
            if let Some(reason) = missing_capture {
                return EvalError::Deferred(vec![DeferredOn::NoValue(reason)]);
            }
            let mut error = explain(error);
            error.locations = self.locations.into_inner();
            error.locations.dedup();
            error.locations.truncate(MAX_LOCATIONS);
            error.missing = error.missing.or(self.missing.into_inner());
            EvalError::Invalid(error)
        })
    }

    fn facts(&self, needed: &[Vec<String>]) -> Option<Value> {
        let facts = self.evaluator.context.facts(needed);
        self.is_unavailable.set(self.is_unavailable.get() || facts.is_none());
        facts
    }

    fn environment(&self) -> Option<Value> {
        let environment = self.evaluator.context.environment();
        self.is_unavailable.set(self.is_unavailable.get() || environment.is_none());
        environment
    }

    fn defer(&self, on: DeferredOn) -> FunctionError {
        self.deferred.borrow_mut().push(on);
        FunctionError::new(DiagnosticKind::LateValue, "this value is known only during a run")
    }

    fn lookup(&self, text: &str, default: Option<&Value>) -> Result<Value, FunctionError> {
        let read = self.evaluator.context.path(text);
        let path = match &*read {
            Ok(path) => path,
            Err(error) => {
                return Err(FunctionError::new(
                    DiagnosticKind::ExpressionSyntax,
                    format!("the path is invalid: {}", error.message),
                ));
            }
        };
        let prefix = path.constant_prefix();
        let root = self.root(&prefix)?;
        let found = path
            .find(&root)
            .map_err(|error| FunctionError::new(DiagnosticKind::LimitExceeded, error.to_string()))?;
        match (found, default) {
            (Some(found), _) => Ok(found),
            (None, Some(default)) => Ok(default.clone()),
            (None, None) => {
                self.missing.replace(Some(prefix.as_slice().into()));
                if let Some(reason) = self.evaluator.not_utf8("environ", &prefix) {
                    return Err(FunctionError::new(DiagnosticKind::Unreadable, reason));
                }
                let mut error = FunctionError::new(
                    DiagnosticKind::UnknownName,
                    format!("there is no `{}`", text.escape_debug()),
                );
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

    /// Returns the root for a `lookup`, with only those parts that the path may need.
    fn root(&self, prefix: &[String]) -> Result<Value, FunctionError> {
        let ManifestEvaluator { manifest, phase, .. } = self.evaluator;
        let all = prefix.is_empty();
        let names = |root: &str| all || prefix[0] == root;
        let mut roots: Vec<(&str, Value)> = Vec::with_capacity(1);
        if names("facts") {
            let facts = self.facts(&[prefix.get(1..).unwrap_or_default().to_vec()]);
            roots.push(("facts", facts.unwrap_or_default()));
        }
        if names("data") {
            if matches!(phase, Phase::Data) && !all {
                return Err(FunctionError::new(DiagnosticKind::LateValue, TOO_EARLY));
            }
            roots.push(("data", manifest.data.clone()));
        }
        if names("environ") {
            roots.push(("environ", self.environment().unwrap_or_default()));
        }
        if names("captures") && !all {
            self.check_captures(prefix.get(1..).unwrap_or_default(), None)?;
            if let Phase::Runtime(runtime) = phase {
                roots.push(("captures", runtime.captures()));
            }
        }
        Ok(Value::map(roots))
    }

    fn file(&self, written: &str) -> Result<Value, FunctionError> {
        self.read(&self.resolved_path(written)?).map(Value::Text)
    }

    /// Resolves a path, and records why the value is late if a resource will still change the file.
    fn resolved_path(&self, written: &str) -> Result<PathBuf, FunctionError> {
        let path = normalize(&self.evaluator.manifest.directory.join(written));
        let waits_for = match self.evaluator.phase {
            Phase::BeforeRun(managed) => managed.get(&*path.to_string_lossy()).cloned().unwrap_or_default(),
            Phase::Runtime(runtime) => runtime.pending_manager(&path.to_string_lossy()).into_iter().collect(),
            Phase::Data | Phase::Drafts => {
                self.evaluator.context.record_early_read(&path);
                Vec::new()
            }
        };
        let mut resolved = Ok(path);
        for index in waits_for {
            resolved = Err(self.defer(DeferredOn::File(index)));
        }
        resolved
    }

    fn read(&self, path: &Path) -> Result<Arc<str>, FunctionError> {
        self.evaluator.context.read(path).map_err(|source| {
            let message = format!("`{}` can't be read", shown_path(path));
            FunctionError::new(DiagnosticKind::Unreadable, format!("{message}: {source}"))
        })
    }

    fn template(&self, written: &str) -> Result<String, FunctionError> {
        let path = self.resolved_path(written)?;
        if self.rendering.borrow().contains(&path) {
            // Templates have no parameters, so that the recursion would never end.
            let message = format!("the template `{written}` renders itself");
            self.last_template_error.replace(Some(message.clone()));
            return Err(FunctionError::new(DiagnosticKind::Cycle, message));
        }
        let text = self.read(&path)?;
        self.defer_on_template(written, &mut HashSet::new())?;
        if !self.deferred.borrow().is_empty() {
            return Err(FunctionError::new(
                DiagnosticKind::LateValue,
                "this value is known only during a run",
            ));
        }
        let source = self.evaluator.context.template_source(&path, &path.display().to_string(), &text);
        let rendering = Rendering { scope: self, mentions: RefCell::default() };
        rendering.mention(&text, &mut HashSet::new());
        self.rendering.borrow_mut().push(path);
        let rendered = templates::render(written, &text, &rendering);
        self.rendering.borrow_mut().pop();
        rendered.map_err(|error| self.refuse(written, source, &error))
    }

    /// Converts a template error, and records its locations.
    fn refuse(&self, written: &str, source: SourceId, error: &TemplateError) -> FunctionError {
        let mut locations = self.locations.borrow_mut();
        for location in &error.locations {
            let source = if location.template == written {
                source
            } else {
                let path = self.evaluator.manifest.directory.join(&location.template);
                let Ok(text) = self.evaluator.context.read(&path) else { continue };
                self.evaluator.context.template_source(&path, &path.display().to_string(), &text)
            };
            locations.push((Span::new(source, location.range.start, location.range.end), String::new()));
        }
        // Of nested templates, the message names only the outermost and the innermost.
        let passed_on = match (&error.fault, &*self.last_template_error.borrow()) {
            (TemplateFault::Refused(_, message), Some(last)) if message == last => Some(last.clone()),
            _ => None,
        };
        let message = match passed_on {
            Some(message) if !self.rendering.borrow().is_empty() => message,
            _ => format!("the template `{written}` can't be rendered: {error}"),
        };
        self.last_template_error.replace(Some(message.clone()));
        if let TemplateFault::Undefined { expression: Some(_), path } = &error.fault {
            self.missing.borrow_mut().get_or_insert_with(|| path.as_slice().into());
        }
        FunctionError { hints: error.hints.clone(), ..FunctionError::new(error.fault.kind(), message) }
    }
}

struct Rendering<'a, 'c, 'e, 's> {
    scope: &'a ExpressionScope<'c, 'e, 's>,
    /// Paths of facts that the template uses.
    mentions: RefCell<Vec<Vec<String>>>,
}

impl Rendering<'_, '_, '_, '_> {
    /// Records the facts that a template and its includes use.
    fn mention(&self, text: &str, seen: &mut HashSet<String>) {
        let found = templates::dependencies(text);
        {
            let mut mentions = self.mentions.borrow_mut();
            if found.dynamic {
                mentions.push(Vec::new());
            }
            let facts = found.paths.iter().filter(|path| path.first().is_some_and(|first| first == "facts"));
            mentions.extend(facts.map(|path| path[1..].to_vec()));
        }
        for include in found.includes {
            let path = self.scope.evaluator.manifest.directory.join(&include);
            if !seen.insert(include) {
                continue;
            }
            // Rendering refuses this many includes.
            if seen.len() > MAX_INCLUDES {
                self.mentions.borrow_mut().push(Vec::new());
                return;
            }
            if let Ok(text) = self.scope.evaluator.context.read(&path) {
                self.mention(&text, seen);
            }
        }
    }
}

impl TemplateScope for Rendering<'_, '_, '_, '_> {
    fn renders(&self) -> &Cell<usize> {
        &self.scope.evaluator.context.renders
    }

    fn name(&self, name: &str) -> Option<Value> {
        let evaluator = self.scope.evaluator;
        match name {
            "Facts" => self.scope.facts(&self.mentions.borrow()),
            "Captures" if matches!(evaluator.phase, Phase::Drafts | Phase::BeforeRun(_)) => {
                let _ = self.scope.defer(DeferredOn::Capture { name: None, key: None, range: None });
                None
            }
            "Data" if matches!(evaluator.phase, Phase::Data) => None,
            _ => self.scope.name(name),
        }
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScopeError> {
        let most = if function == "lookup" { 2 } else { 1 };
        if arguments.is_empty() || arguments.len() > most {
            let takes = if most == 2 { "one or two arguments" } else { "one argument" };
            return Err(ScopeError::new(
                DiagnosticKind::InvalidOperand,
                format!("`{function}` takes {takes}, found {}", arguments.len()),
            ));
        }
        Scope::call(self.scope, function, arguments).map_err(|error| {
            let mut refused = ScopeError::new(error.kind, error.message);
            refused.hints = error.hints;
            refused
        })
    }

    fn include(&self, path: &str) -> Result<Option<String>, ScopeError> {
        let path =
            self.scope.resolved_path(path).map_err(|error| ScopeError::new(error.kind, error.message))?;
        match self.scope.evaluator.context.read(&path) {
            Ok(text) => Ok(Some(text.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ScopeError::new(
                DiagnosticKind::Unreadable,
                format!("`{}` can't be read: {error}", shown_path(&path)),
            )),
        }
    }
}
