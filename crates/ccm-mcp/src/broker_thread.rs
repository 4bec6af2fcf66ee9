//! The broker on its own thread.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use ccm_model::Stream;
use ccm_runtime::{Canceller, Config, Job, spawn};
use ccm_tool::{
    AnswerKind, BrokerConfig, CallContext, CallProgress, ToolAnswer, ToolBroker, ToolCaller, ToolDocument,
    ToolInputError, ToolName,
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::LocalSet;

/// Number of requests that wait for the thread.
const QUEUE: usize = 32;

/// Request to the broker.
pub(crate) enum BrokerRequest {
    /// Returns the tools that are offered, and the reason why others are not.
    Tools(oneshot::Sender<(Vec<ToolName>, Option<ToolAnswer>)>),
    /// Calls a tool.
    Call(Box<BrokerCall>),
    /// Reads a document.
    Document(ToolDocument, oneshot::Sender<Result<Option<String>, Box<ToolAnswer>>>),
    /// Records a call whose message has an error.
    Refuse(RefusedCall),
}

/// Call whose message has an error. Nothing is run.
pub(crate) struct RefusedCall {
    /// Name of the tool; empty if the message has none.
    pub(crate) tool: String,
    pub(crate) error: ToolInputError,
    /// Receiver of the end of the record.
    pub(crate) recorded: oneshot::Sender<()>,
}

/// Call of a tool.
pub(crate) struct BrokerCall {
    pub(crate) tool: String,
    pub(crate) input: Value,
    /// Name of the client, as the client itself says.
    pub(crate) client: Option<String>,
    /// Time to wait for an approval.
    pub(crate) wait: Duration,
    pub(crate) canceller: Canceller,
    pub(crate) progress: watch::Sender<LastStep>,
    pub(crate) answer: oneshot::Sender<ToolAnswer>,
}

/// Last step of a call. Lines that come faster than they are read are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastStep {
    /// Number of steps so far.
    pub(crate) number: u64,
    pub(crate) step: CallStep,
}

/// Step of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum CallStep {
    /// The command has started.
    #[default]
    Started,
    /// The call waits for its approval, which has this code.
    Waiting(String),
    /// The command has printed a line.
    Line(String),
}

/// Maximum length of a line of progress in characters.
const MAX_LINE: usize = 500;

/// Functions that open a broker and name its caller, on the thread of the broker.
pub(crate) struct BrokerFactory {
    pub(crate) config: Box<dyn Fn() -> BrokerConfig + Send>,
    pub(crate) caller: Box<dyn Fn(&ToolBroker) -> ToolCaller + Send>,
}

/// Starts the thread. It ends with the sender, once all calls have ended and are recorded.
pub(crate) fn start(factory: BrokerFactory) -> io::Result<(mpsc::Sender<BrokerRequest>, Job<()>)> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let job = spawn(Config::default(), async move |_| answer_requests(&factory, receiver).await)?;
    Ok((sender, job))
}

async fn answer_requests(factory: &BrokerFactory, mut receiver: mpsc::Receiver<BrokerRequest>) {
    let calls = LocalSet::new();
    let has_asked = Rc::new(Cell::new(false));
    let broker = calls
        .run_until(async {
            let open = || Rc::new(ToolBroker::open((factory.config)()));
            let mut broker = open();
            while let Some(request) = receiver.recv().await {
                // The operator may have changed the policy. Calls that go on keep theirs.
                if !broker.is_current() {
                    broker = open();
                }
                match request {
                    BrokerRequest::Tools(tools) => {
                        // Without a receiver the client has gone.
                        let caller = (factory.caller)(&broker);
                        let _ = tools.send((broker.tools(&caller), broker.withheld(&caller)));
                    }
                    BrokerRequest::Document(document, text) => {
                        let _ = text.send(broker.document(document, &(factory.caller)(&broker)));
                    }
                    BrokerRequest::Refuse(RefusedCall { tool, error, recorded }) => {
                        broker.refuse_input(&tool, &(factory.caller)(&broker), &error);
                        let _ = recorded.send(());
                    }
                    BrokerRequest::Call(call) => {
                        let caller = ToolCaller { client: call.client.clone(), ..(factory.caller)(&broker) };
                        let has_asked = Rc::clone(&has_asked);
                        tokio::task::spawn_local(answer_call(Rc::clone(&broker), caller, *call, has_asked));
                    }
                }
            }
            broker
        })
        .await;
    calls.await;
    if has_asked.get() {
        // The client has gone. What can't be withdrawn ends at its time.
        let _ = broker.end_connection(&(factory.caller)(&broker));
    }
}

async fn answer_call(
    broker: Rc<ToolBroker>,
    caller: ToolCaller,
    call: BrokerCall,
    has_asked: Rc<Cell<bool>>,
) {
    let BrokerCall { tool, input, canceller, progress, answer, wait, .. } = call;
    let mut on_progress = |event: CallProgress<'_>| {
        let step = match event {
            CallProgress::Started { .. } => CallStep::Started,
            CallProgress::Waiting { code } => CallStep::Waiting(code.to_owned()),
            CallProgress::Line { stream, text } => {
                let mark = if stream == Stream::Stderr { "STDERR: " } else { "" };
                CallStep::Line(mark.chars().chain(text.chars()).take(MAX_LINE).collect())
            }
        };
        progress.send_modify(|last| *last = LastStep { number: last.number + 1, step });
    };
    let context = CallContext { caller: &caller, canceller, on_progress: &mut on_progress };
    let answered = if wait.is_zero() {
        broker.call(&tool, &input, context).await
    } else {
        broker.call_and_wait(&tool, &input, context, wait).await
    };
    has_asked.set(has_asked.get() || answered.kind == AnswerKind::ApprovalRequired);
    // Without a receiver the client has gone. The call is recorded.
    let _ = answer.send(answered);
}
