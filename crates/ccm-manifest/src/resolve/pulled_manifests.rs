//! Warnings about manifests in a checkout that the same run updates.

use std::path::PathBuf;

use ccm_model::{Control, Diagnostic, DiagnosticKind, Diagnostics, normalize};

use crate::read::draft::ResourceDraft;
use crate::resolve::messages::shown;
use crate::scopes::Scopes;

/// Warns of child manifests below a directory that a resource fetches: they are loaded before the directory is up to date.
pub(crate) fn warn(drafts: &[ResourceDraft], scopes: &Scopes<'_, '_>, diagnostics: &mut Diagnostics) {
    let is_managed = |draft: &&ResourceDraft| {
        draft.has_name && !matches!(draft.resource.control, Control::NotManaged { .. })
    };
    let fetched = |draft| {
        let draft: &ResourceDraft = draft;
        let path = scopes.types.spec(draft.type_index).fetched_directory(&draft.resource)?;
        Some((draft, normalize(path.as_ref())))
    };
    let fetched: Vec<(&ResourceDraft, PathBuf)> =
        drafts.iter().filter(is_managed).filter_map(fetched).collect();
    if fetched.is_empty() {
        return;
    }
    for draft in drafts.iter().filter(is_managed) {
        let Some(child) = scopes.types.spec(draft.type_index).child_manifest(&draft.resource) else {
            continue;
        };
        let path = scopes.manifests[draft.manifest].resolve(child.path);
        let Some((checkout, _)) = fetched.iter().find(|(_, directory)| path.starts_with(directory)) else {
            continue;
        };
        diagnostics.set_context(scopes.context_of(draft));
        let message = format!(
            "the manifest `{}` is loaded before {} updates it: a change is applied one run late, and after an error in it \
             nothing is updated any more",
            shown(child.path),
            shown(&checkout.resource.id.to_string())
        );
        diagnostics.push(
            Diagnostic::warning(DiagnosticKind::Unordered, draft.resource.span, message)
                .with_label(checkout.resource.span, "the checkout")
                .with_hint("pull the repository by a manifest of its own that is applied before, so that this one is read once it is complete"),
        );
    }
    diagnostics.set_context(None);
}
