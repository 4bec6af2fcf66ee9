//! Evaluates the expressions of a manifest.

mod advice;
mod deferred;
mod error;
mod expression;
mod files;
mod rendering;
mod template_defaults;
mod text_template;

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_expr::{FunctionError, Value};
use ccm_model::{DiagnosticKind, NodeMap, ResourceIndex, SYSTEM_FACTS, closest, escape_control, normalize};
use expression::ExpressionScope;

use crate::read::foreach::ItemScope;
use crate::resolve::declared_data::DeclaredData;
use crate::resolve::eval_context::{Doubt, EvalContext};
use crate::resolve::hint_literals::HintLiterals;
use crate::resolve::messages::shown;
use crate::resolve::parsed_expression::{DefaultedPath, ParsedExpression};
use crate::unchecked::UnknownPaths;

pub use error::is_of_system_fact;
pub(crate) use error::{DeferredOn, EvalError, InvalidExpression};

/// Message for a name that has no value yet while `data` is resolved.
const TOO_EARLY: &str =
    "values in `data`, `hierarchy`, `overrides` and data files can use only `Facts` and `Environ`";

/// Advice on a value of `data` that another one of them uses.
const EARLY_HINT: &str = "put the expression where the value is used, or repeat a value with an anchor of YAML: `a: &a VALUE`, `b: *a`";

/// Maximum number of included templates that are scanned for names.
const MAX_INCLUDES: usize = 64;

const MAX_LOCATIONS: usize = 5;

/// Keys in the facts of every machine.
const SYSTEM_KEYS: [&str; 4] = ["info", "virtual", "swap", "usage"];

#[derive(Clone, Debug)]
pub(crate) struct ManifestScope {
    pub(crate) text: Arc<str>,
    pub(crate) directory: Arc<Path>,
    pub(crate) data: Value,
    /// Settings below `ccm`, by type index.
    pub(crate) settings: Arc<[Arc<NodeMap>]>,
    /// Some data is unavailable, which was reported. Missing keys are then no errors.
    pub(crate) is_incomplete: bool,
    /// Item of the `foreach` that the resources belong to.
    pub(crate) item: ItemScope,
    /// Data without a value, because an input was left out.
    pub(crate) unknown: UnknownPaths,
    /// Data as it is declared. `None` where expressions have no data.
    pub(crate) declared: Option<Arc<DeclaredData>>,
}

impl ManifestScope {
    /// Returns the absolute path for a path in the manifest.
    pub(crate) fn resolve(&self, written: &str) -> PathBuf {
        normalize(&self.directory.join(written))
    }
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

/// Managed paths in their canonical spellings, each with the resources that claim the path or a part of it.
pub(crate) type ManagedPaths = HashMap<Arc<str>, Vec<ResourceIndex>>;

/// State of the run, for late values.
pub(crate) trait RuntimeContext {
    /// Returns the captured values, by name and alias of the capturing resource.
    fn captures(&self) -> Value;

    /// Returns the state of the values that a resource with this name or alias captures.
    fn capture_state(&self, name: &str) -> CaptureState;

    /// Returns the resource that would write the file with this canonical path but has not, because of noop.
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

/// Evaluates the expressions of one manifest at one phase.
#[derive(Clone, Copy)]
pub(crate) struct ManifestEvaluator<'a, 's> {
    pub(crate) context: &'a EvalContext<'s>,
    pub(crate) manifest: &'a ManifestScope,
    pub(crate) phase: Phase<'a>,
    /// Literals of hints at the place of the expression.
    pub(crate) literals: HintLiterals,
}

impl<'a, 's> ManifestEvaluator<'a, 's> {
    pub(crate) fn new(context: &'a EvalContext<'s>, manifest: &'a ManifestScope, phase: Phase<'a>) -> Self {
        Self { context, manifest, phase, literals: HintLiterals::PLAIN }
    }

