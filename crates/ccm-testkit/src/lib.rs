//! Shared parts of the tests of ccm: fakes of the machine, scratch directories, isolated processes, faults.
//!
//! [`Ccm`] runs the binary. [`FakeMachine`], [`FakeFiles`] and [`FakeRunner`] stand in for the machine, and [`isolated()`]
//! runs a test in namespaces of its own. [`Scratch`] is a directory that ends with its test.
//!
//! No program may depend on this crate except tests and benchmarks, and no helper may pass over a failure in silence: a
//! test that can't run calls [`skipped`].
#![expect(clippy::disallowed_methods, reason = "tests start processes and inspect the machine themselves")]
#![expect(clippy::disallowed_types, reason = "memory of a traced process, networks and logs are files")]
#![expect(clippy::missing_panics_doc, reason = "everything here fails the test by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]

mod binary;
mod containers;
mod extent;
mod fakes;
mod faults;
mod governed_machine;
mod isolated;
mod kernel;
mod own_mounts;
mod privilege;
mod random;
mod scratch;
mod security_key;
mod skip;
mod thing;
mod wait;
mod web;

pub use binary::{Called, Ccm, RunningCcm, repository, shell};
pub use containers::{
    Dockerd, FakeAnswer, FakeCommand, FakeEngine, IMAGE, PodmanService, Registry, TarFile, busybox_image, tar,
};
pub use extent::{may_take_long, usual_or_long};
pub use fakes::{FakeClock, FakeFile, FakeFiles, FakeMachine, FakeRunner};
pub use faults::{Fault, Faulted, needs_faults, sweep, wait_until_executed};
pub use governed_machine::{GovernedMachine, OWN_MACHINE};
pub use isolated::{isolated, isolated_with_setup};
pub use kernel::without_system_calls;
pub use own_mounts::{FAKE_SERVICES, OwnMounts};
pub use privilege::{is_root, needs_ordinary_user, needs_own_mounts, needs_root};
pub use random::Random;
pub use scratch::Scratch;
pub use security_key::SOFTWARE_SECURITY_KEY;
pub use skip::skipped;
pub use thing::Thing;
pub use wait::{on_this_machine, wait_until};
pub use web::{
    Certificate, TEST_AUTHORITY, WebRequest, WebServer, WebStream, answer, answer_head, answer_range,
    stay_silent,
};
