//! `ccm ensure`: one resource without a manifest.

use std::path::Path;

use ccm_testkit::{Called, Ccm, Scratch, needs_root, shell};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::expect_error;

/// A call of `ccm ensure` with these words.
pub(crate) fn ensure(scratch: &Scratch, words: &[&str]) -> Ccm {
    ccm(scratch, &["ensure"]).args(words)
}

fn called(scratch: &Scratch, words: &[&str]) -> Called {
    ensure(scratch, words).run()
}

#[test]
fn a_resource_is_brought_to_its_state() {
    let scratch = Scratch::new();
    let path = scratch.at("motd");
    let words = ["file", &path, "--content", "Hello.\n", "--mode", "600"];
    let planned = called(&scratch, &[&["--noop", "--diff"], &words[..]].concat());
    assert_snapshot!("ensure_noop", planned.shown());
    assert!(!scratch.has("motd"));
    for check in [&["--check"][..], &["--noop"], &["-n"]] {
        assert_eq!(called(&scratch, &[check, &words[..]].concat()).code, 0);
    }
    let at_the_end = called(&scratch, &[&words[..], &["--check"]].concat());
    assert!(at_the_end.code == 0 && !scratch.has("motd"), "{}", at_the_end.shown());
    assert_snapshot!("ensure", called(&scratch, &words).shown());
    let again = called(&scratch, &[&["--detailed-exitcodes"], &words[..]].concat());
    assert_eq!((again.code, scratch.read("motd").as_deref()), (0, Some("Hello.\n")), "{}", again.shown());
    let absent = called(&scratch, &["--detailed-exitcodes", "file", &path, "absent"]);
    assert!(absent.code == 2 && !scratch.has("motd"), "{}", absent.shown());
    let history = ccm(&scratch, &["history"]).run();
    assert_eq!(history.stdout.matches("ensure file#[dir]/motd").count(), 3, "{}", history.stdout);
    let status = ccm(&scratch, &["status"]).run();
    assert!(
        status.code == 0 && status.stdout.starts_with("no run of a manifest is recorded"),
        "{}",
        status.shown()
    );
}

