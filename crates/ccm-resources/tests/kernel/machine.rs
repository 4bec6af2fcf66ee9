//! Namespaces of a test, and runs in them with the tools of this machine.

use std::fs::read_to_string;
use std::path::Path;
use std::process::Command;

use ccm_host::{Cancellation, Host, LocalExecutor, SystemClock, SystemFiles, SystemRunner};
use ccm_model::{Outcome, Resource, Transaction, Verb, joined};
use ccm_redaction::Secrets;
use ccm_testkit::{OwnMounts, can_mount, is_root, skipped};

use crate::run::{Manner, run};

/// Machine with its own mounts, network and host name. There is a fake modprobe, which knows the modules `dummy_a` and
/// `busy`.
const MOUNTS: OwnMounts<'_> = OwnMounts {
    namespaces: "--net --uts",
    etc: &["."],
    empty: &["/srv", "/usr/local/sbin", "/sys/module", "/run"],
    script: r#"
mkdir -p /sys/module/part_of_kernel
cat > /usr/local/sbin/modprobe <<"END"
#!/bin/sh
for module; do :; done
case "$*" in
  "-r -- busy") echo "modprobe: FATAL: Module busy is in use." >&2; exit 1 ;;
  "-r -- "*) rm -r "/sys/module/$module" ;;
  "-- dummy_a"|"-- busy") mkdir "/sys/module/$module" && echo live > "/sys/module/$module/initstate" ;;
  *) echo "modprobe: FATAL: Module $module not found in directory /lib/modules/6" >&2; exit 1 ;;
esac
END
chmod 755 /usr/local/sbin/modprobe
hostname old
printf 'old\n' > /etc/hostname
printf '127.0.0.1 localhost\n::1 localhost ip6-localhost # loopback\n\n192.0.2.1 db\n' > /etc/hosts
printf '# static\nUUID=nowhere / ext4 defaults 0 1\n' > /etc/fstab
rm -rf /etc/sysctl.d /etc/modprobe.d /etc/modules-load.d
"#,
};

/// Runs the body of a test in its own namespaces. Skips it where there are none, or a tool is missing.
pub(crate) fn on_own_machine(test: &str, tools: &str, body: impl FnOnce()) {
    if !is_root() || !can_mount() {
        return skipped("only root can have mounts and a network of its own");
    }
    if !succeeds(&format!("for tool in unshare {tools}; do command -v $tool || exit 1; done")) {
        return skipped(&format!("a tool is not installed: {tools}"));
    }
    if !succeeds("unshare --mount --net --uts sh -c \"hostname a && test -w /proc/sys/net/ipv4/ip_forward\"")
    {
        return skipped("there are no network and host name of its own");
    }
    MOUNTS.isolate(test, body);
}

/// Runs a shell command, and returns `true` if it succeeded.
pub(crate) fn succeeds(command: &str) -> bool {
    Command::new("/bin/sh").args(["-c", command]).output().is_ok_and(|output| output.status.success())
}

/// Runs a shell command, which must succeed.
pub(crate) fn shell(command: &str) {
    assert!(succeeds(command), "{command}");
}

/// Runs resources with the tools of the machine.
pub(crate) fn run_here(resources: Vec<Resource>, noop: bool) -> Vec<Transaction> {
    let secrets = Secrets::new();
    let files = SystemFiles::new(Cancellation::never());
    let runner = SystemRunner::new().expect("a runner");
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let host = Host { executor: &executor, system: &runner, files: &files, clock: &SystemClock::default() };
    let manner = Manner {
        noop,
        diff: false,
        directory: Path::new("/"),
        state_directory: None,
        secrets: &secrets,
        cancellation: &Cancellation::never(),
        describe_unchanged: true,
    };
    run(resources, host, &manner)
}

/// Applies resources, and returns a word for each outcome; a failure with its texts.
pub(crate) fn applied(resources: Vec<Resource>) -> Vec<String> {
    run_here(resources, false).iter().map(outcome).collect()
}

/// Applies resources in noop.
pub(crate) fn in_noop(resources: Vec<Resource>) -> Vec<String> {
    run_here(resources, true).iter().map(outcome).collect()
}

fn outcome(transaction: &Transaction) -> String {
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

/// Applies a resource: noop announces a change with this verb, and these aspects, and changes nothing, the first run makes exactly the
/// announced change, the second none.
pub(crate) fn assert_changes(resource: &Resource, announced: &str) {
    let watched = || {
        let files =
            ["/etc/fstab", "/etc/hosts", "/etc/hostname", "/etc/sysctl.d/90-ccm.conf", "/proc/self/mounts"];
        files.map(|file| read_to_string(file).unwrap_or_default())
    };
    let before = watched();
    let noop = run_here(vec![resource.clone()], true);
    let action = noop[0].action.as_ref().unwrap_or_else(|| panic!("{noop:?}"));
    let aspects: Vec<&str> = action.changes.iter().map(|change| &*change.aspect).collect();
    let shown = match action.verb {
        Verb::Change => format!("changed {}", joined(&aspects, "and")),
        verb => verb.past().to_owned(),
    };
    assert_eq!((&*shown, noop.len()), (announced, 1), "{}", resource.id);
    assert_eq!(watched(), before, "noop changed something");
    let first = run_here(vec![resource.clone()], false);
    assert_eq!(first.iter().map(outcome).collect::<Vec<_>>(), ["changed"], "{}", resource.id);
    assert_eq!(noop[0].action, first[0].action, "{}", resource.id);
    assert_unchanged(resource);
}

pub(crate) fn assert_unchanged(resource: &Resource) {
    assert_eq!(applied(vec![resource.clone()]), ["unchanged"], "{}", resource.id);
}

/// Returns the content of a file.
pub(crate) fn content(path: &str) -> String {
    read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
