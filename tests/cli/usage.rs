//! Arguments and help of the command line.

use ccm_testkit::{Scratch, repository};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::expect_error;

/// Returns the usage line of a help text, and the long names of its options, with the headings above them.
fn usage_and_options(help: &str) -> (&str, Vec<&str>) {
    let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ccm ")).unwrap_or_default();
    let headings = ["Source:", "Data:", "Limits:", "Output:", "Record:"];
    let names = help.lines().filter_map(|line| {
        if headings.contains(&line) {
            return line.strip_suffix(':');
        }
        let option = line.strip_prefix("  ").map(str::trim_start).filter(|line| line.starts_with('-'))?;
        option.split([' ', '.']).find(|word| word.starts_with("--"))
    });
    (usage, names.collect())
}

/// Usages and options of all commands.
const USAGES: &str = include_str!("usage.txt");

/// Words of the table, and the options that they stand for.
const OPTION_GROUPS: [(&str, &str); 3] = [
    ("V", "--verbose --help"),
    ("INPUTS", "--data --hiera --data-any --fact --facts"),
    (
        "SOURCE",
        "--from --signers --threshold --channel --root --allow-rewind --fetch-wait --ca-file --bootstrap",
    ),
];

#[test]
fn help_shows_the_most_used_options_first() {
    let scratch = Scratch::new();
    let help = |args: &[&str]| ccm(&scratch, args).args(&["--help"]).default_state().run();
    assert_snapshot!("help", help(&[]).shown());
    assert_snapshot!("help_apply", help(&["apply"]).shown());
}

#[test]
fn help_lists_the_options_of_each_command() {
    let scratch = Scratch::new();
    let (_, table) = USAGES.split_once("\n\n").expect("what the table is");
    let mut lines = table.lines().filter(|line| !line.starts_with('#')).peekable();
    let mut listed = 0;
    while let Some(usage) = lines.next() {
        let mut options = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            options.extend(line.split_whitespace().flat_map(|word| {
                let group = OPTION_GROUPS.iter().find(|(name, _)| *name == word);
                group.map_or(word, |(_, options)| options).split(' ')
            }));
        }
        let is_word = |word: &&str| !word.starts_with(['[', '<', '-']);
        let command: Vec<&str> = usage.split(' ').take_while(is_word).chain(["--help"]).collect();
        let called = ccm(&scratch, &command).default_state().run();
        assert_eq!((called.code, &*called.stderr), (0, ""), "{usage}: {}", called.shown());
        assert_eq!(usage_and_options(&called.stdout), (usage, options));
        listed += 1;
    }
    assert!(listed > 40, "{listed}");
}

