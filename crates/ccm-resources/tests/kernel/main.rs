//! Kernel parameters, modules, mounts and the names of the machine, with the tools of this machine, in namespaces of
//! their own and on a copy of `/etc`.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests write the files of the machine themselves"
)]

#[path = "../support/build.rs"]
mod build;
mod errors;
mod links;
mod machine;
mod modules;
mod mounts;
mod names;
mod parameters;
#[path = "../support/run.rs"]
mod run;
