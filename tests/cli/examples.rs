//! Every example has its documented result, in a directory of the test.

use std::collections::BTreeMap;
use std::path::Path;

use ccm_testkit::{Called, Scratch, repository, skipped};

use crate::ccm;

/// Each example, its exit code, and the outcomes of its first and of its second run, in order.
const EXAMPLES: &[(&str, i32, &str, &str)] = &[
    ("hello", 0, "changed changed refreshed", "unchanged unchanged unchanged"),
    ("creates", 0, "changed changed", "unchanged unchanged"),
    ("guards", 0, "changed changed unchanged", "unchanged unchanged unchanged"),
    (
        "files",
        0,
        "changed changed changed changed changed changed changed unchanged",
        "unchanged unchanged unchanged unchanged unchanged unchanged unchanged unchanged",
    ),
    (
        "lines",
        0,
        "changed changed changed changed changed unchanged changed changed changed changed",
        "unchanged unchanged unchanged unchanged unchanged unchanged unchanged unchanged unchanged unchanged",
    ),
    ("tree", 0, "changed changed changed changed", "unchanged unchanged unchanged unchanged"),
    ("scaffold", 0, "changed changed changed", "unchanged unchanged unchanged"),
    ("git", 0, "changed changed changed changed", "unchanged unchanged unchanged unchanged"),
    ("sudoers", 0, "changed changed changed", "unchanged unchanged unchanged"),
    ("diff", 0, "changed changed changed changed", "unchanged unchanged unchanged unchanged"),
    (
        "refresh",
        0,
        "changed changed changed changed refreshed refreshed",
        "unchanged unchanged unchanged unchanged unchanged unchanged",
    ),
    ("exit-codes", 0, "changed unchanged unchanged", "changed unchanged unchanged"),
    ("shell", 0, "changed changed changed", "unchanged changed changed"),
    (
        "environment",
        0,
        "changed changed changed changed changed refreshed",
        "unchanged changed unchanged unchanged unchanged unchanged",
    ),
    ("verify", 0, "changed changed changed changed", "unchanged unchanged changed unchanged"),
    ("executors", 0, "changed changed", "changed changed"),
    (
        "sandbox",
        0,
        "changed changed changed changed changed changed changed",
        "unchanged unchanged unchanged unchanged unchanged unchanged unchanged",
    ),
    ("order", 0, "changed changed changed refreshed", "unchanged unchanged unchanged unchanged"),
    ("timeout", 4, "failed unmet changed", "failed unmet changed"),
    (
        "families",
        0,
        "changed changed changed changed refreshed",
        "unchanged unchanged unchanged unchanged unchanged",
    ),
    (
        "data-per-host",
        0,
        "changed changed changed changed changed changed",
        "unchanged unchanged unchanged unchanged unchanged unchanged",
    ),
    (
        "foreach",
        0,
        "changed changed changed changed changed skipped changed changed changed changed changed changed changed \
         refreshed",
        "unchanged unchanged unchanged unchanged unchanged skipped unchanged unchanged unchanged unchanged unchanged \
         unchanged unchanged unchanged",
    ),
    (
        "generated",
        0,
        "changed changed changed changed unchanged",
        "unchanged unchanged unchanged unchanged unchanged",
    ),
    ("include", 0, "changed changed changed changed", "unchanged unchanged unchanged unchanged"),
    (
        "conditions",
        0,
        "changed changed changed skipped skipped refreshed",
        "unchanged unchanged unchanged skipped skipped unchanged",
    ),
    (
        "late",
        0,
        "changed changed changed changed changed",
        "unchanged unchanged unchanged unchanged unchanged",
    ),
    (
        "composed",
        0,
        "changed changed changed changed pending pending refreshed",
        "unchanged unchanged unchanged unchanged pending pending unchanged",
    ),
];

/// Examples that would change the machine of whoever runs the tests.
const LOOKED_AT: [&str; 1] = ["packages"];
/// The example that needs a Docker daemon; `tests/containers` applies it to one of its own.
const IN_CONTAINERS: &str = "containers";
/// Examples that change the machine itself. `tests/system/services` applies the first to a machine of its own, and the tests
/// of accounts apply the second to copies of the files with accounts. `tests/system/kernel` applies the third. The others
/// are only validated: they need a server, or reboot.
const OF_THE_MACHINE: [&str; 5] = ["service", "users", "kernel", "repository", "jobs"];
/// The example that needs a server, which a test of its own has.
const OF_A_SERVER: &str = "archive";

