//! Notes about data: texts that other programs take for booleans, and data files that no machine reads.

use std::path::Path;
use std::sync::Arc;

use ccm_data::hierarchy::{self, Hierarchy, level_of};
use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeMap, NodeValue, ScalarStyle};

use crate::read::levels::OTHER_ENDINGS;
use crate::resolve::declared_data::DeclaredData;
use crate::resolve::eval_context::EvalContext;
use crate::resolve::messages::shown;
use crate::resolve::scope::ManifestScope;

/// Plain words that YAML 1.1 takes for booleans, in lower case, with what they mean there.
const BOOLEANS: [(&str, bool); 6] =
    [("yes", true), ("on", true), ("y", true), ("no", false), ("off", false), ("n", false)];

/// Data files that notes are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotedFiles {
    /// Those that no entry of `order` can name.
    WithoutLevel,
    /// Also those of levels that this machine does not have.
    Unread,
}

/// Returns the notes about the data of all manifests.
pub(crate) fn notes(
    manifests: &[ManifestScope],
    context: &EvalContext<'_>,
    extent: NotedFiles,
) -> Vec<Diagnostic> {
    let mut notes = Diagnostics::new();
    let mut before: Option<&Arc<DeclaredData>> = None;
    for manifest in manifests {
        let Some(declared) = &manifest.declared else { continue };
        // The resources of a template, and the items of a list, have scopes of their own.
        if before.is_some_and(|before| Arc::ptr_eq(before, declared)) {
            continue;
        }
        before = Some(declared);
        let overrides = declared.nodes.overrides.iter().filter_map(|entry| entry.value.as_map());
        let overrides = overrides.flat_map(NodeMap::entries).map(|entry| &entry.value);
        for node in declared.nodes.data.iter().map(|entry| &entry.value).chain(overrides) {
            note_booleans(node, &mut notes);
        }
        for entry in declared.files.iter().flat_map(NodeMap::entries) {
            note_booleans(&entry.value, &mut notes);
        }
        note_files(manifest, declared, context, extent, &mut notes);
        note_levels(manifest, declared, context, &mut notes);
    }
    notes.into_vec()
}

fn note_booleans(node: &Node, notes: &mut Diagnostics) {
    match &node.value {
        NodeValue::Scalar(scalar) if scalar.style == ScalarStyle::Plain && scalar.text.len() <= 3 => {
            let found = BOOLEANS.iter().find(|(word, _)| scalar.text.eq_ignore_ascii_case(word));
            let Some((_, meant)) = found else { return };
            let word = &scalar.text;
            let message = format!("`{word}` is text, and no boolean as in YAML 1.1");
            notes.push(
                Diagnostic::note(DiagnosticKind::WrongType, node.span, message)
                    .with_hint(format!("write `{meant}` for the boolean, or `\"{word}\"` for the text")),
            );
        }
        NodeValue::Scalar(_) => {}
        NodeValue::List(elements) => elements.iter().for_each(|element| note_booleans(element, notes)),
        NodeValue::Map(map) => map.entries().iter().for_each(|entry| note_booleans(&entry.value, notes)),
    }
}

/// Adds notes about the files of the directory of data files.
fn note_files(
    manifest: &ManifestScope,
    declared: &DeclaredData,
    context: &EvalContext<'_>,
    extent: NotedFiles,
    notes: &mut Diagnostics,
) {
    let Some(entry) = declared.nodes.hierarchy.as_ref().filter(|entry| !entry.value.is_null()) else {
        return;
    };
    // Reading the manifest has reported the errors.
    let hierarchy = hierarchy::read(&entry.key, &entry.value, &mut Diagnostics::new());
    let Some((written, span)) = &hierarchy.data_dir else { return };
    if context.omitted.files && written.starts_with('/') {
        return;
    }
    let directory = manifest.resolve(written);
    let Ok(mut files) = context.sources.files_below(&directory) else { return };
    files.sort_unstable();
    // Reading the level has warned of a file with another ending.
    let is_reported = |file: &Path| {
        let is_other =
            file.extension().is_some_and(|ending| OTHER_ENDINGS.iter().any(|other| ending == *other));
        let meant = file.with_extension("yaml");
        let level = meant.to_str().and_then(level_of).filter(|_| is_other);
        level.is_some_and(|level| declared.has_level(&level)) && !files.contains(&meant)
    };
    for file in files.iter().filter(|file| !is_reported(file)) {
        let Some(below) = file.to_str() else { continue };
        let Some(reason) = reason(&hierarchy, below, || declared.has_read(&directory.join(file)), extent)
        else {
            continue;
        };
        let path = Path::new(&**written).join(file);
        let message = format!("{} the data file `{}`", reason.message, shown(&path.display().to_string()));
        let note = Diagnostic::note(DiagnosticKind::NoEffect, *span, message);
        notes.push(reason.hint.into_iter().fold(note, Diagnostic::with_hint));
    }
}

