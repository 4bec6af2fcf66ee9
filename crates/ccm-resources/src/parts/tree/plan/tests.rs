use ccm_engine::ManagedPath;
use ccm_host::TreeEntry;
use ccm_properties::{OneOrMany, Text};

use super::*;
use crate::parts::tree::glob::TreeGlobs;
use crate::parts::tree::{EntryContent, PathsOfOthers};

const TABLE: &str = include_str!("../plan_table.txt");

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|part| *part != "-")
}

fn rules(text: &str) -> TreeRules {
    let value = |key: &str| parts(text).find_map(|part| part.strip_prefix(key)).map(str::to_owned);
    let mut errors = Vec::new();
    let ignore = value("ignore=").map(|pattern| OneOrMany(vec![Text(pattern)]));
    let ignore = TreeGlobs::build("ignore", ignore, &mut errors);
    assert_eq!(errors.len(), 0);
    TreeRules {
        recurse: parts(text).any(|part| part == "recurse"),
        purge: parts(text).any(|part| part == "purge"),
        force: parts(text).any(|part| part == "force"),
        ignore,
        mode: value("mode=").map(|mode| u32::from_str_radix(&mode, 8).unwrap()),
    }
}

fn desired(text: &str) -> DesiredEntry {
    let entry = |path: &str, kind| DesiredEntry { path: path.into(), kind };
    if let Some((path, target)) = text.split_once('>') {
        return entry(path, DesiredKind::Link(target.into()));
    }
    let Some((path, content)) = text.split_once('=') else {
        return entry(text.trim_end_matches('/'), DesiredKind::Directory);
    };
    let content = EntryContent::Text(content.as_bytes().into());
    let is_executable = path.ends_with('*');
    entry(path.trim_end_matches('*'), DesiredKind::File { content, is_executable })
}

fn found(text: &str, source: &[DesiredEntry]) -> FoundEntry {
    let (text, mode) = text.split_once(':').map_or((text, None), |(text, mode)| (text, Some(mode)));
    let (path, kind, content) = match text.split_once(['>', '=']) {
        Some((path, target)) if text.contains('>') => (path, TreeEntryKind::Link(target.into()), ""),
        Some((path, content)) => (path, TreeEntryKind::File, content),
        None => match text.split_at(text.len() - 1) {
            (path, "/") => (path, TreeEntryKind::Directory { is_mount: false }, ""),
            (path, "@") => (path, TreeEntryKind::Directory { is_mount: true }, ""),
            (path, _) => (path, TreeEntryKind::Special("a pipe"), ""),
        },
    };
    let mode = mode.map_or(0o644, |mode| u32::from_str_radix(mode, 8).unwrap());
    let is_same = source.iter().any(|desired| {
        desired.path == Path::new(path)
            && matches!(&desired.kind, DesiredKind::File { content: EntryContent::Text(text), .. }
                if &**text == content.as_bytes())
    });
    let size = content.len() as u64;
    FoundEntry { entry: TreeEntry { path: path.into(), kind, mode, uid: 0, gid: 0, size }, is_same }
}

fn managed(text: &str) -> PathsOfOthers {
    PathsOfOthers::new(parts(text).map(|part| {
        let (path, extent) = match part.split_at(part.len() - 1) {
            (path, "~") => (path, ManagedExtent::Attributes),
            (path, "/") => (path, ManagedExtent::Tree),
            (path, "^") => (path, ManagedExtent::Existence),
            _ => (part, ManagedExtent::Whole),
        };
        ManagedPath { path: path.into(), extent }
    }))
}

fn shown(change: &TreeChange) -> String {
    let path = change.path.display();
    let mode =
        |attributes: &FileAttributes| attributes.mode.map(|mode| format!(" {mode:04o}")).unwrap_or_default();
    match &change.kind {
        TreeChangeKind::MakeDirectory(attributes) => format!("make {path}/{}", mode(attributes)),
        TreeChangeKind::Write { old: None, attributes, .. } => format!("make {path}{}", mode(attributes)),
        TreeChangeKind::Write { attributes, .. } => format!("write {path}{}", mode(attributes)),
        TreeChangeKind::MakeLink { to, .. } => format!("link {path} to {}", to.display()),
        TreeChangeKind::SetAttributes { attributes, .. } => format!("set {path}{}", mode(attributes)),
        TreeChangeKind::Remove { size: RemovedSize { files, bytes, is_tree }, .. } => {
            format!("remove {path} ({files}, {bytes}{})", if *is_tree { ", all" } else { "" })
        }
    }
}

#[test]
fn changes_match_the_table() {
    let mut rows = 0;
    for row in TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        // A pipe stands for itself where no space is before it.
        let (conditions, expected) = row.split_once(" | ").unwrap();
        let [rules_text, source, there, others] =
            conditions.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
        let source: Vec<DesiredEntry> = parts(source).map(desired).collect();
        let state = TreeState {
            found: parts(there).map(|text| found(text, &source)).collect(),
            desired: source,
            managed: managed(others),
            ..TreeState::default()
        };
        let decided = match changes(Path::new("/t"), &rules(rules_text), &state) {
            Err(failure) => failure.chain.into_iter().find(|part| part.contains("\"/t/")).unwrap_or_default(),
            Ok(changes) if changes.is_empty() => "-".to_owned(),
            // Directories are marked in the table.
            Ok(changes) => {
                let is_directory = |change: &&TreeChange| {
                    state.found.iter().any(|found| {
                        found.entry.path == change.path
                            && matches!(found.entry.kind, TreeEntryKind::Directory { .. })
                    })
                };
                let texts = changes.iter().map(|change| {
                    let (verb, path) = (shown(change), format!(" {}", change.path.display()));
                    let mark = if is_directory(&change) { "/" } else { "" };
                    verb.replacen(&path, &format!("{path}{mark}"), 1)
                });
                texts.collect::<Vec<_>>().join(", ")
            }
        };
        assert_eq!(decided, expected.trim(), "{row}");
        rows += 1;
    }
    assert_eq!(rows, 49);
}

#[test]
fn many_entries_are_compared_with_many_paths_of_others() {
    const NUMBER: usize = 20_000;
    let paths: Vec<String> = (0..NUMBER).map(|number| format!("{number:06}")).collect();
    let found = |path: &String| found(&format!("{path}=1:0600"), &[]);
    let managed =
        |path: &String| ManagedPath { path: format!("{path}/x").into(), extent: ManagedExtent::Whole };
    let state = TreeState {
        found: paths.iter().map(found).collect(),
        managed: PathsOfOthers::new(paths.iter().map(managed)),
        ..TreeState::default()
    };
    let rules = TreeRules { recurse: true, purge: true, mode: Some(0o640), ..TreeRules::default() };
    assert_eq!(changes(Path::new("/t"), &rules, &state).map(|changes| changes.len()), Ok(NUMBER));
}
