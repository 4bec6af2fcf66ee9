//! Files that resources copy and that do not exist now.

use std::path::PathBuf;

use ccm_model::{Control, ResourceIndex, Span, normalize};
use ccm_properties::is_any_url;

use crate::read::draft::ResourceDraft;
use crate::scopes::Scopes;

/// File that a resource copies and that does not exist now.
pub(crate) struct MissingSource {
    pub(crate) resource: ResourceIndex,
    pub(crate) property: &'static str,
    pub(crate) span: Span,
    pub(crate) path: PathBuf,
}

/// Returns the files that managed resources copy and that do not exist now.
pub(crate) fn find(drafts: &[ResourceDraft], scopes: &Scopes<'_, '_>) -> Vec<MissingSource> {
    let missing = |(index, draft): (usize, &ResourceDraft)| {
        let (property, _) = scopes.types.spec(draft.type_index).sources()?.template()?;
        let node = draft.resource.properties.get(property)?;
        let is_managed = matches!(draft.resource.control, Control::Managed);
        if draft.has_errors || !is_managed || draft.found.is_unknown(node.span) {
            return None;
        }
        // A type refuses a URL that it can't read itself.
        let written = node.as_text().filter(|written| !is_any_url(written))?;
        let path = normalize(&scopes.manifests[draft.manifest].directory.join(written));
        let is_absolute = written.starts_with('/');
        let is_missing = (scopes.context.omitted.files && is_absolute)
            || scopes.context.sources.is_missing(&path, is_absolute);
        let resource = ResourceIndex::from_usize(index);
        is_missing.then_some(MissingSource { resource, property, span: node.span, path })
    };
    drafts.iter().enumerate().filter_map(missing).collect()
}
