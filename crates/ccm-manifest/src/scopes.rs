//! Facts, types and scopes that all steps of loading share.

use std::sync::Arc;

use ccm_model::DiagnosticContext;

use crate::read::children::ChildManifests;
use crate::read::draft::ResourceDraft;
use crate::read::types::Types;
use crate::resolve::eval_context::EvalContext;
use crate::resolve::scope::{ManifestEvaluator, ManifestScope, Phase};

/// Scopes of the manifests that were read so far.
pub(crate) struct Scopes<'s, 't> {
    pub(crate) context: EvalContext<'s>,
    pub(crate) types: &'t Types<'s>,
    /// Scopes in the order of reading.
    pub(crate) manifests: Vec<ManifestScope>,
    pub(crate) children: ChildManifests,
}

impl<'s> Scopes<'s, '_> {
    /// Returns what evaluates the expressions of a manifest.
    pub(crate) fn evaluator<'a>(&'a self, manifest: usize, phase: Phase<'a>) -> ManifestEvaluator<'a, 's> {
        ManifestEvaluator::new(&self.context, &self.manifests[manifest], phase)
    }

    /// Returns the context of diagnostics about a resource.
    pub(crate) fn context_of(&self, draft: &ResourceDraft) -> Option<Arc<dyn DiagnosticContext>> {
        self.manifests[draft.manifest].item.context()
    }
}
