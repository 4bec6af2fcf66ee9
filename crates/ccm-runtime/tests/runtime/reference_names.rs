//! Names for the completion of command lines.

use ccm_runtime::{Config, GivenValues, PassiveDoors, Session};
use ccm_testkit::{Scratch, without_system_calls};

use crate::config;

/// System calls that start a process or a thread, or change a file.
const CALLS: [i64; 7] = [
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_execve,
    libc::SYS_write,
    libc::SYS_mkdirat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
];

#[test]
fn names_are_read_without_a_command_and_without_a_change() {
    let scratch = Scratch::new();
    // Only the shell would find the error, and then no expression would be evaluated.
    scratch.write(
        "m.yaml",
        "data: {name: it}\nccm:\n  resources:\n    - exec:\n        - 'make {{ Data.name }}': {command: 'if', provider: shell}\n",
    );
    let names = without_system_calls(&CALLS, || {
        let session = Session::open(Config { doors: Box::new(PassiveDoors), ..config(&scratch) });
        session.reference_names(&scratch.path().join("m.yaml"), &GivenValues::default())
    });
    assert_eq!(names, ["exec#make it"]);
    assert_eq!(scratch.names(), ["m.yaml"]);
    let session = Session::open(config(&scratch));
    let names = session.reference_names(&scratch.path().join("m.yaml"), &GivenValues::default());
    assert!(names.is_empty(), "the shell of this machine accepts the text: {names:?}");
}
