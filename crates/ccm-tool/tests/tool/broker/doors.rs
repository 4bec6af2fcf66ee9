//! Doors that write down what they see.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ccm_host::{
    Account, AccountError, Cancellation, Command, Enforced, Finished, Identity, Local, LocalSystem,
    PrivateDirectory, Runner, RunnerError, StartError, SystemRunner,
};
use ccm_model::{Stream, sha256};
use ccm_policy::{ApprovalNeed, Policy};
use ccm_runtime::{Commands, Doors, Secrets};
use ccm_tool::{
    ApprovalDoor, ApprovalFailure, CallRecorder, IntentHandle, IntentState, RecordFailure, RecordedCall,
    StoredCall, ToolApprovalRequest, ToolCaller,
};

use crate::broker::Events;

/// Doors whose runner writes down the sandbox of each command, and runs the command without it.
pub(crate) struct RecordingDoors {
    pub(crate) events: Events,
    pub(crate) sandboxes: Arc<Mutex<Vec<String>>>,
}

impl Doors for RecordingDoors {
    fn commands(&self, secrets: &Secrets, _: Option<&Path>) -> Result<Box<dyn Commands>, RunnerError> {
        let runner = SystemRunner::new()?.redacting(secrets.clone());
        let (events, sandboxes) = (Arc::clone(&self.events), Arc::clone(&self.sandboxes));
        Ok(Box::new(RecordingRunner { runner, events, sandboxes }))
    }
}

struct RecordingRunner {
    runner: SystemRunner,
    events: Events,
    sandboxes: Arc<Mutex<Vec<String>>>,
}

impl Runner for RecordingRunner {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        self.runner.preflight(command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            let name = command.program.file_name().expect("a name").to_string_lossy().into_owned();
            self.events.lock().expect("the events").push(format!("run {name}"));
            let sandbox = command.sandbox.as_ref().map_or_else(
                || "none".to_owned(),
                |sandbox| {
                    let programs = sandbox.programs.as_ref().map(|allowed| allowed.programs.clone());
                    format!(
                        "workdir {} network {} programs {programs:?}",
                        sandbox.workdir.display(),
                        sandbox.network
                    )
                },
            );
            self.sandboxes.lock().expect("the sandboxes").push(sandbox);
            let plain = Command { sandbox: None, ..command.clone() };
            self.runner.run(&plain, cancellation, on_line).await
        })
    }
}

impl LocalSystem for RecordingRunner {
    fn find(&self, name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
        self.runner.find(name, path, cwd)
    }

    fn find_as(&self, who: &Identity, name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
        self.runner.find_as(who, name, path, cwd)
    }

    fn account(&self, user: &str) -> Result<Account, AccountError> {
        self.runner.account(user)
    }

    fn group(&self, name: &str) -> Result<u32, AccountError> {
        self.runner.group(name)
    }

    fn base_environment(&self) -> Vec<(String, String)> {
        self.runner.base_environment()
    }

    fn inherited_environment(&self) -> Vec<(String, String)> {
        self.runner.inherited_environment()
    }

    fn own_identity(&self) -> io::Result<Identity> {
        self.runner.own_identity()
    }

    fn may_become(&self, identity: &Identity) -> Result<(), StartError> {
        self.runner.may_become(identity)
    }

    fn private_directory(&self, owner: Option<&Identity>) -> io::Result<PrivateDirectory> {
        self.runner.private_directory(owner)
    }

    fn private_parent(&self) -> io::Result<PathBuf> {
        self.runner.private_parent()
    }
}

/// Audit log in memory. A call of `true` in an unusual directory panics, and one of `false` can't be recorded.
pub(crate) struct MemoryRecorder(pub(crate) Events);

impl MemoryRecorder {
    fn push(&self, event: String) {
        self.0.lock().expect("the events").push(event);
    }
}

