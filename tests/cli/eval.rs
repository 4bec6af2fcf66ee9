//! `ccm eval`: one expression by itself.

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;

use crate::ccm;

fn eval(args: &[&str]) -> Called {
    let scratch = Scratch::new();
    scratch.write("vars.json", r#"{"ports": [80, 443], "name": "x"}"#);
    scratch.write("names.json", r#"{"Data": 1}"#);
    scratch.write("values.yaml", "data: {web: {port: 8080}}\n");
    scratch.write("note.txt", "from a file\n");
    ccm(&scratch, &["eval"]).args(args).run()
}

#[test]
fn an_expression_is_printed_as_json() {
    for (args, expected) in [
        (&["1 + 2 * 3"][..], "7\n"),
        (&["-1"], "-1\n"),
        (&["sum(ports)", "--vars", "vars.json"], "523\n"),
        (&["ports | filter(# > 100)", "--vars", "vars.json"], "[\n  443\n]\n"),
        (&["Data.web.port", "--hiera", "values.yaml"], "8080\n"),
        (&["Data.web.port", "--hiera", "values.yaml", "--data", "web.port=1"], "1\n"),
        (&["Facts.role + Facts.host.info.os", "--fact", "role=on-"], "\"on-linux\"\n"),
        (&["file('note.txt')"], "\"from a file\\n\"\n"),
        (&["{\"a\": nil}"], "{\n  \"a\": null\n}\n"),
    ] {
        let called = eval(args);
        assert_eq!((called.code, &*called.stdout), (0, expected), "{args:?} {}", called.shown());
    }
}

#[test]
fn mistakes_point_into_the_expression() {
    for (name, args) in [
        ("eval_unfinished", &["1 +"][..]),
        ("eval_unknown_function", &["trm('x')"]),
        ("eval_unknown_fact", &["Facts.host.inof"]),
        ("eval_unknown_data", &["Data.web.prot", "--hiera", "values.yaml"]),
        ("eval_unknown_name", &["prots", "--vars", "vars.json"]),
        ("eval_kinds", &["1 + 'x'"]),
        ("eval_captures", &["Captures.verify.root"]),
        ("eval_missing_file", &["file('missing')"]),
        ("eval_taken_name", &["1", "--vars", "names.json"]),
        ("eval_no_vars", &["1", "--vars", "missing.json"]),
        ("eval_url", &["1", "--hiera", "https://example.net/x.yaml"]),
    ] {
        let called = eval(args);
        assert_eq!((called.code, &*called.stdout), (1, ""), "{name}");
        assert_snapshot!(name, called.shown());
    }
}

#[test]
fn what_it_names_and_when_it_is_known_is_explained() {
    for (name, expression) in [
        ("eval_explain_early", "Facts.host.info.os + lookup('data.web.port') + Environ.HOME + port"),
        ("eval_explain_file", "file('/etc/motd') + template('motd.j2')"),
        ("eval_explain_capture", "Captures.verify.root + lookup('captures.verify.code')"),
        ("eval_explain_dynamic", "lookup(Data.path)"),
        ("eval_explain_nothing", "1 + 1"),
    ] {
        assert_snapshot!(name, eval(&[expression, "--explain"]).shown());
    }
}
