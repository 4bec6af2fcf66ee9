//! Secrets are in nothing that a run prints or records.

use std::path::Path;

use ccm_testkit::{Called, Scratch};

use crate::ccm;

#[test]
fn errors_hide_what_is_sensitive_by_its_text_alone() {
    let manifest =
        |values: &str| format!("data:\n{values}ccm:\n  resources:\n    - exec: {{name: 'true'}}\n");
    for (values, errors) in [
        ("  # @sensitive\n  pw: secret-one\n  pw: secret-two\n", "is given twice"),
        ("  pw: secret-one\n  # @sensitive\n  'pw': secret-two\n", "is given twice"),
        ("  # @sensitive\n  pw: *secret-anchor\n", "[redacted]"),
        ("  # @sensitive\n  pw: 'x${secret_name}'\n", "unknown name `[redacted]`"),
        ("  x: {\n    # @sensitive\n    pw: secret-one,\n    a: b, pw: secret-two}\n", "is given twice"),
    ] {
        let scratch = Scratch::new();
        scratch.write("m.yaml", manifest(values));
        let called = ccm(&scratch, &["validate", "m.yaml"]).run();
        assert!(called.stderr.contains(errors) && !called.stderr.contains("secret"), "{}", called.shown());
    }
}

const PASSWORD: &str = "c0rrect 'h\"rse$/x";
const TOKEN: &str = "tok-5f3a9be1c7d2";
const KEY: &str = "first line of the key\nsecond line of the key\nend of it";
const FROM_FILE: &str = "only-in-the-file-77aa";
const IN_CHILD: &str = "child-only-88bb99";
const IN_HIERA: &str = "hiera-only-31cc42";
const REPLACED: &str = "replaced-by-hiera-0";
const OF_SENSITIVE_EXEC: &str = "printed by the sensitive one";
const WORDS_OF_SENSITIVE_EXEC: &str = "word-of-the-sensitive-one";
const OLD_PASSWORD: &str = "the-password-before";

/// Everything that must be nowhere.
fn secrets() -> Vec<String> {
    let mut all: Vec<String> = [
        PASSWORD,
        TOKEN,
        FROM_FILE,
        IN_CHILD,
        IN_HIERA,
        REPLACED,
        OF_SENSITIVE_EXEC,
        WORDS_OF_SENSITIVE_EXEC,
        OLD_PASSWORD,
        // In JSON, in the quotes of a shell, percent-encoded, and in base64 from every start.
        r#"c0rrect 'h\"rse$/x"#,
        r#"c0rrect '\''h"rse$/x"#,
        r#"c0rrect 'h\"rse\$/x"#,
        "c0rrect%20%27h%22rse%24%2Fx",
        "YzBycmVjdCAnaCJyc2UkL",
        "MwcnJlY3QgJ2gicnNlJC94",
        "jMHJyZWN0ICdoInJzZSQve",
        "dG9rLTVmM2E5YmUxYzdkM",
        // Where a text was cut.
        &TOKEN[..8],
        &PASSWORD[..8],
    ]
    .map(str::to_owned)
    .to_vec();
    all.extend(KEY.lines().filter(|line| line.len() >= 8).map(str::to_owned));
    all
}

/// Fails if one of them is there.
fn assert_hidden(place: &str, text: &str) {
    for secret in secrets() {
        let found = text.lines().find(|line| line.contains(&secret));
        assert_eq!(found, None, "{secret:?} is in {place}");
    }
}

/// Looks through every file below a directory, and at its name.
fn assert_hidden_below(directory: &Path, found: &mut usize) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        assert_hidden("a name", &path.display().to_string());
        if path.is_dir() {
            assert_hidden_below(&path, found);
        } else {
            *found += 1;
            let bytes = std::fs::read(&path).expect("a file");
            assert_hidden(&path.display().to_string(), &String::from_utf8_lossy(&bytes));
        }
    }
}

/// Prints a secret in several writes, and ends in the midst of another.
const PIECES: &str = "echo replaced-by-hiera-0
for part in tok- 5f3a 9be1 c7 d2; do printf %s $part; /bin/true; done
echo
printf tok-5f3a9be1 >&2
exit 3
";