/// Copies the examples, with the directory that they write to replaced by the test's.
fn copy_examples(scratch: &Scratch) {
    copy(&repository("examples"), "examples", scratch);
}

fn copy(folder: &Path, name: &str, scratch: &Scratch) {
    for entry in std::fs::read_dir(folder).expect("a folder of examples") {
        let entry = entry.expect("an entry");
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            copy(&entry.path(), &name, scratch);
        } else {
            let text = std::fs::read_to_string(entry.path()).expect("an example");
            scratch.write(&name, text.replace("/tmp/ccm-examples", &scratch.at("made")));
        }
    }
}

/// Applies an example.
fn apply(name: &str, scratch: &Scratch, options: &[&str]) -> Called {
    ccm(scratch, &["apply", "-v", &format!("examples/{name}.yaml")]).args(options).run()
}

fn outcomes(called: &Called) -> String {
    let types = ["exec#", "file#", "line#", "block#", "setting#", "archive#", "scaffold#", "git#", "apply#"];
    let reported = called.reported();
    let lines = reported.lines().filter(|line| types.iter().any(|name| line.starts_with(name)));
    // A line of output has no outcome.
    let words = lines.filter_map(|line| line.split_once(": ")?.0.rsplit_once(' ').map(|(_, word)| word));
    words.map(|word| if word == "change" { "pending" } else { word }).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_example_has_the_documented_result_twice() {
    for (name, code, first, second) in EXAMPLES {
        let scratch = Scratch::new();
        copy_examples(&scratch);
        let noop = apply(name, &scratch, &["--noop"]);
        assert_eq!(noop.code, 0, "{name}: {}", noop.shown());
        assert!(!noop.stdout.contains("a run would fail"), "{name}: {}", noop.shown());
        assert_eq!(scratch.names(), ["examples"], "{name} changed something in noop: {}", noop.shown());
        for expected in [first, second] {
            let called = apply(name, &scratch, &[]);
            if called.stdout.contains("this kernel can't enforce the sandbox") {
                skipped("this kernel can't enforce a sandbox");
                break;
            }
            assert_eq!((called.code, &*outcomes(&called)), (*code, *expected), "{name}: {}", called.shown());
        }
    }
}

#[test]
fn services_need_systemd() {
    if Path::new("/run/systemd/system").exists() {
        return skipped("systemd runs here");
    }
    let scratch = Scratch::new();
    let manifest = "ccm: {resources: [{exec: [{'true': {}}]}, \
                    {service: [{web: {enable: true, subscribe: ['exec#true']}}]}]}";
    scratch.write("service.yaml", manifest);
    for options in [&["--noop"][..], &[]] {
        let called = ccm(&scratch, &["apply", "service.yaml"]).args(options).run();
        assert_eq!(called.code, 4, "{}", called.shown());
        let reason = "systemd: it is not running: \"/run/systemd/system\" does not exist";
        assert!(called.stdout.contains(reason), "{}", called.shown());
        assert!(called.stdout.contains("\n      triggered by: exec#true\n"), "{}", called.shown());
    }
}

#[test]
#[cfg(feature = "archive")]
fn a_program_comes_from_a_server() {
    use ccm_testkit::{TarFile, WebServer, answer, tar};

    let program = |version: &str| {
        let content = format!("#!/bin/sh\necho \"$1 {version}\" >> \"$(dirname \"$0\")/../../log\"\n");
        let path = format!("app-{version}/bin/app");
        tar(&[TarFile { path: &path, mode: 0o755, content: content.as_bytes(), link: None }])
    };
    let files = ["1.0", "1.1"].map(|version| (format!("GET /app-{version}.tar"), program(version)));
    let server = WebServer::start(move |request, stream| {
        if request.line == "GET /sha256sums.txt" {
            let line = |(name, content): &(String, Vec<u8>)| {
                format!("{}  {}\n", ccm_host::sha256(content), name.trim_start_matches("GET /"))
            };
            return answer(stream, "200 OK", &[], files.iter().map(line).collect::<String>().as_bytes());
        }
        if request.line == "GET /NOTICE" {
            return answer(stream, "200 OK", &[], b"Made for an example.\n");
        }
        match files.iter().find(|(name, _)| *name == request.line) {
            Some((_, content)) => answer(stream, "200 OK", &[], content),
            None => answer(stream, "404 Not Found", &[], b""),
        }
    });
    let scratch = Scratch::new();
    copy_examples(&scratch);
    let server = format!("server={}", server.url(""));
    for (version, expected, log) in [
        ("1.0", "changed changed changed changed changed refreshed", "restart 1.0\n"),
        ("1.0", "unchanged unchanged unchanged unchanged unchanged unchanged", "restart 1.0\n"),
        ("1.1", "unchanged unchanged unchanged changed changed refreshed", "restart 1.0\nrestart 1.1\n"),
    ] {
        let version = format!("version={version}");
        let called = apply("archive", &scratch, &["--data", &server, "--data", &version]);
        assert_eq!((called.code, &*outcomes(&called)), (0, expected), "{}", called.shown());
        assert_eq!(scratch.read("made/archive/log").as_deref(), Some(log));
    }
}

#[test]
fn one_manifest_serves_two_families() {
    const FACTS: &str = "host: {info: {platform: debian, platformFamily: debian, platformVersion: '12'}}";
    let scratch = Scratch::new();
    copy_examples(&scratch);
    scratch.write("debian.yaml", FACTS);
    for (facts, path, content) in [
        (
            "debian.yaml",
            "apache2/apache2.conf",
            "# for the family debian\nworkers 4\nmodules headers rewrite\n",
        ),
        (
            "examples/families/redhat.yaml",
            "httpd/httpd.conf",
            "# for the family rhel\nworkers 8\nmodules headers rewrite socache_shmcb\n",
        ),
    ] {
        let valid = ccm(&scratch, &["validate", "examples/families.yaml", "--facts", facts]).run();
        assert_eq!((valid.code, &*valid.stderr), (0, ""), "{facts}: {}", valid.shown());
        let path = format!("made/families/{path}");
        for expected in ["changed refreshed", "unchanged unchanged"] {
            let called = apply("families", &scratch, &["--facts", facts]);
            let outcomes = outcomes(&called);
            assert!(outcomes.ends_with(expected), "{facts}: {}", called.shown());
            assert_eq!(scratch.read(&path).as_deref(), Some(content), "{facts}");
        }
    }
}

#[test]
fn data_files_differ_between_machines() {
    for (host, family, content, packages) in [
        (
            "web1",
            "rhel",
            "log DEBUG\nmirror http://rpm.example.net\nlisten 192.0.2.10:8080\n",
            &["ca-certificates", "curl", "dnf-plugins-core", "nginx"][..],
        ),
        (
            "db1",
            "debian",
            "log INFO\nmirror http://deb.example.net\nlisten *:8080\n",
            &["apt-transport-https", "ca-certificates", "curl"],
        ),
        (
            "db1",
            "suse",
            "log INFO\nmirror http://mirror.example.org\nlisten *:8080\n",
            &["ca-certificates", "curl"],
        ),
    ] {
        let scratch = Scratch::new();
        copy_examples(&scratch);
        let facts = [format!("host.info.hostname={host}"), format!("host.info.platformFamily={family}")];
        let called = apply("data-per-host", &scratch, &["--fact", &facts[0], "--fact", &facts[1]]);
        assert_eq!(called.code, 0, "{host}: {}", called.shown());
        assert!(!called.stderr.contains("warning"), "{host}: {}", called.shown());
        assert_eq!(scratch.read("made/data-per-host/app.conf").as_deref(), Some(content), "{host}");
        let names = std::fs::read_dir(scratch.at("made/data-per-host")).expect("the directory");
        let names = names.filter_map(|entry| entry.expect("an entry").file_name().into_string().ok());
        let mut installed: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".installed").map(str::to_owned)).collect();
        installed.sort();
        assert_eq!(installed, packages, "{host}");
    }
}