impl CallRecorder for MemoryRecorder {
    fn begin(&self, call: &RecordedCall<'_>) -> Result<(), RecordFailure> {
        if call.command.program == Path::new("false") {
            return Err(RecordFailure { message: "the disk is full".to_owned(), hints: Vec::new() });
        }
        let approval = call.approval.map_or_else(String::new, |approval| format!(" approved by {approval}"));
        self.push(format!(
            "begin {} {} {}{approval}",
            call.tool,
            call.command.program.display(),
            call.verdict
        ));
        Ok(())
    }

    fn end(
        &self,
        call: &RecordedCall<'_>,
        result: Result<&Finished, &StartError>,
    ) -> Result<(), RecordFailure> {
        let outcome = match result {
            Ok(finished) => format!("{:?}", finished.exit),
            Err(error) => error.to_string(),
        };
        self.push(format!("end {} {outcome}", call.tool));
        Ok(())
    }

    fn refuse(&self, call: &RecordedCall<'_>, reason: &str) -> Result<(), RecordFailure> {
        self.push(format!("refuse {} {}: {reason}", call.tool, call.verdict));
        Ok(())
    }
}

/// Approvals in memory: the intent `1` is pending until [`ToolCaller::client`] of the caller is `approved`.
pub(crate) struct MemoryApprovals {
    events: Events,
    stored: RefCell<Option<StoredCall>>,
}

impl MemoryApprovals {
    pub(crate) fn new(events: Events) -> Self {
        Self { events, stored: RefCell::new(None) }
    }

    fn push(&self, event: String) {
        self.events.lock().expect("the events").push(event);
    }

    fn failure(message: &str, is_pending: bool) -> ApprovalFailure {
        let hints = vec!["ask somebody".to_owned()];
        ApprovalFailure { message: message.to_owned(), hints, is_pending }
    }
}

impl ApprovalDoor for MemoryApprovals {
    fn check_approvers(&self, _: &Policy, _: &[ApprovalNeed]) -> Result<(), ApprovalFailure> {
        Ok(())
    }

    fn use_grant(&self, _: &ToolApprovalRequest<'_>) -> Result<bool, ApprovalFailure> {
        Ok(false)
    }

    fn ask(
        &self,
        request: &ToolApprovalRequest<'_>,
        pending: Duration,
    ) -> Result<IntentHandle, ApprovalFailure> {
        self.push(format!("ask {} for {}s", request.tool.name(), pending.as_secs()));
        *self.stored.borrow_mut() = Some(StoredCall {
            intent: request.id.to_owned(),
            tool: request.tool.name().to_owned(),
            input: request.input.clone(),
            action_digest: sha256(request.action.to_string().as_bytes()),
        });
        let intent = request.id.to_owned();
        Ok(IntentHandle { intent, code: "7K3F".to_owned(), expires: "2026-01-01T00:00:00Z".to_owned() })
    }

    fn stored(&self, intent: &str, _: &ToolCaller) -> Result<StoredCall, ApprovalFailure> {
        let stored = self.stored.borrow().clone().filter(|stored| stored.intent == intent);
        stored.ok_or_else(|| Self::failure("there is no such intent", false))
    }

    fn take(&self, request: &ToolApprovalRequest<'_>) -> Result<(), ApprovalFailure> {
        if request.caller.client.as_deref() != Some("approved") {
            return Err(Self::failure("the call is not approved yet", true));
        }
        self.push("take".to_owned());
        *self.stored.borrow_mut() = None;
        Ok(())
    }

    fn state(&self, intent: &str, caller: &ToolCaller) -> Result<IntentState, ApprovalFailure> {
        self.stored(intent, caller)?;
        Ok(IntentState {
            intent: intent.to_owned(),
            code: "7K3F".to_owned(),
            state: if caller.client.as_deref() == Some("approved") { "approved" } else { "pending" }
                .to_owned(),
            expires: None,
            approved_by: Vec::new(),
            reason: None,
        })
    }

    fn withdraw(&self, intent: &str, caller: &ToolCaller) -> Result<(), ApprovalFailure> {
        self.stored(intent, caller)?;
        *self.stored.borrow_mut() = None;
        Ok(())
    }
}
