//! Evaluates the expressions of a manifest.

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

use ccm_data::fact_words;
use ccm_expr::{Cause, Value};
use ccm_model::{DiagnosticKind, NodeMap, ResourceIndex, SYSTEM_FACTS, closest, escape_control, normalize};
use expression::ExpressionScope;

use crate::read::foreach::ItemScope;
use crate::resolve::declared_data::DeclaredData;
use crate::resolve::eval_context::{DefaultedPath, Doubt, EvalContext, ITEM_NAMES, ParsedExpression};
use crate::resolve::hint_literals::{HintLiterals, needed_kind};
use crate::resolve::jinja_words;
use crate::resolve::messages::shown;
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
        let outcome = scope.outcome(rendered, |error| InvalidExpression {
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

    /// Returns advice on a missing key that the data as written has, or that of the manifest that applies this one.
    fn advice_on_dropped(&self, path: &[String]) -> Option<String> {
        let declared = self.manifest.declared.as_ref()?;
        let (first, last) = (shown(path.first()?), shown(path.last()?));
        if let Some(level) = declared.level_that_drops(path) {
            return Some(format!(
                "the override `{}` replaces `{first}` as a whole: add `{last}` there, or write `merge: deep` in `hierarchy`",
                shown(level)
            ));
        }
        declared.is_of_parent(path).then(|| {
            let value = format!("\"{{{{ Data.{first} }}}}\"");
            format!("hand it over in the `apply` of the other manifest, whose data has it: `data: {{{first}: {value}}}`")
        })
    }

    /// Returns advice on a fact that stands elsewhere: in a map `facts` of a file, or under the name of this machine.
    fn advice_on_fact(&self, keys: &[String], further: &str) -> Option<String> {
        let known = self.context.known_facts();
        let first = keys.first()?;
        if known.get("facts").is_some_and(|facts| facts.get(first).is_some()) {
            return Some(format!(
                "write `{}` at the top of the file of facts, not below `facts`",
                shown(first)
            ));
        }
        let meant = fact_words::of_other_program(&(keys.join(".") + further))?;
        Some(format!("write `Facts.{meant}`"))
    }

    /// Returns advice on a custom fact in place of a map of facts of this machine.
    fn advice_on_replaced_fact(&self, text: &str) -> Option<String> {
        let known = self.context.known_facts();
        let is_replaced = |name: &&&str| {
            text.contains(&format!("Facts.{name}"))
                && known.get(name).is_some_and(|fact| !matches!(fact, Value::Map(_)))
        };
        let name = SYSTEM_FACTS.iter().find(is_replaced)?;
        Some(format!("a custom fact `{name}` replaces that of the machine: give it another name"))
    }

    /// Explains an error of the expression `text`.
    fn explain(&self, error: &ccm_expr::Error, text: &str) -> InvalidExpression {
        let (mut hints, mut nearest) = (error.hints.clone(), error.nearest.clone());
        let mut missing = None;
        match &error.cause {
            Cause::MissingKey(path) => {
                missing = Some(path.as_slice().into());
                let of_item = path.len() == 2 && path[0] == ITEM_NAMES[0];
                if of_item && hints.is_empty() && self.manifest.item.is_entry() {
                    hints.push("`Item` is an entry of a map: write `Item.key` or `Item.value`".to_owned());
                }
                if path.len() == 2 && path[0] == "Manifest" {
                    hints = vec![advice_on_manifest(&path[1]).to_owned()];
                }
                if hints.is_empty() && path.len() > 1 && path[0] == "Data" {
                    let dotted =
                        key_with_dots(path, text, error.range.end, &self.manifest.data, self.literals);
                    hints.extend(dotted.or_else(|| self.advice_on_dropped(&path[1..])));
                }
                if hints.is_empty() && path.len() > 1 && path[0] == "Facts" {
                    let further = further_keys(text.get(error.range.end..).unwrap_or_default());
                    hints.extend(self.advice_on_fact(&path[1..], further));
                }
                if hints.is_empty() && !is_of_system_fact(path) && is_constant(path, &error.message) {
                    hints.extend(advice_on_missing(path, text, error.range.end, self.literals));
                }
            }
            Cause::UnknownName(name) if ITEM_NAMES.contains(&&**name) => {
                hints = vec![format!(
                    "`{name}` exists only in the resources of a `foreach`: write `foreach: LIST` beside their type"
                )];
            }
            Cause::UnknownName(_) if key_with_hyphen(text, error.range.clone(), self.literals).is_some() => {
                hints = key_with_hyphen(text, error.range.clone(), self.literals).into_iter().collect();
                nearest = None;
            }
            Cause::UnknownName(name) if literal(name).is_some() => {
                hints = literal(name).map(|meant| format!("write `{meant}`")).into_iter().collect();
                nearest = None;
            }
            Cause::UnknownName(_) if matches!(self.phase, Phase::Data) && hints.is_empty() => {
                hints.push(format!("use only `Facts` and `Environ` here: {TOO_EARLY}"));
            }
            Cause::UnknownName(name) if self.manifest.data.get(name).is_some() => {
                hints = vec![format!("write `Data.{name}` for the value of the manifest")];
            }
            Cause::UnknownName(name) if name == "item" && matches!(self.manifest.item, ItemScope::None) => {
                hints = vec![
                    "write `foreach: LIST` beside the type of the resource, and `Item` for the item"
                        .to_owned(),
                ];
                nearest = None;
            }
            Cause::UnknownName(name) if name == "project" => {
                hints = vec!["write `Manifest.dir` for the directory of the manifest".to_owned()];
                nearest = None;
            }
            Cause::UnknownName(_) if hints.is_empty() => {
                hints.push(
                    "use `Facts`, `Data`, `Environ` or `Captures`, or put a text between quotes".to_owned(),
                );
            }
            Cause::UnknownFunction(name) if substitute(name).is_some() => {
                hints = substitute(name).map(|advice| self.literals.advice(advice)).into_iter().collect();
                nearest = None;
            }
            Cause::UnknownMethod(name) if hints.is_empty() => {
                hints.extend(jinja_words::filter(name).map(|advice| self.literals.advice(advice)));
            }
            Cause::UnknownFunction(_) if hints.is_empty() => {
                hints.push(
                    "use `lookup`, `file`, `template` or a function of the expression language".to_owned(),
                );
            }
            Cause::Operand if hints.is_empty() && text.contains("Facts.") => {
                hints.extend(self.advice_on_replaced_fact(text));
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
            nearest,
            locations: Box::default(),
            missing,
            earlier: match &error.cause {
                Cause::DuplicateKey { first } if !first.is_empty() => Some(Box::new(first.clone())),
                _ => None,
            },
        }
    }
}

/// Returns advice on a key of `Manifest` that is missing.
fn advice_on_manifest(key: &str) -> &'static str {
    match key {
        "dir" => "others than root can change this directory: apply the manifest where root keeps it",
        _ => "write `Manifest.dir`, the directory of the manifest",
    }
}

/// Returns `true` if the message names the whole path, none of which is computed.
fn is_constant(path: &[String], message: &str) -> bool {
    message == format!("there is no `{}`", path.join("."))
}

/// Returns advice on a key that is missing, whose path ends at a byte of the expression `text`. An empty text is no
/// default for a variable of the environment, which may be a password.
fn advice_on_missing(path: &[String], text: &str, end: usize, literals: HintLiterals) -> Vec<String> {
    let name = path.join(".");
    let further = further_keys(text.get(end..).unwrap_or_default());
    let optional = if further.is_empty() { "" } else { "?" };
    let is_whole = text.trim().strip_prefix(&name) == Some(further);
    let needed = end
        .checked_sub(name.len())
        .filter(|start| text.get(*start..end) == Some(&*name))
        .and_then(|start| needed_kind(text, start..end + further.len()));
    let literals = needed.map_or(literals, |kind| literals.of(kind));
    let with_default = |default: &str| {
        let written = format!("{name}{optional}{further} ?? {default}");
        // `??` binds less tightly than other operators.
        let written = if is_whole { written } else { format!("({written})") };
        format!("if it may be missing, write `{written}`")
    };
    if path.first().is_none_or(|root| root != "Environ") {
        return vec![with_default(&literals.empty())];
    }
    let variable = path.last().map(String::as_str).unwrap_or_default();
    vec![
        format!("set `{variable}` in the environment of ccm, or in a file `.env`"),
        with_default(&literals.text("DEFAULT")),
    ]
}

/// Returns the keys at the start of a text, such as `.family` of `.family == "debian"`, without a method.
fn further_keys(text: &str) -> &str {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut end = 0;
    while let Some(rest) = text[end..].strip_prefix('.') {
        let length = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
        if length == 0 || rest[length..].starts_with('(') {
            break;
        }
        end += 1 + length;
    }
    &text[..end]
}

/// Returns advice on a name that is the rest of a key with hyphens, such as `e` of `Data.d-e`.
fn key_with_hyphen(text: &str, rest: Range<usize>, literals: HintLiterals) -> Option<String> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let head = text.get(..rest.start)?.strip_suffix('-')?;
    let (path, key) = head.rsplit_once('.')?;
    let root = &path[path.trim_end_matches(|character| is_word(character) || character == '.').len()..];
    let is_key = !key.is_empty() && key.chars().all(|character| is_word(character) || character == '-');
    let is_path = ["Data", "Facts", "Environ", "Item", "Captures"].contains(&root.split('.').next()?);
    let rest = text.get(rest)?;
    let whole = format!("{key}-{rest}");
    (is_key && is_path).then(|| format!("write `{root}[{}]` for the key `{whole}`", literals.text(&whole)))
}

