//! Data files of the levels of a hierarchy: `data_dir`.

use ccm_expr::Value;

use crate::fake::line;
use crate::machine::Machine;

const HIERARCHY: &str =
    "hierarchy: {order: ['host:{{ Facts.host }}', 'role:{{ Facts.role }}', common], data_dir: d}\n";

fn machine() -> Machine {
    Machine::with_facts("{host: web1.example.net, role: web, evil: '{{ 1 + 1 }}'}")
        .file("d/host/web1.example.net.yaml", "level: host\nlist: [1]\n")
        .file("d/role/web.yaml", "level: role\nlist: [2]\nrole: '{{ Facts.role }}'\n")
        .file("d/common.yaml", "level: common\nlist: [3]\nmap: {c: 1}\n")
}

/// Returns a manifest with this data and one resource.
fn with(values: &str) -> String {
    format!("{values}\nccm: {{resources: [note: [n: ]]}}\n")
}

const DATA: &str = "data: {level: data, list: [0], map: {d: 1}, role: none}\n";

fn data(machine: &Machine, text: &str) -> String {
    machine.catalog(text);
    machine.load(text).data.value.to_json().to_string()
}

#[test]
fn files_are_levels() {
    let first = r#"{"level":"host","list":[1],"map":{"d":1},"role":"none"}"#;
    let deep = r#"{"level":"common","list":[0,1,2,3],"map":{"d":1,"c":1},"role":"web"}"#;
    for (merge, expected) in [("", first), (", merge: deep", deep)] {
        let hierarchy = HIERARCHY.replace("data_dir: d", &format!("data_dir: d{merge}"));
        assert_eq!(data(&machine(), &with(&format!("{DATA}{hierarchy}"))), expected, "{merge}");
    }
    // With `first`, no file after the first level is read.
    let machine = machine();
    machine.catalog(&with(&format!("{DATA}{HIERARCHY}")));
    let read: Vec<String> = machine.read.borrow().iter().map(|path| path.display().to_string()).collect();
    assert_eq!(read, ["/m/d/host/web1.example.net.yaml"]);
}

