//! Repositories of packages, on a copy of `/etc` in a mount namespace, with the apt of this machine.

use std::fs::{read_dir, read_to_string, remove_file, write};
use std::path::{Path, PathBuf};

use ccm_model::Resource;
use ccm_testkit::{OwnMounts, Scratch, WebServer, answer, needs_own_mounts, shell, skipped};

use crate::build::{errors_of, resource};
use crate::local_run::{assert_changes_in, outcome, run_on_machine};
use crate::run::Manner;

/// Machine with its own `/etc` and an empty `/var/lib/apt/lists`.
const MOUNTS: OwnMounts<'_> = OwnMounts {
    namespaces: "",
    etc: &["."],
    empty: &[],
    script: "
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /etc/apt/keyrings
mkdir -p /etc/yum.repos.d /etc/apt/sources.list.d
if test -d /var/lib/apt/lists; then mount -t tmpfs -o mode=755 tmpfs /var/lib/apt/lists; fi
",
};

const DEFINITION: &str = "/etc/apt/sources.list.d/vendor.sources";
const KEY_FILE: &str = "/etc/apt/keyrings/vendor.asc";

/// Key with one byte of material, and its fingerprint.
const KEY: &str =
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxgIEAc0BYQ==\n-----END PGP PUBLIC KEY BLOCK-----\n";
const FINGERPRINT: &str = "0845B9F20A829CF4D7037465E165AB6B1567E939";

fn on_a_copy(body: impl FnOnce(&Scratch)) {
    if !needs_own_mounts() {
        return;
    }
    if !Path::new("/usr/bin/apt-get").exists() {
        return skipped("apt is not installed");
    }
    MOUNTS.isolate(|| body(&Scratch::new()));
}

fn applied(scratch: &Scratch, resource: &Resource, noop: bool) -> String {
    let state = state_of(scratch);
    outcome(&run_on_machine(vec![resource.clone()], &Manner { noop, ..manner(scratch, &state) })[0])
}

fn state_of(scratch: &Scratch) -> PathBuf {
    scratch.write("state/keep", "");
    scratch.path().join("state")
}

fn manner<'a>(scratch: &'a Scratch, state: &'a Path) -> Manner<'a> {
    Manner { directory: scratch.path(), state_directory: Some(state), ..Manner::default() }
}

fn assert_changes(scratch: &Scratch, resource: &Resource) {
    assert_changes_in(&manner(scratch, &state_of(scratch)), resource);
}

fn repository(properties: &[(&str, &str)]) -> Resource {
    let properties = [&[("uris", "https://example.com/debian"), ("suites", "bookworm")], properties].concat();
    resource("package_repository", "vendor", &properties)
}

#[test]
fn repository_of_apt_is_made_changed_mended_and_removed() {
    on_a_copy(|scratch| {
        scratch.write("key.asc", KEY);
        let vendor =
            repository(&[("components", "[main|extra]"), ("key", "key.asc"), ("fingerprint", FINGERPRINT)]);
        assert_changes(scratch, &vendor);
        let text = read_to_string(DEFINITION).expect("a file");
        assert!(
            text.contains("\nURIs: https://example.com/debian\nSuites: bookworm\nComponents: main extra\n"),
            "{text}"
        );
        assert!(text.contains(&format!("\nSigned-By: {KEY_FILE}\n")), "{text}");
        assert_eq!(read_to_string(KEY_FILE).expect("a file"), KEY);
        // apt reads the definition.
        let targets = shell("apt-get update --print-uris", Path::new("/"));
        assert!(targets.contains("https://example.com/debian/dists/bookworm/extra/"), "{targets}");
        assert!(scratch.has("state/outdated-apt"));
        for spoil in [
            (|| write(DEFINITION, "URIs: https://evil.example.com\n").expect("a file")) as fn(),
            || write(KEY_FILE, "").expect("a file"),
            || remove_file(KEY_FILE).expect("a file"),
            || remove_file(DEFINITION).expect("a file"),
        ] {
            spoil();
            assert_changes(scratch, &vendor);
        }
        assert_changes(
            scratch,
            &repository(&[("components", "main"), ("trusted", "true"), ("enabled", "false")]),
        );
        let text = read_to_string(DEFINITION).expect("a file");
        assert!(text.ends_with("\nTrusted: yes\nEnabled: no\n"), "{text}");
        assert_changes(scratch, &resource("package_repository", "vendor", &[("ensure", "absent")]));
        assert_eq!(read_dir("/etc/apt/sources.list.d").expect("a directory").count(), 0);
        assert!(!Path::new(KEY_FILE).exists());
    });
}