/// Returns advice on a path whose keys are one key with dots, as in `data: {web.port: 80}`.
fn key_with_dots(
    path: &[String],
    text: &str,
    end: usize,
    data: &Value,
    literals: HintLiterals,
) -> Option<String> {
    let is_key = |part: char| part.is_alphanumeric() || matches!(part, '_' | '.');
    let further = text.get(end..)?;
    let further = &further[..further.find(|part| !is_key(part)).unwrap_or(further.len())];
    let (parent, name) = path[1..].split_at(path.len() - 2);
    let map = parent.iter().try_fold(data, |value, key| value.get(key))?;
    let whole = format!("{}{further}", name[0]);
    let mut known = whole.match_indices('.').map(|(at, _)| &whole[..at]).chain([&*whole]);
    let key = known.rfind(|key| key.contains('.') && map.get(key).is_some())?;
    let parent = [&["Data".to_owned()], parent].concat().join(".");
    Some(format!("write `{parent}[{}]`: the dot is a part of the key", literals.text(key)))
}

/// Returns the literal of expressions for that of another language.
fn literal(name: &str) -> Option<&'static str> {
    Some(match name {
        "True" | "TRUE" | "yes" => "true",
        "False" | "FALSE" | "no" => "false",
        "None" | "null" | "NULL" | "Null" | "none" | "undefined" => "nil",
        _ => return None,
    })
}

