//! Channel between the rendering thread and the caller's.
//!
//! minijinja keeps its objects, so they can't borrow the caller's scope, and rendering needs a large stack:
//! a template is rendered on a thread of its own, and the scope is called on the caller's. The scope needs no
//! lock, and may render other templates meanwhile.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use ccm_expr::Value;
use ccm_model::DiagnosticKind;

use super::TemplateScope;
use super::error::ScopeError;

enum ScopeRequest {
    Name(&'static str),
    Call(&'static str, Vec<Value>),
    Include(String),
}

enum ScopeReply {
    Name(Option<Value>),
    Call(Result<Value, ScopeError>),
    Include(Result<Option<String>, ScopeError>),
}

/// Rendering end of the channel.
pub(super) struct ScopeClient {
    // Only one thread sends; minijinja requires `Sync`.
    ends: Mutex<(Sender<ScopeRequest>, Receiver<ScopeReply>)>,
}

/// Calling end of the channel.
pub(super) struct ScopeServer {
    requests: Receiver<ScopeRequest>,
    replies: Sender<ScopeReply>,
}

pub(super) fn scope_channel() -> (ScopeClient, ScopeServer) {
    let (ask, requests) = channel();
    let (replies, reply) = channel();
    (ScopeClient { ends: Mutex::new((ask, reply)) }, ScopeServer { requests, replies })
}

impl ScopeClient {
    pub(super) fn name(&self, name: &'static str) -> Option<Value> {
        match self.ask(ScopeRequest::Name(name)) {
            Some(ScopeReply::Name(value)) => value,
            _ => None,
        }
    }

    pub(super) fn call(&self, function: &'static str, arguments: Vec<Value>) -> Result<Value, ScopeError> {
        match self.ask(ScopeRequest::Call(function, arguments)) {
            Some(ScopeReply::Call(result)) => result,
            _ => Err(disconnected()),
        }
    }

    pub(super) fn include(&self, name: String) -> Result<Option<String>, ScopeError> {
        match self.ask(ScopeRequest::Include(name)) {
            Some(ScopeReply::Include(result)) => result,
            _ => Err(disconnected()),
        }
    }

    fn ask(&self, request: ScopeRequest) -> Option<ScopeReply> {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.0.send(request).ok()?;
        ends.1.recv().ok()
    }
}

/// The other end was dropped during a request; the render is cancelled, and nobody reads this error.
fn disconnected() -> ScopeError {
    ScopeError::new(DiagnosticKind::EvaluationFailed, "the render of the template was cancelled")
}

impl ScopeServer {
    /// Serves requests until the other end is dropped.
    pub(super) fn serve(self, scope: &dyn TemplateScope) {
        while let Ok(request) = self.requests.recv() {
            let reply = match request {
                ScopeRequest::Name(name) => ScopeReply::Name(scope.name(name)),
                ScopeRequest::Call(function, arguments) => ScopeReply::Call(scope.call(function, &arguments)),
                ScopeRequest::Include(name) => ScopeReply::Include(scope.include(&name)),
            };
            if self.replies.send(reply).is_err() {
                return;
            }
        }
    }
}
