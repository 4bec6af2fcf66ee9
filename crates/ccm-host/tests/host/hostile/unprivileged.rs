//! Differences when ccm is not root. The tests need root to become another user, and do nothing otherwise.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ccm_host::{
    Cancellation, Command, Executor as _, Launch, LocalExecutor, LocalSystem as _, Purpose, Runner as _,
    StartError, SystemFiles, SystemRunner,
};
use ccm_testkit::{isolated, needs_root};
use nix::unistd::{Gid, Uid, setgid, setgroups, setuid};

use crate::hostile::{block_on, run, shell, text};

/// Number without a user.
const STRANGER: u32 = 54_321;

fn as_stranger(body: impl AsyncFnOnce(&SystemRunner)) {
    isolated(|| {
        if !needs_root() {
            return;
        }
        setgroups(&[]).expect("no groups");
        setgid(Gid::from_raw(STRANGER)).expect("another group");
        setuid(Uid::from_raw(STRANGER)).expect("another user");
        let runner = SystemRunner::new().expect("a runner");
        block_on(body(&runner));
    });
}

#[test]
fn user_without_an_entry_has_an_environment() {
    as_stranger(async |runner| {
        let command = Command {
            environment: runner.base_environment(),
            ..shell("echo $HOME $USER $LOGNAME $SHELL; id -u")
        };
        assert_eq!(text(&run(runner, &command).await.stdout), "/ 54321 54321 /bin/sh\n54321\n");
    });
}

#[test]
fn permissions_of_other_users_do_not_count() {
    let place = tempfile::tempdir().expect("a directory");
    let locked = place.path().join("locked");
    fs::create_dir(&locked).expect("a directory");
    fs::write(locked.join("tool"), "#!/bin/sh\n").expect("a file");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    let private = place.path().join("private");
    fs::write(&private, "#!/bin/sh\n").expect("a file");
    for path in [&locked, &private] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("a mode");
    }
    as_stranger(async |runner| {
        let never = Cancellation::never();
        let command = Command { cwd: locked.clone(), ..shell("true") };
        let error = runner.run(&command, &never, &mut |_, _| {}).await.expect_err("a locked directory");
        assert!(matches!(error, StartError::WorkingDirectory { .. }), "{error}");
        // In noop, the directory is not entered.
        let files = SystemFiles::new(never.clone());
        let executor = LocalExecutor::new(runner, runner, &files);
        let launch = Launch { cwd: Some(locked.clone()), ..Launch::default() };
        let error = executor.resolve(&launch, Purpose::Preflight).await.map(drop).expect_err("the same");
        assert!(matches!(error, StartError::WorkingDirectory { .. }), "{error}");

        let found = runner.find("private", place.path().to_str().expect("a path"), place.path());
        assert!(matches!(found, Err(StartError::NotExecutable { .. })), "{found:?}");
        let found = runner.find("./private", "", place.path());
        assert!(matches!(found, Err(StartError::NotExecutable { .. })), "{found:?}");
        let found = runner.find("locked/tool", "", place.path());
        assert!(matches!(found, Err(StartError::Spawn { .. })), "{found:?}");
    });
}
