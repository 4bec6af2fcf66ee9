//! Errors and warnings at load, each with line and column.

use serde_json::{Value as Json, json};

use crate::support::{read, shown};

/// Returns the errors and warnings of a text.
fn found(text: &str, files: &Json) -> Vec<String> {
    match read(text, files) {
        (Ok((_, found)) | Err(found), sources) => shown(&found, &sources),
    }
}

/// Returns texts, each with its errors and warnings.
fn report(texts: &[&str], files: &Json) -> String {
    let one = |text: &&str| format!("{}\n=> {}\n\n", text.trim_end(), found(text, files).join("\n=> "));
    texts.iter().map(one).collect()
}

#[test]
fn unknown_names_are_errors_with_the_closest_one() {
    let texts = [
        "flie:\n  /a: {exists: true}\n",
        "kernel_param:\n  a: {value: x}\n",
        "banana: {}\n",
        "file:\n  /a:\n    exists: true\n    mod: \"0644\"\n",
        "port:\n  tcp:80:\n    listening: true\n    banana: 1\n",
        "file:\n  /a:\n    exists: true\n    contents: {have-prefx: a}\n",
        "service:\n  web:\n    runlevels: [\"3\"]\n",
        "matching:\n  m:\n    content: a\n    matches: {xml: {xpth: /a, result: b}}\n",
        "gossfil:\n  a.yaml: {}\n",
    ];
    insta::assert_snapshot!(report(&texts, &Json::Null));
}

#[test]
fn values_of_the_wrong_type_are_errors() {
    let texts = [
        "- a\n",
        "file: [a]\n",
        "file:\n  /a: true\n",
        "file:\n  /a:\n",
        "file:\n  /a: {exists: yes}\n",
        "file:\n  /a: {exists: 1}\n",
        "file:\n  /a: {exists: true, mode: 0644}\n",
        "file:\n  /a: {exists: true, mode: {or: [\"0600\", 0644]}}\n",
        "file:\n  /a: {exists: true, size: 5k}\n",
        "file:\n  /a: {exists: true, size: {gt: \"5\"}}\n",
        "file:\n  /a: {exists: true, size: {gt: many}}\n",
        "file:\n  /a: {exists: true, owner: true}\n",
        "file:\n  /a: {exists: true, owner: [root]}\n",
        "file:\n  /a: {exists: true, contents: [5]}\n",
        "file:\n  /a: {exists: true, contents: {consist-of: [a]}}\n",
        "file:\n  /a: {exists: true, contents: {and: [[a]]}}\n",
        "command:\n  x: {exit-status: zero}\n",
        "command:\n  x: {exit-status: \"3\"}\n",
        "user:\n  a: {exists: true, groups: true}\n",
        "http:\n  http://a/: {status: 200, timeout: 1s}\n",
        "http:\n  http://a/: {status: 200, timeout: -1}\n",
        "http:\n  http://a/: {status: 200, request-headers: [a]}\n",
        "http:\n  a: {status: 200}\n",
        "dns:\n  a: {resolvable: true, retry_count: many}\n",
        "matching:\n  m: {matches: a}\n",
        "matching:\n  m: {content: {a: 1}, as-reader: true, matches: a}\n",
    ];
    insta::assert_snapshot!(report(&texts, &Json::Null));
}

#[test]
fn matchers_are_checked_when_they_are_read() {
    let with = |matcher: &str| format!("matching:\n  m:\n    content: a\n    matches: {matcher}\n");
    let matchers = [
        "null",
        "{}",
        "{have-prefix: a, have-suffix: b}",
        "{gt: 1, banana: 2}",
        "{have-prefix: 5}",
        "{have-prefix: }",
        "{have-len: -1}",
        "{have-len: a}",
        "{and: a}",
        "{not: {banana: 1}}",
        "{match-regexp: \"a(\"}",
        "{match-regexp: \"(?=a)\"}",
        "{match-regexp: \"\\\\pL{1000}\"}",
        "{have-patterns: [\"/a(/\"]}",
        "{have-patterns: a}",
        "{semver-constraint: \"~1.2\"}",
        "{gjson: {}}",
        "{gjson: {\"a[\": 1}}",
        "{gjson: [a]}",
        "{xml: a}",
        "{xml: {xpath: /a}}",
        "{xml: {xpath: \"/a[\", result: b}}",
        "{xml: {xpath: \"ancestor::a\", result: b}}",
        "{xml: {xpath: \"cont(/a)\", result: b}}",
    ];
    let texts: Vec<String> = matchers.iter().map(|matcher| with(matcher)).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    insta::assert_snapshot!(report(&texts, &Json::Null));
}

#[test]
fn what_is_missing_or_has_no_effect_is_told() {
    let texts = [
        "",
        "file:\n",
        "file:\n  /a: {mode: \"0644\"}\n",
        "file:\n  /a: {exists: null, mode: \"0644\"}\n",
        "service:\n  web: {}\n",
        "service:\n  web: {running: null}\n",
        "command:\n  x: {exit-status: 0, stdout: []}\n",
        "addr:\n  udp://a:9: {reachable: true}\n",
        "file:\n  /a: {exists: true, contains: [a]}\n",
        "dns:\n  a: {resolveable: true}\n",
        "dns:\n  MX:a: {resolvable: true}\n",
        "http:\n  http://a/: {status: 200, password: p}\n",
        "file:\n  /a: {exists: true}\n  /a: {exists: false}\n",
        "file:\n  {{.Vars.path}}: {exists: true}\n",
        "# {{ a comment }}\nfile:\n  /a: {exists: true}\n",
    ];
    insta::assert_snapshot!(report(&texts, &Json::Null));
}

#[test]
fn included_files_replace_rules_and_have_locations_of_their_own() {
    let files = json!({
        "bad.yaml": "file:\n  /b: {exsts: true}\n",
        "again.yaml": "gossfile:\n  loop.yaml: {}\n",
        "loop.yaml": "gossfile:\n  again.yaml: {}\n",
        "good.yaml": "file:\n  /a: {exists: false}\n",
    });
    let texts = [
        "gossfile:\n  good.yaml: {}\nfile:\n  /a: {exists: true}\n",
        "gossfile:\n  any: {file: good.yaml}\n",
        "gossfile:\n  bad.yaml: {skip: true}\n  good.yaml: {}\n",
        "gossfile:\n  bad.yaml: {}\n",
        "gossfile:\n  none.yaml: {}\n",
        "gossfile:\n  loop.yaml: {}\n",
        "gossfile: [good.yaml]\n",
        "gossfile:\n  good.yaml: {fle: b}\n",
    ];
    insta::assert_snapshot!(report(&texts, &files));
}