#[test]
fn the_version_is_printed() {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["--version"]).run();
    assert_eq!(called.stdout, format!("ccm {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(called.code, 0);
}

#[test]
fn bad_usage_has_its_own_exit_code() {
    let scratch = Scratch::new();
    let call = |args: &[&str]| ccm(&scratch, args).default_state().run();
    let called = call(&["apply", "--nop", "manifest.yaml"]);
    assert_eq!(called.code, 64);
    assert_snapshot!("unknown_option", called.shown());
    let called = call(&[]);
    assert_eq!((called.code, &*called.stdout), (64, ""));
    assert_eq!(called.stderr, call(&["--help"]).stdout);
}

#[test]
fn wrong_arguments_are_named() {
    let scratch = Scratch::new();
    let expect = |args: &[&str], message: &[&str], hints: &[&str]| {
        expect_error(&ccm(&scratch, args).default_state().run(), 64, "", message, hints);
    };
    expect(&["aply", "manifest.yaml"], &["subcommand 'aply'"], &["'apply'"]);
    expect(&["apply", "-v", "-q", "m.yaml"], &["'--verbose...'", "'--quiet'"], &[]);
    let facts = ["validate", "m.yaml", "--facts", "a.yaml", "--matrix", "b.yaml"];
    expect(&facts, &["'--facts <FILE>'", "'--matrix <FILE>...'"], &[]);
    expect(&["graph", "one.yaml", "two.yaml"], &["unexpected argument 'two.yaml'"], &[]);
    let rest = ["apply", "m.yaml", "--data", "motd=not", "quoted"];
    expect(&rest, &["unexpected argument '…'"], &["--data 'motd=a b'"]);
}

#[test]
fn a_wrong_command_line_comes_with_what_to_write() {
    let scratch = Scratch::new();
    scratch.write("site", "ccm: {resources: []}\n");
    for (line, message, instead) in [
        ("site.yaml", "subcommand 'site.yaml'", "`ccm apply site.yaml`"),
        ("my.yml -v", "subcommand 'my.yml'", "`ccm apply my.yml`"),
        ("https://example.org/m", "subcommand 'https:", "`ccm apply https://example.org/m`"),
        ("site", "subcommand 'site'", "`ccm apply site`"),
        ("-", "subcommand '-'", "`ccm apply -`"),
        ("backup m.yaml", "subcommand 'm.yaml'", ""),
        ("plan site.yaml", "subcommand 'site.yaml'", "`ccm apply --noop MANIFEST`"),
        ("apply", "\n<MANIFEST>...\n", "`ccm apply site.yaml`"),
        ("timer install", "<MANIFEST>", "`ccm timer install "),
        ("approve", "<CODE>", "`ccm approve 7K3F`"),
        ("approve --manifest m.yaml", "--until", " --until 30d`"),
        ("pause --for 2h", "--reason", "`ccm pause --for 2h --reason 'database upgrade'`"),
        ("eval", "<EXPRESSION>", "`ccm eval "),
        ("backup restore", "<PATH>", "`ccm backup restore PATH`"),
        ("backup prune", "--keep", "`ccm backup prune "),
        ("apply m.yaml --nop", "argument '--nop'", "'--noop'"),
        ("--noop m.yaml", "argument '--noop'", "`ccm apply`, `ccm ensure` and other commands"),
        ("apply m.yaml --max-age 2h", "argument '--max-age'", "`ccm status`"),
        ("graph m.yaml --state-dir /state", "argument '--state-dir'", "`ccm ensure` and other commands"),
        ("apply m.yaml --frobnicate", "argument '--frobnicate'", ""),
        ("status site.yaml", "unexpected argument 'site.yaml'", "`--manifest site.yaml`"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let called = ccm(&scratch, &args).default_state().run();
        let hints: &[&str] = if instead.is_empty() { &[] } else { &[instead] };
        expect_error(&called, 64, "", &[message], hints);
    }
}

/// Commands that print a line about what they did, a script, or what another program reads.
const WITHOUT_DOCUMENT: [&str; 22] = [
    "session new",
    "init",
    "timer install",
    "timer migrate",
    "timer notify",
    "timer remove",
    "backup restore",
    "backup prune",
    "completions",
    "approvals export",
    "approvals reject",
    "approve",
    "audit export",
    "status forget",
    "release sign",
    "source forget",
    "source rewind",
    "source receive",
    "secret encrypt",
    "secret edit",
    "secret rekey",
    "mcp",
];

/// Calls `each` for each command that has no commands below it.
fn for_each_command(command: &clap::Command, name: &str, each: &mut impl FnMut(&clap::Command, &str)) {
    let inner: Vec<&clap::Command> = command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
        .collect();
    if inner.is_empty() || ["approvals", "ensure", "status"].contains(&name) {
        each(command, name);
    }
    // What stands below it are types of resources.
    if name == "ensure" {
        return;
    }
    for inner in inner {
        let name = format!("{name} {}", inner.get_name());
        for_each_command(inner, name.trim(), each);
    }
}

#[test]
fn every_command_spells_json_and_sizes_alike() {
    let mut root = ccm_cli::command();
    root.build();
    for_each_command(&root, "", &mut |command, name| {
        let option = |long: &str| command.get_arguments().find(|option| option.get_long() == Some(long));
        let has_json = option("output").is_some_and(|output| {
            output.get_possible_values().iter().any(|value| value.get_name() == "json")
        });
        let is_excepted = WITHOUT_DOCUMENT.contains(&name);
        assert_eq!(has_json, !is_excepted || name == "timer install", "{name} --output json");
        let is_flag = option("json").is_some_and(|json| !json.get_action().takes_values());
        let reads_json = name.starts_with("tool ") && name != "tool list";
        assert_eq!(is_flag, has_json && !reads_json, "{name} --json");
        for size in command.get_arguments().filter(|option| {
            option.get_value_names().is_some_and(|names| names.iter().any(|name| name == "SIZE"))
        }) {
            let with = |text: &str| {
                let option = clap::Arg::new("size").value_parser(size.get_value_parser().clone());
                let matches = clap::Command::new("ccm").arg(option).try_get_matches_from(["ccm", text]);
                matches.ok().and_then(|matches| matches.get_one::<u64>("size").copied())
            };
            for (text, bytes) in
                [("64K", Some(64_000)), ("64Ki", Some(65_536)), ("64MiB", Some(64 << 20)), ("64KBB", None)]
            {
                assert_eq!(with(text), bytes, "{name} {size} {text}");
            }
        }
    });
}

#[test]
fn every_document_is_printed_by_both_options() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", manifest_that_makes(&scratch.at("made")));
    scratch.write("data.yaml", "data: {a: 1}\n");
    scratch.write("policy.yaml", "ccm_policy: 1\n");
    scratch.write("verdicts.yaml", "tool: {allow: [ls]}\n");
    let planned = ccm(&scratch, &["apply", "--noop", "--plan-out", "web.plan", "m.yaml"]).run();
    assert_eq!(planned.code, 0, "{}", planned.shown());
    for line in [
        "plan show web.plan",
        "plan diff web.plan",
        "plan diff web.plan web.plan",
        "apply m.yaml",
        "validate m.yaml",
        "graph m.yaml",
        "history",
        "history last",
        "history last --critical",
        "status",
        "status --pending",
        "pause",
        "policy check --policy policy.yaml",
        "policy show",
        "policy test verdicts.yaml --policy policy.yaml",
        "policy explain -- ls",
        "policy schema",
        "backup list",
        "facts host.info",
        "hiera parse data.yaml",
        "hiera parse data.yaml --explain",
        "eval 1",
        "eval 1 --explain",
        "explain",
        "explain file",
        "explain file.mode",
        "schema",
        "schema --api",
    ] {
        let documents = ["--output=json", "--json"].map(|option| {
            let mut args: Vec<&str> = line.split(' ').collect();
            let at = args.iter().position(|word| *word == "--").unwrap_or(args.len());
            args.insert(at, option);
            let called = ccm(&scratch, &args).run();
            assert!(matches!(called.code, 0 | 5 | 7), "{line}: {}", called.shown());
            serde_json::from_str::<serde_json::Value>(&called.stdout).expect("a document")
        });
        // Each run has an id of its own, and the machine goes on.
        if !["apply m.yaml", "facts host.info"].contains(&line) {
            assert_eq!(documents[0], documents[1], "{line}");
        }
    }
    let old = ccm(&scratch, &["graph", "--format", "json", "m.yaml"]).run();
    assert_eq!(old.stdout, ccm(&scratch, &["graph", "--json", "m.yaml"]).run().stdout);
}

#[test]
fn commands_of_other_tools_come_with_that_of_ccm() {
    let scratch = Scratch::new();
    for (command, instead) in [
        ("diff", "`ccm apply --noop --diff MANIFEST`"),
        ("run", "`ccm apply MANIFEST`"),
        ("converge", "`ccm apply MANIFEST`"),
        ("agent", "`ccm apply MANIFEST`"),
        ("playbook", "`ccm apply MANIFEST`"),
    ] {
        for args in [&[command][..], &[command, "site.yaml"], &["-v", command, "site.yaml"]] {
            let called = ccm(&scratch, args).default_state().run();
            expect_error(&called, 64, "", &[&format!("subcommand '{command}'")], &[instead]);
        }
    }
    let backup = ccm(&scratch, &["backup", "diff"]).default_state().run();
    expect_error(&backup, 64, "", &["subcommand 'diff'"], &[]);
    let similar = ccm(&scratch, &["statsu"]).default_state().run();
    expect_error(&similar, 64, "", &["subcommand 'statsu'"], &["'status'"]);
}

/// A hint is right, or there is none.
#[test]
fn hints_name_what_the_command_has() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", "data: {port: 80}\nccm: {resources: [{exec: [{r: {command: 'true'}}]}]}\n");
    for (args, hint, wrong) in [
        (&["--completion", "zsh"][..], Some("`ccm completions`"), "--complet'"),
        (&["--validate", "m.yaml"], Some("`ccm validate`"), ""),
        (&["completions", "tcsh"], None, "'zsh'\n"),
        (&["completions", "bsh"], Some("'bash'"), ""),
        (&["timer", "install", "m.yaml", "--cron", "x"], Some("--every"), "--confirm"),
        (&["timer", "install", "m.yaml", "--confirn"], None, "'--confirm'"),
        (&["apply", "m.yaml", "--confirn"], Some("'--confirm'"), ""),
        (&["help", "aply"], Some("'apply'"), ""),
        (&["help", "noop"], Some("`ccm apply --noop MANIFEST`"), ""),
        (&["apply", "m.yaml", "--only", "r"], Some("`exec#r`"), "motd"),
        (
            &["apply", "m.yaml", "--only", "exec#r,exec#s"],
            Some("--only 'exec#r' --only 'exec#s'"),
            "did you mean",
        ),
    ] {
        let called = ccm(&scratch, args).default_state().run();
        assert_eq!(called.code, 64, "{args:?}: {}", called.shown());
        assert!(hint.is_none_or(|hint| called.stderr.contains(hint)), "{args:?}: {}", called.stderr);
        assert!(!called.stderr.contains("tip:"), "{args:?}: {}", called.stderr);
        assert!(wrong.is_empty() || !called.stderr.contains(wrong), "{args:?}: {}", called.stderr);
    }
}

