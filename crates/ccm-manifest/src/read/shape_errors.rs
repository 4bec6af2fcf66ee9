//! Errors in the shape of a manifest, each with a hint: wrong dashes, missing spaces or missing indentation.

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Span, closest, listed,
};

use ccm_properties::{CommonProperty, NAME};

use crate::read::foreach;
use crate::read::foreign_words;
use crate::read::reserved::{self, not_supported};
use crate::read::types::Types;
use crate::resolve::messages::{as_key, expected, shown};

/// Returns the error for an item of `resources` that is not a map.
pub(crate) fn item_without_type(item: &Node, types: &Types<'_>) -> Diagnostic {
    if item.is_null() {
        return empty_item(item.span);
    }
    let error = expected("a resource type with its resources below it", item);
    let text = item.as_text().unwrap_or_default();
    let word = text.split(':').next().unwrap_or_default();
    if !types.is_type(word) {
        return error.with_hint(format!("write {} first", examples(types)));
    }
    if word == text {
        error.with_hint(format!("write `- {word}:`, and its resources as `- NAME:` below it"))
    } else {
        error.with_hint(format!("put a space after the colon: `{word}: …`"))
    }
}

/// Returns the name behind a dash without a space, such as `-file`, which YAML reads as a part of the key.
pub(crate) fn without_space(key: &str, is_name: impl Fn(&str) -> bool) -> Option<&str> {
    key.strip_prefix('-').filter(|name| is_name(name))
}

/// Returns the error for a `foreach` without resources.
pub(crate) fn foreach_without_type(key: &NodeKey, types: &Types<'_>) -> Diagnostic {
    let error = Diagnostic::error(DiagnosticKind::Missing, key.span, "this item has no resource type");
    let name = types.names().next().unwrap_or("TYPE");
    error.with_hint(format!("write the type below it, without a dash: `{name}:`"))
}

/// Returns the error for a `foreach` in a list that a template generated.
pub(crate) fn generated_foreach(key: &NodeKey) -> Diagnostic {
    let message = "a generated list can't have `foreach`";
    let error = Diagnostic::error(DiagnosticKind::Misplaced, key.span, message);
    error.with_hint("write a loop in the template: `{% for item in LIST %}`")
}

/// Returns the error for an item of `resources` without a key, or with several.
pub(crate) fn not_one_type(entries: &[NodeEntry], span: Span, types: &Types<'_>) -> Diagnostic {
    let [first, second, ..] = entries else { return empty_item(span) };
    let is_type = |entry: &&NodeEntry| types.is_type(&entry.key.text);
    let keys: Vec<&NodeEntry> = entries.iter().filter(is_type).collect();
    match keys[..] {
        [_, next, ..] => {
            let names: Vec<&str> = keys.iter().map(|entry| &*entry.key.text).collect();
            let message =
                format!("an item can have only one resource type, this one has {}", listed(&names, "and"));
            let hint = format!("write a dash before it: `- {}:`", next.key.text);
            Diagnostic::error(DiagnosticKind::Misplaced, next.key.span, message).with_hint(hint)
        }
        [only] => {
            let stray = if only.key == first.key { second } else { first };
            if foreign_words::is_loop(&stray.key.text) {
                return misspelt_foreach(&stray.key);
            }
            let (kind, name) = (&only.key.text, shown(&stray.key.text));
            let message = format!("`{name}` must be below `{kind}`, not beside it");
            let error = Diagnostic::error(DiagnosticKind::Misplaced, stray.key.span, message);
            let has_property =
                |key: &str| types.find(kind).is_some_and(|index| types.has_property(index, key));
            let is_common = CommonProperty::of(&stray.key.text).is_some() && &*stray.key.text != "alias";
            if is_common && !only.value.is_null() {
                error.with_hint(format!(
                    "write it as a property of each resource, or for all in the list below `{kind}:` as \
                     `- defaults: {{{name}: …}}`"
                ))
            } else if !has_property(&stray.key.text)
                && let Some(advice) = foreign_words::property(kind, &stray.key.text)
            {
                error.with_hint(advice).with_hint(in_each_resource(only))
            } else if has_property(&stray.key.text) && only.value.is_null() {
                error.with_hint(format!("indent `{name}`, and what belongs to it, below `{kind}:`"))
            } else if only.value.is_null() {
                let key = &*stray.key.text;
                let name = as_key(without_space(key, |_| true).unwrap_or(key));
                error.with_hint(format!("write `- {name}:`, indented below `{kind}:`"))
            } else if &*stray.key.text == NAME.name && !lacks_name(only) {
                error.with_hint(format!("remove `{name}`: the resources below `{kind}:` have their names"))
            } else if only.value.as_map().is_some() {
                error.with_hint(format!("indent the other keys below `{kind}:`"))
            } else if has_property(&stray.key.text) {
                error.with_hint(in_each_resource(only))
            } else {
                error.with_hint(format!("remove `{name}`: an item is a type with its resources below it"))
            }
        }
        [] => match (types.closest(&first.key.text), foreign_type(entries, types)) {
            (Some(_), None) => unknown_type(&first.key, types),
            (_, Some(key)) => unknown_type(key, types),
            (None, None) => {
                Diagnostic::error(DiagnosticKind::Missing, first.key.span, "this item has no resource type")
                    .with_hint(format!("write {} first, and the resource below it", examples(types)))
            }
        },
    }
}

