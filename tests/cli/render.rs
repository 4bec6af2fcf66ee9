//! `ccm apply --render`: the manifest with its values.

use ccm_testkit::Scratch;
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::expect_error;

const MANIFEST: &str = "\
data:
  greeting: \"hello {{ Facts.who }}\"
  # @sensitive
  password: hunter22
ccm:
  name: rendered
  resources:
    - file:
        - defaults: {mode: 0640}
        - [dir]/motd: {content: \"{{ Data.greeting }} {{ '${' }}x}\\n\"}
        - [dir]/copy: {content: \"{{ file('[dir]/motd') }}!\\n\"}
        - [dir]/made: {ensure: directory, mode: 0755}
        - [dir]/made/j2: {source: t.txt.j2}
        - [dir]/secret: {content: 'password={{ Data.password }}'}
        - [dir]/not: {control: {if: 'Facts.who == \"nobody\"'}}
    - apply:
        - sub/child.yaml: {data: {word: given}}
    - exec:
        - touch [dir]/done: {subscribe: [apply#sub/child.yaml], refresh_only: true}
";
const CHILD: &str = "\
data: {word: own}
ccm:
  resources:
    - file:
        - [dir]/child: {source: near.txt, mode: 0600}
    - exec:
        - echo {{ Data.word }} \"${WORD}\" >> [dir]/log: {provider: shell, creates: [dir]/log, environment: {WORD: yes}}
";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let here = scratch.path().to_string_lossy().into_owned();
    scratch.write("m/m.yaml", MANIFEST.replace("[dir]", &here));
    scratch.write(
        "m/t.txt.j2",
        "{% for n in 1..3 %}{{ n }} {{ Data.greeting }}\n{% endfor %}".replace("1..3", "[1, 2]"),
    );
    scratch.write("m/sub/child.yaml", CHILD.replace("[dir]", &here));
    scratch.write("m/sub/near.txt", "near\n");
    scratch
}

#[test]
fn a_rendered_manifest_has_the_same_state() {
    let scratch = scratch();
    let rendered = ccm(&scratch, &["apply", "m/m.yaml", "--render", "--fact", "who=world"]).run();
    assert_eq!(scratch.names(), ["m"], "it was run");
    assert_snapshot!("rendered", rendered.shown());
    let text = rendered.stdout.replace("[dir]", &scratch.path().to_string_lossy());
    scratch.write("m/r.yaml", &text);
    let again = ccm(&scratch, &["apply", "m/r.yaml", "--render"]).run();
    let is_comment = |line: &&str| line.starts_with('#');
    let without_comments: String =
        rendered.stdout.split_inclusive('\n').filter(|line| !is_comment(line)).collect();
    assert_eq!(again.stdout, without_comments);

    // The state is the same, except for the redacted password.
    let first = ccm(&scratch, &["apply", "m/m.yaml", "--fact", "who=world"]).run();
    assert_eq!(first.code, 0, "{}", first.shown());
    let second = ccm(&scratch, &["apply", "m/r.yaml", "--noop", "--detailed-exitcodes"]).run();
    assert_eq!(second.code, 2, "{}", second.shown());
    assert!(second.stdout.contains("would change 1"), "{}", second.shown());
    assert_eq!(scratch.read("motd").as_deref(), Some("hello world ${x}\n"));
    assert_eq!(scratch.read("log").as_deref(), Some("given yes\n"));
}

#[test]
fn queries_of_web_addresses_are_redacted() {
    let scratch = Scratch::new();
    let sha256 = "0".repeat(64);
    scratch.write("m.yaml", format!("\
ccm:
  resources:
    - file:
        - /srv/a: {{source: 'https://example.com/a?token=hunter2', checksum: {sha256}}}
    - archive:
        - /srv/b.tar.gz: {{url: 'https://example.com/b.tar.gz?token=hunter2#x', owner: root, group: root, checksum: {sha256}}}
"));
    let called = ccm(&scratch, &["apply", "--render", "m.yaml"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(!called.stdout.contains("hunter2"), "{}", called.shown());
    assert_eq!(called.stdout.matches("?[redacted]").count(), 2, "{}", called.shown());
}

#[test]
fn a_manifest_with_errors_is_not_rendered() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", "ccm: {resources: [{exec: {name: '{{ Data.x }}'}}]}\n");
    let called = ccm(&scratch, &["apply", "m.yaml", "--render"]).run();
    expect_error(&called, 1, "m.yaml:1:42", &["no `Data.x`"], &["??"]);
}

#[test]
fn options_of_a_report_are_refused() {
    let scratch = scratch();
    for options in [&["--output", "json"][..], &["--diff"], &["--detailed-exitcodes"]] {
        let called = ccm(&scratch, &["apply", "m/m.yaml", "--render"]).args(options).run();
        assert_eq!((called.code, &*called.stdout), (64, ""), "{options:?}");
        assert!(called.stderr.contains("'--render' cannot be used with"), "{}", called.shown());
    }
}
