//! Collects the resources that the items of `resources` declare. An invalid resource is reported and skipped.
//! Its possible names are recorded, so that references to it are not reported as well.

use std::collections::HashSet;
use std::sync::Arc;

use ccm_model::{
    Diagnostic, DiagnosticKind, Diagnostics, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Span,
};
use ccm_properties::CommonProperty;

use crate::read::common_properties::{CommonNodes, SplitProperties};
use crate::read::entries::{Holder, split_properties};
use crate::read::foreach::{self, Foreach};
use crate::read::shape_errors;
use crate::read::types::Types;
use crate::resolve::messages::{as_key, expected, is_blank};

#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) type_index: usize,
    pub(crate) name: NodeKey,
    pub(crate) split: SplitProperties,
    pub(crate) defaults: Option<Arc<Defaults>>,
}

#[derive(Debug)]
pub(crate) struct Defaults {
    pub(crate) common: CommonNodes,
    pub(crate) own: Arc<NodeMap>,
    pub(crate) has_errors: bool,
}

/// Properties without a resource: the name is invalid, or they are the defaults of an empty list. Errors
/// within this span are reported.
#[derive(Debug)]
pub(crate) struct Nameless {
    pub(crate) declaration: Declaration,
    pub(crate) within: Span,
    /// Expressions may use the item of a `foreach`.
    pub(crate) in_foreach: bool,
}

impl Declaration {
    /// Returns `true` if the resource sets a property itself that a map has.
    fn has_any_of(&self, properties: &Node) -> bool {
        properties.as_map().is_some_and(|map| {
            map.entries().iter().any(|NodeEntry { key, .. }| {
                match CommonProperty::of(&key.text).filter(|found| found.is_apart()) {
                    Some(common) => self.split.common.get(common).is_some(),
                    None => self.split.own.entry(&key.text).is_some(),
                }
            })
        })
    }

    /// Approximate size in bytes of the parts that each item of a `foreach` copies.
    pub(crate) fn footprint(&self) -> usize {
        let nodes =
            self.split.common.nodes().chain(self.split.own.entries().iter().map(|entry| &entry.value));
        self.name.text.len() + size_of::<Self>() + nodes.map(Node::footprint).sum::<usize>()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) nameless: Vec<Nameless>,
    /// Lists for which declarations are repeated, in the order of their declarations.
    pub(crate) foreach: Vec<Foreach>,
    /// Possible names of invalid resources.
    pub(crate) invalid_names: HashSet<Box<str>>,
}

/// Collects the resources of `resources`, or of a list that a template generated.
pub(crate) fn collect(
    items: Vec<Node>,
    types: &Types<'_>,
    is_generated: bool,
    diagnostics: &mut Diagnostics,
) -> Collected {
    let mut collector = Collector { types, is_generated, diagnostics, found: Collected::default() };
    for item in items {
        // Each error costs a search for the closest name, even if it is not reported.
        if collector.diagnostics.is_full() {
            break;
        }
        collector.item(item);
    }
    collector.found
}

struct Collector<'a, 't> {
    types: &'a Types<'t>,
    is_generated: bool,
    diagnostics: &'a mut Diagnostics,
    found: Collected,
}

impl Collector<'_, '_> {
    fn item(&mut self, item: Node) {
        let NodeValue::Map(mut map) = item.value else {
            self.diagnostics.push(shape_errors::item_without_type(&item, self.types));
            self.record_names(&item);
            return;
        };
        let Some(NodeEntry { key, value: list }) = map.take(foreach::KEY) else {
            self.map(map, item.span);
            return;
        };
        if map.is_empty() {
            self.diagnostics.push(shape_errors::foreach_without_type(&key, self.types));
            return;
        }
        let span = item.span;
        let (first, first_nameless) = (self.found.declarations.len(), self.found.nameless.len());
        self.map(map, span);
        for nameless in &mut self.found.nameless[first_nameless..] {
            nameless.in_foreach = true;
        }
        if self.is_generated {
            self.diagnostics.push(shape_errors::generated_foreach(&key));
            return;
        }
        let declarations = first..self.found.declarations.len();
        self.found.foreach.push(Foreach { key, list, span, declarations });
    }

    /// Collects the resources of an item without its `foreach`.
    fn map(&mut self, map: NodeMap, span: Span) {
        if let [entry] = map.entries() {
            if self.types.find(&entry.key.text).is_none() {
                self.diagnostics.push(shape_errors::unknown_type(&entry.key, self.types));
            }
        } else {
            self.diagnostics.push(shape_errors::not_one_type(map.entries(), span, self.types));
            map.entries().iter().for_each(|entry| self.record_name(&entry.key.text));
        }
        let is_lone = map.entries().len() == 1;
        for entry in map.into_entries() {
            match self.types.find(&entry.key.text) {
                Some(index) if is_lone || !entry.value.is_null() => self.resources_of_type(index, entry),
                _ => self.record_names(&entry.value),
            }
        }
    }