/// Returns advice on a function of other programs. Texts in it stand between single quotes.
fn substitute(function: &str) -> Option<&'static str> {
    Some(match function {
        "jet" => "templates are Jinja: write `template('NAME.j2')`",
        "kvGet" | "kvget" | "registrations" | "registration" => "this is not supported in this version",
        "env" | "getenv" | "environ" => {
            "write `Environ.NAME`, or `Environ.NAME ?? 'DEFAULT'` if it may be missing"
        }
        "hiera" | "lookup_data" => "write `Data.KEY`, or `lookup('data.KEY', 'DEFAULT')`",
        "epp" | "erb" | "inline_template" => "templates are Jinja files: write `template('NAME.j2')`",
        "include" | "readfile" | "read_file" => "write `file('PATH')`",
        _ => return jinja_words::filter(function),
    })
}

impl ManifestEvaluator<'_, '_> {
    /// Returns the error of a path to a variable of the environment that is not UTF-8 text.
    fn not_utf8(&self, root: &str, path: &[String]) -> Option<String> {
        let name = path.strip_prefix(&[root.to_owned()])?.first()?;
        let is_not_utf8 = self.context.sources.is_not_utf8(name);
        is_not_utf8.then(|| format!("the environment variable `{}` is not UTF-8 text", escape_control(name)))
    }
}
