//! Repetition of resources: `foreach` beside a type.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use ccm_data::interpolation::may_hold_any;
use ccm_expr::Value;
use ccm_model::{
    Diagnostic, DiagnosticContext, DiagnosticKind, Diagnostics, Label, Node, NodeKey, NodeMap, NodeValue,
    Span,
};

use crate::read::children::OuterContext;
use crate::read::data::ResolvedData;
use crate::read::reader::Reader;
use crate::read::resources::{Declaration, Nameless};
use crate::resolve::eval_context::{EvalContext, ITEM_NAMES, LimitCheck};
use crate::resolve::expand::Expander;
use crate::resolve::hint_literals::{ExpectedKind, HintLiterals};
use crate::resolve::messages::shown;
use crate::resolve::scope::{ManifestEvaluator, ManifestScope, Phase};
use crate::resolve::text_language::TextLanguage;

pub(crate) const KEY: &str = "foreach";

/// Maximum number of resources that all lists of a manifest and of its children make.
const MAX_RESOURCES: usize = 100_000;

/// Entry of `resources` with a list.
#[derive(Debug)]
pub(crate) struct Foreach {
    /// Key `foreach`.
    pub(crate) key: NodeKey,
    /// List or map, not evaluated.
    pub(crate) list: Node,
    /// Item of `resources`.
    pub(crate) span: Span,
    /// Index of its first declaration, and the index after its last one.
    pub(crate) declarations: Range<usize>,
}

/// Item that the expressions of a resource can use.
#[derive(Clone, Debug, Default)]
pub(crate) enum ItemScope {
    /// The resource belongs to no `foreach`.
    #[default]
    None,
    /// The list is empty or unknown, so that its resources are only checked.
    Unknown,
    Item(Arc<ForeachItem>),
}

/// Item of a list.
#[derive(Debug)]
pub(crate) struct ForeachItem {
    value: Value,
    /// The list is a map.
    is_entry: bool,
    /// Position in the list, from 0.
    index: usize,
    /// Span of the item, or of the expression that yields the list.
    span: Span,
    /// The item is not named, because its text is one of the secrets.
    is_secret: bool,
    /// All items of a list that the manifest writes; the first item has them.
    all: Option<Arc<[Value]>>,
}

impl ItemScope {
    /// Returns `true` for an entry of a map.
    pub(crate) fn is_entry(&self) -> bool {
        matches!(self, Self::Item(item) if item.is_entry)
    }

    /// Returns the item, if it is known.
    pub(crate) fn known(&self) -> Option<&Arc<ForeachItem>> {
        match self {
            Self::Item(item) => Some(item),
            Self::None | Self::Unknown => None,
        }
    }

    /// Returns the context of diagnostics about the resources of the item.
    pub(crate) fn context(&self) -> Option<Arc<dyn DiagnosticContext>> {
        self.known().map(|item| Arc::clone(item) as Arc<dyn DiagnosticContext>)
    }
}

/// Item of an evaluated list.
struct ListItem {
    value: Value,
    is_entry: bool,
    span: Span,
}

impl ListItem {
    fn new(value: Value, span: Span) -> Self {
        Self { value, is_entry: false, span }
    }

    /// Builds the item for an entry of a map.
    fn entry(key: Value, value: &Value, span: Span) -> Self {
        Self { value: Value::map([("key", key), ("value", value.clone())]), is_entry: true, span }
    }
}

impl ForeachItem {
    fn new(index: usize, item: ListItem, secrets: &HashSet<&str>) -> Self {
        let ListItem { value, is_entry, span } = item;
        let mut item = Self { value, is_entry, index, span, is_secret: false, all: None };
        item.is_secret = !secrets.is_empty() && item.name().is_some_and(|name| secrets.contains(&*name));
        item
    }