/// Secrets in every place a manifest has for them.
fn write_manifest(scratch: &Scratch) {
    scratch.write("pieces.sh", PIECES);
    scratch.write("secret.txt", format!("{FROM_FILE}\n"));
    scratch.write("app.conf.j2", "user=app\npassword={{ Data.password }}\nport=80\n");
    scratch.write("hiera.yaml", format!("data:\n  # @sensitive\n  extra: {IN_HIERA}\n"));
    scratch.write(
        "child.yaml",
        format!(
            "data:\n  # @sensitive\n  own: {IN_CHILD}\nccm:\n  resources:\n    - exec:\n        - in the child:\n            command: echo {{{{ Data.own }}}}\n            logoutput: true\n"
        ),
    );
    let manifest = r#"
data:
  # @require @sensitive
  password: "c0rrect 'h\"rse$/x"
  # @sensitive
  tokens:
    - tok-5f3a9be1c7d2
  # @sensitive
  key: |
    first line of the key
    second line of the key
    end of it
  # @sensitive
  extra: replaced-by-hiera-0
  # @sensitive
  from_file: "{{ file('secret.txt') }}"
ccm:
  pre_message: "begins with {{ Data.tokens[0] }}"
  post_message: "ends with {{ Data.tokens[0] }}"
  resources:
    - exec:
        - defaults: {logoutput: true}
        - words {{ Data.tokens[0] }}:
            command: "echo one '{{ Data.password }}' \"{{ Data.password }}\" {{ Data.extra }}"
            alias: with-{{ Data.tokens[0] }}
        - args:
            command: printf
            args: ["%s\n", "{{ Data.password }}", "{{ Data.key }}", "{{ Data.from_file }}"]
        - environment:
            provider: shell
            command: 'printf "%s\n" "$PASSWORD" >&2; printf "%s" "$PASSWORD" | base64; printf "x%s" "$PASSWORD" | base64; printf "xy%s" "$PASSWORD" | base64'
            environment: {PASSWORD: "{{ Data.password }}"}
        - encoded:
            command: "echo {{ Data.password | toBase64() }} {{ toJSON(Data) }}"
        - stdin:
            command: cat
            stdin: "{{ Data.key }}{{ Data.tokens[0] }}"
        - in pieces:
            command: /bin/sh [dir]/pieces.sh
            unless: "test {{ Data.tokens[0] }} = x"
        - with a guard:
            command: 'true'
            unless: "false {{ Data.tokens[0] }} and more to make the text of this guard much longer than what is shown"
        - not there:
            command: "/no/{{ Data.tokens[0] }}"
        - broken guard:
            command: 'true'
            onlyif: "/no/{{ Data.tokens[0] }}"
        - waits for {{ Data.tokens[0] }}:
            command: 'true'
            require: ["exec#not there"]
        - sensitive:
            sensitive: true
            provider: shell
            command: "echo printed by the sensitive one; echo printed by the sensitive one >&2; exit 5"
            stdin: word-of-the-sensitive-one
            environment: {WORD: word-of-the-sensitive-one}
        - sensitive and not there:
            sensitive: true
            command: word-of-the-sensitive-one
            args: [word-of-the-sensitive-one]
        - never:
            command: 'true'
            cwd: "[dir]/{{ Data.tokens[0] }}"
    - file:
        - "[dir]/managed/app.conf": {source: app.conf.j2, backup: true, mode: "0600"}
        - "[dir]/managed/key": {content: "{{ Data.key }}", mode: "0600"}
        - "[dir]/managed/quiet": {content: "quiet-content-of-mine\n", sensitive: true, mode: "0600"}
        - "[dir]/managed/no/{{ Data.tokens[0] }}": {content: x}
        - "[dir]/managed/late": {content: "{{ file('[dir]/managed/quiet') }}", mode: "0600"}
    - exec:
        - reads the quiet one:
            command: cat [dir]/managed/quiet
            logoutput: true
            require: ["file#[dir]/managed/quiet"]
    - apply:
        - child.yaml:
"#;
    scratch.write("manifest.yaml", manifest.replace("[dir]", &scratch.path().to_string_lossy()));
    let managed = scratch.path().join("managed");
    std::fs::create_dir_all(&managed).expect("a directory");
    std::fs::write(managed.join("app.conf"), format!("user=app\npassword={OLD_PASSWORD}\nport=80\n"))
        .expect("a file");
}

