//! Collects what `resources` declares: its items, each of one type, and the resources below them.
//!
//! What can't be read as a resource is reported and left out. Its name is remembered, so that a reference to
//! it is not reported as well.

use std::collections::HashSet;
use std::sync::Arc;

use ccm_model::{Diagnostic, Diagnostics, Entry, Key, Map, Node, Span, Value};
use ccm_properties::CommonProperty;

use crate::common_properties::{CommonNodes, Split};
use crate::entries::{Holder, split};
use crate::slips;
use crate::types::Types;
use crate::wording::{as_key, expected, is_blank};

/// A resource as it was written.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) type_index: usize,
    pub(crate) name: Key,
    pub(crate) split: Split,
    pub(crate) defaults: Option<Arc<Defaults>>,
}

/// The defaults of one list.
#[derive(Debug)]
pub(crate) struct Defaults {
    pub(crate) common: CommonNodes,
    pub(crate) own: Arc<Map>,
    pub(crate) is_flawed: bool,
}

/// Properties that no resource has: of a resource without a usable name, or defaults that apply to nothing.
/// They are checked as those of a resource would be, and what is wrong within their place is reported.
#[derive(Debug)]
pub(crate) struct Nameless {
    pub(crate) declaration: Declaration,
    pub(crate) within: Span,
}

/// All that was found.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// In the order of the manifest.
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) nameless: Vec<Nameless>,
    /// Names of what could not be read.
    pub(crate) broken: HashSet<Box<str>>,
}

/// Collects what the items of `resources` declare.
pub(crate) fn collect(items: Vec<Node>, types: &Types<'_>, diagnostics: &mut Diagnostics) -> Collected {
    let mut collector = Collector { types, diagnostics, found: Collected::default() };
    for item in items {
        // Each mistake costs the search for what was meant, also one that nobody is told of.
        if collector.diagnostics.is_full() {
            break;
        }
        collector.item(item);
    }
    collector.found
}

struct Collector<'a, 't> {
    types: &'a Types<'t>,
    diagnostics: &'a mut Diagnostics,
    found: Collected,
}

impl Collector<'_, '_> {
    fn item(&mut self, item: Node) {
        let Value::Map(map) = item.value else {
            self.diagnostics.push(slips::item_without_type(&item, self.types));
            self.remember(&item);
            return;
        };
        if let [entry] = map.entries() {
            if self.types.find(&entry.key.text).is_none() {
                self.diagnostics.push(slips::unknown_type(&entry.key, self.types));
            }
        } else {
            self.diagnostics.push(slips::not_one_type(map.entries(), item.span, self.types));
            map.entries().iter().for_each(|entry| self.remember_name(&entry.key.text));
        }
        let is_lone = map.entries().len() == 1;
        for entry in map.into_entries() {
            match self.types.find(&entry.key.text) {
                Some(index) if is_lone || !entry.value.is_null() => self.typed(index, entry),
                _ => self.remember(&entry.value),
            }
        }
    }

    /// Collects what stands below a type.
    fn typed(&mut self, index: usize, entry: Entry) {
        let Entry { key, value } = entry;
        let is_empty = value.as_list().map_or(value.is_null(), <[Node]>::is_empty);
        if is_empty {
            let warning = Diagnostic::warning(key.span, format!("`{}` lists no resource", key.text));
            self.diagnostics.push(warning);
            return;
        }
        match value.value {
            Value::List(elements) => self.list(index, &key, elements),
            Value::Map(map) => self.single(index, &key, map, value.span),
            Value::Scalar(_) => {
                let mistake = expected("a list of resources", &value);
                let hint =
                    value.as_text().map(|text| format!("write `- {}:` below `{}:`", as_key(text), key.text));
                self.diagnostics.push(hint.into_iter().fold(mistake, Diagnostic::with_hint));
                self.remember(&value);
            }
        }
    }

    fn list(&mut self, index: usize, type_key: &Key, elements: Vec<Node>) {
        let first = self.found.declarations.len();
        let mut defaults: Option<Entry> = None;
        let mut holds_resources = false;
        for element in elements {
            let Some(entry) = self.one_key(index, element) else {
                holds_resources = true;
                continue;
            };
            if &*entry.key.text != "defaults" {
                holds_resources = true;
                self.resource(index, type_key, entry);
            } else if let Some(earlier) = &defaults {
                let mistake = Diagnostic::error(entry.key.span, "a list has one `defaults`, this is another");
                self.diagnostics.push(mistake.with_label(earlier.key.span, "the first"));
            } else {
                defaults = Some(entry);
            }
        }
        let Some(entry) = defaults else { return };
        if !holds_resources {
            let warning = Diagnostic::warning(entry.key.span, "`defaults` applies to no resource");
            self.diagnostics
                .push(warning.with_hint("it holds for the resources of the list that it stands in"));
        }
        self.defaults(index, type_key, entry, first);
    }

    /// Gives the defaults of a list to its resources, which begin at `first`.
    fn defaults(&mut self, index: usize, type_key: &Key, entry: Entry, first: usize) {
        let within = Span { end: entry.value.span.end.max(entry.key.span.end), ..entry.key.span };
        let Some(map) = self.properties_below(index, &entry.key, entry.value) else { return };
        let split = split(map, self.types.spec(index), Holder::Defaults, self.diagnostics);
        let resources = &mut self.found.declarations[first..];
        if resources.is_empty() {
            self.nameless(index, type_key, split, within);
            return;
        }
        let Split { common, own, is_flawed } = split;
        let defaults = Arc::new(Defaults { common, own: Arc::new(own), is_flawed });
        for resource in resources {
            resource.defaults = Some(Arc::clone(&defaults));
        }
    }