#[test]
fn wrong_keys_change_nothing() {
    on_a_copy(|scratch| {
        let other = "A".repeat(40);
        let with_key = |key: &str, fingerprint: &str| {
            let vendor = repository(&[("components", "main"), ("key", key), ("fingerprint", fingerprint)]);
            let told = applied(scratch, &vendor, false);
            assert!(!Path::new(DEFINITION).exists() && !Path::new(KEY_FILE).exists(), "{told}");
            told
        };
        scratch.write("key.asc", KEY);
        let told = with_key("key.asc", &other);
        assert_eq!(
            told,
            format!("the key has the fingerprint {FINGERPRINT}, which `fingerprint` does not name")
        );
        assert!(with_key("nosuch.asc", &other).ends_with("nosuch.asc\" does not exist"));
        scratch.write("text.asc", "hello\n");
        assert!(with_key("text.asc", &other).contains("is not a public key of OpenPGP"));
        let server = WebServer::start(|_, stream| answer(stream, "200 OK", &[], KEY.as_bytes()));
        let told = with_key(&server.url("/key.asc"), &other);
        assert!(told.contains("which `fingerprint` does not name"), "{told}");
        let missing = WebServer::start(|_, stream| answer(stream, "404 Not Found", &[], b""));
        assert!(with_key(&missing.url("/key.asc"), &other).contains("404"));
        let flat = resource(
            "package_repository",
            "vendor",
            &[
                ("uris", "https://example.com"),
                ("trusted", "true"),
                ("provider", "apt"),
                ("suites", "bookworm"),
            ],
        );
        assert!(applied(scratch, &flat, false).starts_with("`components` is missing"));
    });
}

#[test]
fn key_of_a_web_server_is_fetched_once() {
    on_a_copy(|scratch| {
        let server = WebServer::start(|_, stream| answer(stream, "200 OK", &[], KEY.as_bytes()));
        let url = server.url("/key.asc");
        let vendor = repository(&[("components", "main"), ("key", &url), ("fingerprint", FINGERPRINT)]);
        assert_changes(scratch, &vendor);
        assert_eq!(server.requests().len(), 1);
        assert_eq!(read_to_string(KEY_FILE).expect("a file"), KEY);
    });
}

#[test]
fn properties_of_repositories_are_checked_at_load() {
    let errors =
        |properties: &[(&str, &str)]| errors_of(&resource("package_repository", "a", properties)).len();
    let uris = ("uris", "https://example.com/a");
    assert_eq!(errors(&[uris, ("key", "a.asc")]), 0);
    assert_eq!(errors(&[uris, ("trusted", "true")]), 0);
    assert_eq!(errors(&[uris]), 1);
    assert_eq!(errors(&[("key", "a.asc")]), 1);
    assert_eq!(errors(&[uris, ("key", "a.asc"), ("provider", "apt")]), 1);
    assert_eq!(errors(&[uris, ("key", "https://example.com/a.asc")]), 1);
    assert_eq!(errors(&[uris, ("key", "a.asc"), ("trusted", "true")]), 1);
    assert_eq!(errors(&[("uris", "https://ada:secret@example.com/a"), ("key", "a.asc")]), 1);
    assert_eq!(errors(&[("uris", "https://example.com/a\nTrusted: yes"), ("key", "a.asc")]), 1);
    assert_eq!(errors(&[uris, ("key", "a.asc"), ("fingerprint", "1234")]), 1);
    assert_eq!(errors(&[("ensure", "absent")]), 0);
}
