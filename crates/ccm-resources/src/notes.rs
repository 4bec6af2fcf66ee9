//! Notes on a manifest that is valid, but may not do what its author wants.

use std::collections::HashMap;
use std::path::Path;

use ccm_model::{
    Catalog, Control, Diagnostic, DiagnosticKind, Node, NodeValue, Resource, ResourceIndex, ScalarKind,
    split_words,
};

use crate::parts::systemd::units::UNIT_DIRECTORIES;

/// Programs that create accounts, the name of which is their last argument.
const ACCOUNT_PROGRAMS: &[&str] = &["useradd", "adduser", "groupadd", "addgroup"];

/// Returns notes on the resources of a catalog, in the order of the manifest. `order` is the order of a run.
pub fn notes(catalog: &Catalog, order: &[ResourceIndex]) -> Vec<Diagnostic> {
    let managed: Vec<&Resource> = order
        .iter()
        .map(|index| catalog.resource(*index))
        .filter(|resource| !matches!(resource.control, Control::NotManaged { .. }))
        .collect();
    let mut notes = Vec::new();
    notes.extend(managed.iter().filter_map(|resource| always_changes(resource)));
    notes.extend(managed.iter().filter_map(|resource| contradicting_guards(resource)));
    notes.extend(managed.iter().filter_map(|resource| template_in_content(resource)));
    notes.extend(unit_files_after_services(&managed));
    notes.extend(accounts_after_files(&managed));
    notes.sort_by_key(|note| note.span().map(|span| (span.source, span.start)));
    // The resources of a `foreach` have a location in common, and a note for the first is enough.
    notes.dedup_by_key(|note| (note.span(), note.kind));
    notes
}

/// Returns the note on an exec that runs in every run.
fn always_changes(exec: &Resource) -> Option<Diagnostic> {
    let is_given = |name: &str| exec.properties.get(name).is_some_and(|value| !is_empty(value));
    let decides = ["creates", "onlyif", "unless", "unchanged_returns"].into_iter().any(is_given);
    let is_true =
        |value: &Node| value.as_scalar().is_none_or(|scalar| scalar.kind() != ScalarKind::Bool(false));
    let waits = ["refresh_only", "refreshonly"]
        .into_iter()
        .any(|name| exec.properties.get(name).is_some_and(is_true));
    (&*exec.id.type_name == "exec" && !decides && !waits).then(|| {
        let message = format!("{} runs in every run, because nothing decides whether it has to", exec.id);
        Diagnostic::note(DiagnosticKind::AlwaysChanges, exec.span, message).with_hint(
            "add `creates`, `onlyif`, `unless` or `unchanged_returns`, or `refresh_only: true` with `subscribe`",
        )
    })
}

/// Returns the note on an exec that runs if a command succeeds, unless the same command succeeds.
fn contradicting_guards(exec: &Resource) -> Option<Diagnostic> {
    let guards = |name: &str| {
        let node = exec.properties.get(name).filter(|_| &*exec.id.type_name == "exec");
        let all = node.map(|node| node.as_list().unwrap_or(std::slice::from_ref(node)));
        all.unwrap_or_default().iter().filter_map(Node::as_text)
    };
    guards("onlyif").find(|guard| guards("unless").any(|other| other == *guard))?;
    let message = format!("{} never runs: `onlyif` and `unless` have the same command", exec.id);
    let span = exec.properties.get("unless").map_or(exec.span, |node| node.span);
    Some(Diagnostic::note(DiagnosticKind::NoEffect, span, message).with_hint("remove one of them"))
}

/// Returns the note on a file whose content has tags of a template, which stay as they are.
fn template_in_content(file: &Resource) -> Option<Diagnostic> {
    let content = text_of(file, "content").filter(|_| &*file.id.type_name == "file")?;
    let has_tags = ["{% for ", "{% if ", "{% set ", "{% include "].iter().any(|tag| content.contains(tag));
    let note = |tags: &str, hint: &str| {
        let message = format!("the content of {} has `{tags}`, but `content` is no template", file.id);
        Diagnostic::note(DiagnosticKind::NoEffect, file.span, message).with_hint(hint)
    };
    if has_tags && content.contains("%}") {
        return Some(note("{% … %}", "put the text into a file NAME.j2, and write `source: NAME.j2`"));
    }
    // A variable of Puppet, in a template and in data. Templates of other programs have other tags too.
    let of_puppet = [("<%= @", "%>", "<%= @… %>"), ("%{::", "}", "%{::…}"), ("%{facts.", "}", "%{facts.…}")];
    of_puppet
        .iter()
        .find(|(start, end, _)| content.contains(start) && content.contains(end))
        .map(|(_, _, tags)| note(tags, "write `{{ Data.KEY }}` or `{{ Facts.host.info.KEY }}` for a value"))
}

