//! Packages with a real pacman, from a repository in a directory of the test.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]
#![expect(clippy::disallowed_methods, reason = "the test locks the database itself")]

#[path = "../support/build.rs"]
mod build;
#[path = "../support/run.rs"]
mod run;

use std::path::Path;

use ccm_host::{Cancellation, Host, LocalExecutor, SystemClock, SystemFiles, SystemRunner};
use ccm_model::Outcome;
use ccm_redaction::Secrets;
use ccm_testkit::{can_mount, is_root, isolated_with_setup, shell, skipped};

use build::resource;
use run::{Manner, run};

/// Shell commands that start the rest of the test with a pacman whose root, database and repository are in `/mnt`.
const SETUP: &str = r#"exec unshare --mount --propagation private /bin/sh -c '
set -e
mount -t tmpfs -o mode=0755 tmpfs /mnt
cp -a /etc /mnt/etc
mount --bind /mnt/etc /etc
mkdir -p /mnt/repository /mnt/database /mnt/cache /mnt/root /mnt/index
cat > /etc/pacman.conf <<END
[options]
RootDir = /mnt/root
DBPath = /mnt/database
CacheDir = /mnt/cache
LogFile = /mnt/log
Architecture = auto
SigLevel = Never
IgnorePkg = kept
[test]
Server = file:///mnt/repository
END
exec "$0" "$@"
' "$0" "$@""#;

/// Shell commands that put a package into the repository.
const PUBLISH: &str = r#"
set -e
name=$1 version=$2
file=/mnt/repository/$name-$version-any.pkg.tar
work=$(mktemp -d /mnt/package.XXXXXX)
mkdir -p $work/usr/share/$name
echo $version > $work/usr/share/$name/version
printf "pkgname = %s\npkgbase = %s\npkgver = %s\npkgdesc = a test\nurl = https://example.com\nbuilddate = 1\npackager = a\nsize = 1\narch = any\n" \
    $name $name $version > $work/.PKGINFO
tar -C $work -cf $file .PKGINFO usr
rm -rf /mnt/index/$name-*
mkdir /mnt/index/$name-$version
printf "%%FILENAME%%\n%s\n\n%%NAME%%\n%s\n\n%%BASE%%\n%s\n\n%%VERSION%%\n%s\n\n%%DESC%%\na test\n\n%%CSIZE%%\n%s\n\n%%ISIZE%%\n1\n\n%%SHA256SUM%%\n%s\n\n%%ARCH%%\nany\n\n" \
    ${file##*/} $name $name $version $(stat -c %s $file) $(sha256sum $file | cut -d " " -f 1) > /mnt/index/$name-$version/desc
cd /mnt/index
tar -czf /mnt/repository/test.db *
# pacman compares the time in seconds.
touch -d "@$(($(date +%s) + 100 * $(ls -d /mnt/package.* | wc -l)))" /mnt/repository/test.db
"#;

fn publish(name: &str, version: &str) {
    shell(&format!("set -- {name} {version}\n{PUBLISH}"), Path::new("/mnt"));
}

/// Applies a package, and returns a word for the outcome; a failure with its texts.
fn applied(name: &str, properties: &[(&str, &str)], noop: bool) -> String {
    let secrets = Secrets::new();
    let files = SystemFiles::new(Cancellation::never());
    let runner = SystemRunner::new().expect("a runner");
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let host = Host { executor: &executor, system: &runner, files: &files, clock: &SystemClock::default() };
    let manner = Manner {
        noop,
        diff: false,
        directory: Path::new("/"),
        state_directory: Some(Path::new("/mnt")),
        secrets: &secrets,
        cancellation: &Cancellation::never(),
        describe_unchanged: true,
    };
    let properties = [&[("provider", "pacman"), ("lock_timeout", "0")], properties].concat();
    match &run(vec![resource("package", name, &properties)], host, &manner)[0].outcome {
        Outcome::Unchanged => "unchanged".to_owned(),
        Outcome::Changed => "changed".to_owned(),
        Outcome::WouldChange { message } => message.clone(),
        Outcome::Failed(failure) => failure.chain.join(": "),
        other => format!("{other:?}"),
    }
}

#[test]
fn packages_are_installed_upgraded_and_removed() {
    if !is_root() || !can_mount() {
        return skipped("only root can mount copies of the files of the machine");
    }
    if !Path::new("/usr/bin/pacman").exists() {
        return skipped("pacman is not installed; Debian has it as `pacman-package-manager`");
    }
    isolated_with_setup(SETUP, "packages_are_installed_upgraded_and_removed", || {
        publish("hello", "1.0-1");
        publish("kept", "1:2.0-3");
        let refreshed = ("update_cache", "0");
        assert_eq!(applied("hello", &[refreshed], true), "Would have installed");
        assert_eq!(applied("hello", &[refreshed], false), "changed");
        assert_eq!(applied("hello", &[], false), "unchanged");
        assert_eq!(shell("cat root/usr/share/hello/version", Path::new("/mnt")), "1.0-1\n");
        publish("hello", "1.1-1");
        assert_eq!(applied("hello", &[("ensure", "latest")], false), "unchanged");
        assert_eq!(applied("hello", &[("ensure", "latest"), refreshed], false), "changed");
        assert_eq!(applied("hello", &[("ensure", "1.1")], false), "unchanged");
        let told = applied("hello", &[("ensure", "3.0")], false);
        assert!(told.starts_with("version 3.0 of `hello` is not in the index"), "{told}");
        let told = applied("nosuch", &[], false);
        assert!(told.contains("package `nosuch` is not in the index"), "{told}");
        assert_eq!(applied("kept", &[], false), "changed");
        publish("kept", "1:3.0-1");
        let told = applied("kept", &[("ensure", "1:3.0-1"), refreshed], false);
        assert!(told.contains("`kept` is held by `IgnorePkg` in /etc/pacman.conf"), "{told}");
        std::fs::write("/mnt/database/db.lck", "").expect("a lock");
        let told = applied("hello", &[("ensure", "absent")], false);
        assert!(told.contains("another program is changing packages"), "{told}");
        std::fs::remove_file("/mnt/database/db.lck").expect("a lock");
        assert_eq!(applied("hello", &[("ensure", "absent")], false), "changed");
        assert_eq!(applied("hello", &[("ensure", "absent")], false), "unchanged");
    });
}
