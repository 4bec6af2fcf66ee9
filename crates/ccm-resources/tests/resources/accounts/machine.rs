//! A copy of the files of this machine, and runs on it with the tools of this machine.

use std::fs::{read_to_string, write};
use std::path::Path;
use std::process::Command;

use ccm_model::{Outcome, Resource, Transaction};
use ccm_testkit::{OwnMounts, needs_own_mounts, skipped};

use crate::local_run::{applied, outcome, run_here};

/// Machine with copies of the files that the tests change. A name service knows what is in the files below
/// `/etc/extrausers`: the user `ldapada` and the group `ldapgroup`.
const MOUNTS: OwnMounts<'_> = OwnMounts {
    namespaces: "",
    etc: &["."],
    empty: &["/home", "/srv", "/var/mail", "/usr/local/sbin"],
    script: r#"
cat > /usr/local/sbin/getent <<"END"
#!/bin/sh
if test "$1" = -s; then
  test "$2" = extra || exit 2
  shift 2
fi
database=$1
test $1 != initgroups || database=passwd
while IFS=: read -r name password number rest; do
  test "$name" = "$2" || test "$number" = "$2" || continue
  case $1 in
    initgroups) echo "$name ${rest%%:*}" ;;
    *) echo "$name:$password:$number:$rest" ;;
  esac
  exit
done < /etc/extrausers/$database
exit 2
END
chmod 755 /usr/local/sbin/getent
mkdir -p /etc/extrausers
echo "ldapada:x:7001:7000:Ada:/home/ldapada:/bin/sh" > /etc/extrausers/passwd
echo "ldapgroup:x:7000:" > /etc/extrausers/group
printf 'passwd: files extra\ngroup: files extra\nshadow: files\n' > /etc/nsswitch.conf
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' > /etc/passwd
printf 'root:*:19000:0:99999:7:::\nnobody:*:19000:0:99999:7:::\n' > /etc/shadow
printf 'root:x:0:\nnogroup:x:65534:\nusers:x:100:\nadm:x:4:\ndocker:x:150:\n' > /etc/group
printf 'root:*::\nnogroup:*::\nusers:*::\nadm:!::\ndocker:!::\n' > /etc/gshadow
rm -f /etc/subuid /etc/subgid
"#,
};

/// Runs the body of a test on copies of the files with accounts. Skips it where there are no private mounts or no tools.
pub(crate) fn on_a_copy(body: impl FnOnce()) {
    if !needs_own_mounts() {
        return;
    }
    if !succeeds(
        "for tool in useradd usermod userdel groupadd gpasswd chpasswd; do command -v $tool || exit 1; done",
    ) {
        return skipped("the tools for accounts are not installed");
    }
    MOUNTS.isolate(body);
}

/// Runs a shell command, and returns `true` if it succeeded.
pub(crate) fn succeeds(command: &str) -> bool {
    Command::new("/bin/sh").args(["-c", command]).output().is_ok_and(|output| output.status.success())
}

/// Applies resources, and returns the hints of those that failed.
pub(crate) fn hints(resources: Vec<Resource>) -> Vec<String> {
    let hints = |transaction: &Transaction| match &transaction.outcome {
        Outcome::Failed(failure) => failure.hints.clone(),
        _ => Vec::new(),
    };
    run_here(resources, false).iter().flat_map(hints).collect()
}

/// Applies resources twice: the first run changes each as noop announces it, the second nothing.
pub(crate) fn assert_changes(resources: &[Resource]) {
    let announced = run_here(resources.to_vec(), true);
    let first = run_here(resources.to_vec(), false);
    for (noop, done) in announced.iter().zip(&first) {
        assert!(outcome(noop).starts_with("Would have "), "{}", outcome(noop));
        assert_eq!(outcome(done), "changed", "{}", done.id);
        assert_eq!(noop.action, done.action, "{}", done.id);
    }
    let second = applied(resources.to_vec());
    assert!(second.iter().all(|word| word == "unchanged"), "{second:?}");
    assert_databases_are_whole();
}

/// Returns the line of a file that begins with a name.
pub(crate) fn line(file: &str, name: &str) -> Option<String> {
    let text = read_to_string(file).expect("a file");
    text.lines().find(|line| line.split(':').next() == Some(name)).map(str::to_owned)
}

/// Returns a field of the line.
pub(crate) fn field(file: &str, name: &str, index: usize) -> String {
    let line = line(file, name).unwrap_or_else(|| panic!("no {name} in {file}"));
    line.split(':').nth(index).unwrap_or_default().to_owned()
}

/// Adds a line to a file.
pub(crate) fn append(file: &str, line: &str) {
    write(file, read_to_string(file).expect("a file") + line + "\n").expect("a file");
}

/// Checks that each line of each database has its fields, and that no name is there twice.
pub(crate) fn assert_databases_are_whole() {
    for (file, fields) in [("/etc/passwd", 7), ("/etc/shadow", 9), ("/etc/group", 4), ("/etc/gshadow", 4)] {
        let text = read_to_string(file).expect("a file");
        let mut seen = std::collections::HashSet::new();
        for line in text.lines() {
            assert_eq!(line.split(':').count(), fields, "{file}: {line}");
            assert!(seen.insert(line.split(':').next()), "{file}: {line} is there twice");
        }
        assert!(text.ends_with('\n') && text.contains("root:"), "{file}: {text}");
    }
    for lock in ["passwd", "group", "shadow", "gshadow"] {
        assert!(!Path::new(&format!("/etc/{lock}.lock")).exists(), "{lock} is still locked");
    }
}
