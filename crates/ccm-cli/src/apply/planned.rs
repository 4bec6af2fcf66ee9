//! `ccm apply --plan-out` and `--plan`: a plan that is written or followed.

use std::path::Path;
use std::sync::Arc;

use ccm_runtime::plan::{PlanDifference, PlanMaker, PlanSignature};
use ccm_runtime::{ActiveRun, ExitCode, Input, LoadedManifest, RunOptions, Session};

use super::ApplyContext;
use crate::error::{CommandError, CommandResult};
use crate::plan::{self, check_error, plan_error, refused, signature};

impl ApplyContext {
    /// Reads the plan to follow, and takes from it what the command line leaves out.
    pub(super) fn take_plan(&mut self, session: &Session) -> CommandResult<()> {
        let Some(path) = self.arguments.plan.clone() else { return Ok(()) };
        let read = session.read_plan(&path).map_err(|error| plan_error(session, &error))?;
        let faults = session.plan_faults(&read).map_err(|error| plan_error(session, &error))?;
        // Nothing that the plan names can be trusted.
        if faults.iter().any(PlanDifference::makes_incomparable) {
            return Err(refused(&read, &faults));
        }
        if let PlanSignature::Refused(_) = &read.signature {
            self.console.warning(&format!("{}: {}", path.display(), signature(&read.signature)));
        }
        let is_of_source = read.document.manifests.iter().any(|manifest| manifest.source.is_some());
        if self.arguments.manifests.is_empty() && !(is_of_source && self.arguments.from.is_given()) {
            self.arguments.manifests = plan::manifests(&read)?;
        }
        plan::fill_values(&read, &mut self.arguments.values);
        self.plan = Some(Arc::new(read));
        Ok(())
    }

    /// Adds what the plan selects, and the plan itself.
    pub(super) fn planned_options(&self, options: RunOptions) -> RunOptions {
        match &self.plan {
            Some(plan) => RunOptions { plan: Some(Arc::clone(plan)), ..plan::options(plan, options) },
            None => options,
        }
    }

    /// Checks that the plan still holds, and marks it as used. The runs, which have begun, are ended otherwise.
    pub(super) async fn check_plan(
        &self,
        session: &Session,
        inputs: &[Input],
        manifests: &[&LoadedManifest<'_>],
        runs: &mut [ActiveRun<'_>],
    ) -> CommandResult<()> {
        let Some(plan) = &self.plan else { return Ok(()) };
        let Err(error) = session.check_plan(plan, manifests, &self.options(false)).await else {
            return Ok(());
        };
        for run in runs {
            run.abandon().await;
        }
        if let Some(cause) = self.shared.canceller.cause() {
            return Err(CommandError::stopped(cause, "ccm"));
        }
        let error = check_error(session, plan, &error);
        if let Some(input) = inputs.first() {
            self.record_refusal(session, input.source(), &error.text()).await;
        }
        Err(error)
    }

    /// Lets a plan be made of runs in noop, if the command line asks for one.
    pub(super) fn begin_plan(
        &self,
        session: &Session,
        runs: &mut [ActiveRun<'_>],
    ) -> CommandResult<Option<PlanMaker>> {
        if self.arguments.plan_out.is_none() {
            return Ok(None);
        }
        let maker = session.plan_maker().map_err(|error| plan_error(session, &error))?;
        for run in runs {
            run.record_plan(&maker);
        }
        Ok(Some(maker))
    }

    /// Writes the plan of runs in noop, and returns the exit code.
    pub(super) fn end_plan(
        &self,
        session: &Session,
        maker: &PlanMaker,
        manifests: &[&LoadedManifest<'_>],
        code: ExitCode,
    ) -> CommandResult {
        let Some(path) = &self.arguments.plan_out else { return Ok(code) };
        if self.shared.canceller.cause().is_some() {
            self.console.note("no plan was written, because the run was ended");
            return Ok(code);
        }
        let plan = session.finish_plan(maker, manifests, &self.options(false));
        session.write_plan(&plan, path).map_err(|error| plan_error(session, &error))?;
        let asked = plan.resources().filter(|(_, resource)| resource.needs_approval).count();
        self.console.note(&format!(
            "wrote the plan {}, which can be applied until {}",
            path.display(),
            plan.expires
        ));
        if asked > 0 {
            self.console.note(&format!("the policy asks for an approval of {asked} of its resources"));
        }
        self.console.hint(&next_step(path, asked > 0));
        Ok(code)
    }
}

fn next_step(path: &Path, needs_approval: bool) -> String {
    let path = ccm_runtime::model::quote_words([&*path.display().to_string()]);
    let apply = format!("make exactly these changes with `ccm apply --plan {path}`");
    if needs_approval {
        format!("let an approver sign it with `ccm approve --plan {path}`; then {apply}")
    } else {
        apply
    }
}
