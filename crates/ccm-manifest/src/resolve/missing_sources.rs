//! Files that resources copy and that do not exist now.

use std::path::{Path, PathBuf};

use ccm_model::{Control, Diagnostic, DiagnosticKind, Diagnostics, ResourceIndex, Span, normalize};
use ccm_properties::{TreeTemplates, is_any_url};

use super::copied_sources::{self, MAX_BYTES, MAX_FILES, is_of_other_tool, may_be_mistaken};
use super::messages::shown;
use crate::read::draft::ResourceDraft;
use crate::scopes::Scopes;
use crate::sources::{CopiedContent, CopiedFile};

/// File that a resource copies and that does not exist now.
pub(crate) struct MissingSource {
    pub(crate) resource: ResourceIndex,
    pub(crate) property: &'static str,
    pub(crate) span: Span,
    pub(crate) path: PathBuf,
}

/// Returns the files that managed resources copy and that do not exist now. Warns of others that are copied as they are,
/// although they hold expressions.
pub(crate) fn find(
    drafts: &[ResourceDraft],
    scopes: &Scopes<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Vec<MissingSource> {
    let report = |warning: Option<Diagnostic>, draft: &ResourceDraft, diagnostics: &mut Diagnostics| {
        // Most files have no warning.
        if warning.is_some() {
            diagnostics.set_context(scopes.context_of(draft));
            diagnostics.extend(warning);
            diagnostics.set_context(None);
        }
    };
    let copied_content = |path: &Path, copy: &Path, is_absolute| {
        let copy = scopes.context.omitted.copied.then_some(copy);
        scopes.context.sources.copied_content(&CopiedFile { path, is_absolute, copy, max_bytes: MAX_BYTES })
    };
    let mut missing = |(index, draft): (usize, &ResourceDraft)| {
        let (property, inline) = scopes.types.spec(draft.type_index).sources()?.template()?;
        let Some(node) = draft.resource.properties.get(property) else {
            report(path_as_content(draft, scopes, property, inline), draft, diagnostics);
            return None;
        };
        let is_managed = matches!(draft.resource.control, Control::Managed);
        if draft.has_errors || !is_managed || draft.found.is_unknown(node.span) {
            return None;
        }
        // A type refuses a URL that it can't read itself.
        let written = node.as_text().filter(|written| !is_any_url(written))?;
        let path = normalize(&scopes.manifests[draft.manifest].directory.join(written));
        let is_absolute = written.starts_with('/');
        let is_omitted = scopes.context.omitted.files && is_absolute;
        let ensure = draft.resource.ensure.as_ref().map(|ensure| &*ensure.value);
        let tree = scopes.types.spec(draft.type_index).sources()?.tree(ensure);
        let is_tree = tree.is_some();
        let target = Path::new(&*draft.resource.id.name);
        // What `ignore` leaves out is not known here.
        let is_whole = draft.resource.properties.get("ignore").is_none();
        if !is_omitted && is_whole && tree.is_some_and(|tree| tree.templates == TreeTemplates::Named) {
            let files = scopes.context.sources.files_below(&path).unwrap_or_default();
            let names = files.iter().filter_map(|file| file.to_str()).filter(|name| may_be_mistaken(name));
            for name in names.take(MAX_FILES) {
                let (file, copy) = (path.join(name), target.join(name));
                if let CopiedContent::Read(content) = copied_content(&file, &copy, is_absolute) {
                    let written = format!("{}/{name}", written.trim_end_matches('/'));
                    let warning = copied_sources::warning(&content, &written, property, node.span);
                    report(warning, draft, diagnostics);
                }
            }
        }
        let is_missing = if is_omitted {
            true
        } else if is_tree || !(may_be_mistaken(written) || is_of_other_tool(written, target)) {
            scopes.context.sources.is_missing(&path, is_absolute)
        } else {
            match copied_content(&path, target, is_absolute) {
                CopiedContent::Read(content) => {
                    let warning = || copied_sources::warning(&content, written, property, node.span);
                    let foreign = is_of_other_tool(written, target)
                        .then(|| copied_sources::foreign_template(&content, written, property, node.span));
                    report(foreign.flatten().or_else(warning), draft, diagnostics);
                    false
                }
                other => other == CopiedContent::Missing,
            }
        };
        let resource = ResourceIndex::from_usize(index);
        is_missing.then_some(MissingSource { resource, property, span: node.span, path })
    };
    drafts.iter().enumerate().filter_map(&mut missing).collect()
}

/// Returns the warning about the path of a file beside the manifest in place of its content.
fn path_as_content(
    draft: &ResourceDraft,
    scopes: &Scopes<'_, '_>,
    property: &str,
    inline: &'static str,
) -> Option<Diagnostic> {
    const MAX_PATH: usize = 200;
    let node = draft.resource.properties.get(inline)?;
    let is_path = |text: &&str| {
        let is_shaped = text.contains('.') && !text.starts_with(['/', '.']) && text.len() <= MAX_PATH;
        is_shaped && !text.contains(|part: char| part.is_whitespace() || part.is_control())
    };
    let text = node.as_text().filter(is_path)?;
    let path = normalize(&scopes.manifests[draft.manifest].directory.join(text));
    if scopes.context.sources.is_missing(&path, false) {
        return None;
    }
    let text = shown(text);
    let message = format!("the content is the text `{text}`, which is the path of a file");
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message);
    let warning = Diagnostic { property: Some(inline.into()), ..warning };
    Some(warning.with_hint(format!("write `{property}: {text}`")))
}
