//! Proof that a manifest changes nothing: it is loaded and planned as any other.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use ccm_engine::{NotExported, NotExportedKind};
use ccm_model::{Event, Outcome, ResourceId, Severity, error_layers};
use ccm_properties::CheckInput;

use super::manifest::{MANIFEST, is_listed, manifest_text};
use super::{PresentState, ResourceError, ResourcePresence, Unseen, guard};
use crate::canceller::Canceller;
use crate::input::{GivenValues, ManifestSource};
use crate::run::RunOptions;
use crate::session::Session;
use crate::sink::Emitted;

/// Maximum size of a manifest, in bytes.
const MAX_MANIFEST: u64 = 1 << 30;

/// Maximum number of plans. Each leaves out the resources that the one before would change.
const MAX_PLANS: usize = 5;

/// Type of what is not seen because nothing could be proved.
pub(super) const ALL_TYPES: &str = "all types";

impl Session {
    /// Leaves out the resources that are not valid, or that a run would change.
    pub(super) async fn prove(
        &self,
        state: &mut PresentState,
        directory: &Path,
        canceller: &Canceller,
    ) -> Result<(), ResourceError> {
        self.leave_out_invalid(state);
        for _ in 0..MAX_PLANS {
            leave_out_references(state, self);
            let changed = match self.planned_changes(state, directory, canceller).await? {
                Ok(changed) => changed,
                Err(reason) => {
                    let reason = NotExported::new(NotExportedKind::NotReproduced, reason);
                    state.unseen.push(Unseen { type_name: ALL_TYPES.to_owned(), reason });
                    return Ok(());
                }
            };
            if changed.is_empty() {
                return Ok(());
            }
            for resource in &mut state.resources {
                if let Some(why) = changed.get(&resource.id) {
                    let reason = NotExported::new(NotExportedKind::NotReproduced, why.clone());
                    resource.state = ResourcePresence::NotExported(guard::without_secret(reason));
                }
            }
        }
        Ok(())
    }

    /// Leaves out the resources that their types refuse.
    fn leave_out_invalid(&self, state: &mut PresentState) {
        for resource in &mut state.resources {
            let Ok(resource_type) = self.type_named(&resource.id.type_name) else { continue };
            if !matches!(resource.state, ResourcePresence::Present(_)) {
                continue;
            }
            let as_resource = resource.as_resource();
            let checked =
                CheckInput { resource: &as_resource, source_text: "", secrets: &[], subscribes: false };
            let errors = resource_type.check(&checked);
            if let Some(error) = errors.iter().find(|error| error.severity == Severity::Error) {
                let reason = format!("a manifest can't have this state: {}", error.one_line());
                let reason = NotExported::new(NotExportedKind::NoForm, reason);
                resource.state = ResourcePresence::NotExported(guard::without_secret(reason));
            }
        }
    }

    /// Plans the manifest, and returns the resources that a run would change, each with the reason. The inner error is
    /// the reason why there is no plan.
    async fn planned_changes(
        &self,
        state: &PresentState,
        directory: &Path,
        canceller: &Canceller,
    ) -> Result<Result<HashMap<ResourceId, String>, String>, ResourceError> {
        if !state.resources.iter().any(|resource| is_listed(resource, self)) {
            return Ok(Ok(HashMap::new()));
        }
        let text: Arc<str> = manifest_text(state, self).into();
        let source = ManifestSource::File(directory.join(MANIFEST));
        let values = GivenValues { no_dotenv: true, ..GivenValues::default() };
        let text = Some((MANIFEST.to_owned(), text));
        let input = match self.read_with(source, &values, MAX_MANIFEST, (text, false)) {
            Ok(input) => input,
            Err(error) => return Ok(Err(error_layers(&error).join(": "))),
        };
        let manifest = self.load(&input).map_err(ResourceError::Invalid)?;
        let mut changed = HashMap::new();
        let mut skipped = HashMap::new();
        let mut collect = |emitted: Emitted<'_>| {
            let Event::ResourceFinished(finished) = emitted.event else { return };
            let id = finished.id.clone();
            match &finished.outcome {
                Outcome::Unchanged => {}
                Outcome::Failed(failure) => drop(changed.insert(id, failure.one_line())),
                Outcome::WouldChange { message } => {
                    let reason =
                        finished.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                    changed.insert(id, format!("a run would change it: {message}{reason}"));
                }
                other => {
                    skipped.insert(id, format!("a run would not leave it unchanged: {}", other.word()));
                }
            }
        };
        let options = RunOptions { canceller: canceller.clone(), ..RunOptions::default() };
        let planned = manifest.plan(options, &mut collect).await;
        if let Err(error) = planned {
            return Ok(Err(format!(
                "nothing proves that the manifest changes nothing: {}",
                error_layers(&error).join(": ")
            )));
        }
        // A resource may be skipped only because of another one.
        Ok(Ok(if changed.is_empty() { skipped } else { changed }))
    }
}

/// Leaves out references to resources that the manifest does not have.
fn leave_out_references(state: &mut PresentState, session: &Session) {
    let listed: Vec<ResourceId> = state
        .resources
        .iter()
        .filter(|resource| is_listed(resource, session))
        .map(|resource| resource.id.clone())
        .collect();
    for resource in &mut state.resources {
        resource.require.retain(|id| listed.contains(id));
        resource.subscribe.retain(|id| listed.contains(id));
    }
}