    fn resources_of_type(&mut self, index: usize, entry: NodeEntry) {
        let NodeEntry { key, value } = entry;
        let is_empty = value.as_list().map_or(value.is_null(), <[Node]>::is_empty);
        if is_empty {
            let message = format!("`{}` lists no resource", key.text);
            // An empty list is written on purpose, while a key without a value may lack its indented list.
            if value.is_null() {
                self.diagnostics.push(Diagnostic::warning(DiagnosticKind::NoEffect, key.span, message));
            }
            return;
        }
        match value.value {
            NodeValue::List(elements) => self.list(index, &key, elements),
            NodeValue::Map(map) => self.single_resource(index, &key, map, value.span),
            NodeValue::Scalar(_) => {
                let error = expected("a list of resources", &value);
                let hint = value.as_text().map(|text| {
                    let names: Vec<String> = text.split(", ").map(as_key).collect();
                    match &names[..] {
                        [_, _, ..] if !text.contains(['{', '"', '\'']) => {
                            format!("write `{}: [{}]`", key.text, names.join(", "))
                        }
                        _ => format!("write `- {}:` below `{}:`", as_key(text), key.text),
                    }
                });
                self.diagnostics.push(hint.into_iter().fold(error, Diagnostic::with_hint));
                self.record_names(&value);
            }
        }
    }

    fn list(&mut self, index: usize, type_key: &NodeKey, elements: Vec<Node>) {
        let first = self.found.declarations.len();
        let mut defaults: Option<NodeEntry> = None;
        let mut holds_resources = false;
        let mut doubtful = None;
        for element in elements {
            let Some(entry) = self.only_entry(index, element) else {
                holds_resources = true;
                continue;
            };
            if &*entry.key.text != "defaults" {
                holds_resources = true;
                if shape_errors::may_mean_defaults(&entry) {
                    doubtful = Some(entry.clone());
                }
                self.resource(index, type_key, entry);
            } else if let Some(earlier) = &defaults {
                let error = Diagnostic::error(
                    DiagnosticKind::DuplicateKey,
                    entry.key.span,
                    "a list can have only one `defaults`",
                );
                self.diagnostics.push(error.with_label(earlier.key.span, "the first"));
            } else {
                defaults = Some(entry);
            }
        }
        if let Some(entry) = doubtful.filter(|_| defaults.is_none()) {
            let mut others = self.found.declarations[first..].iter().filter(|other| other.name != entry.key);
            if others.any(|other| !other.has_any_of(&entry.value)) {
                self.diagnostics.push(shape_errors::misspelt_defaults(&entry.key));
            }
        }
        let Some(entry) = defaults else { return };
        if !holds_resources {
            let warning = Diagnostic::warning(
                DiagnosticKind::NoEffect,
                entry.key.span,
                "`defaults` applies to no resource",
            );
            self.diagnostics.push(warning.with_hint("move `defaults` into the list of the resources"));
        }
        self.defaults(index, type_key, entry, first);
    }

    /// Attaches the defaults of a list to its resources, which begin at `first`.
    fn defaults(&mut self, index: usize, type_key: &NodeKey, entry: NodeEntry, first: usize) {
        let within = Span { end: entry.value.span.end.max(entry.key.span.end), ..entry.key.span };
        let Some(map) = self.properties_below(index, &entry.key, entry.value) else { return };
        let split = split_properties(map, self.types.spec(index), Holder::Defaults, self.diagnostics);
        let resources = &mut self.found.declarations[first..];
        if resources.is_empty() {
            self.nameless(index, type_key, split, within);
            return;
        }
        let SplitProperties { common, own, has_errors } = split;
        let defaults = Arc::new(Defaults { common, own, has_errors });
        for resource in resources {
            resource.defaults = Some(Arc::clone(&defaults));
        }
    }

    /// Returns the only entry of a list element, or a name without properties, or reports another shape.
    fn only_entry(&mut self, index: usize, element: Node) -> Option<NodeEntry> {
        let span = element.span;
        let NodeValue::Map(map) = element.value else {
            let names = element.clone();
            let read = shape_errors::lone_name(element, index, self.types);
            return read
                .map_err(|error| {
                    self.diagnostics.push(error);
                    self.record_names(&names);
                })
                .ok();
        };
        if map.entries().len() != 1 {
            let has_property = |key: &str| self.types.has_property(index, key);
            self.diagnostics.push(shape_errors::not_one_resource(map.entries(), span, has_property));
            self.record_names(&Node { value: NodeValue::Map(map), span });
            return None;
        }
        map.into_entries().pop()
    }

    fn resource(&mut self, index: usize, type_key: &NodeKey, entry: NodeEntry) {
        let NodeEntry { key, value } = entry;
        let within = value.span;
        let Some(map) = self.properties_below(index, &key, value) else {
            self.record_name(&key.text);
            return;
        };
        let split = split_properties(map, self.types.spec(index), Holder::Entry(&key.text), self.diagnostics);
        if is_blank(&key.text) {
            self.diagnostics.push(Diagnostic::error(DiagnosticKind::Missing, key.span, "the name is empty"));
            self.nameless(index, type_key, split, within);
            return;
        }
        self.declare(index, key, split);
    }