/// The names of expressions, where a path is meant, and names without values.
#[test]
fn hints_say_where_values_come_from() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", "data: {port: 80}\nccm: {resources: []}\n");
    for (args, hint) in [
        (&["eval", "Data.port"][..], Some("`--data KEY=VALUE` or `--hiera FILE`")),
        (&["eval", "Facts.prot"], None),
        (&["facts", "Facts.host.info.os"], Some("leave out the first part: write `host.info.os`")),
        (&["apply", "m.yaml", "--data", "Data.port=1"], Some("leave out the first part: write `port=VALUE`")),
    ] {
        let called = ccm(&scratch, args).run();
        assert_eq!(called.code, 1, "{args:?}: {}", called.shown());
        let expected = hint.unwrap_or("hint");
        assert!(called.stderr.contains(expected), "{args:?}: {}", called.stderr);
        assert!(hint.is_some() || !called.stderr.contains("--hiera"), "{args:?}: {}", called.stderr);
    }
}

#[test]
fn wrong_values_of_options_are_named() {
    let scratch = Scratch::new();
    let expect = |option: &str, value: &str, message: &[&str]| {
        let called = ccm(&scratch, &["apply", option, value, "manifest.yaml"]).default_state().run();
        let named = [format!("value '{value}'"), format!("'{option} <")];
        expect_error(&called, 64, "", &[&[&*named[0], &named[1]], message].concat(), &[]);
    };
    expect("--timeout", "30", &["no unit", "`30s`", "`30m`"]);
    expect("--lock-wait", "30", &["no unit", "`30s`", "`30m`"]);
    expect("--only", "reload", &["`reload`", "`type#name`"]);
    expect("--events-file", "-", &["file", "`--output jsonl`"]);
    let prefix = ccm(&scratch, &["hiera", "parse", "data.yaml", "--env", "--env-prefix", "1-x"]).run();
    expect_error(&prefix, 64, "", &["value '1-x'", "'--env-prefix <PREFIX>'", "digit"], &[]);
    let format = ccm(&scratch, &["graph", "--format", "png", "manifest.yaml"]).run();
    expect_error(&format, 64, "", &["value 'png'", "'--output <FORMAT>'", "text, dot, mermaid, svg"], &[]);
}

