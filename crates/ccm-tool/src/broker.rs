//! The broker: the way of a call from its name and input to its answer.

use std::cell::{OnceCell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use ccm_host::random;
use ccm_model::{Stream, error_layers};
use ccm_policy::{ApprovalMode, Policy, ToolSet};
use ccm_runtime::{Canceller, CheckedPolicy, Config, Session};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::answer::{AnswerKind, ToolAnswer};
use crate::approvals::ApprovalDoor;
use crate::audited::{self, AuditedCalls};
use crate::call::ToolCall;
use crate::caller::ToolCaller;
use crate::catalog::ToolName;
use crate::execution::current_directory;
use crate::input::{ToolInputError, normalise};
use crate::process_registry::ProcessRegistry;
use crate::rate::{Counted, SharedCounts};
use crate::read_gate::ReadGate;
use crate::read_tools;
use crate::records::{CallRecorder, RecordFailure};
use crate::refusal;
use crate::served_user::ServedUser;
use crate::stored_intents::StoredIntents;

mod applying;
mod caller_inputs;
mod governed;
mod processes;
mod reading;
mod running;
mod waiting;

/// Settings of a [`ToolBroker`].
pub struct BrokerConfig {
    /// Configuration of the session. Its gate is replaced: the session only reads.
    pub session: Config,
    /// Another store of calls that wait for an approval than that of the machine.
    pub approvals: Option<Box<dyn ApprovalDoor>>,
    /// Another audit log than that of the machine. Without a log, only tools that read are offered.
    pub recorder: Option<Box<dyn CallRecorder>>,
    /// Returns the configuration of a session that applies a manifest. Without one, none is applied.
    pub apply: Option<Box<dyn Fn() -> Config>>,
    /// Sets that the front offers, besides `read`. The policy may offer less.
    pub sets: Vec<ToolSet>,
    /// User whom a service serves; `None` if the calls are those of the user who runs ccm.
    pub served: Option<ServedUser>,
}

/// Circumstances of a call.
pub struct CallContext<'c> {
    /// Caller.
    pub caller: &'c ToolCaller,
    /// Handle that ends the call from any thread. The command is ended as at its time limit.
    pub canceller: Canceller,
    /// Receiver of what happens during the call.
    pub on_progress: &'c mut dyn FnMut(CallProgress<'_>),
}

/// What happens during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallProgress<'a> {
    /// The call waits for its approval.
    Waiting {
        /// Short code of the intent.
        code: &'a str,
    },
    /// The command of the call starts.
    Started {
        /// Id of the intent.
        intent: &'a str,
    },
    /// The command has printed a line. Nobody has checked the text; characters that steer a terminal are removed.
    Line {
        /// Stream of the line.
        stream: Stream,
        /// The line.
        text: &'a str,
    },
}

/// Broker between callers and the machine.
///
/// A broker stays on its thread, as its session does. Calls may go on at the same time, but their commands run one at a
/// time, in the order of the calls.
pub struct ToolBroker {
    session: Rc<Session>,
    approvals: Box<dyn ApprovalDoor>,
    /// The audit log, once it could be opened.
    recorder: OnceCell<Box<dyn CallRecorder>>,
    apply: Option<Box<dyn Fn() -> Config>>,
    sets: Vec<ToolSet>,
    directory: Rc<Path>,
    served: Option<ServedUser>,
    /// Calls of every process with this state directory.
    counts: OnceCell<SharedCounts>,
    /// Turn of the call whose command runs.
    turn: Mutex<()>,
}

impl ToolBroker {
    /// Opens a broker. Nothing is read or written yet.
    pub fn open(config: BrokerConfig) -> Self {
        let BrokerConfig { session, approvals, recorder, apply, sets, served } = config;
        let session = Session::open(Config { gate: Box::new(ReadGate), regular_inputs: true, ..session });
        let session = Rc::new(session);
        let approvals = approvals.unwrap_or_else(|| Box::new(StoredIntents::new(Rc::clone(&session))));
        let directory = match &served {
            None => current_directory(),
            // The directory of a service has nothing to do with the caller.
            Some(served) => {
                let home = Some(&served.account.home);
                let home = home.filter(|home| session.files().is_directory(home).unwrap_or(false));
                home.map_or_else(|| Path::new("/").into(), |home| home.as_path().into())
            }
        };
        Self {
            session,
            approvals,
            recorder: recorder.map(OnceCell::from).unwrap_or_default(),
            apply,
            sets,
            directory,
            served,
            counts: OnceCell::new(),
            turn: Mutex::new(()),
        }
    }

