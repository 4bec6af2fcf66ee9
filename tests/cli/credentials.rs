//! Credentials that systemd hands to ccm.

use ccm_testkit::{Called, Scratch};

use crate::ccm;
use crate::expect::expect_output;

const SECRET: &str = "s3cret-word-of-the-unit";

const MANIFEST: &str = "\
data:
  password: \"{{ credential('db') }}\"
ccm:
  resources:
    - file:
        - [dir]/app.conf:
            content: \"password={{ credential('db') }}\\nport=80\\n\"
            mode: \"0600\"
    - exec:
        - print: {command: \"echo {{ Data.password }}\", logoutput: true}
        - show: {command: \"cat [dir]/app.conf\", logoutput: true, require: [exec#print]}
        - fail: {command: \"cat [dir]/app.conf [dir]/gone\", require: [exec#show]}
";

fn run(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, args).variable("CREDENTIALS_DIRECTORY", &scratch.at("credentials")).run()
}

#[test]
fn a_credential_is_used_and_never_shown() {
    let scratch = Scratch::new();
    scratch.write("credentials/db", format!("{SECRET}\n"));
    scratch.write("m.yaml", MANIFEST.replace("[dir]", &scratch.path().to_string_lossy()));
    for (args, code) in [
        (&["validate", "m.yaml"][..], 0),
        (&["apply", "--noop", "--diff", "-vv", "m.yaml"], 0),
        (&["apply", "--noop", "--output", "jsonl", "m.yaml"], 0),
        (&["apply", "--render", "m.yaml"], 0),
        (&["apply", "--diff", "-vv", "--events-file", "events", "m.yaml"], 4),
        (&["apply", "--output", "json", "m.yaml"], 4),
        (&["history", "last"], 0),
        (&["history", "last", "fail"], 0),
        (&["eval", "credential('db')"], 0),
        (&["eval", "upper('x') + credential('db')"], 0),
        (&["hiera", "parse", "m.yaml"], 0),
    ] {
        let called = run(&scratch, args);
        assert_eq!(called.code, code, "{args:?}: {}", called.shown());
        assert!(!called.shown().contains(SECRET), "{args:?}: {}", called.shown());
        let shows_values = !matches!(args[0], "validate");
        assert_eq!(called.shown().contains("[redacted]"), shows_values, "{args:?}: {}", called.shown());
    }
    assert_eq!(scratch.read("app.conf"), Some(format!("password={SECRET}\nport=80\n")));
    assert!(!scratch.read("events").expect("the events").contains(SECRET));
    let mut left: Vec<_> = vec![scratch.state()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                std::fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()),
            );
        } else {
            let content = std::fs::read(&path).expect("a file");
            assert!(!String::from_utf8_lossy(&content).contains(SECRET), "{}", path.display());
        }
    }
}

#[test]
fn a_file_with_a_credential_that_everybody_can_read_is_refused() {
    let scratch = Scratch::new();
    scratch.write("credentials/db", SECRET);
    let file = format!(
        "ccm: {{resources: [{{file: [{{{}: {{content: \"{{{{ credential('db') }}}}\"}}}}]}}]}}",
        scratch.at("f")
    );
    scratch.write("m.yaml", file);
    let called = run(&scratch, &["validate", "m.yaml"]);
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("error: ") && called.stderr.contains("everybody"), "{}", called.shown());
}

#[test]
fn an_error_names_the_way_to_hand_a_credential_over() {
    let scratch = Scratch::new();
    scratch.write("credentials/db", SECRET);
    scratch.write("m.yaml", "ccm: {resources: [{exec: [{x: {command: \"echo {{ credential('web') }}\"}}]}]}");
    let missing = run(&scratch, &["apply", "m.yaml"]);
    let unset = ccm(&scratch, &["apply", "m.yaml"]).run();
    let relative = ccm(&scratch, &["apply", "m.yaml"]).variable("CREDENTIALS_DIRECTORY", "credentials").run();
    for (called, message, hint) in [
        (missing, "there is no credential `web` in ", "LoadCredential=web:PATH"),
        (unset, "CREDENTIALS_DIRECTORY is not set", "LoadCredential=NAME:PATH"),
        (relative, "CREDENTIALS_DIRECTORY is not an absolute path", "LoadCredential=NAME:PATH"),
    ] {
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(called.stderr.contains(message) && called.stderr.contains(hint), "{}", called.shown());
        assert!(called.stderr.contains("m.yaml:1:"), "{}", called.shown());
    }
    scratch.write("outside", "not-a-credential");
    std::os::unix::fs::symlink(scratch.at("outside"), scratch.path().join("credentials/web"))
        .expect("a link");
    let link = run(&scratch, &["apply", "m.yaml"]);
    assert!(link.stderr.contains("the credential `web` can't be read"), "{}", link.shown());
    assert!(!link.shown().contains("not-a-credential"), "{}", link.shown());
}

#[test]
fn the_names_of_credentials_are_explained() {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["eval", "--explain", "credential('db') + credential(Data.name)"]).run();
    expect_output(&called, 0, &["data: name\n", "credentials: db, any, because the name is an expression\n"]);
}
