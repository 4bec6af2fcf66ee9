//! Directories that are copied, kept and purged; scaffolds.

use ccm_testkit::{Called, Scratch};

use crate::ccm;

fn apply(scratch: &Scratch, options: &[&str]) -> Called {
    ccm(scratch, &["apply", "m.yaml"]).args(options).run()
}

fn scratch_with(manifest: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("m.yaml", manifest.replace("ROOT", &scratch.at("made")));
    scratch.write("made/keep", "");
    scratch
}

/// Returns the lines of a report about one resource, without times and columns.
fn lines(called: &Called, scratch: &Scratch) -> Vec<String> {
    let text = called.stdout.replace("[dir]/", "").replace(&scratch.at(""), "");
    let of_resources = text.lines().filter(|line| line.starts_with("  "));
    of_resources.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn templates_of_a_tree_are_rendered_also_with_late_values() {
    let scratch = scratch_with(
        "data: {port: 8080}\n\
         ccm:\n  resources:\n\
         \x20   - exec: [measure: {command: echo 4711, provider: shell, returns: [], unchanged_returns: [0], capture: {pid: stdout.raw}}]\n\
         \x20   - file:\n\
         \x20       - ROOT/app: {ensure: directory, source: app}\n\
         \x20       - ROOT/late: {ensure: directory, source: late}\n",
    );
    scratch.write("app/listen.conf.j2", "listen {{ Data.port }}\n");
    scratch.write("app/plain.conf", "{{ not a template }}\n");
    scratch.write("late/pid.j2", "{{ Captures.measure.pid }}\n");
    let called = apply(&scratch, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(scratch.read("made/app/listen.conf").as_deref(), Some("listen 8080\n"));
    assert_eq!(scratch.read("made/app/plain.conf").as_deref(), Some("{{ not a template }}\n"));
    assert_eq!(scratch.read("made/late/pid").as_deref().map(str::trim), Some("4711"));
    assert_eq!(scratch.read("made/app/listen.conf.j2"), None);
    let again = apply(&scratch, &["--detailed-exitcodes"]);
    assert_eq!(again.code, 0, "{}", again.shown());

    scratch.write("app/listen.conf.j2", "listen {{ Data.nothing }}\n");
    let refused = apply(&scratch, &[]);
    assert_eq!(refused.code, 1, "{}", refused.shown());
    assert!(refused.stderr.contains("listen.conf.j2"), "{}", refused.shown());
}

#[test]
fn each_change_of_a_tree_has_a_line_and_noop_counts_what_goes() {
    let scratch = scratch_with(
        "ccm:\n  resources:\n    - file:\n        - ROOT/conf.d: {ensure: directory, source: conf, purge: true, force: true}\n",
    );
    scratch.write("conf/a.conf", "new\n");
    scratch.write("made/conf.d/a.conf", "old\n");
    scratch.write("made/conf.d/stale.conf", "12345");
    scratch.write("made/conf.d/old/x", "123");
    let noop = apply(&scratch, &["--noop"]);
    let expected = [
        "~ file made/conf.d would change: 3 entries in it (change 1, remove 2 with 2 files, 8 bytes)",
        "~ a.conf would change: content (+1 -1)",
        "- old would remove: directory, 1 file, 3 bytes",
        "- stale.conf would remove: file, 5 bytes",
    ];
    assert_eq!(lines(&noop, &scratch), expected, "{}", noop.shown());
    let log = apply(&scratch, &["--output", "log", "--noop"]);
    assert!(log.stdout.contains("would_remove entry=stale.conf"), "{}", log.shown());
    let run = apply(&scratch, &[]);
    assert_eq!(lines(&run, &scratch).last().map(String::as_str), Some("- stale.conf removed: file, 5 bytes"));
    assert_eq!(scratch.read("made/conf.d/stale.conf"), None);
}

#[test]
fn what_other_resources_declare_is_kept() {
    let scratch = scratch_with(
        "ccm:\n  resources:\n\
         \x20   - file:\n        - ROOT/etc: {ensure: directory, purge: true}\n\
         \x20       - ROOT/etc/file: {content: declared}\n\
         \x20       - ROOT/etc/sub: {ensure: directory}\n\
         \x20       - ROOT/etc/off: {content: x, control: {if: '1 > 2'}}\n\
         \x20   - line: [l: {path: ROOT/etc/lines, line: x}]\n\
         \x20   - setting: [s: {path: ROOT/etc/deep/app.ini, key: k, value: v}]\n",
    );
    for name in ["file", "sub/left-to-it", "off", "lines", "deep/app.ini", "deep/other", "stranger"] {
        scratch.write(&format!("made/etc/{name}"), "old\n");
    }
    let called = apply(&scratch, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let there = |name: &str| scratch.read(&format!("made/etc/{name}")).is_some();
    assert_eq!(
        ["file", "sub/left-to-it", "lines", "deep/app.ini"].map(there),
        [true; 4],
        "{}",
        called.shown()
    );
    assert_eq!(["off", "deep/other", "stranger"].map(there), [false; 3], "{}", called.shown());
    let again = apply(&scratch, &["--detailed-exitcodes"]);
    assert_eq!(again.code, 0, "{}", again.shown());
}

const SCAFFOLD: &str = "\
data: {port: 1}
ccm:
  resources:
    - scaffold:
        - ROOT/app:
            source: templates
            data: {port: 8080, name: web}
            skip_empty: true
            purge: true
            post: [{'*.sh': 'chmod +x {}'}, {'*.conf': sed -i s/raw/done/}]
";

fn scaffold() -> Scratch {
    let scratch = scratch_with(SCAFFOLD);
    scratch.write("templates/_partials/head", "# {{ Data.name }}\n");
    scratch
        .write("templates/app.conf", "{% include \"templates/_partials/head\" %}port={{ Data.port }} raw\n");
    scratch.write("templates/bin/run.sh.j2", "echo {{ Data.name }}\n");
    scratch.write("templates/nothing", "{% if false %}x{% endif %}\n");
    scratch
}

#[test]
fn a_scaffold_is_rendered_processed_and_removed() {
    let scratch = scaffold();
    scratch.write("made/app/stale", "12");
    let noop = apply(&scratch, &["--noop", "--diff"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
    assert!(noop.stdout.contains("+port=8080 done"), "{}", noop.shown());
    assert_eq!(scratch.read("made/app/app.conf"), None);
    let made = apply(&scratch, &[]);
    assert_eq!(made.code, 0, "{}", made.shown());
    assert_eq!(scratch.read("made/app/app.conf").as_deref(), Some("# web\nport=8080 done\n"));
    assert_eq!(scratch.read("made/app/bin/run.sh").as_deref(), Some("echo web\n"));
    assert_eq!(
        ["stale", "nothing", "_partials/head"].map(|name| scratch.read(&format!("made/app/{name}"))),
        [const { None }; 3]
    );
    let shown = lines(&made, &scratch);
    assert!(shown.iter().any(|line| line.starts_with("+ bin/run.sh created: 0755")), "{shown:?}");
    let again = apply(&scratch, &["--detailed-exitcodes"]);
    assert_eq!(again.code, 0, "{}", again.shown());

    scratch.write("made/app/other", "stays");
    let absent = SCAFFOLD.replace("purge: true", "ensure: absent").replace("ROOT", &scratch.at("made"));
    scratch.write("m.yaml", &*absent);
    let removed = apply(&scratch, &[]);
    assert_eq!(removed.code, 0, "{}", removed.shown());
    assert_eq!(scratch.read("made/app/other").as_deref(), Some("stays"));
    assert_eq!(scratch.read("made/app/app.conf"), None);
    assert!(!scratch.path().join("made/app/bin").exists());
    std::fs::remove_file(scratch.path().join("made/app/other")).expect("removed");
    scratch.write("made/app/app.conf", "x");
    assert_eq!(apply(&scratch, &[]).code, 0);
    assert!(!scratch.path().join("made/app").exists());
}

#[test]
fn engines_of_the_original_are_refused_and_tools_that_fail_change_nothing() {
    for engine in ["jet", "go"] {
        let scratch = scaffold();
        let manifest = SCAFFOLD.replace("purge: true", &format!("engine: {engine}"));
        scratch.write("m.yaml", manifest.replace("ROOT", &scratch.at("made")));
        let refused = apply(&scratch, &[]);
        assert_eq!(refused.code, 1, "{}", refused.shown());
        assert!(refused.stderr.contains("docs/reference/types/scaffold.md"), "{}", refused.shown());
    }
    for command in ["'false'", "no-such-program-4711"] {
        let scratch = scaffold();
        let manifest = SCAFFOLD.replace("sed -i s/raw/done/", command);
        scratch.write("m.yaml", manifest.replace("ROOT", &scratch.at("made")));
        for options in [&["--noop"][..], &[]] {
            let failed = apply(&scratch, options);
            assert_eq!(failed.code, 4, "{}", failed.shown());
            assert!(failed.stdout.contains("post"), "{}", failed.shown());
        }
        assert!(!scratch.path().join("made/app").exists());
    }
}

#[test]
fn a_purge_leaves_what_another_manifest_of_the_run_manages() {
    let purge = "ccm:\n  resources:\n    - file:\n        - ROOT/conf.d: {ensure: directory, purge: true}\n";
    let scratch = scratch_with(purge);
    let own = "ccm:\n  resources:\n\
         \x20   - file:\n        - ROOT/conf.d/mine.conf: {content: \"mine\\n\"}\n\
         \x20   - line:\n        - a line: {path: ROOT/conf.d/lines.conf, line: a, create: true}\n";
    scratch.write("own.yaml", own.replace("ROOT", &scratch.at("made")));
    for name in ["mine.conf", "lines.conf", "stale.conf"] {
        scratch.write(&format!("made/conf.d/{name}"), if name == "lines.conf" { "a\n" } else { "mine\n" });
    }
    for order in [["m.yaml", "own.yaml"], ["own.yaml", "m.yaml"]] {
        scratch.write("made/conf.d/stale.conf", "stale\n");
        let noop = ccm(&scratch, &["apply", "--noop", order[0], order[1]]).run();
        assert!(noop.stdout.contains("stale.conf") && !noop.stdout.contains("remove 2"), "{}", noop.shown());
        let applied = ccm(&scratch, &["apply", order[0], order[1]]).run();
        assert_eq!(applied.code, 0, "{}", applied.shown());
        let left =
            ["mine.conf", "lines.conf", "stale.conf"].map(|name| scratch.has(&format!("made/conf.d/{name}")));
        assert_eq!(left, [true, true, false], "{}", applied.shown());
        let again = ccm(&scratch, &["apply", order[0], order[1], "--detailed-exitcodes"]).run();
        assert_eq!(again.code, 0, "the files were made again: {}", again.shown());
    }
    // Alone, the manifest knows nothing of the other one.
    assert_eq!(apply(&scratch, &[]).code, 0);
    assert!(!scratch.has("made/conf.d/mine.conf"));
}

#[test]
fn sensitive_trees_and_scaffolds_are_shown_and_recorded_nowhere() {
    let scratch = scratch_with(
        "ccm:\n  resources:\n\
         \x20   - file:\n        - ROOT/tree: {ensure: directory, source: source, purge: true, sensitive: true}\n\
         \x20   - scaffold:\n        - ROOT/scaffold:\n            source: templates\n            sensitive: true\n\
         \x20           data: {token: of-the-data}\n            post: {\"*.conf\": \"cat {}\"}\n\
         \x20   - exec:\n        - show: {command: cat tree/copied tree/rendered scaffold/a.conf, provider: shell, cwd: ROOT}\n",
    );
    scratch.write("source/copied", "of-a-copy\n");
    scratch.write("source/rendered.j2", "of-{{ 'a' }}-template\n");
    scratch.write("templates/a.conf.j2", "{{ Data.token }}\n");
    scratch.write("made/tree/old", "of-the-past\n");
    let secrets = ["of-a-copy", "of-a-template", "of-the-data", "of-the-past"];
    let options: [&[&str]; 4] = [
        &["--noop", "--diff"],
        &["--diff", "--output", "json", "--events-file", "events.jsonl"],
        &["-v"],
        &["--diff"],
    ];
    for options in options {
        let called = apply(&scratch, options);
        assert_eq!(called.code, 0, "{}", called.shown());
        let recorded = ccm_testkit::shell(
            &format!("cat events.jsonl; find {} -type f -exec cat {{}} +", scratch.state().display()),
            scratch.path(),
        );
        for secret in secrets {
            assert!(!called.shown().contains(secret), "{options:?}: {secret}: {}", called.shown());
            assert!(!recorded.contains(secret), "{options:?}: {secret} is recorded");
        }
        scratch.write("made/tree/copied", "other\n");
        scratch.write("made/scaffold/a.conf", "other\n");
    }
}

#[test]
fn a_purge_leaves_what_other_resources_will_fill() {
    let manifest = |archive: &str| {
        format!(
            "ccm:\n  resources:\n\
             \x20   - file:\n        - ROOT/opt: {{ensure: directory, purge: true, force: true}}\n\
             \x20   - exec:\n        - fill: {{command: touch ROOT/opt/filled, creates: ROOT/opt/filled}}\n{archive}"
        )
    };
    let scratch = scratch_with(&manifest(""));
    for (expected, stale) in [(2, true), (2, true), (0, false)] {
        if stale {
            scratch.write("made/opt/stale", "");
        }
        let called = apply(&scratch, &["--detailed-exitcodes"]);
        assert_eq!(called.code, expected, "{}", called.shown());
        assert!(scratch.has("made/opt/filled") && !scratch.has("made/opt/stale"), "{}", called.shown());
    }
    if !cfg!(feature = "archive") {
        return ccm_testkit::skipped("ccm was built without archives");
    }
    let archive = |into: &str| {
        format!(
            "    - archive:\n        - ROOT/a.tar: {{url: \"http://127.0.0.1:1/a.tar\", extract_parent: {into}, \
             creates: {into}/app, cleanup: true}}\n"
        )
    };
    let scratch = scratch_with(&manifest(&archive("ROOT/opt/app")));
    scratch.write("made/opt/app/app", "");
    scratch.write("made/opt/app/share/data", "");
    scratch.write("made/opt/filled", "");
    let called = apply(&scratch, &["--detailed-exitcodes"]);
    assert_eq!((called.code, scratch.has("made/opt/app/share/data")), (0, true), "{}", called.shown());
    // What lies beside the extracted files can't be told from them.
    let scratch = scratch_with(&manifest(&archive("ROOT/opt")));
    scratch.write("made/opt/app", "");
    let checked = ccm(&scratch, &["validate", "m.yaml"]).run();
    let noop = apply(&scratch, &["--noop"]);
    let refused = apply(&scratch, &[]);
    for called in [&checked, &noop, &refused] {
        let shown = called.shown();
        for words in
            ["and `purge` of `file#", "made/opt` would remove what it brings", "m.yaml:8", "purged here"]
        {
            assert!(shown.contains(words), "{words}: {shown}");
        }
    }
    assert_eq!((refused.code, scratch.has("made/opt/app")), (1, true), "{}", refused.shown());
}

#[cfg(feature = "archive")]
#[test]
fn a_purge_of_a_directory_that_another_manifest_fills_is_refused_before_the_run() {
    let purge = "ccm:\n  resources:\n    - file:\n        - ROOT/opt: {ensure: directory, purge: true}\n";
    let scratch = scratch_with(purge);
    let fill = "ccm:\n  resources:\n    - archive:\n        - ROOT/a.tar: {url: \"http://127.0.0.1:1/a.tar\", \
                extract_parent: ROOT/opt, creates: ROOT/opt/app}\n";
    scratch.write("fill.yaml", fill.replace("ROOT", &scratch.at("made")));
    scratch.write("made/opt/app", "");
    for order in [["m.yaml", "fill.yaml"], ["fill.yaml", "m.yaml"]] {
        let refused = ccm(&scratch, &["apply", order[0], order[1]]).run();
        let shown = refused.shown();
        assert_eq!((refused.code, scratch.has("made/opt/app")), (1, true), "{shown}");
        for words in [
            "a.tar in fill.yaml fills the directory",
            "made/opt in m.yaml would remove",
            "m.yaml:4",
            "fill.yaml:4",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
    }
}
