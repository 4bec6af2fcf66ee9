//! Calls of the fake type and its providers, and the observers of a test. Each test has its own thread.

use std::cell::{Cell, RefCell};

thread_local! {
    /// Calls of providers, in order.
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Observer that runs before each execution, and its results.
    static WATCH: RefCell<Option<Box<dyn Fn() -> String>>> = const { RefCell::new(None) };
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Number of calls of the type.
    static QUESTIONS: Cell<usize> = const { Cell::new(0) };
    /// Effect of a resource on the run around it.
    static STOP: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Forgets the last run. `stop` stops the next one.
pub(super) fn reset(stop: impl Fn() + 'static) {
    CALLS.with_borrow_mut(Vec::clear);
    QUESTIONS.set(0);
    SEEN.with_borrow_mut(Vec::clear);
    STOP.with_borrow_mut(|slot| *slot = Some(Box::new(stop)));
}

/// Stops the run.
pub(super) fn stop_run() {
    STOP.with_borrow(|stop| stop.as_ref().map(|stop| stop()));
}

/// Counts a call of the type.
pub(super) fn count_question() {
    QUESTIONS.set(QUESTIONS.get() + 1);
}

/// Returns the number of calls of the type in the last run.
pub(super) fn questions() -> usize {
    QUESTIONS.get()
}

pub(crate) fn called(call: String) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Sets the observer that runs before each execution.
pub(crate) fn watch(look: impl Fn() -> String + 'static) {
    WATCH.with_borrow_mut(|watch| *watch = Some(Box::new(look)));
}

/// Runs the observer before an execution.
pub(super) fn look_before(executed: &str) {
    WATCH.with_borrow(|watch| {
        let saw = watch.iter().map(|look| format!("{executed}: {}", look()));
        SEEN.with_borrow_mut(|seen| seen.extend(saw));
    });
}

/// Returns the results of the observer in the last run.
pub(crate) fn seen() -> Vec<String> {
    SEEN.with_borrow(Clone::clone)
}

/// Returns the calls of providers in the last run.
pub(crate) fn calls() -> Vec<String> {
    CALLS.with_borrow(Clone::clone)
}
