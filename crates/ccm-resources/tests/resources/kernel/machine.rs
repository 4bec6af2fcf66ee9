//! Namespaces of a test, and runs in them with the tools of this machine.

use std::fs::read_to_string;
use std::process::Command;

use ccm_model::{Resource, Verb, joined};
use ccm_testkit::{OwnMounts, needs_own_mounts, skipped};

use crate::local_run::{applied, outcome, run_here};

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
# A new network has the settings of the first one.
echo 0 > /proc/sys/net/ipv4/ip_forward
echo 32768 60999 > /proc/sys/net/ipv4/ip_local_port_range
"#,
};

/// Runs the body of a test in its own namespaces. Skips it where there are none, or a tool is missing.
pub(crate) fn on_own_machine(tools: &str, body: impl FnOnce()) {
    if !needs_own_mounts() {
        return;
    }
    if !succeeds(&format!("for tool in unshare {tools}; do command -v $tool || exit 1; done")) {
        return skipped(&format!("one of unshare {tools} is not installed"));
    }
    if !succeeds("unshare --mount --net --uts sh -c \"hostname a && test -w /proc/sys/net/ipv4/ip_forward\"")
    {
        return skipped("there are no network and host name of its own");
    }
    MOUNTS.isolate(body);
}

/// Runs a shell command, and returns `true` if it succeeded.
pub(crate) fn succeeds(command: &str) -> bool {
    Command::new("/bin/sh").args(["-c", command]).output().is_ok_and(|output| output.status.success())
}

/// Runs a shell command, which must succeed.
pub(crate) fn shell(command: &str) {
    assert!(succeeds(command), "{command}");
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