#[test]
fn a_run_prints_and_records_no_secrets() {
    const HIERA: [&str; 2] = ["--hiera", "hiera.yaml"];
    for (options, code) in [
        (&["--noop", "--diff", "-vv"][..], 0),
        (&["--noop", "--diff", "--output", "jsonl"], 0),
        (&["--diff", "-vv", "--events-file", "events.jsonl"], 4),
        (&["--diff", "--output", "jsonl"], 4),
        (&["--diff", "--output", "json"], 4),
        (&["-q"], 4),
    ] {
        let scratch = Scratch::new();
        write_manifest(&scratch);
        let called = ccm(&scratch, &["apply", "manifest.yaml"]).args(&HIERA).args(options).run();
        assert_eq!(called.code, code, "{options:?}: {}", called.shown());
        let shown = format!("{}{}", called.stdout, called.stderr);
        assert_hidden(&format!("{options:?}"), &shown);
        assert!(!shown.contains("quiet-content"), "{options:?}: {shown}");
        assert!(shown.contains("[redacted]"), "{options:?}: {shown}");
        if let Ok(events) = std::fs::read_to_string(scratch.path().join("events.jsonl")) {
            assert_hidden("the events file", &events);
            assert!(events.contains("[redacted]"));
        }
        if options.contains(&"--noop") {
            continue;
        }
        let mut files = 0;
        assert_hidden_below(&scratch.state().join("runs"), &mut files);
        assert!(files >= 2, "the run is recorded");
        for history in [&["history", "01"][..], &["history", "01", "--output", "json"], &["history"]] {
            let called = ccm(&scratch, history).run();
            assert_eq!(called.code, 0, "{}", called.shown());
            assert_hidden(&format!("{history:?}"), &called.shown());
        }
        let app = std::fs::read_to_string(scratch.path().join("managed/app.conf")).expect("the file");
        assert!(app.contains(PASSWORD), "what is managed gets the real value: {app}");
    }
}

#[test]
fn secrets_are_not_in_graphs_and_errors() {
    let scratch = Scratch::new();
    write_manifest(&scratch);
    for format in ["text", "dot", "mermaid"] {
        let called = ccm(&scratch, &["graph", "manifest.yaml", "--format", format]).run();
        assert_hidden(format, &called.shown());
        assert!(
            called.stdout.contains("words ") && called.stdout.contains("redacted") || called.code != 0,
            "{}",
            called.shown()
        );
    }
    for (text, code) in [
        // An error beside a secret, an error in a secret, and an error that makes the text unreadable.
        ("data:\n  # @sensitive\n  token: tok-5f3a9be1c7d2 {{\nccm: {resources: [{exec: [{a: }]}]}\n", 1),
        ("data:\n  # @sensitive\n  token: \"tok-5f3a9be1c7d2\nccm: {}\n", 1),
        ("data:\n  # @sensitive\n  token: [tok-5f3a9be1c7d2, {]\nccm: {}\n", 1),
        ("data: {x: 1}\nccm:\n  resources: # @sensitive\n", 1),
        (
            "data:\n  # @sensitive\n  token: tok-5f3a9be1c7d2\nccm:\n  resources:\n    - exec:\n        - a:\n            timeout: \"{{ Data.token }}\"\n            cwd: tok-5f3a9be1c7d2\n            retuns: tok-5f3a9be1c7d2-and-more-than-forty-characters-of-text\n",
            1,
        ),
        ("data:\n  # @sensitive\n  token: tok-5f3a9be1c7d2: x\nccm: {}\n", 1),
        ("data: { # @sensitive\n  token: tok-5f3a9be1c7d2, x: [\nccm: {}\n", 1),
        (
            "data:\n  # @sensitive\n  # @validate isInt(value)\n  token: tok-5f3a9be1c7d2\nccm:\n  resources:\n    - exec:\n        - a:\n",
            1,
        ),
    ] {
        scratch.write("wrong.yaml", text);
        let called = ccm(&scratch, &["validate", "wrong.yaml"]).run();
        assert_eq!(called.code, code, "{}", called.shown());
        assert_hidden(text, &called.shown());
    }
}

/// Pictures and links are shown in forms of their own.
#[test]
fn secrets_are_not_in_pictures_and_targets_of_links() {
    let scratch = Scratch::new();
    let link = scratch.at("link");
    scratch.write(
        "m.yaml",
        format!(
            "data:\n  # @sensitive\n  token: \"tok\\\"en5 &<f3a>'\\\\9be\"\nccm:\n  resources:\n    - exec: [\"x {{{{ Data.token }}}}\": {{command: \"true\"}}]\n    - file: [{link}: {{ensure: link, target: /opt/new-place-5f3a, sensitive: true}}]\n"
        ),
    );
    std::os::unix::fs::symlink("/opt/old-place-5f3a", &link).expect("a link");
    let hidden = |called: &Called| {
        for part in ["en5", "f3a", "9be", "new-place", "old-place"] {
            assert!(!called.shown().contains(part), "{part}: {}", called.shown());
        }
    };
    for format in ["text", "dot", "mermaid", "json"] {
        let called = ccm(&scratch, &["graph", "m.yaml", "--output", format]).run();
        assert!(called.stdout.contains("redacted"), "{}", called.shown());
        hidden(&called);
    }
    for output in ["--diff", "--output=jsonl", "--output=json", "--output=log"] {
        for noop in [true, false] {
            let mut arguments = vec!["apply", "m.yaml", output];
            arguments.extend(noop.then_some("--noop"));
            let called = ccm(&scratch, &arguments).run();
            assert_eq!(called.code, 0, "{}", called.shown());
            hidden(&called);
        }
    }
    hidden(&ccm(&scratch, &["history", "last"]).run());
}

