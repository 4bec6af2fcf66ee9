//! Names and functions of one evaluation.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_expr::{FunctionError, Scope, Timestamp, Value};
use ccm_model::{DiagnosticKind, Span, closest, listed};

use super::{DeferredOn, EvalError, InvalidExpression, MAX_LOCATIONS, ManifestEvaluator, Phase, TOO_EARLY};
use crate::read::foreach::ItemScope;
use crate::resolve::eval_context::{ITEM_NAMES, LOOKUP_ROOTS, NAMES, STANDARD_ROOTS};
use crate::resolve::jinja_words;
use crate::resolve::messages::shown_path;
use crate::sources::{SecretFault, SecretReach};
use crate::unchecked::LeftOut;

fn refused(fault: SecretFault) -> FunctionError {
    let mut error = FunctionError::new(DiagnosticKind::Unreadable, fault.message);
    error.hints.extend(fault.hint);
    error
}

/// Names and functions of one evaluation, and the reasons why it fails.
pub(super) struct ExpressionScope<'a, 'e, 's> {
    pub(super) evaluator: &'a ManifestEvaluator<'e, 's>,
    /// Facts that the expression uses. `None` if they are unavailable.
    pub(super) facts: RefCell<Option<Value>>,
    /// Reasons why the value is late.
    pub(super) deferred: RefCell<Vec<DeferredOn>>,
    /// Reason why a captured value is missing, unless a default replaces it.
    pub(super) missing_capture: RefCell<Option<String>>,
    /// Facts, environment or data are unavailable, which was reported.
    pub(super) is_unavailable: Cell<bool>,
    /// The expression uses an input that was left out.
    is_unchecked: Cell<bool>,
    /// Path of a `lookup` without a value.
    pub(super) missing: RefCell<Option<Box<[String]>>>,
    /// Templates in rendering, outermost first.
    pub(super) rendering: RefCell<Vec<PathBuf>>,
    pub(super) last_template_error: RefCell<Option<String>>,
    pub(super) locations: RefCell<Vec<(Span, String)>>,
}

