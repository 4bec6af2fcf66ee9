//! Good hosts: what is sent, what is applied, and how the same changes are shown.

use ccm_testkit::Scratch;

use crate::stand_in::{document, host, inventory, manifest, push, site};

const SITE: [&str; 2] = ["@all", "site/site.yaml"];

#[test]
fn hosts_with_the_same_changes_are_shown_once() {
    let scratch = site(&["web1", "web2", "db1"]);
    scratch.write("hosts/db1/data/motd", "Welcome\n");
    let called = push(&scratch, &SITE).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stdout.starts_with("2 hosts: 1 change\n  web1, web2\n"), "{}", called.stdout);
    assert!(called.stdout.contains("1 host: unchanged\n  db1\n"), "{}", called.stdout);
    assert!(called.stdout.ends_with("3 hosts: 2 changed, 1 unchanged\n"), "{}", called.stdout);
    let mut lines: Vec<_> = called.stderr.lines().filter(|line| line.contains("web1")).collect();
    assert_eq!(lines.len(), 1, "{}", called.stderr);
    assert!(lines.pop().is_some_and(|line| line.ends_with("/3] web1 1 changed")), "{}", called.stderr);
    for name in ["web1", "web2", "db1"] {
        assert_eq!(scratch.read(&format!("hosts/{name}/data/motd")).as_deref(), Some("Welcome\n"));
    }
}

#[test]
fn a_plan_changes_nothing_and_shows_the_difference_once_for_each_group() {
    let scratch = site(&["web1", "web2"]);
    push(&scratch, &SITE).run();
    manifest(&scratch, "Hello");
    let called = push(&scratch, &["--noop", "-q", "@all", "site/site.yaml", "--detailed-exitcodes"]).run();
    assert_eq!(called.code, 2, "{}", called.shown());
    assert_eq!(called.stdout.matches("+Hello").count(), 1, "{}", called.stdout);
    assert!(called.stdout.contains("2 hosts: 1 change would be made\n  web1, web2\n"), "{}", called.stdout);
    assert_eq!(called.stderr, "");
    assert_eq!(scratch.read("hosts/web1/data/motd").as_deref(), Some("Welcome\n"));
}