/// Returns where the properties of the resources below a type stand.
fn in_each_resource(of_type: &NodeEntry) -> String {
    let kind = &of_type.key.text;
    if of_type.value.as_map().is_some() {
        return format!("properties of the resource stand below `{kind}:`, beside its `name`");
    }
    format!(
        "properties stand below the name of each resource, or for all in the list below `{kind}:` as \
         `- defaults: {{KEY: VALUE}}`"
    )
}

/// Returns `true` for a type whose resource is one map without its name.
fn lacks_name(of_type: &NodeEntry) -> bool {
    of_type.value.as_map().is_some_and(|map| map.get(NAME.name).is_none())
}

/// Returns the error for another word in place of `foreach`.
fn misspelt_foreach(key: &NodeKey) -> Diagnostic {
    let message = format!("unknown key `{}`", shown(&key.text));
    let error = Diagnostic::error(DiagnosticKind::UnknownKey, key.span, message);
    error.with_suggestion(Some(foreach::KEY))
}

/// Returns the key of an item that is a type of another tool. The other keys may be those of a task.
fn foreign_type<'e>(entries: &'e [NodeEntry], types: &Types<'_>) -> Option<&'e NodeKey> {
    let is_property = |key: &str| (0..types.len()).any(|index| types.has_property(index, key));
    let is_foreign = |key: &&NodeKey| foreign_words::resource_type(&key.text).is_some();
    let mut keys = entries.iter().map(|entry| &entry.key).filter(|key| !is_property(&key.text));
    // A task has a name, so that its `command` is no property.
    let is_misspelt = |entry: &NodeEntry| types.closest(&entry.key.text).is_some();
    let has_name = entries.iter().any(|entry| &*entry.key.text == NAME.name);
    let is_task = has_name && !entries.iter().any(is_misspelt);
    let of_task = || entries.iter().map(|entry| &entry.key).filter(|_| is_task);
    keys.find(is_foreign).or_else(|| of_task().find(is_foreign))
}

fn empty_item(span: Span) -> Diagnostic {
    Diagnostic::error(DiagnosticKind::Missing, span, "this item is empty")
}

fn examples(types: &Types<'_>) -> String {
    let known: Vec<String> = types.names().map(|name| format!("- {name}:")).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    listed(&known, "or")
}

