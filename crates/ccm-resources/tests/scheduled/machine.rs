//! A copy of the files of this machine, with fakes of the tools that talk to services.

use std::path::Path;

use ccm_host::{Cancellation, Host, LocalExecutor, SystemClock, SystemFiles, SystemRunner};
use ccm_model::{Outcome, Resource, Transaction};
use ccm_redaction::Secrets;
use ccm_testkit::{FAKE_SERVICES, OwnMounts, can_mount, is_root, skipped};

use crate::run::{Manner, run};

/// Shell commands that complete the copies. The fake systemd-run notes its call.
const SCRIPT: &str = r#"
mkdir -p /etc/cron.d
rm -rf /etc/systemd/system/* /etc/cron.d/*
cat > /usr/local/sbin/systemd-run <<"END"
#!/bin/sh
printf '%s\n' "$@" > /run/reboot-call
mkdir -p /run/systemd/transient
touch /run/systemd/transient/ccm-reboot.service
END
chmod 755 /usr/local/sbin/systemd-run
printf 'root:x:0:0:root:/root:/bin/sh\nada:x:1500:100:Ada:/:/bin/sh\n' > /etc/passwd
"#;

/// Runs the body of a test on the copies. Skips it where there are no private mounts.
pub(crate) fn on_a_copy(test: &str, body: impl FnOnce()) {
    if !is_root() || !can_mount() {
        return skipped("only root can mount copies of the files of the machine");
    }
    let script = [FAKE_SERVICES, SCRIPT].concat();
    OwnMounts { etc: &["."], empty: &["/run", "/usr/local/sbin"], script: &script, ..OwnMounts::default() }
        .isolate(test, body);
}

pub(crate) fn run_here(resources: Vec<Resource>, noop: bool) -> Vec<Transaction> {
    run_with(resources, noop, &Secrets::new())
}

/// Runs resources of a manifest with secrets.
pub(crate) fn run_with(resources: Vec<Resource>, noop: bool, secrets: &Secrets) -> Vec<Transaction> {
    let files = SystemFiles::new(Cancellation::never());
    let runner = SystemRunner::new().expect("a runner").redacting(secrets.clone());
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let host = Host { executor: &executor, system: &runner, files: &files, clock: &SystemClock::default() };
    let manner = Manner {
        noop,
        diff: false,
        directory: Path::new("/"),
        state_directory: None,
        secrets,
        cancellation: &Cancellation::never(),
        describe_unchanged: true,
    };
    run(resources, host, &manner)
}

/// Applies resources, and returns a word for each outcome; a failure with its texts.
pub(crate) fn applied(resources: Vec<Resource>) -> Vec<String> {
    run_here(resources, false).iter().map(outcome).collect()
}

pub(crate) fn outcome(transaction: &Transaction) -> String {
    match &transaction.outcome {
        Outcome::Unchanged => "unchanged".to_owned(),
        Outcome::Changed => "changed".to_owned(),
        Outcome::WouldChange { message } => message.clone(),
        Outcome::Failed(failure) => {
            let changed = if failure.changed { " (changed)" } else { "" };
            format!("{}{changed}", failure.chain.join(": "))
        }
        other => format!("{other:?}"),
    }
}

/// Announces a change in noop, makes it, and finds nothing to do afterwards.
pub(crate) fn assert_changes(resource: &Resource) {
    let announced = run_here(vec![resource.clone()], true);
    assert!(outcome(&announced[0]).starts_with("Would have "), "{}", outcome(&announced[0]));
    let done = run_here(vec![resource.clone()], false);
    assert_eq!(outcome(&done[0]), "changed", "{}", resource.id);
    assert_eq!(announced[0].action, done[0].action, "{}", resource.id);
    assert_eq!(applied(vec![resource.clone()]), ["unchanged"]);
}