impl Scope for ExpressionScope<'_, '_, '_> {
    fn name(&self, name: &str) -> Option<Value> {
        match name {
            "Facts" => self.facts.borrow().clone(),
            "Data" => Some(self.evaluator.manifest.data.clone()),
            "Environ" => self.environment(),
            "Manifest" => Some(self.manifest()),
            "Captures" => match self.evaluator.phase {
                Phase::Runtime(runtime) => Some(runtime.captures()),
                _ => None,
            },
            name => self.item(name).or_else(|| self.evaluator.context.variables.get(name).cloned()),
        }
    }

    fn names(&self) -> Vec<String> {
        let standard = NAMES.iter().map(|(name, _)| (*name).to_owned());
        let variables = self.evaluator.context.variables.keys().map(ToString::to_string);
        let of_item = match &self.evaluator.manifest.item {
            ItemScope::None => &[][..],
            ItemScope::Unknown | ItemScope::Item(_) => &ITEM_NAMES,
        };
        standard.chain(of_item.iter().map(|name| (*name).to_owned())).chain(variables).collect()
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        let text = match &arguments[0] {
            Value::Text(text) => text,
            other => {
                let expected = if function == "credential" { "a name" } else { "a path" };
                return Err(FunctionError::new(
                    DiagnosticKind::InvalidOperand,
                    format!("expected {expected}, found {}", other.kind()),
                ));
            }
        };
        match function {
            "lookup" => self.lookup(text, arguments.get(1)),
            "file" | "readFile" => self.file(text),
            "credential" => self.credential(text),
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
    pub(super) fn new(evaluator: &'a ManifestEvaluator<'e, 's>) -> Self {
        Self {
            evaluator,
            facts: RefCell::new(Some(Value::Null)),
            deferred: RefCell::default(),
            missing_capture: RefCell::default(),
            is_unavailable: Cell::new(false),
            is_unchecked: Cell::new(false),
            missing: RefCell::default(),
            rendering: RefCell::default(),
            last_template_error: RefCell::default(),
            locations: RefCell::default(),
        }
    }

    /// Combines the result with the recorded reasons. Late values count even if a default replaced them.
    pub(super) fn outcome<T, E>(
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
        if self.is_unchecked.get() {
            return Err(EvalError::Unchecked);
        }
        let missing_capture = self.missing_capture.into_inner();
        result.map_err(|error| {
            if let Some(reason) = missing_capture {
                return EvalError::Deferred(vec![DeferredOn::NoValue(reason)]);
            }
            let mut error = explain(error);
            let mut locations = self.locations.into_inner();
            locations.dedup();
            locations.truncate(MAX_LOCATIONS);
            error.locations = locations.into();
            error.missing = error.missing.or(self.missing.into_inner());
            EvalError::Invalid(error)
        })
    }

    pub(super) fn facts(&self, needed: &[Vec<String>]) -> Option<Value> {
        let facts = self.evaluator.context.facts(needed);
        self.is_unavailable.set(self.is_unavailable.get() || facts.is_none());
        facts
    }

    /// Returns what is known of the manifest itself.
    fn manifest(&self) -> Value {
        let directory = &self.evaluator.manifest.directory;
        if self.evaluator.context.sources.hides_directory(directory) {
            return Value::map::<&str>([]);
        }
        Value::map([("dir", directory.to_str().map_or(Value::Null, Value::text))])
    }

    pub(super) fn environment(&self) -> Option<Value> {
        let environment = self.evaluator.context.environment();
        self.is_unavailable.set(self.is_unavailable.get() || environment.is_none());
        environment
    }

    /// Returns the item of a `foreach`, or its index.
    fn item(&self, name: &str) -> Option<Value> {
        if !ITEM_NAMES.contains(&name) {
            return None;
        }
        match &self.evaluator.manifest.item {
            ItemScope::None => None,
            ItemScope::Unknown => {
                self.is_unavailable.set(true);
                Some(Value::Null)
            }
            ItemScope::Item(item) => Some(item.value_of(name)),
        }
    }

    fn credential(&self, name: &str) -> Result<Value, FunctionError> {
        let context = self.evaluator.context;
        context.secrets.credential(name, context.sources).map(Value::Text).map_err(|fault| {
            if context.omitted.files || fault.reach == SecretReach::Elsewhere {
                context.leave_out(LeftOut::Credential(name.to_owned()));
                return self.leave_unchecked();
            }
            refused(fault)
        })
    }

    /// Opens the content of an encrypted file.
    pub(super) fn opened(&self, text: &str, path: &Path) -> Result<Arc<str>, FunctionError> {
        let context = self.evaluator.context;
        context.secrets.open(text, context.sources).map_err(|fault| {
            if context.may_stay_closed(&fault) {
                context.leave_out(LeftOut::Encrypted);
                return self.leave_unchecked();
            }
            let message = format!("the encrypted file {}: {}", shown_path(path), fault.message);
            refused(SecretFault { message, ..fault })
        })
    }

    pub(super) fn defer(&self, on: DeferredOn) -> FunctionError {
        self.deferred.borrow_mut().push(on);
        FunctionError::new(DiagnosticKind::LateValue, "this value is known only during a run")
    }

    /// Marks the value as unknown, because an input was left out.
    pub(super) fn leave_unchecked(&self) -> FunctionError {
        self.is_unchecked.set(true);
        FunctionError::new(DiagnosticKind::Unreadable, "this value is known only on the machine")
    }

    pub(super) fn lookup(&self, text: &str, default: Option<&Value>) -> Result<Value, FunctionError> {
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
        if let Some(error) = self.unknown_root(text, &prefix) {
            self.missing.replace(Some(prefix.as_slice().into()));
            return Err(error);
        }
        let is_of_data = prefix.first().is_none_or(|root| root == "data");
        if is_of_data && self.evaluator.manifest.unknown.touches(prefix.get(1..).unwrap_or_default()) {
            return Err(self.leave_unchecked());
        }
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
                let near = path.closest(&root);
                error.hints.extend(near.iter().map(|near| format!("did you mean `{near}`?")));
                error.nearest = near.map(String::into_boxed_str);
                error.hints.push(format!(
                    "give a default if it may be missing: `lookup({}, {})`",
                    self.evaluator.literals.text(text),
                    self.evaluator.literals.empty()
                ));
                Err(error)
            }
        }
    }

    /// Returns the error about a path of `lookup` that begins with no known name, whatever its default is.
    pub(super) fn unknown_root(&self, text: &str, prefix: &[String]) -> Option<FunctionError> {
        let roots = match &self.evaluator.manifest.item {
            ItemScope::None => &LOOKUP_ROOTS[..STANDARD_ROOTS],
            _ => &LOOKUP_ROOTS,
        };
        let first = prefix.first().filter(|first| !roots.contains(&first.as_str()))?;
        let mut error =
            FunctionError::new(DiagnosticKind::UnknownName, format!("there is no `{}`", text.escape_debug()));
        let near = closest(first, roots.iter().copied());
        if let Some(advice) = jinja_words::lookup(text) {
            error.hints.push(self.evaluator.literals.advice(advice));
            return Some(error);
        }
        error.hints.push(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("begin the path with {}", listed(&["facts.", "data.", "environ."], "or")),
        });
        error.nearest = near.map(Into::into);
        Some(error)
    }

    /// Returns the root for a `lookup`, with only those parts that the path may need.
    pub(super) fn root(&self, prefix: &[String]) -> Result<Value, FunctionError> {
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
        if names("manifest") {
            roots.push(("manifest", self.manifest()));
        }
        if names("environ") {
            roots.push(("environ", self.environment().unwrap_or_default()));
        }
        for (root, name) in ["item", "index"].into_iter().zip(ITEM_NAMES).filter(|(root, _)| names(root)) {
            roots.extend(self.item(name).map(|value| (root, value)));
        }
        if names("captures") && !all {
            self.check_captures(prefix.get(1..).unwrap_or_default(), None)?;
            if let Phase::Runtime(runtime) = phase {
                roots.push(("captures", runtime.captures()));
            }
        }
        Ok(Value::map(roots))
    }
}
