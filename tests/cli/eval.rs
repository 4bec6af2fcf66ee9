//! `ccm eval`: the value of an expression.

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::{expect_error, expect_output};

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
fn sensitive_values_are_printed_only_on_request() {
    let scratch = Scratch::new();
    let file =
        "data:\n  # @sensitive\n  pw: hunter2hunter2\n  # @sensitive\n  users: {ada: [s3cr3t-of-ada]}\n";
    scratch.write("values.yaml", file);
    for (expression, hidden) in [
        ("Data.pw", "\"[redacted]\"\n"),
        ("'x' + Data.pw", "\"x[redacted]\"\n"),
        ("Data.pw | toBase64()", "\"[redacted]=\"\n"),
        ("Data.users", "{\n  \"ada\": [\n    \"[redacted]\"\n  ]\n}\n"),
    ] {
        let eval = ["eval", expression, "--hiera", "values.yaml"];
        assert_eq!(ccm(&scratch, &eval).run().stdout, hidden, "{expression}");
        let shown = ccm(&scratch, &eval).args(&["--show-sensitive"]).run();
        assert!(shown.code == 0 && !shown.stdout.contains("redacted"), "{}", shown.shown());
    }
}

#[test]
fn errors_are_located_in_the_expression() {
    let expect = |args: &[&str], column: u32, message: &[&str], hints: &[&str]| {
        expect_error(&eval(args), 1, &format!("expression:1:{column}"), message, hints);
    };
    expect(&["1 +"], 4, &["end of the expression"], &[]);
    expect(&["trm('x')"], 1, &["function `trm`"], &["`trim`"]);
    expect(&["Facts.host.inof"], 12, &["no `Facts.host.inof`"], &["`info`"]);
    expect(&["prots", "--vars", "vars.json"], 1, &["no `prots`"], &["`ports`"]);
    expect(&["1 + 'x'"], 3, &["`+`", "integer", "text"], &["string(…)"]);
    expect(&["Captures.verify.root"], 1, &["captured values", "during a run"], &[]);
    expect(&["nosuch(1)"], 1, &["function `nosuch`"], &["`lookup`, `file`, `template`"]);
    expect(&["{a: 1}.b"], 8, &["this map", "`b`"], &["?.b"]);
    expect(&["file('missing')"], 1, &["`[dir]/missing`", "does not exist"], &[]);
    let data = eval(&["Data.web.prot", "--hiera", "values.yaml"]);
    assert_eq!((data.code, &*data.stdout), (1, ""), "{}", data.shown());
    assert_snapshot!("unknown_value", data.shown());
}

#[test]
fn a_variable_that_is_no_text_is_named() {
    let scratch = Scratch::new();
    for (expression, column) in [("Environ.ODD", 9), ("lookup('environ.ODD')", 1), ("Environ['ODD']", 9)] {
        let eval = ccm(&scratch, &["eval", expression]).after("export ODD=\"$(printf 'a\\377b')\"");
        let location = format!("expression:1:{column}");
        expect_error(&eval.run(), 1, &location, &["variable `ODD` is not UTF-8"], &[]);
    }
    let default =
        ccm(&scratch, &["eval", "Environ.ODD ?? 1"]).after("export ODD=\"$(printf '\\377')\"").run();
    assert_eq!(default.stdout, "1\n", "{}", default.shown());
}

#[test]
fn errors_in_options_name_the_file_or_variable() {
    let taken = eval(&["1", "--vars", "names.json"]);
    expect_error(&taken, 1, "", &["variable", "`Data`"], &["another name"]);
    let missing = eval(&["1", "--vars", "missing.json"]);
    expect_error(&missing, 1, "", &["--vars missing.json", "No such file"], &[]);
    let url = eval(&["1", "--hiera", "https://example.net/x.yaml"]);
    expect_error(&url, 1, "", &["--hiera https://example.net/x.yaml", "URL"], &["file"]);
}

#[test]
fn explain_lists_dependencies_and_the_time_of_evaluation() {
    let early = eval(&["Facts.host.info.os + lookup('data.web.port') + Environ.HOME + port", "--explain"]);
    assert_snapshot!("explain", early.shown());
    let expect = |expression: &str, names: &[&str], moment: &str| {
        let called = eval(&[expression, "--explain"]);
        expect_output(&called, 0, &[names, &["\nevaluated: ", moment]].concat());
        assert_eq!(called.stdout.lines().count(), names.len() + 1, "{}", called.shown());
    };
    let files = "file('/etc/motd') + template('motd.j2')";
    expect(files, &["files: /etc/motd", "templates: motd.j2"], "manages `/etc/motd`, during the run");
    let captures = "Captures.verify.root + lookup('captures.verify.code')";
    expect(captures, &["captures: verify.root, verify.code"], "during a run, after `exec#verify`\n");
    let any = ["facts: any", "data: path, any value", "environment: any"];
    expect("lookup(Data.path)", &any, "loaded\n");
    assert_eq!(eval(&["1 + 1", "--explain"]).stdout, "evaluated: when the manifest is loaded\n");
}