    /// Returns `true` if the broker belongs to a service, whose callers have fewer rights than ccm.
    pub(crate) fn is_service(&self) -> bool {
        self.served.is_some()
    }

    /// Returns the session of the tools that read.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns `true` if the policy is the one that the broker has read. Otherwise later calls need a new broker.
    pub fn is_current(&self) -> bool {
        self.session.governance().policy_is_current()
    }

    /// Returns the tools that are offered. A policy that can't be used closes all of them.
    pub fn tools(&self, caller: &ToolCaller) -> Vec<ToolName> {
        if self.policy_for(ToolSet::Read, caller).is_err() {
            return Vec::new();
        }
        let offers = |set| self.policy_for(set, caller).is_ok();
        let (executes, applies) = (offers(ToolSet::GovernedExecute), offers(ToolSet::Apply));
        let is_offered = |tool: &ToolName| match tool.set() {
            ToolSet::Read => true,
            // Both are about calls of either set.
            _ if matches!(tool, ToolName::Resume | ToolName::Cancel) => executes || applies,
            ToolSet::GovernedExecute => executes,
            ToolSet::Apply => applies,
        };
        ToolName::ALL.into_iter().filter(is_offered).collect()
    }

    /// Returns the reason why no tools or only tools that read are offered, as the answer to such a call; `None` if more are.
    pub fn withheld(&self, caller: &ToolCaller) -> Option<ToolAnswer> {
        self.policy_for(ToolSet::GovernedExecute, caller).err().map(|answer| *answer)
    }

