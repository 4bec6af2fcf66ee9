//! Equal declarations of a resource in several manifests, which are one resource.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use ccm_data::nodes;
use ccm_expr::Value;
use ccm_model::{Control, Diagnostic, DiagnosticKind, Diagnostics, GroupIndex, ResourceIndex, listed};

use super::equality::{Difference, difference};
use super::group_order::{GroupOrder, group_nodes};
use super::messages::shown;
use super::scope::{DeferredOn, ManagedPaths};
use crate::read::common_properties::Reference;
use crate::read::draft::ResourceDraft;
use crate::scopes::Scopes;

/// Positions of the declarations once equal ones are one resource.
#[derive(Default)]
pub(crate) struct Positions {
    /// For each declaration, the resource that it is. Empty if all declarations stay.
    resources: Vec<ResourceIndex>,
}

/// Merges equal declarations of one resource, and reports those that differ. The first one stays, unless another one is to
/// run before it or the first one is not managed.
pub(crate) fn merge(
    drafts: &mut Vec<ResourceDraft>,
    scopes: &Scopes<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Positions {
    let mut stands_for = equal_children(drafts, scopes, diagnostics);
    let sets = declarations(drafts, &stands_for);
    if sets.is_empty() && stands_for.is_empty() {
        return Positions::default();
    }
    let mut order = GroupOrder::of(drafts);
    for set in sets {
        let equal = equal_declarations(&set, drafts, scopes, diagnostics);
        let owner = owner(&equal, drafts, scopes, &mut order);
        stands_for.extend(equal.into_iter().filter(|index| *index != owner).map(|index| (index, owner)));
    }
    if stands_for.is_empty() {
        return Positions::default();
    }
    let resource_of = |mut index: usize| {
        while let Some(owner) = stands_for.get(&index) {
            index = *owner;
        }
        index
    };
    for index in 0..drafts.len() {
        let owner = resource_of(index);
        if owner != index {
            let draft = &drafts[index];
            if draft.child.is_some() || draft.same_child.is_some() {
                // Its own properties are no part of what was compared.
                let text = &scopes.manifests[draft.manifest].text;
                draft.check(scopes.types, text, &[], diagnostics);
            }
            let merged = Merged::take(&mut drafts[index]);
            merged.add_to(&mut drafts[owner]);
        }
    }
    let mut resources = Vec::with_capacity(drafts.len());
    let mut next = 0;
    for index in 0..drafts.len() {
        resources.push(ResourceIndex::from_usize(next));
        next += usize::from(!stands_for.contains_key(&index));
    }
    for index in stands_for.keys() {
        resources[*index] = resources[resource_of(*index)];
    }
    let mut index = 0;
    drafts.retain(|_| {
        index += 1;
        !stands_for.contains_key(&(index - 1))
    });
    let positions = Positions { resources };
    for draft in drafts {
        positions.update_deferred(draft);
    }
    positions
}

impl Positions {
    /// Changes positions of declarations to those of their resources.
    pub(crate) fn update(&self, managed: &mut ManagedPaths) {
        if self.resources.is_empty() {
            return;
        }
        for by in managed.values_mut() {
            for index in by.iter_mut() {
                *index = self.resources[index.get()];
            }
            by.dedup();
        }
    }

    fn update_deferred(&self, draft: &mut ResourceDraft) {
        for (on, _) in draft.control_deferred_on.iter_mut().chain(&mut draft.found.deferred_on) {
            if let DeferredOn::File(index) | DeferredOn::Execution(index) = on {
                *index = self.resources[index.get()];
            }
        }
    }
}

/// Returns the resources of manifests that were applied before with equal resources, each with the first one.
fn equal_children(
    drafts: &[ResourceDraft],
    scopes: &Scopes<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> HashMap<usize, usize> {
    let mut stands_for = HashMap::new();
    if scopes.children.groups.is_empty() {
        return stands_for;
    }
    let nodes = group_nodes(drafts);
    let mut by_path: HashMap<&Path, Vec<usize>> = HashMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        if let Some(path) = &draft.child {
            by_path.entry(path).or_default().push(index);
        }
    }
    let with_members = |index: usize| {
        let group = drafts[index].resource.node_of;
        (index, group.map(|group| members(drafts, group, scopes)).unwrap_or_default())
    };
    let several = by_path.into_values().filter(|all| all.len() > 1);
    let mut applied: Vec<Vec<(usize, Vec<usize>)>> =
        several.map(|all| all.into_iter().map(with_members).collect()).collect();
    // The outer manifests first, so that a whole child is compared once.
    applied.sort_unstable_by_key(|all| (std::cmp::Reverse(all[0].1.len()), all[0].0));
    for all in &applied {
        for (at, (later, members)) in all.iter().enumerate() {
            if stands_for.contains_key(later) {
                continue;
            }
            let equal = all[..at].iter().find(|(first, others)| {
                let pairs = others
                    .iter()
                    .zip(members)
                    .all(|(one, other)| is_same_member(&drafts[*one], &drafts[*other], scopes));
                !stands_for.contains_key(first) && members.len() == others.len() && pairs
            });
            let Some((first, others)) = equal else { continue };
            stands_for.insert(*later, *first);
            stands_for.extend(members.iter().copied().zip(others.iter().copied()));
        }
    }
    for (index, draft) in drafts.iter().enumerate() {
        if let Some(first) = draft.same_child.and_then(|group| nodes.get(&group)) {
            stands_for.insert(index, *first);
        }
    }
    for (later, first) in &stands_for {
        let pair = [&drafts[*first], &drafts[*later]];
        let is_node = pair[1].child.is_some() || pair[1].same_child.is_some();
        if is_node && pair[0].resource.group == pair[1].resource.group {
            diagnostics.push(applied_twice(pair, scopes));
        }
    }
    stands_for
}

/// Returns the resources in a group and in the groups in it.
fn members(drafts: &[ResourceDraft], group: GroupIndex, scopes: &Scopes<'_, '_>) -> Vec<usize> {
    let groups = &scopes.children.groups;
    let is_member = |draft: &ResourceDraft| {
        std::iter::successors(draft.resource.group, |inner| groups[inner.get()].parent)
            .any(|around| around == group)
    };
    let found = drafts.iter().enumerate().filter(|(_, draft)| is_member(draft));
    found.map(|(index, _)| index).collect()
}

fn is_same_member(one: &ResourceDraft, other: &ResourceDraft, scopes: &Scopes<'_, '_>) -> bool {
    let is_same_name = one.type_index == other.type_index && one.resource.id.name == other.resource.id.name;
    let is_valid = [one, other].iter().all(|draft| draft.has_name && !draft.has_errors);
    let is_equal = match (&one.child, &other.child) {
        (None, None) => difference(one, other, scopes).is_none(),
        (child, other_child) => child == other_child,
    };
    is_same_name && is_valid && is_equal
}

/// Returns the sets of declarations with one type and name.
fn declarations(drafts: &[ResourceDraft], stands_for: &HashMap<usize, usize>) -> Vec<Vec<usize>> {
    let mut first_of: HashMap<(usize, &str), usize> = HashMap::with_capacity(drafts.len());
    // Sorted, so that each run reports the same errors.
    let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let all = drafts.iter().enumerate();
    for (index, draft) in all.filter(|(index, draft)| draft.has_name && !stands_for.contains_key(index)) {
        match first_of.entry((draft.type_index, &draft.resource.id.name)) {
            Entry::Vacant(free) => drop(free.insert(index)),
            Entry::Occupied(first) => {
                sets.entry(*first.get()).or_insert_with(|| vec![*first.get()]).push(index);
            }
        }
    }
    sets.into_values().collect()
}

/// Returns the declarations that are one resource with the first one, itself included, and reports those that differ from it.
fn equal_declarations(
    set: &[usize],
    drafts: &mut [ResourceDraft],
    scopes: &Scopes<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Vec<usize> {
    let (first, others) = (set[0], &set[1..]);
    let mut equal = vec![first];
    for &index in others {
        let [one, other] = [&drafts[first], &drafts[index]];
        let is_one_manifest = one.resource.group == other.resource.group;
        let is_one_foreach = is_one_manifest && one.resource.span == other.resource.span;
        if is_one_foreach || one.has_errors || other.has_errors {
            // The name table reports duplicates of one manifest. Errors may be the only difference between several.
            drafts[index].has_name &= is_one_manifest;
            continue;
        }
        let id = shown(&other.resource.id.to_string());
        let merges = scopes.types.spec(other.type_index).merges() && other.child.is_none();
        let difference = if merges { difference(one, other, scopes) } else { Some(Difference::NeverMerged) };
        match difference {
            None if is_one_manifest => {
                let message = format!("`{id}` is declared twice, with the same properties");
                let warning = Diagnostic::warning(DiagnosticKind::NoEffect, other.resource.span, message);
                diagnostics
                    .push(warning.with_label(one.resource.span, "the first").with_hint("remove one of them"));
                equal.push(index);
            }
            None => equal.push(index),
            Some(_) if is_one_manifest => {}
            Some(difference) => {
                diagnostics.push(conflict(&id, &difference, [one, other], drafts));
                drafts[index].has_name = false;
            }
        }
    }
    equal
}

/// Returns the warning about a manifest that is applied twice and brings the same resources.
fn applied_twice(pair: [&ResourceDraft; 2], scopes: &Scopes<'_, '_>) -> Diagnostic {
    let [first, second] = pair.map(|draft| shown(&draft.resource.id.to_string()));
    let warning = |message: String, hint: &str| {
        Diagnostic::warning(DiagnosticKind::NoEffect, pair[1].resource.span, message)
            .with_label(pair[0].resource.span, "the first")
            .with_hint(hint)
    };
    let keys = differing_keys(pair, scopes);
    if keys.is_empty() {
        let message = format!("`{second}` applies the same manifest with the same data as `{first}`");
        return warning(message, "remove one of them, or give it other `data`");
    }
    let keys: Vec<String> = keys.iter().map(|key| shown(key)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let (verb, keys) = (if keys.len() == 1 { "differs" } else { "differ" }, listed(&keys, "and"));
    warning(
        format!("`{second}` brings the same resources as `{first}`, although {keys} of its `data` {verb}"),
        "use the value in resources of that manifest, such as in their names, or remove one of the two",
    )
}

/// Returns the keys of the data that two resources hand over with other values.
fn differing_keys(pair: [&ResourceDraft; 2], scopes: &Scopes<'_, '_>) -> Vec<String> {
    let [one, other] = pair.map(|draft| {
        let child = scopes.types.spec(draft.type_index).child_manifest(&draft.resource);
        child.and_then(|child| child.data).map(nodes::to_value).unwrap_or_default()
    });
    let keys = |value: &Value| match value {
        Value::Map(map) => map.keys().map(ToString::to_string).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let all: BTreeSet<String> = keys(&one).into_iter().chain(keys(&other)).collect();
    all.into_iter().filter(|key| one.get(key) != other.get(key)).collect()
}

fn conflict(
    id: &str,
    difference: &Difference,
    [one, other]: [&ResourceDraft; 2],
    drafts: &[ResourceDraft],
) -> Diagnostic {
    let nodes = group_nodes(drafts);
    let by = |draft: &ResourceDraft| {
        let node = draft.resource.group.and_then(|group| nodes.get(&group));
        node.map_or_else(
            || "the given manifest".to_owned(),
            |node| format!("`{}`", shown(&drafts[*node].resource.id.to_string())),
        )
    };
    let (first, second) = (by(one), by(other));
    let message = match difference {
        Difference::NeverMerged => {
            format!(
                "`{id}` is declared by {first} and by {second}; an `{}` can't be shared",
                other.resource.id.type_name
            )
        }
        Difference::Late => format!(
            "`{id}` is declared by {first} and by {second}, and it is known only during the run if they are equal"
        ),
        Difference::Noop => {
            format!("`{id}` is declared by {first} and by {second}, and only one of them is in noop")
        }
        Difference::Properties(names) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("`{id}` is declared by {first} and by {second}, with different {}", listed(&names, "and"))
        }
    };
    let hint = match difference {
        Difference::NeverMerged if one.resource.span == other.resource.span => {
            "add a value of its data to the name, such as `{{ Data.NAME }}`"
        }
        Difference::NeverMerged => {
            "give one of them another name, or move it into a manifest that both apply"
        }
        Difference::Late | Difference::Noop | Difference::Properties(_) => {
            "write the same properties, or move the resource into a manifest that both apply"
        }
    };
    let error = Diagnostic::error(DiagnosticKind::DuplicateResource, other.resource.span, message);
    error.with_label(one.resource.span, "the first").with_hint(hint)
}

/// Returns the declaration that stays: a managed one whose manifest does not come after that of another one.
fn owner(
    equal: &[usize],
    drafts: &[ResourceDraft],
    scopes: &Scopes<'_, '_>,
    order: &mut GroupOrder,
) -> usize {
    let is_off = |index: &usize| matches!(drafts[*index].resource.control, Control::NotManaged { .. });
    let mut candidates: Vec<usize> = equal.iter().copied().filter(|index| !is_off(index)).collect();
    if candidates.is_empty() {
        candidates = equal.to_vec();
    }
    let first = candidates[0];
    let is_first = |index: &usize| {
        let others = equal.iter().filter(|other| *other != index);
        let before = order.before(drafts[*index].resource.group, drafts, scopes);
        !others.into_iter().any(|other| before.contains(other))
    };
    candidates.into_iter().find(is_first).unwrap_or(first)
}

/// Parts of a declaration that the resource gets.
struct Merged {
    require: Vec<Reference>,
    subscribe: Vec<Reference>,
    subscribes: bool,
    names: Vec<Arc<str>>,
}

impl Merged {
    fn take(draft: &mut ResourceDraft) -> Self {
        let mut names = std::mem::take(&mut draft.resource.aliases);
        names.insert(0, Arc::clone(&draft.resource.id.name));
        Self {
            require: std::mem::take(&mut draft.require),
            subscribe: std::mem::take(&mut draft.subscribe),
            subscribes: draft.subscribes,
            names,
        }
    }

    fn add_to(self, draft: &mut ResourceDraft) {
        let add = |to: &mut Vec<Reference>, from: Vec<Reference>| {
            for reference in from {
                if !to.iter().any(|known| known.0.as_text() == reference.0.as_text()) {
                    to.push(reference);
                }
            }
        };
        add(&mut draft.require, self.require);
        add(&mut draft.subscribe, self.subscribe);
        draft.subscribes |= self.subscribes;
        let resource = &mut draft.resource;
        for name in self.names {
            if name != resource.id.name && !resource.aliases.contains(&name) {
                resource.aliases.push(name);
            }
        }
    }
}
