//! Health checks of a manifest, after all of its resources.

use ccm_model::{Event, Outcome, Resource, ResourceIndex, ResourceStarted, SkipCause, Transaction};

use super::{Walk, output_of};
use crate::harness::handle_node;
use crate::shown;
use crate::step::{NodeBinder, ResourceStep, StepResult};

impl Walk<'_> {
    /// Runs the health checks of the manifest, unless the run was stopped. They are no resource, and count only if
    /// they fail.
    pub(crate) async fn check_manifest(&mut self, checks: &Resource, on_event: &mut dyn FnMut(Event)) {
        let at = self.run.host.clock.now();
        let began = self.run.host.clock.monotonic();
        self.notice_stop();
        let (outcome, result) = if let Some(by) = self.stopped.clone() {
            (Outcome::Skipped { cause: SkipCause::Stopped { by } }, StepResult::default())
        } else {
            on_event(Event::ResourceStarted(ResourceStarted { id: checks.id.clone() }));
            // No resource of the catalog is at this position.
            let index = ResourceIndex::from_usize(self.run.catalog.resources.len());
            let step = ResourceStep::of(self, index, checks, (&NodeBinder, self.groups.of_run(), None));
            let unchecked = (Outcome::Unchanged, StepResult::default());
            handle_node(&step, unchecked, &mut output_of(&checks.id, on_event)).await
        };
        self.notice_stop();
        result.health_checks.iter().for_each(|check| self.checks.add(check.status));
        self.checks.not_run += result.checks_not_run;
        self.counts.failed += usize::from(matches!(outcome, Outcome::Failed(_)));
        let noop = self.run.noop && !matches!(outcome, Outcome::Skipped { .. });
        let outcome = shown::outcome(outcome, &checks.properties);
        on_event(Event::ResourceFinished(Box::new(Transaction {
            id: checks.id.clone(),
            alias: None,
            at,
            duration: self.run.elapsed(began),
            provider: None,
            requested_ensure: String::new(),
            final_ensure: None,
            outcome,
            noop,
            would_fail: false,
            action: None,
            properties: checks.properties.clone(),
            presentation: Vec::new(),
            reason: None,
            guards: Vec::new(),
            health_checks: result.health_checks,
            triggered_by: Vec::new(),
            pending_refreshes: Vec::new(),
            warnings: result.warnings,
            notes: result.notes,
            state: None,
            diff: None,
        })));
    }
}
