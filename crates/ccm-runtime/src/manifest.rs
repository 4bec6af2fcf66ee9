//! Manifests that were loaded and checked.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use ccm_governance::policy::{Caller, GuardMode};
use ccm_governance::signed::{ManifestSignature, ManifestSignatureError};
use ccm_graph::{Graph, RenderFormat};
use ccm_manifest::{LateResources, LoadResult, OmittedInputs, load_omitting};
use ccm_model::{Catalog, Diagnostic, Findings, ManifestErrors};

use crate::early_policy::{EarlyInput, JudgedManifest, early_denials};
use crate::evaluate::EvaluatedData;
use crate::findings::redacted;
use crate::input::Input;
use crate::session::Session;

/// A manifest without an error, ready to be planned or applied.
pub struct LoadedManifest<'s> {
    pub(crate) session: &'s Session,
    pub(crate) input: &'s Input,
    pub(crate) catalog: Catalog,
    pub(crate) loaded: LoadResult<'s>,
    warnings: Findings,
    /// The manifest as it was judged, if a run has to remember that.
    pub(crate) judged: Option<JudgedManifest>,
    pub(crate) signature: OnceCell<Result<ManifestSignature, Arc<ManifestSignatureError>>>,
    /// Id of the intent by which an approver has approved the manifest with all its files.
    pub(crate) approved: OnceCell<String>,
}

impl Session {
    /// Loads and checks a manifest. Nothing is run.
    pub fn load<'s>(&'s self, input: &'s Input) -> Result<LoadedManifest<'s>, ManifestErrors> {
        // What an earlier run copied was searched by that run, and `validate` searches everything.
        let omitted = OmittedInputs { copied: true, ..OmittedInputs::default() };
        // One command is no manifest that a later run could know.
        self.load_with(input, omitted, input.executor().is_none() && !input.is_declared())
    }

    /// Loads and checks a manifest without these inputs of its machine. It is not fit for a run if any was left out.
    pub(crate) fn load_omitting<'s>(
        &'s self,
        input: &'s Input,
        omitted: OmittedInputs,
    ) -> Result<LoadedManifest<'s>, ManifestErrors> {
        self.load_with(input, omitted, false)
    }

    /// Loads a manifest. With `may_know`, commands are not judged that were judged before an earlier run.
    fn load_with<'s>(
        &'s self,
        input: &'s Input,
        omitted: OmittedInputs,
        may_know: bool,
    ) -> Result<LoadedManifest<'s>, ManifestErrors> {
        let mut loaded = load_omitting(input.request(), &self.specs(), &*input.machine, omitted);
        self.secrets.add(loaded.data.secrets.iter().cloned());
        input.machine.explain_missing_facts(&mut loaded.diagnostics);
        let mut texts = loaded.texts();
        // A file of facts that no expression names has to be readable as well.
        let unread = input.machine.errors_of_unread(&mut texts);
        loaded.diagnostics.extend(input.machine.unused_assignments(&texts));
        let mut catalog = loaded.catalog.take().filter(|_| unread.is_empty());
        loaded.diagnostics.extend(unread);
        let mut judged = catalog
            .as_ref()
            .filter(|_| may_know)
            .and_then(|found| self.judged_manifest(input.full_name(), found, &loaded.late));
        let is_known = judged.as_ref().is_some_and(|judged| self.knows(judged));
        // A policy with errors is reported before the run begins.
        if let Some(found) = catalog.as_ref().filter(|_| !is_known)
            && let Ok(Some(checked)) = self.governance.policy()
        {
            let input = EarlyInput {
                policy: &checked.policy,
                types: &self.types,
                catalog: found,
                late: &loaded.late,
            };
            let denials = early_denials(&input, &mut texts);
            if !denials.is_empty() {
                catalog = None;
                loaded.diagnostics.extend(denials);
            }
        }
        match catalog {
            Some(catalog) => {
                let warnings = redacted(loaded.diagnostics.clone(), &texts, &self.secrets);
                let signature = OnceCell::new();
                judged = judged.filter(|_| !is_known && self.judges());
                Ok(LoadedManifest {
                    session: self,
                    input,
                    catalog,
                    loaded,
                    warnings,
                    judged,
                    signature,
                    approved: OnceCell::new(),
                })
            }
            None => Err(self.errors(loaded.diagnostics, &texts)),
        }
    }
}

impl Session {
    /// Returns the manifest as it is judged under the policy; `None` without one.
    fn judged_manifest(
        &self,
        name: &str,
        catalog: &Catalog,
        late: &LateResources<'_>,
    ) -> Option<JudgedManifest> {
        let found = self.governance.found_policy().ok()?;
        (!found.is_absent()).then(|| JudgedManifest::of(&found.digest(), name, catalog, late))
    }

    /// Returns `true` if the policy can be used, and refuses what it denies.
    fn judges(&self) -> bool {
        let policy = self.governance.policy().ok().flatten();
        policy.is_some_and(|checked| checked.policy.guard_mode(Caller::Apply) != GuardMode::Audit)
    }

    fn knows(&self, judged: &JudgedManifest) -> bool {
        self.state_path().is_ok_and(|state| judged.is_known(&state))
    }
}

impl LoadedManifest<'_> {
    /// Returns the input that the manifest was loaded from.
    pub fn input(&self) -> &Input {
        self.input
    }

    /// Returns the resources and their edges.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> &Findings {
        &self.warnings
    }

    /// Returns the values in the data of the manifest, each with the levels that it comes from.
    pub fn data(&self) -> EvaluatedData {
        EvaluatedData::of_manifest(self.loaded.data.clone())
    }

    /// Returns the warnings, then the notes. Those of one of several machines, `is_of_matrix`, name the data files that it
    /// does not read.
    pub(crate) fn warnings_and_notes(&self, is_of_matrix: bool) -> Findings {
        self.redacted(self.all_notes(is_of_matrix))
    }

    /// Returns the warnings and notes with those that are only for a strict validation; `None` if there are none of these.
    pub(crate) fn strict_findings(&self, is_of_matrix: bool) -> Option<Findings> {
        let unused = self.loaded.unused_keys();
        if unused.is_empty() {
            return None;
        }
        let mut all = self.all_notes(is_of_matrix);
        all.extend(unused);
        Some(self.redacted(all))
    }

    fn all_notes(&self, is_of_matrix: bool) -> Vec<Diagnostic> {
        let order = Graph::of(&self.catalog).order();
        let mut all = self.loaded.diagnostics.clone();
        all.extend(self.loaded.data_notes(is_of_matrix));
        all.extend(ccm_resources::notes(&self.catalog, &order));
        all
    }

    fn redacted(&self, diagnostics: Vec<Diagnostic>) -> Findings {
        redacted(diagnostics, &self.loaded.texts(), &self.session.secrets)
    }

    /// Returns the manifest with all values filled in, as YAML without secrets.
    pub fn render(&self) -> Result<String, ManifestErrors> {
        ccm_manifest::render(&self.catalog, &self.loaded)
            .map_err(|diagnostics| self.session.errors(diagnostics, &self.loaded.texts()))
    }

    /// Returns the order of the resources and their edges, without secrets.
    pub fn graph(&self, format: RenderFormat) -> String {
        let redacted = |text: &str| self.session.secrets.redact(text).into_owned();
        // Pictures escape characters in a way in which a secret is not found any more.
        redacted(&ccm_graph::render(&self.catalog, format, &redacted))
    }
}

impl fmt::Debug for LoadedManifest<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resources = self.catalog.resources.len();
        formatter.debug_struct("Manifest").field("resources", &resources).finish_non_exhaustive()
    }
}