    /// Answers a call. A panic is an answer as well.
    pub async fn call(&self, name: &str, input: &Value, context: CallContext<'_>) -> ToolAnswer {
        let caller = context.caller;
        // What a panic leaves unfinished in the audit log.
        let begun = RefCell::new(None);
        let mut answer = pin!(self.handle(name, input, context, &begun));
        let answered = poll_fn(|task| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(task))) {
            Ok(Poll::Ready(answer)) => Poll::Ready(Some(answer)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        });
        if let Some(answer) = answered.await {
            return answer;
        }
        self.end_after_panic(caller, begun.take());
        let hint = "try a simpler call, and report this to the operator".to_owned();
        ToolAnswer::error(AnswerKind::CommandFailed, "the call ended by an error in ccm", None, &[hint])
    }

    /// Answers a call whose input could not be read, and records it. Nothing is run.
    pub fn refuse_input(&self, name: &str, caller: &ToolCaller, error: &ToolInputError) -> ToolAnswer {
        self.refuse_early(name, caller, ToolAnswer::bad_input(error))
    }

    async fn handle(
        &self,
        name: &str,
        input: &Value,
        context: CallContext<'_>,
        begun: &RefCell<Option<running::BegunCall>>,
    ) -> ToolAnswer {
        let call = match normalise(name, input) {
            Ok(call) => call,
            Err(error) => return self.refuse_early(name, context.caller, ToolAnswer::bad_input(&error)),
        };
        if let Err(answer) = self.policy_for(call.tool().set(), context.caller) {
            let is_of_apply = matches!(call, ToolCall::Resume { .. } | ToolCall::Cancel { .. });
            if !(is_of_apply && self.policy_for(ToolSet::Apply, context.caller).is_ok()) {
                return self.refuse_early(name, context.caller, *answer);
            }
        }
        let _counted = match self.count() {
            Ok(counted) => counted,
            Err(answer) => return self.refuse_early(name, context.caller, *answer),
        };
        if let Some(served) = self.served.as_ref().filter(|_| reading::reads_as_caller(call.tool())) {
            return Box::pin(self.read_as(served, call.tool(), input, context)).await;
        }
        let caller = context.caller;
        match call {
            ToolCall::Command(call) => self.command(call, input, context, begun, None).await,
            ToolCall::Resume { intent } => self.resume(&intent, context, begun).await,
            ToolCall::ProcessList => self.process_list(input, caller, None),
            ToolCall::ProcessInspect { pid } => self.process_inspect(pid, input, caller, None),
            ToolCall::ProcessKill { pid, signal } => self.process_kill((pid, signal), input, caller, None),
            ToolCall::Cancel { intent } => self.cancel(&intent, caller),
            ToolCall::ApprovalStatus { intent } => self.approval_status(&intent, caller),
            ToolCall::Apply(call) => Box::pin(self.apply(&call, input, context, None)).await,
            call => Box::pin(self.read(call, &context)).await,
        }
    }

    /// Answers the input of a tool that reads, without a count and a record. A service asks for this as its caller.
    pub async fn read_only(&self, name: &str, input: &Value, context: CallContext<'_>) -> ToolAnswer {
        if name == ToolName::Apply.name() {
            return self.load_for_service(input, &context.canceller);
        }
        match normalise(name, input) {
            Ok(call) => self.read(call, &context).await,
            Err(error) => ToolAnswer::bad_input(&error),
        }
    }

    async fn read(&self, call: ToolCall, context: &CallContext<'_>) -> ToolAnswer {
        let session = &self.session;
        match call {
            ToolCall::Validate { manifest } => {
                read_tools::validate(session, &manifest).with("status", AnswerKind::Done.name())
            }
            ToolCall::Noop { manifest } => read_tools::noop(session, &manifest, &context.canceller).await,
            ToolCall::Graph { manifest, format } => read_tools::graph(session, &manifest, format),
            ToolCall::Facts { path } => read_tools::facts(session, path.as_deref()),
            ToolCall::Explain { name } => read_tools::explain(session, name.as_deref()),
            ToolCall::History { run, limit } => read_tools::history(session, run.as_deref(), limit),
            ToolCall::Status { manifest } => read_tools::status(session, manifest.as_deref()),
            ToolCall::PolicyExplain(call) => {
                read_tools::policy_explain(session, &self.policy_or_standard(), call, context.caller)
            }
            call => {
                let message = format!("`{}` is no tool that reads", call.tool().name());
                let hint = "call a tool that reads".to_owned();
                ToolAnswer::error(AnswerKind::BadInput, &message, None, &[hint])
            }
        }
    }

    /// Counts a call against the limits of the policy.
    pub(crate) fn count(&self) -> Result<Counted<'_>, Box<ToolAnswer>> {
        let refuse = |kind, error: &dyn std::error::Error, hint: &str| {
            let message = error_layers(error).join(": ");
            Box::new(ToolAnswer::error(kind, &message, None, &[hint.to_owned()]))
        };
        let counts = if let Some(counts) = self.counts.get() {
            counts
        } else {
            let state = self.session.state_path().map_err(|error| {
                refuse(AnswerKind::NotTried, &error, "name a state directory with `--state-dir`")
            })?;
            let boot = self.session.governance().audited_machine().boot;
            self.counts.get_or_init(|| SharedCounts::new(state, boot))
        };
        let limits = self.policy_or_standard().limits().clone();
        counts.begin_call(&limits, self.session.since_boot()).map_err(|error| {
            if error.is_reached() {
                refuse(AnswerKind::Denied, &error, "wait, and then call again")
            } else {
                refuse(AnswerKind::NotTried, &error, "let an operator look at the state directory")
            }
        })
    }

    /// Returns the policy, or the standard guard.
    fn policy_or_standard(&self) -> Policy {
        let policy = self.session.governance().policy().ok().flatten();
        policy.map(|checked| checked.policy.clone()).unwrap_or_default()
    }

    /// Returns the policy if it offers a set to a caller. Tools that read need none, but a policy that can't be used
    /// closes them as well.
    fn policy_for(
        &self,
        set: ToolSet,
        caller: &ToolCaller,
    ) -> Result<Option<&CheckedPolicy>, Box<ToolAnswer>> {
        let refuse = |kind, message: &str, reason: Option<&str>, hint: &str| {
            Err(Box::new(ToolAnswer::error(kind, message, reason, &[hint.to_owned()])))
        };
        let policy = match self.session.governance().policy() {
            Ok(policy) => policy,
            Err(error) => {
                let reason = error_layers(&*error).join(": ");
                let hint = "let an operator run `ccm policy check`";
                return refuse(AnswerKind::NotTried, "the policy can't be used", Some(&reason), hint);
            }
        };
        if set == ToolSet::Read {
            return Ok(policy);
        }
        let Some(checked) = policy else {
            let message = "this machine has no policy, so that only tools that read are offered";
            let hint = "let an operator write /etc/ccm/policy.yaml with `callers: {tool: {tools: [governed-execute]}}`";
            return refuse(AnswerKind::NotTried, message, None, hint);
        };
        self.check_user(caller)?;
        let settings = checked.policy.tool_settings();
        if !settings.tools.contains(&set) {
            let message = format!("the policy does not offer the tools of the set {}", set.name());
            let hint = format!("let an operator add `{}` to `tools` below `callers: tool`", set.name());
            return refuse(AnswerKind::Denied, &message, None, &hint);
        }
        if !self.sets.contains(&set) {
            let message = format!("the tools of the set {} are not offered here", set.name());
            let hint = format!("start ccm with `--set {}`", set.name());
            return refuse(AnswerKind::Denied, &message, None, &hint);
        }
        match self.recorder() {
            Ok(Some(_)) => {}
            Ok(None) => {
                let message = "there is no audit log, so that only tools that read are offered";
                return refuse(AnswerKind::NotTried, message, None, "let an operator run `ccm audit init`");
            }
            Err(failure) => return Err(Box::new(refusal::unrecorded(&failure))),
        }
        // The signature of a manifest is its approval.
        if settings.approval == ApprovalMode::MustRequire
            && set != ToolSet::Apply
            && let Err(error) = self.approvals.check_approvers(&checked.policy, &[])
        {
            let answer = ToolAnswer::error(AnswerKind::NotTried, &error.message, None, &error.hints);
            return Err(Box::new(answer));
        }
        Ok(Some(checked))
    }

    /// Refuses a caller whom the policy does not let call tools.
    pub(crate) fn check_user(&self, caller: &ToolCaller) -> Result<(), Box<ToolAnswer>> {
        let policy = self.session.governance().policy().ok().flatten();
        let users = policy.map_or(&[][..], |checked| &checked.policy.tool_settings().users);
        if users.is_empty() || users.contains(&caller.user) {
            return Ok(());
        }
        let message = format!("the policy does not let user {} call tools", caller.user);
        let hint = "let an operator add the user to `users` below `callers: tool`".to_owned();
        Err(Box::new(ToolAnswer::error(AnswerKind::Denied, &message, None, &[hint])))
    }

    /// Returns the audit log; `None` if there is none.
    fn recorder(&self) -> Result<Option<&dyn CallRecorder>, RecordFailure> {
        if let Some(recorder) = self.recorder.get() {
            return Ok(Some(&**recorder));
        }
        match AuditedCalls::open(&self.session) {
            Ok(Some(recorder)) => Ok(Some(&**self.recorder.get_or_init(|| Box::new(recorder)))),
            Ok(None) => Ok(None),
            Err(problem) => Err(audited::failure(&problem)),
        }
    }

    fn registry(&self) -> Result<ProcessRegistry, Box<ToolAnswer>> {
        let state = self.session.state_path().map_err(|error| {
            let message = error_layers(&error).join(": ");
            let hint = "name a state directory with `--state-dir`".to_owned();
            Box::new(ToolAnswer::error(AnswerKind::NotTried, &message, None, &[hint]))
        })?;
        Ok(ProcessRegistry::new(
            state,
            self.session.governance().audited_machine().boot,
            self.served.is_some(),
        ))
    }
}

/// Returns a new id of an intent.
fn new_intent() -> String {
    format!("{:032x}", random())
}
