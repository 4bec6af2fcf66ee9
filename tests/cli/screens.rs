//! Screens of the report in the documentation: each is what a run prints.

use std::fmt::Write as _;

use ccm_testkit::{Called, Scratch, repository, wait_until};

use crate::{ccm, owner};

const MANIFEST: &str = r#"
ccm:
  resources:
    - file:
        - [dir]/app: {ensure: directory, mode: "0755"}
        - [dir]/app/app.conf: {content: "listen 8001\nworkers 4\n", mode: "0640"}
        - [dir]/motd: {content: "web1\n", mode: "0644"}
        - [dir]/app.old: {ensure: absent}
    - exec:
        - checkout:
            command: touch [dir]/app/release
            cwd: [dir]/app
            unless: test -e release
        - reload-app: {command: "true", refresh_only: true, subscribe: ["file#[dir]/app/app.conf"]}
"#;

const FAILING: &str = r#"
ccm:
  resources:
    - exec:
        - migrate:
            provider: shell
            command: |
              echo connecting
              echo "no such database: app" >&2
              exit 7
        - start-app: {command: "true", require: ["exec#migrate"]}
        - unrelated: {command: "true"}
"#;

const SLOW: &str = r#"
ccm:
  resources:
    - exec:
        - build: {provider: shell, command: "touch [dir]/begun; exec sleep 3600"}
        - start-app: {command: "true"}
"#;

/// A call without `--state-dir`, which would be a part of the report.
fn call(scratch: &Scratch, args: &[&str]) -> ccm_testkit::Ccm {
    let state = scratch.state().display().to_string();
    ccm(scratch, args).default_state().variable("CCM_STATE_DIR", &state).variable("LC_ALL", "C.UTF-8")
}

fn apply(scratch: &Scratch, options: &[&str]) -> ccm_testkit::Ccm {
    call(scratch, &["apply", "site.yaml"]).args(options)
}

fn write(scratch: &Scratch, manifest: &str) {
    scratch.write("site.yaml", manifest.replace("[dir]", &scratch.at("")).replace("//", "/"));
}

/// Runs each screen of the page.
fn screens() -> Vec<(&'static str, Called)> {
    let scratch = Scratch::new();
    write(&scratch, MANIFEST);
    let mode = |path: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(scratch.at(path), std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    scratch.write("app/app.conf", "listen 8000\nworkers 4\n");
    scratch.write("app.old", "");
    mode("app", 0o755);
    mode("app/app.conf", 0o600);
    let noop = apply(&scratch, &["--noop"]).run();
    let first = apply(&scratch, &[]).run();
    let again = apply(&scratch, &[]).run();
    let verbose = apply(&scratch, &["-v"]).run();
    let scratch = Scratch::new();
    write(&scratch, FAILING);
    let failure = apply(&scratch, &[]).run();
    let log = apply(&scratch, &["--output", "log"]).run();
    let scratch = Scratch::new();
    let file = format!("{}: {{content: \"web1\\n\\n\", mode: \"0644\"}}", scratch.at("hosts"));
    let base = format!("ccm: {{resources: [{{file: [{{{file}}}]}}, {{exec: [{{a: {{creates: /}}}}]}}]}}\n");
    scratch.write("base.yaml", base);
    scratch.write("web.yaml", "ccm: {resources: [{exec: [{b: {creates: /}}, {c: {creates: /}}]}]}\n");
    let several = call(&scratch, &["apply", "base.yaml", "web.yaml"]).run();
    let scratch = Scratch::new();
    write(&scratch, SLOW);
    let running = apply(&scratch, &[]).start();
    wait_until("the command has begun", || scratch.has("begun"));
    running.signal("INT");
    let interruption = running.finish();
    vec![
        ("noop", noop),
        ("apply", first),
        ("unchanged", again),
        ("verbose", verbose),
        ("failure", failure),
        ("log", log),
        ("several", several),
        ("interruption", interruption),
    ]
}

#[test]
fn the_documentation_shows_what_a_run_prints() {
    let page = std::fs::read_to_string(repository("docs/reference/report.md")).expect("the page");
    let mut differences = String::new();
    let owner = owner();
    for (name, called) in screens() {
        let screen = called.screen().replace(&owner, "root:root");
        let block = format!("<!-- screen {name} -->\n```text\n{screen}```\n");
        if !page.contains(&block) {
            // Writing to a `String` can't fail.
            let _ = writeln!(differences, "{block}");
        }
    }
    assert!(differences.is_empty(), "docs/reference/report.md lacks:\n{differences}");
}