#[test]
fn a_file_lies_over_the_override_of_its_level() {
    let overrides =
        "overrides: {'host:web1.example.net': {level: over, map: {o: 1}}, common: {level: low, list: [9]}}\n";
    let text = with(&format!("{DATA}{HIERARCHY}{overrides}"));
    assert_eq!(data(&machine(), &text), r#"{"level":"host","list":[1],"map":{"o":1},"role":"none"}"#);
    let deep = text.replace("data_dir: d", "data_dir: d, merge: deep");
    assert_eq!(
        data(&machine(), &deep),
        r#"{"level":"common","list":[0,1,2,9,3],"map":{"d":1,"o":1,"c":1},"role":"web"}"#
    );
    // An override without a file is a level, and a level without either is none.
    let machine = Machine::with_facts("{host: web2, role: db}").file("d/common.yaml", "level: common");
    let text = with(&format!("{DATA}{HIERARCHY}overrides: {{'role:db': {{level: over}}}}\n"));
    assert_eq!(data(&machine, &text), r#"{"level":"over","list":[0],"map":{"d":1},"role":"none"}"#);
}

#[test]
fn values_of_files_are_evaluated_where_they_are_used() {
    let files = |text: &str| {
        Machine::with_facts("{host: a, role: b, evil: '{{ 1 + 1 }}'}")
            .variable("STAGE", "prod")
            .file("d/host/near.txt", "beside the file")
            .file("d/host/a.yaml", text)
            .file("d/common.yaml", "")
    };
    let text = with(&format!("{DATA}{HIERARCHY}"));
    let level = |yaml: &str| {
        let machine = files(yaml);
        machine.catalog(&text);
        machine.load(&text).data.value.get("level").map(Value::to_string)
    };
    assert_eq!(level("level: '{{ Facts.evil }}'").as_deref(), Some("{{ 1 + 1 }}"));
    assert_eq!(level("level: ${ Environ.STAGE }").as_deref(), Some("prod"));
    assert_eq!(level("level: \"{{ file('near.txt') }}\"").as_deref(), Some("beside the file"));
    // A value that something replaces is not evaluated.
    let machine = files("level: '{{ Facts.gone }}'").assignment("level=x");
    assert_eq!(machine.reported(&text), ["2:72 warning: no-effect"; 0]);
    for (yaml, expected) in [
        ("level: '{{ Facts.gone }}'", "/m/d/host/a.yaml:1:18 unknown-name Facts.gone | Facts.gone ?? \"\""),
        ("list:\n  - '{{ Data.level }}'", "/m/d/host/a.yaml:2:8 late-value | a: &a VALUE, b: *a"),
        ("level: [", "/m/d/host/a.yaml:1:8 syntax"),
        ("level: 1\nlevel: 2\n", "/m/d/host/a.yaml:2:1 duplicate-key (/m/d/host/a.yaml:1:1)"),
        ("[a]", "/m/d/host/a.yaml:1:1 wrong-type | KEY: VALUE"),
        ("text", "/m/d/host/a.yaml:1:1 wrong-type | KEY: VALUE"),
    ] {
        assert_eq!(files(yaml).reported(&text), [expected], "{yaml}");
    }
    assert_eq!(level("# nothing\n").as_deref(), Some("data"));
}

#[test]
fn names_of_files_are_simple() {
    let text = with(&format!("{DATA}hierarchy: {{order: ['host:{{{{ Facts.host }}}}'], data_dir: d}}"));
    let expected = ["2:21 invalid-value | …"];
    for host in ["../../etc/x", "..", ".", "/etc/passwd", "a/b", ".hidden", "a::b", "a:", "a\0b", "a\n", " a"]
    {
        let machine = Machine::knowing(Value::map([("host", Value::text(host))])).file("d/host/x.yaml", "");
        assert_eq!(machine.reported(&text), expected, "{host:?}");
        assert!(machine.read.borrow().is_empty(), "{host:?}");
    }
    // Without data files, any text is a name.
    let machine = Machine::with_facts("{host: ../x}");
    let text = with(&format!(
        "{DATA}hierarchy: {{order: ['{{{{ Facts.host }}}}']}}\noverrides: {{../x: {{level: 1}}}}"
    ));
    assert_eq!(data(&machine, &text), r#"{"level":1,"list":[0],"map":{"d":1},"role":"none"}"#);
}

#[test]
fn keys_and_levels_without_effect_are_pointed_out() {
    for (file, hierarchy, expected) in [
        ("lvel: 1", "[common]", &["/m/d/common.yaml:1:1 warning: no-effect | level"][..]),
        ("data: {level: 1}", "[common]", &["/m/d/common.yaml:1:1 warning: no-effect | data:"]),
        ("level: 1", "[comon, common]", &["2:21 warning: no-effect"]),
        ("level: 1", "[common, other]", &[]),
        ("# @require\nlevel: 1", "[common]", &["/m/d/common.yaml:1:3 warning: no-effect | data"]),
        ("# @merge deep\nlevel: 1", "[common]", &["/m/d/common.yaml:1:3 warning: no-effect | data"]),
        ("# @sensitve\nlevel: 1", "[common]", &["/m/d/common.yaml:1:3 warning: no-effect | @sensitive"]),
    ] {
        let machine = Machine::default().file("d/common.yaml", file);
        let text = with(&format!("{DATA}hierarchy: {{order: {hierarchy}, data_dir: d}}"));
        assert_eq!(machine.reported(&text), expected, "{file} {hierarchy}");
    }
    let machine = machine().assignment("lvel=1");
    let found = machine.reported(&with(&format!("{DATA}{HIERARCHY}")));
    assert_eq!(found, [" unknown-key | level | --data-any"]);
    // A key that only a file has can be set.
    let machine = Machine::default().file("d/common.yaml", "other: {x: 1}").assignment("other.x=2");
    let text = with(&format!("{DATA}hierarchy: {{order: [common], data_dir: d}}"));
    assert_eq!(machine.reported(&text), ["/m/d/common.yaml:1:1 warning: no-effect | other:, data"]);
}

#[test]
fn data_is_checked_after_the_levels() {
    let text = with("data:\n  # @validate isInt(value)\n  level:\nhierarchy: {order: [common], data_dir: d}");
    let machine = Machine::default().file("d/common.yaml", "level: high");
    let loaded = machine.load(&text);
    let found: Vec<String> = loaded.diagnostics.iter().map(|found| line(found, &loaded.texts())).collect();
    assert_eq!(found, ["3:3 validation-failed (2:15) | …"]);
    assert_eq!(loaded.diagnostics[0].hints, ["the value comes from /m/d/common.yaml"]);
}

#[test]
fn sensitive_values_of_files_are_secrets() {
    let secrets = |data: &str, file: &str| {
        let machine = Machine::default().file("d/common.yaml", file);
        let text = with(&format!("{data}\nhierarchy: {{order: [common], data_dir: d}}"));
        machine.load(&text).data.secrets
    };
    let marked = "data:\n  a: x\n  # @sensitive\n  pw:\n";
    let plain = "data: {a: x, pw: y}";
    for (data, file) in [
        (marked, "pw: hunter22"),
        (plain, "# @sensitive\npw: hunter22"),
        // The file has errors.
        (marked, "pw: hunter22\npw: other"),
        (marked, "pw: hunter22\na: [\n"),
        (marked, "pw: [hunter22"),
        (marked, "a: 1\npw: 'hunter22'\na: : 2\n"),
    ] {
        let found = secrets(data, file);
        assert!(found.iter().any(|secret| secret == "hunter22"), "{file}: {found:?}");
    }
    assert!(secrets(plain, "pw: hunter22").is_empty());
    // A level that is read but not used.
    let machine = Machine::default().file("d/one.yaml", "a: 1").file("d/two.yaml", "pw: hunter22");
    let merged = marked.replace("  a: x", "  # @merge deep\n  a: x");
    let loaded = machine.load(&with(&format!("{merged}hierarchy: {{order: [one, two], data_dir: d}}")));
    assert_eq!(loaded.data.secrets, ["hunter22"]);
}

#[test]
fn a_child_has_data_files_of_its_own() {
    let machine = Machine::with_facts("{host: web1}")
        .file("sub/c.yaml", "data: {who: nobody}\nhierarchy: {order: ['host:{{ Facts.host }}'], data_dir: d}\nccm: {resources: [note: ['{{ Data.who }}': ]]}")
        .file("sub/d/host/web1.yaml", "who: child\n")
        .file("d/host/web1.yaml", "who: parent\n");
    let text = "data: {x: 1}\nccm: {resources: [apply: [sub/c.yaml: ]]}";
    assert_eq!(machine.catalog(text).resources[0].id.to_string(), "note#child");
    machine.write("sub/d/host/web1.yaml", "who: [\n");
    assert_eq!(machine.reported(text), ["/m/sub/d/host/web1.yaml:1:6 syntax"]);
}

#[test]
fn a_data_file_of_the_command_line_has_data_files_of_its_own() {
    let machine = machine()
        .hiera("/h/prod.yaml", "data: {level: prod}\nhierarchy: {order: [common], data_dir: e}")
        .file("/h/e/common.yaml", "level: from e");
    let text = with(&format!("{DATA}{HIERARCHY}"));
    assert!(data(&machine, &text).contains(r#""level":"from e""#));
}

#[test]
fn data_files_take_bounded_memory() {
    let machine = Machine::with_facts("{host: a, role: b}").file("d/common.yaml", "level: 1");
    machine.write("d/host/a.yaml", &format!("level: {}\n", "x".repeat(40 << 20)));
    machine.write("d/role/b.yaml", &format!("level: {}\n", "x".repeat(40 << 20)));
    let text = with(&format!("{DATA}{}", HIERARCHY.replace("data_dir: d", "data_dir: d, merge: deep")));
    assert_eq!(machine.reported(&text), ["2:46 limit-exceeded", "2:71 limit-exceeded"]);
}
