//! Packages with a real pacman, from a repository in a directory of the test.

use std::path::Path;

use ccm_testkit::{isolated_with_setup, needs_own_mounts, shell, skipped};

use crate::build::resource;
use crate::local_run::{outcome, run_on_machine};
use crate::run::{Manner, failure};

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
name=$1 version=$2 excludes=$3
file=/mnt/repository/$name-$version-any.pkg.tar
work=$(mktemp -d /mnt/package.XXXXXX)
mkdir -p $work/usr/share/$name
echo $version > $work/usr/share/$name/version
printf "pkgname = %s\npkgbase = %s\npkgver = %s\npkgdesc = a test\nurl = https://example.com\nbuilddate = 1\npackager = a\nsize = 1\narch = any\n" \
    $name $name $version > $work/.PKGINFO
if [ "$excludes" ]; then printf "provides = %s\nconflict = %s\n" $excludes $excludes >> $work/.PKGINFO; fi
tar -C $work -cf $file .PKGINFO usr
rm -rf /mnt/index/$name-*
mkdir /mnt/index/$name-$version
printf "%%FILENAME%%\n%s\n\n%%NAME%%\n%s\n\n%%BASE%%\n%s\n\n%%VERSION%%\n%s\n\n%%DESC%%\na test\n\n%%CSIZE%%\n%s\n\n%%ISIZE%%\n1\n\n%%SHA256SUM%%\n%s\n\n%%ARCH%%\nany\n\n" \
    ${file##*/} $name $name $version $(stat -c %s $file) $(sha256sum $file | cut -d " " -f 1) > /mnt/index/$name-$version/desc
if [ "$excludes" ]; then
    printf "%%PROVIDES%%\n%s\n\n%%CONFLICTS%%\n%s\n\n" $excludes $excludes >> /mnt/index/$name-$version/desc
fi
cd /mnt/index
tar -czf /mnt/repository/test.db *
# pacman compares the time in seconds.
touch -d "@$(($(date +%s) + 100 * $(ls -d /mnt/package.* | wc -l)))" /mnt/repository/test.db
"#;

fn publish(name: &str, version: &str) {
    shell(&format!("set -- {name} {version}\n{PUBLISH}"), Path::new("/mnt"));
}

/// Publishes a package that provides this name and excludes each other package that does.
fn publish_exclusive(name: &str, provided: &str) {
    shell(&format!("set -- {name} 1-1 {provided}\n{PUBLISH}"), Path::new("/mnt"));
}

/// Applies a package, and returns a word for the outcome; a failure with its texts.
fn applied(name: &str, properties: &[(&str, &str)], noop: bool) -> String {
    let properties = [&[("provider", "pacman"), ("lock_timeout", "0")], properties].concat();
    let manner = Manner { noop, state_directory: Some(Path::new("/mnt")), ..Manner::default() };
    outcome(&run_on_machine(vec![resource("package", name, &properties)], &manner)[0])
}

#[test]
fn packages_are_installed_upgraded_and_removed() {
    if !needs_own_mounts() {
        return;
    }
    if !Path::new("/usr/bin/pacman").exists() {
        return skipped("pacman is not installed; Debian has it as `pacman-package-manager`");
    }
    isolated_with_setup(SETUP, || {
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
        // A release candidate is older than its release.
        publish("early", "1.0rc1-1");
        assert_eq!(applied("early", &[refreshed], false), "changed");
        publish("early", "1.0-1");
        assert_eq!(
            applied("early", &[("ensure", "latest"), refreshed], true),
            "Would have changed: not known before the package index is refreshed, 1.0rc1-1"
        );
        assert_eq!(applied("early", &[("ensure", "latest"), refreshed], false), "changed");
        publish("early", "1.0rc2-1");
        assert_eq!(applied("early", &[("ensure", "latest"), refreshed], false), "unchanged");
        std::fs::write("/mnt/database/db.lck", "").expect("a lock");
        let told = applied("hello", &[("ensure", "absent")], false);
        assert!(told.contains("another program is changing packages"), "{told}");
        std::fs::remove_file("/mnt/database/db.lck").expect("a lock");
        assert_eq!(applied("hello", &[("ensure", "absent")], false), "changed");
        assert_eq!(applied("hello", &[("ensure", "absent")], false), "unchanged");
    });
}

#[test]
fn packages_of_pacman_that_exclude_each_other_fail_and_are_named() {
    if !needs_own_mounts() {
        return;
    }
    if !Path::new("/usr/bin/pacman").exists() {
        return skipped("pacman is not installed; Debian has it as `pacman-package-manager`");
    }
    isolated_with_setup(SETUP, || {
        publish_exclusive("mta-a", "my-mta");
        publish_exclusive("mta-b", "my-mta");
        let apply = || {
            let properties = [("provider", "pacman"), ("update_cache", "1h")];
            let both = ["mta-a", "mta-b"].map(|name| resource("package", name, &properties));
            let manner = Manner { state_directory: Some(Path::new("/mnt")), ..Manner::default() };
            run_on_machine(both.to_vec(), &manner)
        };
        for expected in ["changed", "unchanged"] {
            let done = apply();
            assert_eq!(outcome(&done[0]), expected);
            let told = outcome(&done[1]);
            assert!(told.ends_with(": mta-b and mta-a are in conflict"), "{told}");
            let hint = "remove one of the packages from the manifest: they exclude each other";
            assert_eq!(failure(&done[1]).hints, [hint]);
        }
        // The name that both provide is that of no package.
        let told = applied("my-mta", &[("ensure", "absent")], false);
        assert_eq!(told, "`my-mta` is a virtual package, which is provided by the installed `mta-a`");
        let told = applied("my-mta", &[], false);
        assert_eq!(told, "`my-mta` is a virtual package, which is provided by the installed `mta-a`");
        assert_eq!(applied("mta-a", &[("ensure", "absent")], false), "changed");
        let told = applied("my-mta", &[], false);
        assert_eq!(told, "`my-mta` is a virtual package");
        assert_eq!(applied("my-mta", &[("ensure", "absent")], false), "unchanged");
    });
}