/// Returns a manifest with an exec that makes a file.
fn manifest_that_makes(path: &str) -> String {
    format!("ccm:\n  resources:\n    - exec:\n        - make: {{command: touch {path}}}\n")
}

#[test]
fn noop_has_the_names_of_other_tools() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", manifest_that_makes(&scratch.at("made")));
    for name in ["-n", "--noop", "--dry-run", "--check"] {
        let called = ccm(&scratch, &["apply", name, "m.yaml"]).run();
        assert_eq!((called.code, scratch.has("made")), (0, false), "{name}: {}", called.shown());
    }
}

#[test]
fn examples_and_documentation_are_at_the_end_of_the_help() {
    let scratch = Scratch::new();
    for command in [
        "apply",
        "validate",
        "graph",
        "history",
        "status",
        "check",
        "pause",
        "plan show",
        "plan diff",
        "policy check",
        "policy explain",
        "policy test",
        "approve",
        "hiera parse",
        "eval",
        "facts",
        "completions",
    ] {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = ccm(&scratch, &args).run().stdout;
        let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_default();
        assert!(examples.contains(&format!("ccm {command} ")), "{help}");
        let last = help.lines().last().unwrap_or_default();
        let page = last.strip_prefix("Documentation: ").and_then(|pages| pages.split_once(", or "));
        let page = page.map(|(_, page)| page).unwrap_or_default();
        assert!(repository(page).is_file(), "{command}: {last}");
    }
}

