//! How the thread that renders asks the one that waits for it.
//!
//! The engine keeps what it is given, so it can't borrow the caller's scope; and rendering needs a stack that
//! the caller's thread may not have. So the template runs on a thread of its own, and what it asks for is
//! answered where the scope lives. The scope needs no lock and may render other templates while it answers.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use ccm_expr::Value;

use super::TemplateScope;
use super::error::ScopeError;

enum Question {
    Name(&'static str),
    Call(&'static str, Vec<Value>),
    Include(String),
}

enum Answer {
    Name(Option<Value>),
    Call(Result<Value, ScopeError>),
    Include(Result<Option<String>, ScopeError>),
}

/// The end that asks.
pub(super) struct Asking {
    // Only one thread asks; the engine wants proof.
    ends: Mutex<(Sender<Question>, Receiver<Answer>)>,
}

/// The end that answers.
pub(super) struct Answering {
    questions: Receiver<Question>,
    answers: Sender<Answer>,
}

pub(super) fn link() -> (Asking, Answering) {
    let (ask, questions) = channel();
    let (answers, answer) = channel();
    (Asking { ends: Mutex::new((ask, answer)) }, Answering { questions, answers })
}

impl Asking {
    pub(super) fn name(&self, name: &'static str) -> Option<Value> {
        match self.ask(Question::Name(name)) {
            Some(Answer::Name(value)) => value,
            _ => None,
        }
    }

    pub(super) fn call(&self, function: &'static str, arguments: Vec<Value>) -> Result<Value, ScopeError> {
        match self.ask(Question::Call(function, arguments)) {
            Some(Answer::Call(result)) => result,
            _ => Err(nobody()),
        }
    }

    pub(super) fn include(&self, name: String) -> Result<Option<String>, ScopeError> {
        match self.ask(Question::Include(name)) {
            Some(Answer::Include(result)) => result,
            _ => Err(nobody()),
        }
    }

    fn ask(&self, question: Question) -> Option<Answer> {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.0.send(question).ok()?;
        ends.1.recv().ok()
    }
}

/// The other end left in the middle of a question: it is being torn down, and nobody will read this.
fn nobody() -> ScopeError {
    ScopeError::new("nobody answers the template")
}

impl Answering {
    /// Answers until the other end is dropped.
    pub(super) fn serve(self, scope: &dyn TemplateScope) {
        while let Ok(question) = self.questions.recv() {
            let answer = match question {
                Question::Name(name) => Answer::Name(scope.name(name)),
                Question::Call(function, arguments) => Answer::Call(scope.call(function, &arguments)),
                Question::Include(name) => Answer::Include(scope.include(&name)),
            };
            if self.answers.send(answer).is_err() {
                return;
            }
        }
    }
}