#[test]
fn a_value_too_short_to_be_redacted_is_a_warning() {
    let scratch = Scratch::new();
    scratch.write(
        "short.yaml",
        "data:\n  # @sensitive\n  pin: \"123\"\nccm: {resources: [{exec: [{'true': }]}]}\n",
    );
    let called = ccm(&scratch, &["validate", "short.yaml"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stderr.contains("`pin` is sensitive, but too short"), "{}", called.shown());
    assert!(!called.stderr.contains("123"), "{}", called.shown());
}

#[test]
fn a_diff_hides_the_lines_of_secrets_and_those_they_replace() {
    let scratch = Scratch::new();
    write_manifest(&scratch);
    let called =
        ccm(&scratch, &["apply", "manifest.yaml", "--hiera", "hiera.yaml", "--noop", "--diff"]).run();
    for line in [" user=app", "-[redacted]", "+[redacted]", " port=80", "sensitive content is new"] {
        assert!(
            called
                .stdout
                .lines()
                .any(|found| found.trim_start_matches("  ").trim_end() == line || found.contains(line)),
            "{line}: {}",
            called.shown()
        );
    }
}

const OF_SENSITIVE: &str = "ccm:
  executors: {builder: {kind: native, command_whitelist: [make]}}
  resources:
    - exec:
        - quiet:
            sensitive: true
            command: prog --password tok-5f3a9be1c7d2
            stdin: tok-5f3a9be1c7d2
            environment: [TOKEN=tok-5f3a9be1c7d2]
            onlyif: ask tok-5f3a9be1c7d2
            expect: {exit_code: 3, stdout: tok-5f3a9be1c7d2, stdout_json: {token: tok-5f3a9be1c7d2}}
";

#[test]
fn a_sensitive_exec_is_redacted_in_a_rendered_manifest_and_in_errors() {
    let scratch = Scratch::new();
    scratch.write("right.yaml", OF_SENSITIVE);
    let rendered = ccm(&scratch, &["apply", "right.yaml", "--render"]).run();
    assert_eq!(rendered.code, 0, "{}", rendered.shown());
    assert_hidden("the rendered manifest", &rendered.shown());
    scratch.write("rendered.yaml", &rendered.stdout);
    let again = ccm(&scratch, &["validate", "rendered.yaml"]).run();
    assert_eq!(again.code, 0, "{}{}", rendered.shown(), again.shown());
    for (what, text) in [
        (
            "not on the list",
            OF_SENSITIVE.replace("sensitive: true", "sensitive: true\n            executor: builder"),
        ),
        ("unknown properties", OF_SENSITIVE.replace("command:", "comand:").replace("stdin:", "stdn:")),
        (
            "wrong types",
            OF_SENSITIVE.replace("[TOKEN=", "[").replace(
                "expect: {exit_code: 3,",
                "timeout: tok-5f3a9be1c7d2\n            expect: {exit_code: tok-5f3a9be1c7d2,",
            ),
        ),
        ("twice", OF_SENSITIVE.replace("onlyif:", "stdin:")),
        ("no YAML", OF_SENSITIVE.replace("stdin: tok", "stdin: \"tok")),
        ("no YAML either", OF_SENSITIVE.replace("stdin: tok", "stdin: x: tok")),
        (
            "in braces",
            "ccm: {resources: [{exec: [\n  {a: {sensitive: true, comand: prog tok-5f3a9be1c7d2}}]}]}\n"
                .to_owned(),
        ),
        (
            "in broken braces",
            "ccm: {resources: [{exec: [\n  {a: {sensitive: true, stdin: tok-5f3a9be1c7d2}]}]}\n".to_owned(),
        ),
    ] {
        scratch.write("wrong.yaml", text);
        let called = ccm(&scratch, &["validate", "wrong.yaml"]).run();
        assert_eq!(called.code, 1, "{what}: {}", called.shown());
        assert_hidden(what, &called.shown());
    }
}