pub(crate) fn unknown_type(key: &NodeKey, types: &Types<'_>) -> Diagnostic {
    if reserved::TYPES.contains(&&*key.text) {
        let error = not_supported(&key.text, key.span);
        return foreign_words::resource_type(&key.text).into_iter().fold(error, Diagnostic::with_hint);
    }
    let error = Diagnostic::error(
        DiagnosticKind::UnknownType,
        key.span,
        format!("unknown resource type `{}`", shown(&key.text)),
    );
    if let Some(advice) = foreign_words::resource_type(&key.text) {
        return error.with_hint(advice);
    }
    let short = foreign_words::short(&key.text);
    if short.len() < key.text.len() && types.find(short).is_some() {
        return error.with_hint(format!("use `{short}`"));
    }
    if let Some(suggestion) = types.closest(&key.text) {
        return error.with_suggestion(Some(suggestion));
    }
    if let Some(later) = closest(&key.text, reserved::TYPES) {
        return error.with_hint(format!("did you mean `{later}`? it is not supported in this version"));
    }
    let known: Vec<&str> = types.names().collect();
    error.with_hint(format!("use {}", listed(&known, "or")))
}

/// Advice on a list in the place of a name.
pub(crate) const A_NAME_EACH: &str = "write each name as an entry of its own: `- NAME: {…}`";

/// Returns the name that an element of a list of resources is, or the error for an element that is neither a name nor a
/// map.
pub(crate) fn lone_name(element: Node, index: usize, types: &Types<'_>) -> Result<NodeEntry, Diagnostic> {
    let span = element.span;
    if element.is_null() {
        return Err(Diagnostic::error(DiagnosticKind::Missing, span, "this entry is empty")
            .with_hint("write `- NAME:`"));
    }
    let error = expected("a name, or `NAME:` with its properties below it", &element);
    let scalar = match element.value {
        NodeValue::Scalar(scalar) => scalar,
        NodeValue::List(_) => return Err(error.with_hint(A_NAME_EACH)),
        NodeValue::Map(_) => return Err(error),
    };
    // `command:echo` and `name:` without a space are one text.
    let key = scalar.text.split(':').next().unwrap_or_default();
    let is_key = matches!(key, "name" | "defaults") || types.has_property(index, key);
    if is_key && scalar.text.len() > key.len() {
        return Err(error.with_hint(format!("put a space after the colon: `{key}: …`")));
    }
    if key == "defaults" {
        return Err(error.with_hint("write `- defaults:` with the properties below it"));
    }
    Ok(NodeEntry {
        key: NodeKey { text: scalar.text.clone(), span },
        value: Node { value: NodeValue::Map(NodeMap::default()), span },
    })
}

/// Returns `true` if a resource may be meant as the `defaults` of its list. One that is really called so has properties
/// in common with its neighbours.
pub(crate) fn may_mean_defaults(entry: &NodeEntry) -> bool {
    let has_properties = entry.value.as_map().is_some_and(|map| !map.is_empty());
    has_properties && matches!(&*entry.key.text.to_ascii_lowercase(), "default" | "defaults" | "_defaults")
}

/// Returns the warning about a resource that is called as `defaults` might be.
pub(crate) fn misspelt_defaults(name: &NodeKey) -> Diagnostic {
    let message = format!("`{}` is a resource here, and gives the others no values", name.text);
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, name.span, message);
    warning.with_hint("write `defaults:` for values of the whole list")
}