    /// Returns the text of the item, or that of its `name` or `key`.
    fn name(&self) -> Option<String> {
        let named = ["name", "key"].iter().find_map(|key| self.value.get(key));
        match named.unwrap_or(&self.value) {
            Value::Text(text) if !text.is_empty() => Some(text.to_string()),
            Value::Int(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Returns the keys of all items, if this is the first one and none of them has a key.
    pub(crate) fn keys_without(&self, key: &str) -> Option<Vec<&str>> {
        let all = self.all.as_deref()?;
        let is_lacking = |item: &Value| matches!(item, Value::Map(_)) && item.get(key).is_none();
        let maps = all.iter().filter_map(|item| match item {
            Value::Map(map) => Some(map),
            _ => None,
        });
        all.iter().all(is_lacking).then(|| maps.flat_map(|map| map.keys().map(|key| &**key)).collect())
    }

    /// Returns the span of the item, or of the expression that yields the list.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// Returns the item in words, such as "in item 3 (`bob`) of `foreach`".
    pub(crate) fn in_words(&self) -> String {
        let name = self.name().filter(|_| !self.is_secret);
        let name = name.map(|name| format!(" (`{}`)", shown(&name))).unwrap_or_default();
        format!("in item {}{name} of `{KEY}`", self.index + 1)
    }

    /// Returns the value of `Item` or `Index`.
    pub(crate) fn value_of(&self, name: &str) -> Value {
        if name == ITEM_NAMES[0] {
            return self.value.clone();
        }
        Value::Int(i64::try_from(self.index).unwrap_or(i64::MAX))
    }
}

impl DiagnosticContext for ForeachItem {
    fn label(&self) -> Label {
        Label { span: self.span, text: self.in_words() }
    }
}

impl Foreach {
    /// Evaluates the list. Returns `None` if the list has errors, which are reported, or is unknown.
    fn evaluate(
        &self,
        evaluator: ManifestEvaluator<'_, '_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<ListItem>> {
        // A list that may be missing is no text.
        let literals = evaluator.literals.of(ExpectedKind::List);
        let mut expander = Expander::new(ManifestEvaluator { literals, ..evaluator });
        let span = self.list.span;
        let items = match &self.list.value {
            NodeValue::List(elements) => {
                elements.iter().map(|element| ListItem::new(expander.value(element), element.span)).collect()
            }
            NodeValue::Map(map) => entries(map, &mut expander),
            NodeValue::Scalar(_) => match expander.value(&self.list) {
                _ if expander.found.is_unknown(span) => Vec::new(),
                Value::List(elements) => {
                    if elements.is_empty() {
                        diagnostics.extend(self.empty_range());
                    }
                    elements.iter().map(|element| ListItem::new(element.clone(), span)).collect()
                }
                Value::Map(map) => {
                    let entry = |(key, value)| ListItem::entry(Value::Text(Arc::clone(key)), value, span);
                    map.iter().map(entry).collect()
                }
                Value::Groups(groups) => {
                    groups.iter().map(|(key, value)| ListItem::entry(key.clone(), value, span)).collect()
                }
                other => {
                    let written = evaluator.manifest.text.get(span.range().start..).unwrap_or_default();
                    diagnostics.push(self.not_a_list(&other, literals.within(written)));
                    return None;
                }
            },
        };
        let mut found = expander.found;
        let is_known = found.refused.is_empty() && found.late.is_empty() && found.unchecked.is_empty();
        found.refuse_late();
        diagnostics.append(&mut found.diagnostics);
        is_known.then_some(items)
    }

    /// Returns the warning about a range such as `5..1`.
    fn empty_range(&self) -> Option<Diagnostic> {
        let written = self.list.as_text()?;
        let inner = written.trim().trim_start_matches(['{', '$']).trim_end_matches('}').trim();
        let (first, last) = inner.split_once("..")?;
        let (first, last) = (first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
        let message = format!("the range `{first}..{last}` is empty, so that `{KEY}` makes no resources");
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, self.list.span, message);
        Some(warning.with_hint(format!("write `{last}..{first}`")))
    }

    fn not_a_list(&self, found: &Value, literals: HintLiterals) -> Diagnostic {
        const WHAT: &str = "a list or a map";
        let span = self.list.span;
        let written = self.list.as_text().unwrap_or_default();
        if self.list.is_null() {
            let error = Diagnostic::error(DiagnosticKind::Missing, self.key.span, "`foreach` has no list");
            return error.with_hint("write `foreach: LIST`, or `foreach: []` for no resources");
        }
        let message = format!("`{KEY}` needs {WHAT}, found {}", found.kind());
        let error = Diagnostic::error(DiagnosticKind::WrongType, span, message);
        let inner = written.trim().trim_start_matches(['{', '$']).trim_end_matches('}').trim();
        match found {
            _ if !may_hold_any(written) && looks_like_expression(written) => {
                error.with_hint(format!("write `{KEY}: {}`", quoted_expression(written)))
            }
            Value::Null => error.with_hint(format!("write `{} ?? []` if there may be no list", shown(inner))),
            Value::Int(_) => {
                error.with_hint(format!("write `{KEY}: \"{{{{ 1..{} }}}}\"` for the numbers", shown(inner)))
            }
            Value::Text(text) if may_hold_any(written) => {
                let text = text.trim();
                let separator = if !text.contains(',') && text.contains(' ') { " " } else { "," };
                error.with_hint(format!(
                    "write `split({}, {})` for the parts of a text",
                    shown(inner),
                    literals.text(separator)
                ))
            }
            Value::Text(_) => error.with_hint(format!("write `{KEY}: [{}]`", shown(written))),
            _ => error,
        }
    }
}

/// Returns the entries of a map as items.
fn entries(map: &NodeMap, expander: &mut Expander<'_, '_>) -> Vec<ListItem> {
    let entries = map.entries().iter().map(|written| {
        let mut key = written.key.clone();
        expander.key(&mut key, TextLanguage::PLAIN);
        ListItem::entry(Value::text(&*key.text), &expander.value(&written.value), key.span)
    });
    entries.collect()
}

/// Returns an expression with its braces, between the quotes of YAML that it does not have itself.
fn quoted_expression(expression: &str) -> String {
    let quote = if expression.contains('"') { '\'' } else { '"' };
    let escaped = if quote == '\'' { expression.replace('\'', "''") } else { expression.to_owned() };
    format!("{quote}{{{{ {} }}}}{quote}", shown(&escaped))
}

/// Returns `true` for a text such as `Data.users`, whose braces are missing.
fn looks_like_expression(text: &str) -> bool {
    let first = text.trim().split(['.', '[', '(', ' ']).next().unwrap_or_default();
    text.trim() != first && ["Facts", "Data", "Environ", "lookup", "split", "filter", "map"].contains(&first)
}

impl Reader<'_, '_> {
    /// Adds the resources of a `foreach`, all of one item before those of the next.
    pub(crate) fn repeat(
        &mut self,
        foreach: &Foreach,
        declarations: Vec<Declaration>,
        manifest: usize,
        (outer, data): (&OuterContext, &ResolvedData),
        diagnostics: &mut Diagnostics,
    ) {
        let mut made = self.repeated;
        let evaluator = self.scopes.evaluator(manifest, Phase::Drafts);
        let scopes =
            scopes(foreach, &declarations, evaluator, &mut made, &self.declared.secrets, diagnostics);
        self.repeated = made;
        if scopes.as_ref().is_none_or(Vec::is_empty) {
            if scopes.is_none() {
                self.declared
                    .incomplete_types
                    .extend(declarations.iter().map(|declaration| declaration.type_index));
            }
            // Errors that do not depend on the items are reported on every machine.
            let scope = self.scope_of_unknown_item(manifest);
            let nameless = |declaration| Nameless { declaration, within: foreach.span, in_foreach: true };
            self.declared
                .nameless
                .extend(declarations.into_iter().map(|found| (nameless(found), scope, false)));
            return;
        }
        for scope in scopes.into_iter().flatten() {
            if diagnostics.is_full() {
                break;
            }
            let before = diagnostics.set_context(scope.item.context());
            let manifest = self.scopes.manifests.len();
            self.scopes.manifests.push(scope);
            for declaration in &declarations {
                self.declare(declaration.clone(), manifest, false, (outer, data), diagnostics);
            }
            diagnostics.set_context(before);
        }
    }

    /// Returns a scope for resources that are only checked.
    pub(crate) fn scope_of_unknown_item(&mut self, manifest: usize) -> usize {
        let scope = ManifestScope { item: ItemScope::Unknown, ..self.scopes.manifests[manifest].clone() };
        self.scopes.manifests.push(scope);
        self.scopes.manifests.len() - 1
    }
}

/// Evaluates a list, and returns a scope for each item. Returns `None` if the list has errors, which are reported,
/// or is unknown. `made` is the number of resources of all lists.
fn scopes(
    foreach: &Foreach,
    declarations: &[Declaration],
    evaluator: ManifestEvaluator<'_, '_>,
    made: &mut usize,
    secrets: &[String],
    diagnostics: &mut Diagnostics,
) -> Option<Vec<ManifestScope>> {
    let ManifestEvaluator { context, manifest, .. } = evaluator;
    let items = foreach.evaluate(evaluator, diagnostics)?;
    if let Err(error) = check_limits(foreach, declarations, items.len(), made, context) {
        diagnostics.extend(error);
        return None;
    }
    let secrets: HashSet<&str> = secrets.iter().map(String::as_str).collect();
    let is_written = matches!(foreach.list.value, NodeValue::List(_));
    let all: Option<Arc<[Value]>> =
        is_written.then(|| items.iter().map(|item: &ListItem| item.value.clone()).collect());
    let scope = |(index, item)| {
        let mut item = ForeachItem::new(index, item, &secrets);
        item.all = all.clone().filter(|_| index == 0);
        let item = ItemScope::Item(Arc::new(item));
        ManifestScope { item, ..manifest.clone() }
    };
    Some(items.into_iter().enumerate().map(scope).collect())
}

/// Returns an error if the resources are too many or too large. The error is `None` if it is reported already.
fn check_limits(
    foreach: &Foreach,
    declarations: &[Declaration],
    items: usize,
    made: &mut usize,
    context: &EvalContext<'_>,
) -> Result<(), Option<Diagnostic>> {
    let refused =
        |message: String| Some(Diagnostic::error(DiagnosticKind::LimitExceeded, foreach.list.span, message));
    *made = made.saturating_add(items.saturating_mul(declarations.len()));
    if *made > MAX_RESOURCES {
        let message = format!("`{KEY}` would make more than {MAX_RESOURCES} resources");
        return Err(refused(message).map(|error| error.with_hint("use a shorter list")));
    }
    let each = declarations.iter().map(Declaration::footprint).fold(0, usize::saturating_add);
    match context.count_bytes(each.saturating_mul(items)) {
        LimitCheck::Within => Ok(()),
        LimitCheck::JustExceeded => {
            let error = refused(format!("the resources of this `{KEY}` would need more than 256 MiB"));
            Err(error.map(|error| error.with_hint("put large texts into files, and use `source: PATH`")))
        }
        LimitCheck::AlreadyExceeded => Err(None),
    }
}