    /// Returns the evaluator of an expression in a text that the manifest writes from here on.
    pub(crate) fn within(&self, written: &str) -> Self {
        Self { literals: self.literals.within(written), ..*self }
    }
}

impl ManifestEvaluator<'_, '_> {
    pub(crate) fn evaluate(&self, text: &str) -> Result<Value, EvalError> {
        self.context.set_doubts(Vec::new());
        if self.is_over() {
            return Err(EvalError::Reported);
        }
        let read = self.context.expression(text);
        let expression = match &read.expression {
            Ok(expression) => expression,
            Err(error) => return Err(EvalError::Invalid(self.explain(error, text))),
        };
        if let Some(error) = self.unknown_name(&read, text) {
            return Err(EvalError::Invalid(error));
        }
        self.context.set_doubts(self.comparisons(&read));
        if matches!(self.phase, Phase::Data) && (!read.data.is_empty() || !read.captures.is_empty()) {
            return Err(EvalError::Invalid(InvalidExpression {
                kind: DiagnosticKind::LateValue,
                range: 0..text.len(),
                message: TOO_EARLY.into(),
                hints: vec![EARLY_HINT.to_owned()],
                locations: Box::default(),
                nearest: None,
                missing: None,
                earlier: None,
            }));
        }
        let scope = ExpressionScope::new(self);
        if let Some(error) = scope.check_deferred(&read) {
            return Err(error);
        }
        if self.uses_unknown_data(&read) {
            return Err(EvalError::Unchecked);
        }
        if !read.facts.is_empty() {
            scope.facts.replace(scope.facts(&read.facts));
        }
        let evaluated = expression.evaluate(&scope);
        let outcome = scope.outcome(evaluated, |error| self.explain(&error, text));
        match self.leave_out_missing(outcome) {
            Ok(Value::Null) | Err(EvalError::Invalid(_))
                if self.manifest.is_incomplete && !read.data.is_empty() =>
            {
                Err(EvalError::Reported)
            }
            Ok(value) => {
                self.context.add_doubts(self.doubts(&read));
                self.context.add_doubts(self.doubtful_facts(&read));
                self.context.add_doubts(self.doubtful_keys_of_item(&read));
                Ok(value)
            }
            outcome => outcome,
        }
    }

    /// Returns `true` if the time for loading is over. That of a run is another one.
    fn is_over(&self) -> bool {
        !matches!(self.phase, Phase::Runtime(_)) && self.context.is_over()
    }

    /// Returns the error about a name that does not exist, also in a part that an evaluation does not reach.
    fn unknown_name(&self, read: &ParsedExpression, text: &str) -> Option<InvalidExpression> {
        if !read.has_other_names && read.other_lookups.is_empty() {
            return None;
        }
        let scope = ExpressionScope::new(self);
        if let Some(Err(error)) = read.expression.as_ref().ok().map(|read| read.check_names(&scope)) {
            return Some(self.explain(&error, text));
        }
        let unknown = |(path, prefix, range): &(String, Vec<String>, Range<usize>)| {
            let error = scope.unknown_root(path, prefix)?;
            Some(InvalidExpression {
                kind: error.kind,
                range: range.clone(),
                message: error.message.into(),
                hints: error.hints,
                nearest: error.nearest,
                locations: Box::default(),
                missing: Some(prefix.as_slice().into()),
                earlier: None,
            })
        };
        read.other_lookups.iter().find_map(unknown)
    }

    /// Returns warnings about comparisons that are never true.
    fn comparisons(&self, read: &ParsedExpression) -> Vec<Doubt> {
        if read.comparisons.is_empty() || matches!(self.phase, Phase::Runtime(_)) {
            return Vec::new();
        }
        let hint = |doubt: &Doubt| Doubt { hint: self.literals.advice(&doubt.hint), ..doubt.clone() };
        read.comparisons.iter().map(hint).collect()
    }

    /// Returns warnings about defaults for facts that are probably misspelt: those that ccm gathers on every machine, and in
    /// data and hierarchies also others.
    fn doubtful_facts(&self, read: &ParsedExpression) -> Vec<Doubt> {
        if read.fact_defaults.is_empty() || matches!(self.phase, Phase::Runtime(_)) {
            return Vec::new();
        }
        let doubt = |(argument, range): &(String, Range<usize>)| {
            let near = self.near_fact(argument)?;
            Some(Doubt {
                kind: DiagnosticKind::UnknownName,
                range: range.clone(),
                message: format!(
                    "this machine has no fact `{}`, so that the default is used",
                    shown(argument)
                ),
                hint: format!("did you mean `{}`?", shown(&near)),
            })
        };
        read.fact_defaults.iter().filter_map(doubt).collect()
    }

    /// Returns warnings about defaults for keys that no item of a list has. Those of the first item are those of all.
    fn doubtful_keys_of_item(&self, read: &ParsedExpression) -> Vec<Doubt> {
        let Some(item) = self.manifest.item.known().filter(|_| !read.item_defaults.is_empty()) else {
            return Vec::new();
        };
        let doubt = |default: &DefaultedPath| {
            let key = default.path.first().filter(|_| default.optional == 0)?;
            let keys = item.keys_without(key)?;
            Some(Doubt {
                kind: DiagnosticKind::UnknownName,
                range: default.range.clone(),
                message: format!(
                    "no item of `foreach` has the key `{}`, so that the default is used",
                    shown(key)
                ),
                hint: match closest(key, keys) {
                    Some(near) => format!("did you mean `{}`?", shown(near)),
                    None => format!("add `{}:` to an item, or write the default itself", shown(key)),
                },
            })
        };
        read.item_defaults.iter().filter_map(doubt).collect()
    }

