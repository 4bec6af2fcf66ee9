//! Files that no resource manages, behind resources that may write them.

use std::path::Path;

use ccm_manifest::{Completion, LoadResult};
use ccm_model::{Control, ResourceIndex};

use crate::fake::{line, manifest};
use crate::machine::{Machine, completed, late_property, shown};

const BEHIND: &str = "- task: [make: ]\n- note: [n: {text: \"{{ file('/x') }}\"}]";

#[test]
fn a_file_behind_a_writer_is_read_again_if_it_changed() {
    let machine = Machine::default().file("/x", "before");
    let loaded = machine.load(&manifest(BEHIND));
    let catalog = loaded.catalog.as_ref().expect("no error");
    assert_eq!(shown(&catalog.resources[1], "text"), r#""before""#);
    machine.read.borrow_mut().clear();
    assert!(matches!(completed(&loaded, 1), Completion::AsWritten));
    assert!(machine.read.borrow().is_empty());
    machine.write("/x", "after");
    assert_eq!(late_property(&loaded, 1, "text"), r#""after""#);
    // The first content may come back.
    machine.write("/x", "before");
    assert!(matches!(completed(&loaded, 1), Completion::AsWritten));
}

#[test]
fn a_file_behind_a_writer_may_be_missing_at_load() {
    let machine = Machine::default();
    let loaded = machine.load(&manifest(BEHIND));
    assert!(loaded.catalog.is_some(), "{:?}", loaded.diagnostics);
    match completed(&loaded, 1) {
        Completion::MissingFile { path, errors } => {
            assert_eq!(path, Path::new("/x"));
            let texts = loaded.texts();
            let told: Vec<String> = errors.iter().map(|error| line(error, &texts)).collect();
            assert_eq!(told, ["4:28 unreadable text"]);
        }
        other => panic!("{other:?}"),
    }
    machine.write("/x", "made");
    assert_eq!(late_property(&loaded, 1, "text"), r#""made""#);
    machine.remove("/x");
    assert!(matches!(completed(&loaded, 1), Completion::MissingFile { .. }));
}

#[test]
fn order_decides_which_files_are_read_again() {
    let machine = Machine::default()
        .file("/child/c.yaml", "ccm: {resources: [task: [make: ]]}")
        .file("uses.j2", "{{ file('/x') }}");
    let needs = "note: [n: {text: \"{{ file('/x') }}\"}]";
    let error = |at: &str| vec![format!("{at} unreadable")];
    for (text, expected) in [
        (format!("- {needs}"), error("3:28")),
        (format!("- {needs}\n- task: [make: ]"), error("3:28")),
        (format!("- note: [other: ]\n- {needs}"), error("4:28")),
        (format!("- task: [make: {{control: {{if: 'false'}}}}]\n- {needs}"), error("4:28")),
        // A task does not write the files that its own properties use.
        ("- task: [\"{{ file('/x') }}\": ]".to_owned(), error("3:18")),
        ("- task: [n: {command: a, args: [\"{{ file('/x') }}\"]}]".to_owned(), error("3:41")),
        (format!("- task: [make: ]\n- {needs}"), Vec::new()),
        (format!("- task: [make: ]\n- note: [other: ]\n- {needs}"), Vec::new()),
        (
            "- note: [n: {text: \"{{ file('/x') }}\", require: [task#make]}]\n- task: [make: ]".to_owned(),
            Vec::new(),
        ),
        (format!("- apply: [/child/c.yaml: ]\n- {needs}"), Vec::new()),
        // The template of a file has to exist, but not the files that it uses.
        ("- task: [make: ]\n- copy: [/n: {source: gone.j2}]".to_owned(), error("4:27")),
        ("- task: [make: ]\n- copy: [/n: {source: uses.j2}]".to_owned(), Vec::new()),
        // Names and references are known before the run.
        ("- task: [make: ]\n- note: [\"{{ file('/x') }}\": ]".to_owned(), error("4:18")),
        ("- task: [make: ]\n- note: [n: {require: [\"{{ file('/x') }}\"]}]".to_owned(), error("4:32")),
    ] {
        assert_eq!(machine.reported(&manifest(&text)), expected, "{text}");
    }
}

#[test]
fn errors_behind_a_writer_are_found_at_load() {
    let machine = Machine::default().file("/x", "x").binary("/binary", &[0xff]);
    let behind =
        |text: &str| manifest(&format!("- task: [make: ]\n- note: [n: {{text: \"{{{{ {text} }}}}\"}}]"));
    machine.check_all(&[
        (&behind("file('/x') + 1"), &["4:28 invalid-operand | …"]),
        (&behind("file('/binary')"), &["4:28 unreadable"]),
    ]);
}

#[test]
fn every_way_to_use_a_file_is_read_again() {
    let machine = Machine::with_facts("{it: a b}")
        .file("x", "1")
        .file("uses.j2", "<{{ file('x') }}>")
        .file("includes.j2", "<{% include 'x' %}>");
    for (text, property, before, after) in [
        ("note: [n: {text: \"{{ file('x') }}\"}]", "text", "1", "2"),
        ("note: [n: {text: \"{{ file('./' + 'x') }}\"}]", "text", "1", "2"),
        ("note: [n: {text: \"{{ template('uses.j2') }}\"}]", "text", "<1>", "<2>"),
        ("note: [n: {text: \"{{ template('includes.j2') }}\"}]", "text", "<1>", "<2>"),
        ("note: [defaults: {text: \"{{ file('x') }}\"}, n: ]", "text", "1", "2"),
        ("copy: [/n: {source: uses.j2}]", "content", "<1>", "<2>"),
    ] {
        machine.write("x", "1");
        let loaded = machine.load(&manifest(&format!("- task: [make: ]\n- {text}")));
        let catalog = loaded.catalog.as_ref().expect(text);
        assert_eq!(shown(&catalog.resources[1], property), format!("\"{before}\""), "{text}");
        machine.write("x", "2");
        assert_eq!(late_property(&loaded, 1, property), format!("\"{after}\""), "{text}");
    }
}

#[test]
fn what_a_file_yields_is_checked_again_but_not_expanded_again() {
    let machine = Machine::with_facts("{it: a b, braces: '{{ Facts.gone }}'}").file("/x", "quiet");
    let text = "- task: [make: ]\n- task: [\"run {{ Facts.it }}\": {level: \"{{ file('/x') }}\", environment: {a: '{{ Facts.braces }}'}}]";
    let loaded = machine.load(&manifest(text));
    machine.write("/x", "silent");
    match completed(&loaded, 1) {
        Completion::Invalid(errors) => assert_eq!(errors[0].property.as_deref(), Some("level")),
        other => panic!("{other:?}"),
    }
    machine.write("/x", "loud");
    for (property, expected) in [
        ("level", r#""loud""#),
        ("environment", r#"{"a":"{{ Facts.gone }}"}"#),
        // The name is the command, and each of its values stays one word.
        ("command", r#""run 'a b'""#),
    ] {
        assert_eq!(late_property(&loaded, 1, property), expected);
    }
}

#[test]
fn a_managed_and_an_unmanaged_file_are_both_read_again() {
    let machine = Machine::default().file("/x", "1").file("/managed", "1");
    let loaded = machine.load(&manifest(
        "- copy: [/managed: ]\n- task: [make: ]\n- task: [n: {command: \"{{ file('/managed') }}\", args: [\"{{ file('/x') }}\"]}]",
    ));
    let catalog = loaded.catalog.as_ref().expect("no error");
    assert_eq!(
        catalog.resources[2].require.iter().map(|edge| edge.on).collect::<Vec<_>>(),
        [ResourceIndex(0)]
    );
    assert_eq!(late_property(&loaded, 2, "args"), r#"["1"]"#);
    machine.write("/x", "2");
    machine.write("/managed", "2");
    assert_eq!(late_property(&loaded, 2, "args"), r#"["2"]"#);
    assert_eq!(late_property(&loaded, 2, "command"), r#""2""#);
}

/// Returns what becomes of a resource when it is reached.
fn reached(loaded: &LoadResult<'_>, index: u32) -> String {
    match completed(loaded, index) {
        Completion::AsWritten => "as written".to_owned(),
        Completion::Resource(resource) => shown(&resource, "text"),
        Completion::NotManaged(reason) => reason,
        Completion::MissingFile { path, .. } => format!("without {}", path.display()),
        Completion::Invalid(errors) => {
            let texts = loaded.texts();
            errors.iter().map(|error| line(error, &texts)).collect::<Vec<_>>().join("; ")
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn a_condition_behind_a_writer_is_evaluated_when_its_resource_is_reached() {
    const OFF: &str = "`if` is false";
    const TEXT: &str = "text: \"{{ Facts.word }}\"";
    let behind = |control: &str, rest: &str| {
        manifest(&format!("- task: [make: ]\n- note: [n: {{control: {{{control}}}, {rest}}}]"))
    };
    for (control, rest, before, after, expected) in [
        ("if: \"file('/x') == 'on'\"", TEXT, Some("on"), Some("on"), "\"w\""),
        ("if: \"file('/x') == 'on'\"", TEXT, Some("on"), Some("off"), OFF),
        ("if: \"file('/x') == 'on'\"", TEXT, Some("off"), Some("off"), OFF),
        ("if: \"file('/x') == 'on'\"", TEXT, Some("off"), Some("on"), "\"w\""),
        ("if: \"file('/x') == 'on'\"", TEXT, None, Some("on"), "\"w\""),
        ("if: \"file('/x') == 'on'\"", TEXT, None, Some("off"), OFF),
        ("if: \"file('/x') == 'on'\"", TEXT, None, None, "without /x"),
        ("if: \"file('/x') == 'on'\"", TEXT, Some("on"), None, "without /x"),
        ("unless: \"readFile('/x') == 'on'\"", TEXT, Some("on"), Some("off"), "\"w\""),
        ("if: \"file('/x')\"", TEXT, None, Some("on"), "4:32 wrong-type | file('/x') == 'VALUE'"),
        // What is off is not evaluated before it is on.
        ("if: \"file('/x') == 'on'\"", "text: \"{{ Facts.gone }}\"", Some("off"), Some("off"), OFF),
        (
            "if: \"file('/x') == 'on'\"",
            "text: \"{{ Facts.gone }}\"",
            Some("off"),
            Some("on"),
            "4:71 unknown-name text Facts.gone | Facts.gone ?? ''",
        ),
        ("if: \"file('/x') == 'on'\"", "text: \"{{ file('/x') }}\"", Some("off"), Some("on"), "\"on\""),
        // A condition that needs no file decides at once.
        (
            "if: \"file('/x') == 'on'\", unless: true",
            "text: \"{{ Facts.gone }}\"",
            None,
            Some("on"),
            "as written",
        ),
        (
            "if: false, unless: \"file('/x') == 'on'\"",
            "text: \"{{ Facts.gone }}\"",
            None,
            Some("on"),
            "as written",
        ),
    ] {
        let machine = Machine::with_facts("{word: w}");
        let write = |content: Option<&str>| match content {
            Some(content) => machine.write("/x", content),
            None => machine.remove("/x"),
        };
        write(before);
        let text = behind(control, rest);
        let loaded = machine.load(&text);
        assert!(loaded.catalog.is_some(), "{text}: {:?}", loaded.diagnostics);
        write(after);
        assert_eq!(reached(&loaded, 1), expected, "{text}: {before:?} {after:?}");
    }
}

#[test]
fn a_condition_that_is_not_behind_a_writer_decides_at_once() {
    let machine = Machine::default().file("/x", "off");
    let conditional =
        |properties: &str| format!("- note: [n: {{control: {{if: \"file('/x') == 'on'\"}}, {properties}}}]");
    let control =
        |text: &str| machine.catalog(&manifest(text)).resources.into_iter().map(|found| found.control);
    let off = || Control::NotManaged { reason: "`if` is false".to_owned() };
    assert_eq!(control(&conditional("")).collect::<Vec<_>>(), [off()]);
    let first = format!("{}\n- task: [make: ]", conditional(""));
    assert_eq!(control(&first).collect::<Vec<_>>(), [off(), Control::Managed]);
    let behind = format!("- task: [make: ]\n{}", conditional(""));
    assert_eq!(control(&behind).collect::<Vec<_>>(), [Control::Managed, Control::Late]);
    // What others have to know before the run can't be found later.
    let unknown = format!("- task: [make: ]\n{}", conditional("require: \"{{ Facts.gone }}\""));
    assert_eq!(control(&unknown).collect::<Vec<_>>(), [Control::Managed, off()]);
    machine.remove("/x");
    assert_eq!(machine.reported(&manifest(&conditional(""))), ["3:33 unreadable"]);
    assert_eq!(machine.reported(&manifest(&behind)), [] as [&str; 0]);
}

#[test]
fn a_condition_of_a_child_behind_a_writer_is_evaluated_when_it_is_reached() {
    let machine = Machine::with_facts("{it: 1}")
        .file("c.yaml", "ccm: {resources: [{note: [n: {text: 'a{{ Facts.it }}'}]}, {note: [m: ]}]}");
    let text = manifest("- task: [make: ]\n- apply: [c.yaml: {control: {if: \"file('/x') == 'on'\"}}]");
    for before in [None, Some("on"), Some("off")] {
        if let Some(content) = before {
            machine.write("/x", content);
        }
        let loaded = machine.load(&text);
        let catalog = loaded.catalog.as_ref().unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        assert!(catalog.resources[1..].iter().all(|found| found.control == Control::Late));
        machine.write("/x", "on");
        assert_eq!(reached(&loaded, 1), "\"a1\"", "{before:?}");
        assert!(matches!(completed(&loaded, 3), Completion::Resource(_)), "{before:?}");
        machine.write("/x", "off");
        for index in 1..4 {
            assert!(matches!(completed(&loaded, index), Completion::NotManaged(_)), "{before:?}");
        }
        machine.remove("/x");
    }
}