#[test]
fn data_and_templates_determine_the_content() {
    let scratch = Scratch::new();
    copy_examples(&scratch);
    for name in ["foreach", "generated", "include", "late", "composed", "lines"] {
        let called = apply(name, &scratch, &[]);
        assert_eq!(called.code, 0, "{name}: {}", called.shown());
    }
    for (path, content) in [
        ("foreach/ada/profile", "# user 1 of 2\nSHELL=/bin/zsh\n"),
        ("foreach/https.port", "443\n"),
        ("foreach/beta.conf", "# slot 1\nname beta\n"),
        ("generated/www.example.net.conf", "listen 8001\n"),
        ("generated/shop.example.net.conf", "listen 8002\nalias store.example.net\nalias buy.example.net\n"),
        ("include/motd", "WEB\n# managed by ccm for web; changes are overwritten\n"),
        (
            "include/upstream.conf",
            "# managed by ccm for web; changes are overwritten\nupstream web {\n    server 192.0.2.11;  # web1\n    \
             server 192.0.2.12;  # web2\n}\n",
        ),
        ("late/about.txt", "release 4.2 of the application\n"),
        (
            "lines/sshd_config",
            "PermitRootLogin no\nX11Forwarding no\n# BEGIN ccm deploy\nMatch User deploy\n    AllowTcpForwarding no\n\
             # END ccm deploy\n",
        ),
        ("lines/app.ini", "log = info\n[server]\nport = 8080\nworkers = 4\n"),
        ("composed/web.conf", "name www.example.net\nlisten 8080\n"),
    ] {
        assert_eq!(scratch.read(&format!("made/{path}")).as_deref(), Some(content), "{path}");
    }
    assert!(!scratch.has("made/foreach/bob/profile") && scratch.has("made/foreach/bob-tablet.key"));
    assert!(!scratch.has("made/generated/old.example.net.conf"));
    assert!(!scratch.has("made/composed/backup.conf"), "a child in noop changed something");
    let again = apply("composed", &scratch, &["--detailed-exitcodes"]);
    assert_eq!(again.code, 0, "what would be changed is no change: {}", again.shown());
    assert!(again.stdout.contains("5 unchanged; would create 1, apply 1 (run "), "{}", again.shown());
}

