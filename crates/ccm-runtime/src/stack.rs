//! The stack of executors and gates of a run.

use std::rc::Rc;

use ccm_engine::DynGate;
use ccm_governance::audit::{AuditGate, AuditedExecutor, RunAudit, VerdictSlot};
use ccm_governance::policy::{AnalysingExecutor, CalledManifestGate, GovernedManifest, PolicyGate};
use ccm_host::state::Directory;
use ccm_host::{Cancellation, Commands, Executor, Files, FollowingExecutor, LastLine, LocalExecutor};
use ccm_report::RunIdentity;

use crate::containers::RunExecutor;
use crate::ensure::OutcomesGate;
use crate::manifest::LoadedManifest;
use crate::plan::RunPlan;

/// Executors and gates of a run, each around the next one. What may run, and what is recorded of it, depends on their order.
///
/// A question about a command or a change passes, from the outside inwards:
///
/// 1. the gate of the audit log, which records the answer, and refuses what can't be recorded if a record is required;
/// 2. the gate of the policy, which denies, or asks for an approval;
/// 3. the gate of the session that a call without a manifest belongs to, which records a change before it is made;
/// 4. the gate of the program.
///
/// A command that was allowed passes:
///
/// 1. the audit log, which records the command before it starts, and its end;
/// 2. the last line, which shows what the command prints;
/// 3. the place of the command: this machine, or a container;
/// 4. the programs that its sandbox may execute, for commands of this machine;
/// 5. the runner of this machine.
///
/// The log stands around everything, so that no other layer can start a command that is not recorded.
pub(crate) struct RunStack<'r> {
    executor: Rc<dyn Executor + 'r>,
    containers: RunExecutor<'r>,
    gate: Rc<dyn DynGate + 'r>,
}

/// What the stack of a run is made of.
pub(crate) struct StackParts<'r> {
    pub(crate) manifest: &'r LoadedManifest<'r>,
    pub(crate) commands: &'r dyn Commands,
    pub(crate) files: &'r dyn Files,
    pub(crate) state: Option<&'r Directory>,
    pub(crate) identity: &'r RunIdentity,
    pub(crate) cancellation: &'r Cancellation,
    pub(crate) last_line: Option<LastLine>,
    pub(crate) audit: Option<Rc<RunAudit>>,
    pub(crate) plan: &'r RunPlan,
}

impl<'r> RunStack<'r> {
    /// Builds the stack from the inside outwards.
    pub(crate) fn of(parts: StackParts<'r>) -> Self {
        let StackParts { manifest, commands, files, state, identity, cancellation, last_line, audit, plan } =
            parts;
        let session = manifest.session;
        let local = Rc::new(LocalExecutor::new(commands, commands, files));
        let local = Rc::new(AnalysingExecutor { executor: local });
        let containers = RunExecutor::new(local, commands, session, cancellation, identity, state);
        let mut executor = containers.executor();
        if let Some(last_line) = last_line {
            executor = Rc::new(FollowingExecutor { executor, last_line });
        }
        let verdicts = Rc::new(VerdictSlot::default());
        let governed = GovernedManifest {
            name: manifest.input.full_name(),
            signature: manifest.input.reads().signed().and_then(|_| manifest.signature().ok()),
            approved: manifest.approved.get().map(String::as_str),
            plan: match plan {
                RunPlan::Follow(guard) => guard.approval.as_ref().map(|(id, by)| (&**id, &**by)),
                _ => None,
            },
            planned: match plan {
                RunPlan::Record(recorder) => Some(&recorder.questions),
                _ => None,
            },
        };
        let mut gate: Rc<dyn DynGate + 'r> = Rc::<dyn DynGate>::clone(&session.gate);
        if let Some(outcomes) = &manifest.input.outcomes {
            gate = Rc::new(OutcomesGate { gate, outcomes: Rc::clone(outcomes) });
        }
        let (kept, of_program) = (Rc::clone(&verdicts), Rc::clone(&gate));
        if let Some(policy) = PolicyGate::of_run(&session.governance, governed, commands, kept, of_program) {
            gate = Rc::new(policy);
        }
        if session.bounds.is_some() {
            gate = Rc::new(CalledManifestGate::new(gate, files));
        }
        if let Some(audit) = audit {
            gate = Rc::new(AuditGate { gate, audit: Rc::clone(&audit), verdicts });
            executor = Rc::new(AuditedExecutor { executor, audit });
        }
        Self { executor, containers, gate }
    }

    /// Returns the outermost executor.
    pub(crate) fn executor(&self) -> &dyn Executor {
        &*self.executor
    }

    /// Returns the outermost gate.
    pub(crate) fn gate(&self) -> &dyn DynGate {
        &*self.gate
    }

    /// Stops and removes what the run has in containers.
    pub(crate) async fn close(&self) {
        self.containers.close().await;
    }
}