#[test]
fn the_report_has_every_format_of_apply() {
    let scratch = Scratch::new();
    let path = scratch.at("a");
    let json = called(&scratch, &["--output", "json", "file", &path, "--content", "x"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(document["summary"]["counts"]["changed"], 1, "{}", json.shown());
    let lines = called(&scratch, &["--output", "jsonl", "file", &path, "--content", "x"]);
    assert_eq!((lines.code, lines.stdout.lines().count()), (0, 3), "{}", lines.shown());
    let quiet = called(&scratch, &["-q", "file", &path, "--content", "y"]);
    assert_eq!((quiet.code, &*quiet.stdout), (0, ""), "{}", quiet.shown());
    let error = called(&scratch, &["--json", "file", &path, "--mode", "99999"]);
    let document: serde_json::Value = serde_json::from_str(&error.stdout).expect("JSON");
    assert_eq!(document["diagnostics"][0]["property"], "mode", "{}", error.shown());
}

#[test]
fn a_text_is_never_read_as_yaml() {
    let scratch = Scratch::new();
    let path = scratch.at("text");
    for text in [
        "[a, b]",
        "- a\n- {b: c}",
        "a: b # c",
        "!!binary x",
        "&a *a",
        "null",
        "true",
        "0o17",
        "'",
        "\"",
        "%",
        "|",
        "",
    ] {
        let found = called(&scratch, &["file", &path, "--content", text]);
        assert_eq!((found.code, scratch.read("text").as_deref()), (0, Some(text)), "{}", found.shown());
    }
}

#[test]
fn values_of_options_have_the_kinds_of_their_properties() {
    let scratch = Scratch::new();
    let made = scratch.at("made");
    let shows = format!("printf '%s,' \"$A\" \"$B\" > {made}; exit 3");
    let words = [
        "exec",
        &shows,
        "--provider",
        "shell",
        "--environment",
        "A=x=y",
        "--environment",
        "B=y",
        "--returns",
        "0",
    ];
    let words =
        [&words[..], &["--returns", "3", "--exec-unless", "test -e never", "--if", "1 == 1", "--logoutput"]]
            .concat();
    let found = called(&scratch, &words);
    assert_eq!((found.code, scratch.read("made").as_deref()), (0, Some("x=y,y,")), "{}", found.shown());
    let off = called(&scratch, &["exec", "touch never", "--if", "1 == 2"]);
    assert!(off.code == 0 && off.stdout.contains("1 skipped"), "{}", off.shown());
    let check = format!("sh -c 'echo x >> {}; exit 2'", scratch.at("tries"));
    let unhealthy =
        ["exec", "true", "--exec-if", "false", "--health-check", &check, "--health-check-tries", "2"];
    let found = called(&scratch, &[&unhealthy[..], &["--health-check-sleep", "1ms"]].concat());
    assert_eq!((found.code, scratch.read("tries").as_deref()), (4, Some("x\nx\n")), "{}", found.shown());
    let data = ["--data", "a.b=5", "--fact", "role=web", "file"];
    let content = "{{ Data.a.b + 1 }} {{ Facts.role }}";
    let found = called(&scratch, &[&data[..], &[&made, "--content", content]].concat());
    assert_eq!((found.code, scratch.read("made").as_deref()), (0, Some("6 web")), "{}", found.shown());
}

#[test]
fn errors_point_at_the_option() {
    let scratch = Scratch::new();
    let line = "the command line:1:";
    for (words, code, column, message, hint) in [
        (&["file", "/x", "--mode", "99999"][..], 1, 27, "`99999` is not a mode", "`0644`"),
        (&["file", "/x", "--ownr", "root"], 1, 20, "unknown property `ownr`", "`owner`"),
        (&["file", "/x", "--dest", "a"], 1, 20, "unknown property `dest`", "name"),
        (&["file", "/x", "--refresh-onl"], 1, 20, "unknown property `refresh_onl`", "use one of: content"),
        (&["flie", "/x"], 1, 12, "unknown resource type `flie`", "`file`"),
        (&["copy", "/x", "--dest", "/y"], 1, 12, "unknown resource type `copy`", "`file`"),
        (&["file", "/x", "presnt"], 1, 20, "`presnt`", "`present`"),
        (&["file", "/x", "--recurse", "maybe"], 64, 30, "this word belongs to no option", "quote a value"),
        (&["file", "/x", "--mode"], 64, 20, "`--mode` needs a value", ""),
        (&["file", "/x", "--mode", "--owner", "root"], 64, 20, "`--mode` needs a value", "`--mode=VALUE`"),
        (&["file", "/x", "--mode", "1", "--mode", "2"], 64, 29, "`--mode` is given twice", ""),
        (&["file", "/x", "--noop"], 64, 20, "`--noop` is an option of the run", "`ccm ensure --noop file …`"),
        (&["file", "/x", "-v"], 64, 20, "belongs to no option", "before the type"),
        (
            &["file", "/x", "--check", "test -e /x"],
            64,
            20,
            "`--check` has no value",
            "`--health-check COMMAND`",
        ),
        (&["file", "/x", "--health-check-tries", "3"], 64, 20, "no health check", "`--health-check COMMAND`"),
        (&["exec", "true", "--sandbox", "network"], 64, 32, "no `=`", "`--sandbox KEY=VALUE`"),
        (&["exec", "true", "--require", "file#/x"], 1, 32, "unknown resource `file#/x`", "ccm session new"),
        (&["user", "ada", "--password-hash", "$6$a$b"], 64, 21, "`password_hash` is secret", "credential("),
        (
            &["file", "/x", "--sensitive", "--content", "hunter2"],
            64,
            32,
            "`content` is secret",
            "--content '{{",
        ),
        (&["file", "a\nb", "--mode", "99999"], 1, 0, "", ""),
    ] {
        let found = called(&scratch, words);
        let hints: &[&str] = if hint.is_empty() { &[] } else { &[hint] };
        if column == 0 {
            assert_eq!(found.code, code, "{}", found.shown());
            assert!(found.stderr.contains("ccm ensure file $'a\\nb' --mode 99999"), "{}", found.shown());
            continue;
        }
        expect_error(&found, code, &format!("{line}{column}"), &[message], hints);
    }
}

#[test]
fn bad_usage_is_explained() {
    let scratch = Scratch::new();
    for (words, message, hint) in [
        (&["--nop", "file", "/x"][..], "argument '--nop'", "'--noop'"),
        (&["file"], "<NAME>", "`ccm ensure file "),
        (&["--only", "file#/x", "file", "/x"], "argument '--only'", "`ccm apply`"),
    ] {
        let found = called(&scratch, words);
        expect_error(&found, 64, "", &[message], &[hint]);
    }
    let help = called(&scratch, &["service", "--help"]);
    assert_snapshot!("help_ensure_service", help.shown());
    assert_eq!(help.stdout, called(&scratch, &["service", "nginx", "--help"]).stdout);
    assert_eq!(help.stdout, ccm(&scratch, &["help", "ensure", "service"]).run().stdout);
    let not_asked = called(&scratch, &["exec", "echo", "--args", "-h"]);
    assert!(not_asked.code == 0 && !not_asked.stdout.contains("Usage"), "{}", not_asked.shown());
    // Types are listed as the registry has them.
    let help = called(&scratch, &["--help"]).shown();
    let (before, types) = help.split_once("Types:\n").expect("a list of types");
    let rest = types.split_once("\n  api ").expect("what follows it").1;
    assert_snapshot!("help_ensure", format!("{before}Types:\n  …\n  api {rest}"));
}

#[test]
fn variables_and_values_come_from_the_working_directory() {
    let scratch = Scratch::new();
    scratch.write(".env", "NAME=ada\n");
    scratch.write(
        ".hiera",
        "hierarchy: {order: ['os:linux']}\ndata: {port: 80}\noverrides: {'os:linux': {port: 81}}\n",
    );
    let path = scratch.at("made");
    let content = "{{ Environ.NAME }} {{ Data.port }}";
    let words = ["file", &path, "--content", content];
    let found = called(&scratch, &words);
    assert_eq!((found.code, scratch.read("made").as_deref()), (0, Some("ada 81")), "{}", found.shown());
    let without = called(&scratch, &[&["--no-env"], &words[..]].concat());
    assert!(without.code == 1 && without.stderr.contains("Environ.NAME"), "{}", without.shown());
    scratch.write("other.yaml", "data: {port: 90}\n");
    let named = called(&scratch, &[&["--hiera", "other.yaml"], &words[..]].concat());
    assert_eq!((named.code, scratch.read("made").as_deref()), (0, Some("ada 90")), "{}", named.shown());
}

#[test]
fn files_of_a_stranger_in_the_working_directory_are_not_read() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("shared/.env", "NAME=mallory\n");
    scratch.write("shared/.hiera", "data: {name: mallory}\n");
    shell("chmod 1777 shared && chown 65534 shared/.env shared/.hiera", scratch.path());
    let path = scratch.at("made");
    let content = "{{ lookup('environ.NAME', 'nobody') }} {{ lookup('data.name', 'nobody') }}";
    let found = ensure(&scratch, &["file", &path, "--content", content]).after("cd shared").run();
    assert_eq!(
        (found.code, scratch.read("made").as_deref()),
        (0, Some("nobody nobody")),
        "{}",
        found.shown()
    );
    for name in ["`.env` is left out", "`.hiera` is left out"] {
        assert!(found.stderr.contains(name), "{}", found.shown());
    }
}

#[test]
fn a_secret_comes_from_a_file() {
    let scratch = Scratch::new();
    scratch.write("secret", "hunter2hunter2");
    let (path, secret) = (scratch.at("made"), scratch.at("secret"));
    let content = format!("{{{{ file('{secret}') }}}}");
    let found =
        called(&scratch, &["--diff", "file", &path, "--sensitive", "--mode", "600", "--content", &content]);
    assert_eq!(
        (found.code, scratch.read("made").as_deref()),
        (0, Some("hunter2hunter2")),
        "{}",
        found.shown()
    );
    let shown = ccm(&scratch, &["history", "last"]).run();
    assert!(!found.stdout.contains("hunter2") && !shown.stdout.contains("hunter2"), "{}", found.shown());
    assert!(Path::new(&path).exists());
}