#[test]
fn a_page_shows_all_hosts_each_set_of_changes_once() {
    let scratch = site(&["web1", "web2", "db1", "dead1"]);
    scratch.write("hosts/db1/data/motd", "Welcome\n");
    let called = push(&scratch, &["--html", "push.html", "@all", "site/site.yaml"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    // The report is printed as well.
    assert!(called.stdout.ends_with("4 hosts: 2 changed, 1 unchanged, 1 not reached\n"), "{}", called.stdout);
    let page = scratch.read("push.html").expect("a page");
    for part in [
        "4 hosts: 2 changed, 1 unchanged, 1 not reached</p>",
        "site/site.yaml</p>",
        ">2 hosts: 1 change</h3>",
        ">web1</a></li>",
        "<span class=\"add\">+Welcome</span>",
        ">1 host: unchanged</h3>",
        "> dead1</h3>",
        "not reached: ssh did not connect</p>",
        "Connection refused</p>",
        "dead1 true` shows why",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert_eq!(page.matches("+Welcome").count(), 1, "{page}");
    assert!(!page.contains("<script"), "{page}");
    // Standard output gets it in place of the report.
    let called = push(&scratch, &["-q", "--noop", "--html", "-", "web1", "site/site.yaml"]).run();
    assert!(called.code == 0 && called.stdout.starts_with("<!doctype html>"), "{}", called.shown());
    let is_whole = called.stdout.contains("What would be done") && called.stdout.ends_with("</html>\n");
    assert!(is_whole, "{}", called.stdout);
}

#[test]
fn a_bundle_that_a_host_has_is_not_sent_again() {
    let scratch = site(&["web1"]);
    let run = || {
        let called = push(&scratch, &["web1", "site/site.yaml", "--json"]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        document(&called)
    };
    let first = run();
    assert_eq!(host(&first, "web1")["outcome"], "changed");
    assert_eq!(host(&first, "web1")["counts"]["changed"], 1);
    assert_eq!(first["groups"][0]["hosts"], serde_json::json!(["web1"]));
    let again = run();
    assert_eq!(host(&again, "web1")["outcome"], "unchanged");
    let listed = on_host(&scratch, "web1", &["source", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("a document");
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&listed[0]["before"], &listed[0]["applied"]),
        (&serde_json::Value::Null, &listed[0]["accepted"]["digest"])
    );
    // The run is one of the host, with its source.
    let history = on_host(&scratch, "web1", &["history", "--json"]);
    assert_eq!(
        history.matches(host(&again, "web1")["run_id"].as_str().expect("a run")).count(),
        1,
        "{history}"
    );
}

/// Runs ccm with the state of a host, and returns what it prints.
pub(crate) fn on_host(scratch: &Scratch, name: &str, words: &[&str]) -> String {
    let state = scratch.at(&format!("hosts/{name}/state"));
    let called = ccm_testkit::Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch)
        .default_state()
        .args(words)
        .variable("CCM_STATE_DIR", &state)
        .run();
    assert_eq!(called.code, 0, "{}", called.shown());
    called.stdout
}

#[test]
fn hosts_come_from_files_lists_and_programs() {
    let scratch = site(&["web1", "web2"]);
    let inventory_text = scratch.read("hosts.yaml").expect("an inventory");
    for (words, input, expected) in [
        (&["web*", "site/site.yaml"][..], "", "2 hosts: "),
        (&["-", "site/site.yaml"], "# mine\nweb2\n", "1 host: "),
        (&["*", "site/site.yaml", "--inventory", "-"], &*inventory_text, "2 hosts: "),
        (&["web1", "site/site.yaml", "-i", "hosts.yaml"], "", "1 host: "),
    ] {
        let called = push(&scratch, words).input(input).run();
        assert_eq!(called.code, 0, "{words:?}: {}", called.shown());
        let last = called.stdout.lines().last().unwrap_or_default();
        assert!(last.starts_with(expected), "{words:?}: {}", called.stdout);
    }
}

#[test]
fn mistakes_end_a_push_before_the_first_connection() {
    let scratch = site(&["web1"]);
    scratch.write("hostile.yaml", "hosts:\n  web1:\n  -oProxyCommand=touch pwned: {}\n");
    scratch.write("command.yaml", "hosts:\n  web1: {address: '$(touch pwned)'}\n");
    for (words, code, parts) in [
        (
            &["web3", "site/site.yaml"][..],
            64,
            &["the inventory has no host `web3`", "did you mean web1?"][..],
        ),
        (&["@al", "site/site.yaml"], 64, &["no group `al`", "did you mean @all?"]),
        (&["--", "-oProxyCommand=x", "site/site.yaml"], 64, &["a host is named with"]),
        (&["$(touch pwned)", "site/site.yaml"], 64, &["a host is named with"]),
        (&["-", "site/site.yaml", "-i", "-"], 64, &["both read from standard input"]),
        (&["*", "site/site.yaml", "-i", "hostile.yaml"], 1, &["hostile.yaml:3:", "the first is no `-`"]),
        (&["*", "site/site.yaml", "-i", "command.yaml"], 1, &["command.yaml:2:", "$(touch pwned)"]),
        (&["*", "site/site.yaml", "-i", "gone.yaml"], 1, &["gone.yaml"]),
        (&["web1", "gone.yaml"], 1, &["there is no manifest gone.yaml"]),
        (&["web1"], 64, &["MANIFEST"]),
        (&["web1", "-"], 64, &["directory of a manifest"]),
        (&["web1", "--run", "echo 'x"], 64, &["--run is wrong"]),
    ] {
        let called = push(&scratch, words).run();
        assert_eq!(called.code, code, "{words:?}: {}", called.shown());
        for part in parts {
            assert!(called.stderr.contains(part), "{words:?}: {part}: {}", called.stderr);
        }
    }
    assert!(!scratch.has("hosts") && !scratch.has("pwned"), "{:?}", scratch.names());
}

#[test]
fn canaries_come_first_and_end_a_push_that_fails() {
    let scratch = site(&["dead1", "web1", "web2"]);
    let called = push(&scratch, &["*", "site/site.yaml", "--canary", "1"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(
        called.stdout.contains("2 hosts not begun, because a canary failed\n  web1, web2\n"),
        "{}",
        called.stdout
    );
    inventory(&scratch, &["web1", "dead1", "dead2", "web2"]);
    let words = ["*", "site/site.yaml", "--max-failures", "1", "-j", "1", "--json"];
    let called = push(&scratch, &words).run();
    let document = document(&called);
    assert_eq!(document["halted"], "failures", "{}", called.shown());
    let outcomes: Vec<_> =
        ["web1", "dead1", "dead2", "web2"].map(|name| &host(&document, name)["outcome"]).into();
    assert_eq!(outcomes, ["changed", "not_reached", "not_reached", "not_begun"]);
}
