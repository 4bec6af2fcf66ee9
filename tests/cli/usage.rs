//! Arguments and help of the command line.

use ccm_testkit::{Scratch, repository};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::expect_error;

/// Returns the usage line of a help text, and the long names of its options, with the headings above them.
fn usage_and_options(help: &str) -> (&str, Vec<&str>) {
    let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ccm ")).unwrap_or_default();
    let headings = ["Data:", "Limits:", "Output:", "Record:"];
    let names = help.lines().filter_map(|line| {
        if headings.contains(&line) {
            return line.strip_suffix(':');
        }
        let option = line.strip_prefix("  ").map(str::trim_start).filter(|line| line.starts_with('-'))?;
        option.split([' ', '.']).find(|word| word.starts_with("--"))
    });
    (usage, names.collect())
}

#[test]
fn help_lists_the_options_of_each_command() {
    let scratch = Scratch::new();
    let help = |args: &[&str]| {
        let called = ccm(&scratch, args).args(&["--help"]).default_state().run();
        assert_eq!((called.code, &*called.stderr), (0, ""), "{}", called.shown());
        called
    };
    assert_snapshot!("help", help(&[]).shown());
    assert_snapshot!("help_apply", help(&["apply"]).shown());
    let inputs = "--data --hiera --data-any --fact --facts";
    for (command, usage, options) in [
        (
            "validate",
            "[OPTIONS] <MANIFEST>...",
            format!("--strict --no-files V Data {inputs} --no-env --matrix Limits --max-manifest-size Output --output"),
        ),
        (
            "graph",
            "[OPTIONS] <MANIFEST>",
            format!("--format V Data {inputs} --no-env Limits --max-manifest-size"),
        ),
        (
            "history",
            "[OPTIONS] [RUN] [RESOURCE]",
            "--changed --failed --manifest --since --resource --slowest --lines V Output --output Record \
             --state-dir"
                .into(),
        ),
        (
            "status",
            "[OPTIONS]",
            "--check --max-age --pending --manifest V Output --output Record --state-dir".into(),
        ),
        ("pause", "[OPTIONS]", "--for --reason --end V Output --output Record --state-dir".into()),
        ("policy check", "[OPTIONS]", "--policy V".into()),
        ("policy show", "[OPTIONS]", "--policy --classes V".into()),
        (
            "policy explain",
            "[OPTIONS] [COMMAND]...",
            "--shell --dialect --caller --policy --workspace --restrict --cwd --home --user V Output --json --batch"
                .into(),
        ),
        ("approvals", "[OPTIONS]", "--watch V Output --json".into()),
        (
            "approve",
            "[OPTIONS] [CODE]",
            format!(
                "--manifest --until --also --export --for --uses --rule --key --signature --yes V Data {inputs} --no-env Limits \
                 --max-manifest-size"
            ),
        ),
        ("audit init", "[OPTIONS]", "V Output --json".into()),
        (
            "audit log",
            "[OPTIONS]",
            "--run --since --user --resource --lines --directory V Output --json".into(),
        ),
        ("audit verify", "[OPTIONS]", "--key --against --chain --directory V Output --json".into()),
        ("audit checkpoint", "[OPTIONS]", "--directory V".into()),
        ("audit export", "[OPTIONS] <DIR>", "--directory V".into()),
        ("backup list", "[OPTIONS] [PATH]", "V Output --output Record --state-dir".into()),
        ("schema", "[OPTIONS]", "--events V".into()),
        (
            "timer install",
            "[OPTIONS] <MANIFEST>",
            format!(
                "--every --jitter --user --name --force --noop --diff --only --skip --require-signed V Data {inputs} --no-env Limits --timeout \
                 --lock-wait --fail-on-error --max-manifest-size Output --events-file --detailed-exitcodes Record \
                 --state-dir --keep-runs"
            ),
        ),
        ("timer list", "[OPTIONS]", "--user V Output --output".into()),
        ("timer remove", "[OPTIONS] <TIMER>", "--user --force V".into()),
        ("completions", "[OPTIONS] <SHELL>", "V".into()),
        ("init", "[OPTIONS] [FILE]", "V".into()),
        ("facts", "[OPTIONS] [PATH]", "--raw --yaml V Data --fact --facts".into()),
        (
            "eval",
            "[OPTIONS] <EXPRESSION>",
            format!("--explain --show-sensitive V Data {inputs} --vars"),
        ),
        ("explain", "[OPTIONS] [TYPE[.PROPERTY]] [PROPERTY]", "V".into()),
        (
            "hiera parse",
            "[OPTIONS] [FILE] [FACT=VALUE]...",
            "--query --explain V Data --system-facts --env-facts --facts --data --data-any Output --output --yaml --env \
             --env-prefix --show-sensitive"
                .into(),
        ),
    ] {
        let called = help(&command.split(' ').collect::<Vec<_>>());
        let listed = usage_and_options(&called.stdout);
        let options = options.replace('V', "--verbose --help");
        assert_eq!(listed, (&*format!("{command} {usage}"), options.split_whitespace().collect()));
    }
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
    expect(&["apply"], &["required", "\n<MANIFEST>...\n"], &[]);
    expect(&["apply", "-v", "-q", "m.yaml"], &["'--verbose...'", "'--quiet'"], &[]);
    let facts = ["validate", "m.yaml", "--facts", "a.yaml", "--matrix", "b.yaml"];
    expect(&facts, &["'--facts <FILE>'", "'--matrix <FILE>...'"], &[]);
    expect(&["status", "site.yaml"], &["unexpected argument 'site.yaml'"], &[]);
    expect(&["graph", "one.yaml", "two.yaml"], &["unexpected argument 'two.yaml'"], &[]);
    let of_apply = ["validate", "m.yaml", "--state-dir", "/state"];
    expect(&of_apply, &["unexpected argument '--state-dir'"], &[]);
    let rest = ["apply", "m.yaml", "--data", "motd=not", "quoted"];
    expect(&rest, &["unexpected argument '…'"], &["--data 'motd=a b'"]);
}

#[test]
fn commands_of_other_tools_come_with_that_of_ccm() {
    let scratch = Scratch::new();
    for (command, instead) in [
        ("plan", "`ccm apply --noop MANIFEST`"),
        ("check", "`ccm apply --noop MANIFEST`"),
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
    let format = ccm(&scratch, &["graph", "--format", "svg", "manifest.yaml"]).run();
    expect_error(&format, 64, "", &["value 'svg'", "'--format <FORMAT>'", "text, dot, mermaid"], &[]);
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
        "pause",
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
        let page = page.and_then(|(_, page)| page.strip_suffix(" in the source")).unwrap_or_default();
        assert!(repository(page).is_file(), "{command}: {last}");
    }
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
        assert_eq!((called.code, &*called.stdout), (64, ""), "{args:?}: {}", called.shown());
        assert!(!called.stderr.contains("hunter2"), "{args:?}: {}", called.shown());
        assert!(called.stderr.starts_with("error: "), "{args:?}: {}", called.shown());
    }
}