/// Adds notes about entries of `order` that have neither an override nor a data file on any machine.
fn note_levels(
    manifest: &ManifestScope,
    declared: &DeclaredData,
    context: &EvalContext<'_>,
    notes: &mut Diagnostics,
) {
    let Some(entry) = declared.nodes.hierarchy.as_ref().filter(|entry| !entry.value.is_null()) else {
        return;
    };
    let hierarchy = hierarchy::read(&entry.key, &entry.value, &mut Diagnostics::new());
    let overrides = declared.nodes.overrides.iter().filter_map(|entry| entry.value.as_map());
    let mut names: Vec<String> =
        overrides.flat_map(NodeMap::entries).map(|entry| entry.key.text.to_string()).collect();
    let mut place = String::new();
    if let Some((written, _)) = &hierarchy.data_dir {
        // Another machine may have other files in a directory of its own.
        let Ok(files) = context.sources.files_below(&manifest.resolve(written)) else { return };
        if written.starts_with('/') {
            return;
        }
        names.extend(files.iter().filter_map(|file| level_of(file.to_str()?)));
        place = format!(" and no file below `{}`", shown(written));
    }
    for entry in hierarchy.unmatched(&names) {
        let message = format!("this level is empty on every machine: no override{place} has such a name");
        notes.push(Diagnostic::note(DiagnosticKind::NoEffect, entry.span, message));
    }
}

/// Reason why a data file has no effect.
struct UnusedFile {
    message: &'static str,
    hint: Option<String>,
}

/// Returns the reason why a file has no effect, given by its path below the directory. Files with other endings, such as a
/// README, are no data files.
fn reason(
    hierarchy: &Hierarchy,
    below: &str,
    is_read: impl Fn() -> bool,
    extent: NotedFiles,
) -> Option<UnusedFile> {
    let is_hidden = below.split('/').any(|part| part.starts_with('.'));
    if is_hidden {
        return None;
    }
    if let Some(base) = below.strip_suffix(".yml") {
        let hint = Some(format!("call it `{}.yaml`", shown(base)));
        return Some(UnusedFile { message: "ccm never reads", hint });
    }
    let named =
        |level: &str| hierarchy.can_name(level).then(|| format!("{}.yaml", shown(&level.replace(':', "/"))));
    let hint = match below.rsplit_once('/').unwrap_or(("", below)) {
        (_, file) if file.contains(':') => named(below.strip_suffix(".yaml").unwrap_or(below)),
        ("", _) => None,
        (_, file) if !file.contains('.') => named(&below.replace('/', ":")),
        _ => below.strip_suffix(".json").and_then(|base| named(&base.replace('/', ":"))),
    };
    if let Some(path) = hint {
        let hint = Some(format!("call it `{path}`"));
        return Some(UnusedFile { message: "ccm never reads", hint });
    }
    let name = level_of(below)?;
    if hierarchy.can_name(&name) {
        let is_unread = extent == NotedFiles::Unread && !is_read();
        return is_unread.then_some(UnusedFile { message: "no machine of the matrix reads", hint: None });
    }
    let hint = match hierarchy.near_name(&name) {
        Some((meant, _)) => format!("did you mean `{}.yaml`?", shown(&meant.replace(':', "/"))),
        None => {
            format!("add an entry such as `{}` to `order`, or remove the file", hierarchy::entry_for(&name))
        }
    };
    Some(UnusedFile { message: "no entry of `order` names", hint: Some(hint) })
}