    /// Returns the properties of a resource or of `defaults`. Null means no properties.
    fn properties_below(&mut self, index: usize, key: &NodeKey, value: Node) -> Option<NodeMap> {
        if value.is_null() {
            return Some(NodeMap::default());
        }
        if let NodeValue::Map(map) = value.value {
            return Some(map);
        }
        let has_property = |key: &str| self.types.has_property(index, key);
        self.diagnostics.push(shape_errors::not_properties(key, &value, has_property));
        if &*key.text == "name" {
            self.record_names(&value);
        }
        None
    }

    /// Collects a resource that is written as one map with `name`.
    fn single_resource(&mut self, index: usize, type_key: &NodeKey, map: NodeMap, span: Span) {
        let is_name = |entry: &NodeEntry| &*entry.key.text == "name" && !entry.value.is_null();
        let (names, others): (Vec<NodeEntry>, Vec<NodeEntry>) =
            map.into_entries().into_iter().partition(is_name);
        let Some(name) = names.into_iter().next().map(|entry| entry.value) else {
            let has_property = |key: &str| self.types.has_property(index, key);
            if shape_errors::is_list_without_dashes(&others, has_property) {
                self.diagnostics.push(shape_errors::list_without_dashes(type_key, &others));
                self.record_names(&Node { value: NodeValue::Map(NodeMap::new(others)), span });
                return;
            }
            let error = Diagnostic::error(
                DiagnosticKind::Missing,
                type_key.span,
                format!("this `{}` has no `name`", type_key.text),
            );
            self.diagnostics.push(error.with_hint("add `name:`, or write a list of `- NAME:`"));
            self.nameless_single(index, type_key, others, span);
            return;
        };
        let error = match name.as_text() {
            None => {
                let error = expected("text", &name);
                let is_list = name.as_list().is_some();
                if is_list { error.with_hint(shape_errors::A_NAME_EACH) } else { error }
            }
            Some(text) if is_blank(text) => {
                Diagnostic::error(DiagnosticKind::Missing, name.span, "the name is empty")
            }
            Some(text) => {
                let key = NodeKey { text: text.into(), span: name.span };
                let split = split_properties(
                    NodeMap::new(others),
                    self.types.spec(index),
                    Holder::Single,
                    self.diagnostics,
                );
                self.declare(index, key, split);
                return;
            }
        };
        self.diagnostics.push(error);
        self.nameless_single(index, type_key, others, span);
    }

    fn nameless_single(&mut self, index: usize, type_key: &NodeKey, entries: Vec<NodeEntry>, within: Span) {
        let split =
            split_properties(NodeMap::new(entries), self.types.spec(index), Holder::Single, self.diagnostics);
        self.nameless(index, type_key, split, within);
    }

    fn declare(&mut self, type_index: usize, name: NodeKey, split: SplitProperties) {
        self.found.declarations.push(Declaration { type_index, name, split, defaults: None });
    }

    fn nameless(&mut self, type_index: usize, type_key: &NodeKey, split: SplitProperties, within: Span) {
        if let Some(alias) = split.common.get(CommonProperty::Alias).and_then(Node::as_text) {
            self.record_name(alias);
        }
        let name = NodeKey { text: "NAME".into(), span: type_key.span };
        let declaration = Declaration { type_index, name, split, defaults: None };
        self.found.nameless.push(Nameless { declaration, within, in_foreach: false });
    }

    /// Records every possible name in an invalid resource; a wrong one at worst hides a bad reference.
    fn record_names(&mut self, node: &Node) {
        match &node.value {
            NodeValue::Scalar(scalar) => self.record_name(&scalar.text),
            NodeValue::List(elements) => elements.iter().for_each(|element| self.record_names(element)),
            NodeValue::Map(map) => {
                for entry in map.entries() {
                    self.record_name(&entry.key.text);
                    if entry.value.as_map().is_some() || matches!(&*entry.key.text, "name" | "alias") {
                        self.record_names(&entry.value);
                    }
                }
            }
        }
    }

    fn record_name(&mut self, name: &str) {
        self.found.invalid_names.insert(name.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collecting_stops_after_too_many_errors() {
        let text = "- nosuch: {name: a}\n".repeat(30_000);
        let root = ccm_yaml::parse(ccm_model::SourceId(0), &text, &ccm_yaml::Limits::default());
        let Ok(Some(Node { value: NodeValue::List(items), .. })) = root else { panic!("no list") };
        let mut diagnostics = Diagnostics::new();
        collect(items, &Types::new(&[]), false, &mut diagnostics);
        assert!(diagnostics.is_full());
        assert_eq!(diagnostics.found(), 10_001);
    }
}