/// Returns the error for an element of a list of resources without a key, or with several.
pub(crate) fn not_one_resource(
    entries: &[NodeEntry],
    span: Span,
    has_property: impl Fn(&str) -> bool,
) -> Diagnostic {
    let [first, second, ..] = entries else {
        return Diagnostic::error(DiagnosticKind::Missing, span, "this entry is empty")
            .with_hint("write `- NAME:`");
    };
    let is_map_or_null = |entry: &NodeEntry| entry.value.is_null() || entry.value.as_map().is_some();
    let mut others = entries.iter().skip(1);
    if let Some(name) =
        entries.iter().find(|entry| &*entry.key.text == "name").and_then(|entry| entry.value.as_text())
    {
        return Diagnostic::error(
            DiagnosticKind::Misplaced,
            first.key.span,
            "a list entry must be `NAME:` with its properties below it",
        )
        .with_hint(format!(
            "remove the dash, or write `- {}:` with the properties indented below it",
            as_key(name)
        ));
    }
    if let Some(entry) = entries.iter().find(|entry| &*entry.key.text == foreach::KEY) {
        let message = "`foreach` must be beside the type, not in the list of the resources";
        return Diagnostic::error(DiagnosticKind::Misplaced, entry.key.span, message)
            .with_hint("write `- foreach: LIST`, and the type with its resources below it")
            .with_hint("for a list in a list, let an expression make one list of both");
    }
    // Ansible and others write the name as a value, such as `path: /etc/motd`.
    if let Some(value) =
        first.value.as_text().filter(|_| others.clone().all(|entry| has_property(&entry.key.text)))
    {
        let name = if has_property(&first.key.text) { "NAME".into() } else { as_key(value) };
        return Diagnostic::error(
            DiagnosticKind::Misplaced,
            first.key.span,
            "a list entry must be `NAME:` with its properties below it",
        )
        .with_hint(format!("write `- {name}:` with the properties indented below it"));
    }
    let (name, stray) = (shown(&first.key.text), shown(&second.key.text));
    if others.clone().all(|entry| has_property(&entry.key.text))
        || (first.value.is_null() && !others.clone().all(is_map_or_null))
    {
        return Diagnostic::error(
            DiagnosticKind::Misplaced,
            second.key.span,
            format!("`{stray}` must be below `{name}`, not beside it"),
        )
        .with_hint(format!("indent the properties below `{name}`"));
    }
    let error = Diagnostic::error(
        DiagnosticKind::Misplaced,
        second.key.span,
        format!("an entry can hold only one resource, this one has `{name}` and `{stray}`"),
    );
    if others.all(is_map_or_null) {
        return error.with_hint(format!("write a dash before it: `- {}:`", as_key(&second.key.text)));
    }
    error.with_hint("write `- NAME:` for each resource, with its properties indented below it")
}

pub(crate) fn not_properties(key: &NodeKey, value: &Node, has_property: impl Fn(&str) -> bool) -> Diagnostic {
    let name = shown(&key.text);
    let error = expected(&format!("the properties of `{name}`"), value);
    match &value.value {
        NodeValue::List(elements) => {
            let are_properties =
                !elements.is_empty() && elements.iter().all(|element| element.as_map().is_some());
            if are_properties { error.with_hint("remove the dashes before the properties") } else { error }
        }
        NodeValue::Map(_) => error,
        NodeValue::Scalar(scalar) => {
            let word = scalar.text.split(':').next().unwrap_or_default();
            if matches!(&*scalar.text, "present" | "absent" | "latest" | "running" | "stopped" | "directory")
                && has_property("ensure")
            {
                error.with_hint(format!("write `{{ensure: {}}}`", scalar.text))
            } else if &*key.text == "name" {
                error.with_hint(format!("remove the dash, or write `- {}:`", as_key(&scalar.text)))
            } else if word.len() < scalar.text.len() && has_property(word) {
                error.with_hint(format!("put a space after the colon: `{word}: …`"))
            } else if has_property(&key.text) {
                error.with_hint(format!(
                    "`{name}` is a property; write `- NAME:` and indent the properties below it"
                ))
            } else {
                error.with_hint("write each property as `KEY: VALUE`, indented below it")
            }
        }
    }
}

/// Returns `true` if a map without `name` looks like several resources without dashes.
pub(crate) fn is_list_without_dashes(entries: &[NodeEntry], has_property: impl Fn(&str) -> bool) -> bool {
    let is_resource = |entry: &NodeEntry| {
        (entry.value.is_null() || entry.value.as_map().is_some()) && !has_property(&entry.key.text)
    };
    !entries.is_empty() && entries.iter().all(is_resource)
}

pub(crate) fn list_without_dashes(type_key: &NodeKey, entries: &[NodeEntry]) -> Diagnostic {
    let first = entries.first().map_or(type_key, |entry| &entry.key);
    Diagnostic::error(
        DiagnosticKind::WrongType,
        first.span,
        format!("the resources below `{}` are not a list", type_key.text),
    )
    .with_hint(format!("write a dash before each: `- {}:`", as_key(&first.text)))
}