/// Returns the notes on services that a run reaches before their unit files.
fn unit_files_after_services(managed: &[&Resource]) -> Vec<Diagnostic> {
    let mut services: HashMap<String, &Resource> = HashMap::new();
    let mut notes = Vec::new();
    for resource in managed {
        match &*resource.id.type_name {
            "service" => {
                let name = text_of(resource, "name").unwrap_or(&resource.id.name);
                let unit = if name.contains('.') { name.to_owned() } else { format!("{name}.service") };
                services.insert(unit, resource);
            }
            "file" if !resource.is_absent() => {
                let Some(service) = unit_of(&resource.id.name).and_then(|unit| services.get(unit)) else {
                    continue;
                };
                let message = format!("{} comes before its unit file", service.id);
                notes.push(
                    Diagnostic::note(DiagnosticKind::Unordered, service.span, message)
                        .with_label(resource.span, "this file comes later")
                        .with_hint(format!(
                            "add `subscribe: [{}]` to the service, which also restarts it after a change",
                            resource.id
                        )),
                );
            }
            _ => {}
        }
    }
    notes
}

/// Returns the unit that a file belongs to: its own, or the one that a drop-in extends.
fn unit_of(path: &str) -> Option<&str> {
    let below = UNIT_DIRECTORIES.iter().find_map(|directory| path.strip_prefix(directory))?;
    let below = below.strip_prefix('/')?;
    match below.split_once('/') {
        None => Some(below),
        Some((directory, name)) if !name.contains('/') => directory.strip_suffix(".d"),
        Some(_) => None,
    }
}

/// Returns the notes on files whose owner or group a later exec creates.
fn accounts_after_files(managed: &[&Resource]) -> Vec<Diagnostic> {
    let mut later: HashMap<String, &Resource> = HashMap::new();
    let mut notes = Vec::new();
    for resource in managed.iter().rev() {
        if let Some(account) = created_account(resource) {
            later.insert(account, resource);
            continue;
        }
        for property in ["owner", "group", "user"] {
            let Some(exec) = text_of(resource, property).and_then(|name| later.get(name)) else { continue };
            let message =
                format!("{} names an account in `{property}` before {} creates it", resource.id, exec.id);
            notes.push(
                Diagnostic::note(DiagnosticKind::Unordered, resource.span, message)
                    .with_label(exec.span, "this exec comes later")
                    .with_hint(format!("add `require: [{}]`", exec.id)),
            );
        }
    }
    notes.reverse();
    notes
}

/// Returns the name of the account that an exec creates.
fn created_account(exec: &Resource) -> Option<String> {
    let is_exec = &*exec.id.type_name == "exec";
    let command = text_of(exec, "command").filter(|text| !text.is_empty()).unwrap_or(&exec.id.name);
    let words = split_words(command).ok().filter(|_| is_exec)?;
    let program = Path::new(words.first()?).file_name()?.to_str()?;
    let account = words.last().filter(|word| words.len() > 1 && !word.starts_with('-'))?;
    ACCOUNT_PROGRAMS.contains(&program).then(|| account.clone())
}

fn is_empty(value: &Node) -> bool {
    matches!(&value.value, NodeValue::List(elements) if elements.is_empty())
}

fn text_of<'r>(resource: &'r Resource, property: &str) -> Option<&'r str> {
    resource.properties.get(property).and_then(Node::as_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_units() {
        for (path, unit) in [
            ("/etc/systemd/system/web.service", Some("web.service")),
            ("/etc/systemd/system/web.service.d/limits.conf", Some("web.service")),
            ("/lib/systemd/system/web.timer", Some("web.timer")),
            ("/etc/systemd/system/multi-user.target.wants/web.service", None),
            ("/etc/systemd/system.conf", None),
            ("/etc/systemd/system/web.service.d/more/limits.conf", None),
            ("/etc/web.service", None),
        ] {
            assert_eq!(unit_of(path), unit, "{path}");
        }
    }
}
