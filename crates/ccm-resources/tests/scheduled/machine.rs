//! A copy of the files of this machine, with fakes of the tools that talk to services.

use std::path::Path;

use ccm_host::{Cancellation, Host, LocalExecutor, SystemClock, SystemFiles, SystemRunner};
use ccm_model::{Outcome, Resource, Transaction};
use ccm_redaction::Secrets;
use ccm_testkit::{can_mount, is_root, isolated_with_setup, skipped};

use crate::run::{Manner, run};

/// Shell commands that start the rest of the test with its own `/etc`, `/run` and tools.
const SETUP: &str = r#"exec unshare --mount --propagation private /bin/sh -c '
set -e
mount -t tmpfs -o mode=0755 tmpfs /mnt
cp -a /etc/. /mnt/
mount --bind /mnt /etc
umount /mnt
for directory in /run /usr/local/sbin; do mount -t tmpfs -o mode=0755 tmpfs $directory; done
mkdir -p /run/systemd/system /run/loaded /run/active /run/enabled /etc/cron.d /etc/systemd/system
rm -rf /etc/systemd/system/* /etc/cron.d/*
cat > /usr/local/sbin/systemctl <<"END"
#!/bin/sh
shift 2
verb=$1
shift
units=/etc/systemd/system
echo "$verb $*" >> /run/calls
case $verb in
  show)
    shift 2
    for unit in "$@"; do
      if test -e $units/$unit && grep -q broken $units/$unit; then load=bad-setting; error="a bad setting"; else load=loaded; error=; fi
      test -e /run/loaded/$unit || load=not-found
      active=inactive; test ! -e /run/active/$unit || active=active
      enabled=disabled; test ! -e /run/enabled/$unit || enabled=enabled
      reload=no; cmp -s $units/$unit /run/loaded/$unit || reload=yes
      printf "Id=%s\nLoadState=%s\nLoadError=%s\nActiveState=%s\nUnitFileState=%s\nNeedDaemonReload=%s\n\n" $unit $load "$error" $active $enabled $reload
    done ;;
  daemon-reload) rm -f /run/loaded/*; cp $units/* /run/loaded 2> /dev/null; true ;;
  enable) touch /run/enabled/$1 ;;
  disable) rm -f /run/enabled/$2 /run/active/$2 ;;
  start|restart)
    if test -e /run/refuses; then echo "Job for $1 failed." >&2; exit 1; fi
    touch /run/active/$1 ;;
esac
END
cat > /usr/local/sbin/systemd-analyze <<"END"
#!/bin/sh
case "$*" in *nonsense*) echo "Failed to parse calendar specification" >&2; exit 1 ;; esac
END
cat > /usr/local/sbin/crontab <<"END"
#!/bin/sh
case $3 in
  -l) cat /run/crontab-$2 2> /dev/null || { echo "no crontab for $2" >&2; exit 1; } ;;
  -) cat > /run/new; if grep -q refused /run/new; then echo "errors in crontab file" >&2; exit 1; fi; mv /run/new /run/crontab-$2 ;;
esac
END
cat > /usr/local/sbin/systemd-run <<"END"
#!/bin/sh
printf "%s\\n" "$@" > /run/reboot-call
mkdir -p /run/systemd/transient
touch /run/systemd/transient/ccm-reboot.service
END
rm -f /.dockerenv
chmod 755 /usr/local/sbin/*
printf "root:x:0:0:root:/root:/bin/sh\nada:x:1500:100:Ada:/:/bin/sh\n" > /etc/passwd
exec "$0" "$@"
' "$0" "$@""#;

/// Runs the body of a test on the copies. Skips it where there are no private mounts.
pub(crate) fn on_a_copy(test: &str, body: impl FnOnce()) {
    if !is_root() || !can_mount() {
        return skipped("only root can mount copies of the files of the machine");
    }
    isolated_with_setup(SETUP, test, body);
}

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
    let announced: Vec<String> = run_here(vec![resource.clone()], true).iter().map(outcome).collect();
    assert!(announced[0].starts_with("Would have "), "{announced:?}");
    assert_eq!(applied(vec![resource.clone()]), ["changed"]);
    assert_eq!(applied(vec![resource.clone()]), ["unchanged"]);
}
