//! The command line itself.

use ccm_testkit::Scratch;
use insta::assert_snapshot;

use crate::ccm;

#[test]
fn help_is_worth_reading() {
    let scratch = Scratch::new();
    for (name, args) in [
        ("help", &["--help"][..]),
        ("help_apply", &["apply", "--help"]),
        ("help_validate", &["validate", "--help"]),
        ("help_graph", &["graph", "--help"]),
        ("help_history", &["history", "--help"]),
        ("help_schema", &["schema", "--help"]),
        ("help_facts", &["facts", "--help"]),
        ("help_hiera", &["hiera", "parse", "--help"]),
        ("help_eval", &["eval", "--help"]),
        ("help_explain", &["explain", "--help"]),
    ] {
        assert_snapshot!(name, ccm(&scratch, args).default_state().run().shown());
    }
}

#[test]
fn the_version_is_told() {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["--version"]).run();
    assert_eq!(called.stdout, format!("ccm {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(called.code, 0);
}

#[test]
fn bad_usage_has_its_own_exit_code_and_says_what_is_meant() {
    let scratch = Scratch::new();
    for (name, args) in [
        ("usage_nothing", &[][..]),
        ("usage_unknown_command", &["aply", "manifest.yaml"]),
        ("usage_no_manifest", &["apply"]),
        ("usage_unknown_option", &["apply", "--nop", "manifest.yaml"]),
        ("usage_bad_timeout", &["apply", "--timeout", "30", "manifest.yaml"]),
        ("usage_bad_reference", &["apply", "--only", "reload", "manifest.yaml"]),
        ("usage_loud_and_quiet", &["apply", "-v", "-q", "manifest.yaml"]),
        ("usage_bad_lock_wait", &["apply", "--lock-wait", "30", "manifest.yaml"]),
        ("usage_events_to_output", &["apply", "--events-file", "-", "manifest.yaml"]),
        ("usage_bad_prefix", &["hiera", "parse", "data.yaml", "--env", "--env-prefix", "1-x"]),
        ("usage_matrix_with_facts", &["validate", "m.yaml", "--facts", "a.yaml", "--matrix", "b.yaml"]),
        ("usage_word_too_many", &["status", "site.yaml"]),
        ("usage_two_manifests", &["apply", "one.yaml", "two.yaml", "--noop"]),
        ("usage_rest_of_a_value", &["apply", "m.yaml", "--data", "motd=not", "quoted"]),
        ("usage_option_of_another_command", &["validate", "m.yaml", "--state-dir", "/state"]),
        ("usage_bad_format", &["graph", "--format", "svg", "manifest.yaml"]),
    ] {
        let called = ccm(&scratch, args).default_state().run();
        assert_eq!(called.code, 64, "{args:?}");
        assert_snapshot!(name, called.shown());
    }
}

#[test]
fn what_may_be_a_secret_is_not_shown_in_a_mistake() {
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
    ] {
        let called = ccm(&scratch, args).run();
        assert_eq!((called.code, &*called.stdout), (64, ""), "{args:?}: {}", called.shown());
        assert!(!called.stderr.contains("hunter2"), "{args:?}: {}", called.shown());
        assert!(called.stderr.starts_with("error: "), "{args:?}: {}", called.shown());
    }
}