#[test]
fn every_example_is_listed_and_described() {
    let folder = std::fs::read_dir(repository("examples")).expect("the examples");
    let mut there: BTreeMap<String, bool> = folder
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".yaml").map(|name| (name.to_owned(), false)))
        .collect();
    let readme = std::fs::read_to_string(repository("examples/README.md")).expect("the list of examples");
    for name in EXAMPLES
        .iter()
        .map(|(name, ..)| name)
        .chain(&LOOKED_AT)
        .chain(&OF_THE_MACHINE)
        .chain([&IN_CONTAINERS, &OF_A_SERVER])
    {
        assert!(readme.contains(&format!("]({name}.yaml)")), "{name} is not described");
        *there.get_mut(*name).expect("an example on the list") = true;
    }
    assert!(there.values().all(|listed| *listed), "not on the list: {there:?}");
}

#[test]
fn examples_that_change_the_machine_run_in_noop() {
    for name in LOOKED_AT {
        let scratch = Scratch::new();
        copy_examples(&scratch);
        let noop = apply(name, &scratch, &["--noop"]);
        if noop.stdout.contains("no provider can work on this host") {
            skipped("no provider of an example can work here");
            continue;
        }
        assert_eq!(noop.code, 0, "{name}: {}", noop.shown());
        assert!(noop.stdout.contains("would install"), "{name}: {}", noop.shown());
        assert_eq!(scratch.names(), ["examples"], "{name} changed something in noop: {}", noop.shown());
    }
}

#[test]
fn every_example_is_valid_and_has_a_graph() {
    for name in EXAMPLES
        .iter()
        .map(|(name, ..)| name)
        .chain(&LOOKED_AT)
        .chain(&OF_THE_MACHINE)
        .chain([&IN_CONTAINERS, &OF_A_SERVER])
    {
        let scratch = Scratch::new();
        copy_examples(&scratch);
        let path = format!("examples/{name}.yaml");
        for command in ["validate", "graph"] {
            let called = ccm(&scratch, &[command, &path]).run();
            assert_eq!(called.code, 0, "{name}: {}", called.shown());
            assert!(!called.stderr.contains("warning: "), "{name}: {}", called.shown());
        }
    }
}

/// Kinds of findings that shipped manifests have on purpose: a command that runs in every run, and files of a machine.
const ON_PURPOSE: [&str; 2] = ["always-changes", "not-checked"];

#[test]
fn shipped_manifests_have_no_finding() {
    let scratch = Scratch::new();
    for folder in ["examples", "manifests"] {
        let path = repository(folder);
        let arguments = ["validate", &*path.to_string_lossy(), "--strict", "--no-files", "--output", "json"];
        let called = ccm(&scratch, &arguments).run();
        let document: serde_json::Value = serde_json::from_str(&called.stdout).expect("a document");
        let manifests = document["manifests"].as_array().expect("manifests");
        assert!(manifests.len() >= 10, "{folder}: {}", manifests.len());
        for manifest in manifests {
            let findings = manifest["findings"].as_array().expect("findings").iter();
            let is_unexpected = |found: &&serde_json::Value| {
                !ON_PURPOSE.contains(&found["kind"].as_str().unwrap_or_default())
            };
            let unexpected: Vec<_> = findings.filter(is_unexpected).collect();
            assert!(unexpected.is_empty(), "{}: {unexpected:#?}", manifest["manifest"]);
        }
    }
}