    /// Returns the fact that was probably meant by a path of `lookup` that this machine does not have.
    fn near_fact(&self, argument: &str) -> Option<String> {
        let path = ccm_expr::path::Path::parse(argument).ok()?;
        let root = Value::map([("facts", self.context.known_facts())]);
        let prefix = path.constant_prefix();
        if prefix.iter().try_fold(&root, |value, key| value.get(key)).is_some() {
            return None;
        }
        // A custom fact may have a similar name, but not with the same keys.
        if let [_, first, second, ..] = &prefix[..]
            && SYSTEM_KEYS.contains(&&**second)
            && !is_of_system_fact(&prefix)
        {
            return closest(first, SYSTEM_FACTS).map(|meant| format!("facts.{meant}"));
        }
        let is_checked = matches!(self.phase, Phase::Data) || is_of_system_fact(&prefix);
        path.closest(&root).filter(|_| is_checked)
    }

    /// Returns warnings about defaults for keys that no data can have.
    fn doubts(&self, read: &ParsedExpression) -> Vec<Doubt> {
        if read.defaults.is_empty() || self.manifest.is_incomplete || matches!(self.phase, Phase::Runtime(_))
        {
            return Vec::new();
        }
        let Some(declared) = &self.manifest.declared else { return Vec::new() };
        let doubt = |default: &DefaultedPath| {
            let mut keys = default.path.iter();
            let merged = keys.try_fold(&self.manifest.data, |value, key| value.get(key));
            if merged.is_some() {
                return None;
            }
            let absent = declared.absent_key(&default.path)?;
            let key = &default.path[absent.position];
            let whole = escape_control(&default.path[..=absent.position].join(".")).into_owned();
            let hint = match absent.nearest {
                Some(near) => format!("did you mean `{}`?", escape_control(&near)),
                None => format!("add `{}:` to `data`, or write the default itself", escape_control(key)),
            };
            (absent.position >= default.optional).then(|| Doubt {
                kind: DiagnosticKind::UnknownName,
                range: default.range.clone(),
                message: format!("no `data` has the key `{whole}`, which is therefore always missing"),
                hint,
            })
        };
        read.defaults.iter().filter_map(doubt).collect()
    }

    /// Returns `true` if an expression uses data that is unknown, because an input was left out.
    fn uses_unknown_data(&self, read: &ParsedExpression) -> bool {
        let unknown = &self.manifest.unknown;
        !unknown.is_empty() && (read.uses_any || read.data.iter().any(|path| unknown.touches(path)))
    }

    /// Replaces the error about a missing input that may be left out.
    fn leave_out_missing<T>(&self, outcome: Result<T, EvalError>) -> Result<T, EvalError> {
        let Err(EvalError::Invalid(error)) = &outcome else { return outcome };
        let context = self.context;
        match error.omissible_input(context.omitted, &context.known_facts()) {
            Some(input) => {
                context.leave_out(input);
                Err(EvalError::Unchecked)
            }
            None => outcome,
        }
    }

    pub(crate) fn template(&self, path: &str) -> Result<String, EvalError> {
        let scope = ExpressionScope::new(self);
        let rendered = scope.template(path);
        self.outcome_of(scope, rendered)
    }

    /// Returns the content of a file, opened if its name says that it is encrypted.
    pub(crate) fn content(&self, path: &str) -> Result<String, EvalError> {
        let scope = ExpressionScope::new(self);
        let content = scope.content(path).map(|content| content.to_string());
        self.outcome_of(scope, content)
    }

    fn outcome_of(
        &self,
        scope: ExpressionScope<'_, '_, '_>,
        result: Result<String, FunctionError>,
    ) -> Result<String, EvalError> {
        let outcome = scope.outcome(result, |error| InvalidExpression {
            kind: error.kind,
            range: 0..0,
            message: error.message.into(),
            hints: error.hints,
            nearest: error.nearest,
            locations: Box::default(),
            missing: None,
            earlier: None,
        });
        match self.leave_out_missing(outcome) {
            Err(EvalError::Invalid(error)) if self.manifest.is_incomplete && error.is_missing_data() => {
                Err(EvalError::Reported)
            }
            outcome => outcome,
        }
    }
}