    /// Takes an element of a list apart, if it is a map of one key as it should be.
    fn one_key(&mut self, index: usize, element: Node) -> Option<Entry> {
        let span = element.span;
        let Value::Map(map) = element.value else {
            self.diagnostics.push(slips::no_map(&element, index, self.types));
            self.remember(&element);
            return None;
        };
        if map.entries().len() != 1 {
            let has_property = |key: &str| self.types.has_property(index, key);
            self.diagnostics.push(slips::not_one_resource(map.entries(), span, has_property));
            self.remember(&Node { value: Value::Map(map), span });
            return None;
        }
        map.into_entries().pop()
    }

    fn resource(&mut self, index: usize, type_key: &Key, entry: Entry) {
        let Entry { key, value } = entry;
        let within = value.span;
        let Some(map) = self.properties_below(index, &key, value) else {
            self.remember_name(&key.text);
            return;
        };
        let split = split(map, self.types.spec(index), Holder::Entry(&key.text), self.diagnostics);
        if is_blank(&key.text) {
            self.diagnostics.push(Diagnostic::error(key.span, "the name is empty"));
            self.nameless(index, type_key, split, within);
            return;
        }
        self.declare(index, key, split);
    }

    /// The map below a name or below `defaults`; null is an empty one.
    fn properties_below(&mut self, index: usize, key: &Key, value: Node) -> Option<Map> {
        if value.is_null() {
            return Some(Map::default());
        }
        if let Value::Map(map) = value.value {
            return Some(map);
        }
        let has_property = |key: &str| self.types.has_property(index, key);
        self.diagnostics.push(slips::no_properties(key, &value, has_property));
        if &*key.text == "name" {
            self.remember(&value);
        }
        None
    }

    /// Collects a resource that is written as one map with its name inside.
    fn single(&mut self, index: usize, type_key: &Key, map: Map, span: Span) {
        let is_name = |entry: &Entry| &*entry.key.text == "name" && !entry.value.is_null();
        let (names, others): (Vec<Entry>, Vec<Entry>) = map.into_entries().into_iter().partition(is_name);
        let Some(name) = names.into_iter().next().map(|entry| entry.value) else {
            let has_property = |key: &str| self.types.has_property(index, key);
            if slips::is_list_without_dashes(&others, has_property) {
                self.diagnostics.push(slips::list_without_dashes(type_key, &others));
                self.remember(&Node { value: Value::Map(Map::new(others)), span });
                return;
            }
            let mistake = Diagnostic::error(type_key.span, format!("this `{}` has no `name`", type_key.text));
            self.diagnostics.push(mistake.with_hint("add `name:`, or write a list of `- NAME:`"));
            self.nameless_single(index, type_key, others, span);
            return;
        };
        let mistake = match name.as_text() {
            None => expected("text", &name),
            Some(text) if is_blank(text) => Diagnostic::error(name.span, "the name is empty"),
            Some(text) => {
                let key = Key { text: text.into(), span: name.span };
                let split = split(Map::new(others), self.types.spec(index), Holder::Single, self.diagnostics);
                self.declare(index, key, split);
                return;
            }
        };
        self.diagnostics.push(mistake);
        self.nameless_single(index, type_key, others, span);
    }

    fn nameless_single(&mut self, index: usize, type_key: &Key, entries: Vec<Entry>, within: Span) {
        let split = split(Map::new(entries), self.types.spec(index), Holder::Single, self.diagnostics);
        self.nameless(index, type_key, split, within);
    }

    fn declare(&mut self, type_index: usize, name: Key, split: Split) {
        self.found.declarations.push(Declaration { type_index, name, split, defaults: None });
    }

    fn nameless(&mut self, type_index: usize, type_key: &Key, split: Split, within: Span) {
        if let Some(alias) = split.common.get(CommonProperty::Alias).and_then(Node::as_text) {
            self.remember_name(alias);
        }
        let name = Key { text: "NAME".into(), span: type_key.span };
        let declaration = Declaration { type_index, name, split, defaults: None };
        self.found.nameless.push(Nameless { declaration, within });
    }

    /// Remembers all that may be a name in what could not be read. A word too many only means that a
    /// reference to it is reported a little later.
    fn remember(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(scalar) => self.remember_name(&scalar.text),
            Value::List(elements) => elements.iter().for_each(|element| self.remember(element)),
            Value::Map(map) => {
                for entry in map.entries() {
                    self.remember_name(&entry.key.text);
                    if entry.value.as_map().is_some() || matches!(&*entry.key.text, "name" | "alias") {
                        self.remember(&entry.value);
                    }
                }
            }
        }
    }

    fn remember_name(&mut self, name: &str) {
        self.found.broken.insert(name.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_too_many_mistakes_none_is_looked_for() {
        let text = "- nosuch: {name: a}\n".repeat(30_000);
        let root = ccm_yaml::parse(ccm_model::SourceId(0), &text, &ccm_yaml::Limits::default());
        let Ok(Some(Node { value: Value::List(items), .. })) = root else { panic!("no list") };
        let mut diagnostics = Diagnostics::new();
        collect(items, &Types::new(&[]), &mut diagnostics);
        assert!(diagnostics.is_full());
        assert_eq!(diagnostics.found(), 10_001);
    }
}
