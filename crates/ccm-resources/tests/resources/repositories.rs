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

/// Returns what apt itself says about its files: empty if it accepts them.
fn apt_says() -> String {
    shell("apt-get indextargets 2>&1 > /dev/null | grep Conflicting", Path::new("/"))
}

#[test]
fn repository_that_contradicts_another_file_is_refused_as_by_apt() {
    on_a_copy(|scratch| {
        scratch.write("key.asc", KEY);
        let vendor = repository(&[("components", "main"), ("key", "key.asc")]);
        let lines = [
            ("list", "deb [signed-by=/usr/share/keyrings/old.gpg] https://example.com/debian bookworm extra"),
            ("list", "deb http://example.com/debian/ bookworm extra"),
            ("list", "deb [trusted=yes] https://example.com/debian bookworm extra"),
            (
                "list",
                "deb-src [signed-by=/etc/apt/keyrings/vendor.asc check-valid-until=no] https://example.com/debian bookworm main",
            ),
            ("list", "deb [signed-by=/etc/apt/keyrings/vendor.asc] https://example.com/debian bookworm main"),
            ("list", "deb [signed-by=/o.gpg] https://example.com/debian bookworm/ "),
            ("list", "deb [signed-by=/o.gpg] https://example.com/debian dists/bookworm/"),
            (
                "sources",
                "Types: deb\nURIs: https://example.com/debian\nSuites: sid bookworm\nComponents: main\nSigned-By: /o.gpg",
            ),
            (
                "sources",
                "Types: deb\nURIs: https://example.com/debian\nSuites: bookworm\nComponents: main\nEnabled: no\nTrusted: yes",
            ),
        ];
        let mut refused = 0;
        // apt reads the files in the order of their names.
        for (name, (extension, text)) in ["aaa", "zzz"].iter().flat_map(|name| lines.map(|line| (name, line)))
        {
            let other = format!("/etc/apt/sources.list.d/{name}.{extension}");
            write(&other, format!("# a\n{text}\n")).expect("a file");
            let told = [applied(scratch, &vendor, true), applied(scratch, &vendor, false)];
            let is_refused = told[1] != "changed";
            if is_refused {
                assert_eq!(told[0], told[1]);
                assert!(told[0].contains(&format!("is configured differently at {other}:")), "{told:?}");
                assert!(!Path::new(DEFINITION).exists() && !Path::new(KEY_FILE).exists());
                remove_file(&other).expect("a file");
                assert_eq!(applied(scratch, &vendor, false), "changed");
                write(&other, format!("# a\n{text}\n")).expect("a file");
                // As long as apt refuses everything, the repository is not in its desired state.
                assert_eq!(applied(scratch, &vendor, false), told[1]);
                refused += 1;
            }
            assert_eq!(is_refused, !apt_says().is_empty(), "{other} {text}: {told:?} {}", apt_says());
            remove_file(&other).expect("a file");
            assert_eq!(
                applied(scratch, &resource("package_repository", "vendor", &[("ensure", "absent")]), false),
                "changed"
            );
        }
        assert_eq!(refused, 11);
    });
}

#[test]
fn contradiction_names_the_other_file_and_both_values() {
    on_a_copy(|scratch| {
        scratch.write("key.asc", KEY);
        let vendor = |name: &str| {
            let properties = [
                ("uris", "https://example.com/debian"),
                ("suites", "bookworm"),
                ("components", "main"),
                ("key", "key.asc"),
            ];
            resource("package_repository", name, &properties)
        };
        write("/etc/apt/sources.list", "deb [signed-by=/old.gpg] https://example.com/debian bookworm main\n")
            .expect("a file");
        let sentence = "`https://example.com/debian bookworm` is configured differently at /etc/apt/sources.list:1: \
            apt would refuse every repository: `Signed-By` is `/old.gpg` at /etc/apt/sources.list:1, \
            and would be `/etc/apt/keyrings/vendor.asc` here";
        assert_eq!(applied(scratch, &vendor("vendor"), true), sentence);
        // The same source twice is a warning.
        write(
            "/etc/apt/sources.list",
            "\ndeb [signed-by=/etc/apt/keyrings/vendor.asc] https://example.com/debian bookworm main\n",
        )
        .expect("a file");
        let state = state_of(scratch);
        for noop in [true, false, true] {
            let done = run_on_machine(vec![vendor("vendor")], &Manner { noop, ..manner(scratch, &state) });
            let warning =
                "`https://example.com/debian bookworm` is also configured at /etc/apt/sources.list:2";
            assert_eq!(done[0].warnings, [warning], "{:?}", done[0].outcome);
        }
        remove_file("/etc/apt/sources.list").expect("a file");
        // A repository that is renamed, and two of one run that contradict each other, which noop knows as well.
        let gone = resource("package_repository", "vendor", &[("ensure", "absent")]);
        for noop in [true, false] {
            let resources = vec![gone.clone(), vendor("other"), vendor("third")];
            let done = run_on_machine(resources, &Manner { noop, ..manner(scratch, &state) });
            let told: Vec<String> = done.iter().map(outcome).collect();
            assert!(
                told[..2].iter().all(|told| told.starts_with("Would have ") || told == "changed"),
                "{told:?}"
            );
            assert!(
                told[2].contains("configured differently at /etc/apt/sources.list.d/other.sources:7"),
                "{told:?}"
            );
        }
        assert_eq!(apt_says(), "");
    });
}

#[test]
fn repository_of_dnf_is_defined_once() {
    on_a_copy(|scratch| {
        let vendor = resource(
            "package_repository",
            "vendor",
            &[("uris", "https://example.com/el9"), ("trusted", "true"), ("provider", "dnf")],
        );
        if !["/usr/bin/dnf", "/usr/bin/rpm"].iter().all(|program| Path::new(program).exists()) {
            shell(
                "mount -t tmpfs tmpfs /mnt; mkdir /mnt/u /mnt/w; mount -t overlay -o lowerdir=/usr/bin,upperdir=/mnt/u,workdir=/mnt/w o /usr/bin; \
                for tool in dnf rpm; do test -e /usr/bin/$tool || ln -s true /usr/bin/$tool; done",
                Path::new("/"),
            );
        }
        let told = applied(scratch, &vendor, true);
        if told.contains("does not exist") {
            return skipped("no provider of an example can work here");
        }
        write(
            "/etc/yum.repos.d/all.repo",
            "[base]\nbaseurl=https://b\n\n[vendor]\nbaseurl=https://example.com/el8\ngpgcheck=0\n",
        )
        .expect("a file");
        for noop in [true, false] {
            let sentence = "`vendor` is configured differently at /etc/yum.repos.d/all.repo:5: dnf would read only one of the two: \
                `baseurl` is `https://example.com/el8` at /etc/yum.repos.d/all.repo:5, and would be `https://example.com/el9` here";
            assert_eq!(applied(scratch, &vendor, noop), sentence);
        }
        assert!(!Path::new("/etc/yum.repos.d/vendor.repo").exists());
        write("/etc/yum.repos.d/all.repo", "[vendor]\nbaseurl=https://example.com/el9\ngpgcheck=no\n")
            .expect("a file");
        let done = run_on_machine(vec![vendor], &manner(scratch, &state_of(scratch)));
        assert_eq!((outcome(&done[0]).as_str(), done[0].warnings.len()), ("changed", 1));
    });
}
