//! Commands outside of runs, each of which the policy judges before it starts.

use std::rc::Rc;

use ccm_host::{
    Cancellation, Command, CommandOrigin, Commands, Executor, Finished, Runner, RunnerMiddleware, StartError,
    current_user,
};
use ccm_model::{Refusal, RefusalKind, Stream};
use ccm_policy::{Caller, PolicyVerdict};

use super::gate::{analysis_of, workspace_of};
use super::judging::RequestValues;
use super::reasons::{recorded_verdict, refusal_text};
use crate::audit::RunAudit;
use crate::governance::{Governance, GovernanceNotice};

/// Executor that asks the policy about each command, as the gate of a run does. Nobody can approve such a command: what
/// the policy wants an approval for is refused.
pub struct JudgingExecutor<'s> {
    /// Executor that starts the commands.
    pub executor: Rc<dyn Executor + 's>,
    /// The policy.
    pub governance: &'s Governance,
    /// Accounts and variables of the machine.
    pub commands: &'s dyn Commands,
    /// Name of what the commands belong to, for notices and records.
    pub subject: String,
    /// Record of the commands.
    pub audit: Option<Rc<RunAudit>>,
}

impl JudgingExecutor<'_> {
    /// Returns the refusal of a command.
    fn judge(&self, command: &Command) -> Result<(), Refusal> {
        // A helper of ccm, which changes nothing.
        if command.origin == CommandOrigin::Ccm {
            return Ok(());
        }
        let policy = match self.governance.policy() {
            Ok(Some(checked)) => &checked.policy,
            Ok(None) => return Ok(()),
            Err(error) => {
                let reason = ccm_model::error_layers(&*error).join(": ");
                let hints = vec!["run `ccm policy check`".to_owned()];
                let reason = format!("the policy can't be used: {reason}");
                return Err(Refusal { kind: RefusalKind::Denied, reason, hints });
            }
        };
        let base: Vec<String> = self.commands.base_environment().into_iter().map(|(name, _)| name).collect();
        let analysis = analysis_of(workspace_of(policy), command, &base);
        let account = self.commands.account(&current_user().to_string()).ok();
        let user = account.as_ref().map(|account| &*account.name);
        let values = RequestValues { governance: self.governance, user };
        let decision = policy.decide(&analysis, Caller::Apply, &values);
        let verdict = recorded_verdict(policy, &decision, &analysis, command.sensitive);
        if decision.verdict != PolicyVerdict::Allow {
            let (reason, hints) = refusal_text(policy, &decision, &analysis.commands, command.sensitive);
            let reason = self.governance.secrets.redact(&reason).into_owned();
            if !decision.is_allowed() {
                if let Some(audit) = &self.audit {
                    audit.refuse_check(&self.subject, command, (&verdict, &reason));
                }
                return Err(match decision.verdict {
                    PolicyVerdict::Ask => Refusal {
                        kind: RefusalKind::Denied,
                        reason: format!("{reason}; nobody can approve a command outside of a run"),
                        hints: Vec::new(),
                    },
                    _ => Refusal { kind: RefusalKind::Denied, reason, hints },
                });
            }
            let (resource, verdict) = (&*self.subject, decision.verdict.name());
            self.governance.doors.notice(&GovernanceNotice::Policy { resource, verdict, reason: &reason });
        }
        if let Some(audit) = &self.audit {
            audit.expect_command(self.subject.clone(), verdict, false);
        }
        Ok(())
    }
}

impl RunnerMiddleware for JudgingExecutor<'_> {
    fn inner(&self) -> &dyn Executor {
        &*self.executor
    }

    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError> {
        self.judge(command).map_err(|refusal| StartError::Refused { refusal, noop: false })?;
        runner.run(command, cancellation, on_line).await
    }
}
