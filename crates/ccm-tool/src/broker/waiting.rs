//! Calls that wait for their approval.

use std::time::Duration;

use ccm_host::{CancellationLevel, after};
use serde_json::{Value, json};

use super::{CallContext, CallProgress, ToolBroker};
use crate::answer::{AnswerKind, ToolAnswer};
use crate::catalog::ToolName;

/// Time between two looks at the state of an approval.
const INTERVAL: Duration = Duration::from_millis(500);

impl ToolBroker {
    /// Answers a call. A call that needs an approval waits for it for some time, and then runs.
    pub async fn call_and_wait(
        &self,
        name: &str,
        input: &Value,
        context: CallContext<'_>,
        wait: Duration,
    ) -> ToolAnswer {
        let CallContext { caller, canceller, on_progress } = context;
        let first = CallContext { caller, canceller: canceller.clone(), on_progress: &mut *on_progress };
        let asked = self.call(name, input, first).await;
        let intent = asked.structured.get("intent").and_then(Value::as_str).map(str::to_owned);
        let Some(intent) = intent.filter(|_| asked.kind == AnswerKind::ApprovalRequired) else {
            return asked;
        };
        let code = asked.structured.get("code").and_then(Value::as_str).unwrap_or(&intent);
        on_progress(CallProgress::Waiting { code });
        let clock = self.session.clock();
        let end = clock.monotonic().saturating_add(wait);
        loop {
            let rest = end.saturating_sub(clock.monotonic());
            if rest.is_zero() {
                return asked;
            }
            tokio::select! {
                _ = after(Some(rest.min(INTERVAL))) => {}
                () = canceller.reached(CancellationLevel::Stop) => return asked,
            }
            let state = self.approval_status(&intent, caller);
            if state.structured.get("state").and_then(Value::as_str) != Some("pending") {
                break;
            }
        }
        let input = json!({ "intent": intent });
        let context = CallContext { caller, canceller, on_progress };
        self.call(ToolName::Resume.name(), &input, context).await
    }
}
