//! Bodies of tests in mounts of their own.

use crate::isolated_with_setup;

/// Shell commands that give the body of a test fakes of the tools for services, timers and jobs. Units are in
/// `/etc/systemd/system`, and their states in `/run`, where `calls` has the calls of systemctl. A unit with the word
/// `broken` does not load, none starts while there is `/run/refuses`, and a crontab with `refused` is not taken.
pub const FAKE_SERVICES: &str = r#"
mkdir -p /run/systemd/system /run/loaded /run/active /run/enabled /etc/systemd/system
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
      load=loaded error=
      if test -e $units/$unit && grep -q broken $units/$unit; then load=bad-setting error="a bad setting"; fi
      test -e /run/loaded/$unit || load=not-found
      active=inactive; test ! -e /run/active/$unit || active=active
      enabled=disabled; test ! -e /run/enabled/$unit || enabled=enabled
      reload=no; cmp -s $units/$unit /run/loaded/$unit || reload=yes
      printf 'Id=%s\nLoadState=%s\nLoadError=%s\nActiveState=%s\nUnitFileState=%s\nNeedDaemonReload=%s\n\n' \
        $unit $load "$error" $active $enabled $reload
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
  -)
    cat > /run/new
    if grep -q refused /run/new; then echo "errors in crontab file" >&2; exit 1; fi
    mv /run/new /run/crontab-$2 ;;
esac
END
chmod 755 /usr/local/sbin/*
"#;

/// Mounts for the body of a test, which end with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnMounts<'a> {
    /// Options of `unshare` for further namespaces, such as `--net`.
    pub namespaces: &'a str,
    /// Files and directories that are copied to an `/etc` in memory; `.` copies all.
    pub etc: &'a [&'a str],
    /// Directories that are empty, and in memory.
    pub empty: &'a [&'a str],
    /// Shell commands that complete the machine.
    pub script: &'a str,
}

impl OwnMounts<'_> {
    /// Runs a body as [`isolated`](crate::isolated) does, in these mounts. Only root can have them; see
    /// [`needs_own_mounts`](crate::needs_own_mounts).
    ///
    /// # Panics
    ///
    /// If the test fails.
    pub fn isolate(&self, body: impl FnOnce()) {
        isolated_with_setup(&self.setup(), body);
    }

    fn setup(&self) -> String {
        let copies = self.etc.iter().map(|file| format!("cp -a /etc/{file} /mnt/etc/\n"));
        let empty = self.empty.iter().map(|directory| format!("empty {directory}\n"));
        let script = format!(
            "{PREPARATION}{}mount --bind /mnt/etc /etc\n{}umount /mnt\n{}\nexec \"$0\" \"$@\"",
            copies.collect::<String>(),
            empty.collect::<String>(),
            self.script
        );
        format!(
            "exec unshare --mount --propagation private {} /bin/sh -c '{}' \"$0\" \"$@\"",
            self.namespaces,
            script.replace('\'', r"'\''")
        )
    }
}

/// A checkout may be anywhere, so the way to the program of the test, and to its directory, stays in an empty directory.
const PREPARATION: &str = r#"
set -e
umask 022
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/etc /mnt/kept
empty() { # directory
    for path in "$0" "$PWD"; do
        case $path in "$1"/*) keep "$1" "${path#"$1"/}" ;; esac
    done
    mount -t tmpfs -o mode=755 tmpfs "$1"
    for kept in /mnt/kept/*; do
        test -e "$kept" || continue
        mkdir -p "$1/${kept##*/}"
        mount --rbind "$kept" "$1/${kept##*/}"
        umount --lazy "$kept"
        rmdir "$kept"
    done
}
keep() { # directory, path in it
    first=${2%%/*}
    if test ! -e "/mnt/kept/$first"; then
        mkdir "/mnt/kept/$first"
        mount --rbind "$1/$first" "/mnt/kept/$first"
    fi
}
"#;

#[cfg(test)]
mod tests {
    use std::fs::{exists, read_dir};

    use super::OwnMounts;
    use crate::needs_own_mounts;

    #[test]
    fn way_to_the_test_stays_in_an_empty_directory() {
        if !needs_own_mounts() {
            return;
        }
        let program = std::env::current_exe().expect("this program");
        let names = |path: &std::path::Path| -> Vec<_> {
            let entries = read_dir(path).expect("a directory").flatten();
            entries.map(|entry| entry.file_name()).collect()
        };
        let target = program.ancestors().nth(3).expect("a directory").to_owned();
        let profile =
            program.ancestors().nth(2).and_then(|path| path.file_name()).expect("a name").to_owned();
        let directory = target.display().to_string();
        let mounts = OwnMounts {
            etc: &["passwd"],
            empty: &[&directory, "/srv"],
            script: "echo 'it'\\''s complete' > /etc/complete",
            ..OwnMounts::default()
        };
        mounts.isolate(|| {
            assert_eq!(names(&target), [profile]);
            assert!(exists(&program).unwrap_or_default());
            assert_eq!(names("/srv".as_ref()), Vec::<std::ffi::OsString>::new());
            assert!(names("/etc".as_ref()).len() == 2, "{:?}", names("/etc".as_ref()));
            let complete = std::fs::read_to_string("/etc/complete").expect("a file");
            assert_eq!(complete, "it's complete\n");
            assert!(!exists("/mnt/etc").unwrap_or(true));
        });
    }
}
