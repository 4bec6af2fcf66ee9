//! The broker with real processes: what is recorded, asked and started for each call, as lists of events.
//!
//! The commands here run without a sandbox: the sandbox that each would have is recorded instead. Each test runs alone
//! in its own process, because the runner adopts orphans of its process.

mod approvals;
mod audit;
mod calls;
mod doors;
mod guarded;
mod hostile;
mod processes;
mod reading;
mod seeds;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ccm_policy::ToolSet;
use ccm_runtime::{AuditSource, Canceller, Config, PolicySource};
use ccm_testkit::{Scratch, isolated};
use ccm_tool::{BrokerConfig, CallContext, CallProgress, CallerKind, ToolAnswer, ToolBroker, ToolCaller};
use serde_json::Value;

use doors::{MemoryApprovals, MemoryRecorder, RecordingDoors};

/// Events of the doors of a broker, in order.
type Events = Arc<Mutex<Vec<String>>>;

/// Policy that runs what its guard allows, and asks for the rest.
const ON_ASK: &str = "callers: {tool: {approval: on_ask, tools: [governed-execute]}}\n";

/// Broker with a policy, and what its doors have seen.
struct Place {
    scratch: Scratch,
    broker: ToolBroker,
    events: Events,
    sandboxes: Arc<Mutex<Vec<String>>>,
    caller: ToolCaller,
    canceller: Canceller,
}

impl Place {
    /// Opens a broker with this policy; `None` is a machine without one.
    fn with_policy(policy: Option<&str>) -> Self {
        Self::with(policy, true)
    }

    /// Opens a broker whose workspace is the directory `work`.
    fn new(settings: &str) -> Self {
        Self::with(Some(settings), true)
    }

    fn with(policy: Option<&str>, has_doors: bool) -> Self {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path().join("work")).expect("a directory");
        if let Some(policy) = policy {
            let workspace = scratch.at("work");
            let workspace = if policy.contains("workspace:") {
                policy.replace("WORK", &workspace)
            } else {
                format!("workspace: {{path: {workspace}}}\n{policy}")
            };
            scratch.write("etc/policy.yaml", format!("ccm_policy: 1\n{workspace}"));
        } else {
            std::fs::create_dir(scratch.path().join("etc")).expect("a directory");
        }
        let events = Events::default();
        let sandboxes = Arc::default();
        let doors = RecordingDoors { events: Arc::clone(&events), sandboxes: Arc::clone(&sandboxes) };
        let session = Config {
            state_directory: Some(scratch.path().join("state")),
            doors: Box::new(doors),
            policy: PolicySource::Directory(scratch.path().join("etc")),
            audit: AuditSource::Directory(scratch.path().join("audit")),
            approvals: Some(scratch.path().join("approvals")),
            ..Config::default()
        };
        let broker = ToolBroker::open(BrokerConfig {
            session,
            approvals: has_doors.then(|| Box::new(MemoryApprovals::new(Arc::clone(&events))) as _),
            recorder: has_doors.then(|| Box::new(MemoryRecorder(Arc::clone(&events))) as _),
            apply: None,
            sets: vec![ToolSet::GovernedExecute],
            served: None,
        });
        let caller = ToolCaller {
            kind: CallerKind::Cli,
            user: "agent".to_owned(),
            uid: 0,
            pid: 1,
            client: None,
            connection: None,
        };
        Self { scratch, broker, events, sandboxes, caller, canceller: Canceller::new() }
    }

    async fn call(&self, tool: &str, input: Value) -> ToolAnswer {
        self.call_with(tool, input, &mut |_| {}).await
    }

    async fn call_with(
        &self,
        tool: &str,
        input: Value,
        on_progress: &mut dyn FnMut(CallProgress<'_>),
    ) -> ToolAnswer {
        let context = CallContext { caller: &self.caller, canceller: self.canceller.clone(), on_progress };
        self.broker.call(tool, &input, context).await
    }

    async fn call_and_wait(&self, tool: &str, input: &Value, wait: Duration) -> ToolAnswer {
        let events = Arc::clone(&self.events);
        let mut on_progress = |step: CallProgress<'_>| {
            if let CallProgress::Waiting { code } = step {
                events.lock().expect("the events").push(format!("waiting {code}"));
            }
        };
        let context = CallContext {
            caller: &self.caller,
            canceller: self.canceller.clone(),
            on_progress: &mut on_progress,
        };
        self.broker.call_and_wait(tool, input, context, wait).await
    }

    /// Returns the events since the last call of this function.
    fn events(&self) -> Vec<String> {
        std::mem::take(&mut *self.events.lock().expect("the events"))
    }

    /// Returns the sandbox of the last command.
    fn sandbox(&self) -> String {
        self.sandboxes.lock().expect("the sandboxes").last().cloned().unwrap_or_default()
    }

    fn work(&self) -> String {
        self.scratch.at("work")
    }
}

/// Runs the body of a test alone in its process.
fn alone(body: impl AsyncFnOnce()) {
    isolated(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(body());
    });
}

/// Returns a text of the structured content.
fn field<'a>(answer: &'a ToolAnswer, name: &str) -> &'a str {
    answer.structured[name].as_str().unwrap_or_else(|| unreachable!("no {name} in {answer:?}"))
}
