//! Simulation of kernels with fewer features.

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

/// Runs the body, and processes that it starts, with these system calls refused, as in many containers.
pub fn without_system_calls<T: Send>(calls: &[i64], body: impl FnOnce() -> T + Send) -> T {
    let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into();
    let architecture = architecture.unwrap_or_else(|error| panic!("this processor: {error}"));
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture);
    let program: Result<BpfProgram, _> = filter.and_then(TryInto::try_into);
    let program = program.unwrap_or_else(|error| panic!("the filter: {error}"));
    // A filter holds for one thread, and can't be removed.
    let filtered = || {
        apply_filter(&program).unwrap_or_else(|error| panic!("the filter: {error}"));
        body()
    };
    // A test that skips something is named by its thread.
    let thread =
        std::thread::Builder::new().name(std::thread::current().name().unwrap_or_default().to_owned());
    let ran = std::thread::scope(|scope| {
        thread.spawn_scoped(scope, filtered).unwrap_or_else(|error| panic!("a thread: {error}")).join()
    });
    ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