#[test]
fn a_short_help_leaves_out_what_few_need() {
    let scratch = Scratch::new();
    for (command, kept, left_out) in [
        (
            "apply",
            &["--noop", "--diff", "--output"][..],
            &["--hiera", "--lock-wait", "--state-dir", "Examples:"][..],
        ),
        ("history", &["--changed", "--json"], &["--state-dir", "Examples:"]),
        ("status", &["--check", "forget"], &["--state-dir", "Examples:"]),
        ("backup list", &["--json"], &["--state-dir"]),
    ] {
        let args: Vec<&str> = command.split(' ').collect();
        let [short, long] =
            ["-h", "--help"].map(|option| ccm(&scratch, &args).args(&[option]).default_state().run().stdout);
        for part in kept {
            assert!(short.contains(part) && long.contains(part), "{part}\n{short}");
        }
        for part in left_out {
            assert!(!short.contains(part) && long.contains(part), "{part}\n{short}");
        }
        assert!(short.trim_end().ends_with("`--help` shows all options, and examples."), "{short}");
        assert!(short.lines().count() < 45, "{short}");
    }
    let short = ccm(&scratch, &["-h"]).default_state().run().stdout;
    assert!(short.contains("apply") && !short.contains("Examples:"), "{short}");
}

#[test]
fn the_environment_sets_options() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", manifest_that_makes(&scratch.at("made")));
    let call = |args: &[&str], name: &str, value: &str| {
        ccm(&scratch, args).default_state().variable(name, value).run()
    };
    let applied = call(&["apply", "m.yaml"], "CCM_STATE_DIR", &scratch.at("state"));
    assert_eq!(applied.code, 0, "{}", applied.shown());
    assert!(scratch.has("state/lock"));
    let listed = call(&["history", "--output", "json"], "CCM_STATE_DIR", &scratch.at("state"));
    assert!(listed.stdout.contains("m.yaml"), "{}", listed.shown());
    for (name, value, message) in
        [("CCM_LOCK_WAIT", "30", "no unit"), ("CCM_KEEP_RUNS", "all", "number of runs")]
    {
        let called = call(&["apply", "m.yaml", "--noop"], name, value);
        expect_error(
            &called,
            64,
            "",
            &[&format!("{name} can't be used"), &format!("'{value}'"), message],
            &[],
        );
        let help = call(&["apply", "--help"], name, "hunter2").stdout;
        assert!(help.contains(&format!("[env: {name}]")) && !help.contains("hunter2"), "{help}");
    }
}

#[test]
fn values_that_may_be_secret_are_not_in_an_error() {
    let scratch = Scratch::new();
    for args in [
        &["apply", "m.yaml", "--data", "hunter2"][..],
        &["apply", "m.yaml", "--data", "password", "hunter2"],
        &["validate", "m.yaml", "--fact", "hunter2"],
        &["facts", "--fact", ".=hunter2"],
        &["hiera", "parse", "m.yaml", "hunter2"],
        &["apply", "m.yaml", "--data", "password=my", "hunter2"],
        &["facts", "a", "--fact", "password=my", "hunter2"],
        &["eval", "1", "--data=password=my", "hunter2"],
        &["status", "password=hunter2"],
        &["apply", "m.yaml", "password=hunter2"],
        &["validate", "m.yaml", "--fact", "password=my", "hunter2"],
        &["validate", "m.yaml", "password=hunter2", "--output", "json"],
    ] {
        let called = ccm(&scratch, args).run();
        assert_eq!(
            (called.code, called.stdout.is_empty()),
            (64, !args.contains(&"json")),
            "{args:?}: {}",
            called.shown()
        );
        assert!(!called.shown().contains("hunter2"), "{args:?}: {}", called.shown());
        assert!(called.stderr.starts_with("error: "), "{args:?}: {}", called.shown());
    }
}
