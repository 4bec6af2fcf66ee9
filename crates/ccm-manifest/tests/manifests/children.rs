//! Manifests that are applied as resources of others.

use ccm_graph::Graph;
use ccm_model::{Catalog, Control, GroupIndex};

use crate::fake::manifest;
use crate::machine::{Machine, completed, shown};

fn names(catalog: &Catalog) -> Vec<String> {
    catalog.resources.iter().map(|resource| resource.id.to_string()).collect()
}

/// Returns the names of the dependencies of a resource.
fn dependencies_of(catalog: &Catalog, name: &str) -> Vec<String> {
    let index = catalog.indices().find(|index| catalog.resource(*index).id.to_string() == name);
    let graph = Graph::of(catalog);
    let dependencies = graph.dependencies(index.expect("a resource"));
    let mut on: Vec<String> = dependencies.map(|on| catalog.resource(on).id.to_string()).collect();
    on.sort();
    on
}

fn child(items: &str) -> String {
    manifest(items)
}

#[test]
fn child_resources_take_the_place_of_the_apply_resource() {
    let machine = Machine::default()
        .file(
            "sub/c.yaml",
            &child("- note: [c1: ]\n- apply: [../d.yaml: ]\n- note: [c2: {require: [note#n, note#d]}]"),
        )
        .file("d.yaml", &child("- note: [d: ]"));
    let catalog = machine.catalog(&manifest(
        "- note: [first: , n: ]\n- apply: [sub/c.yaml: {alias: c, require: [note#first], subscribe: [note#n]}]\n\
         - note: [last: {require: [apply#c, note#d]}]",
    ));
    assert_eq!(
        names(&catalog),
        [
            "note#first",
            "note#n",
            "note#c1",
            "note#d",
            "apply#../d.yaml",
            "note#c2",
            "apply#sub/c.yaml",
            "note#last"
        ]
    );
    assert_eq!(dependencies_of(&catalog, "note#c1"), ["note#first", "note#n"]);
    assert_eq!(dependencies_of(&catalog, "note#d"), ["note#first", "note#n"]);
    assert_eq!(dependencies_of(&catalog, "note#c2"), ["note#d", "note#first", "note#n"]);
    assert_eq!(dependencies_of(&catalog, "apply#../d.yaml"), ["note#d", "note#first", "note#n"]);
    assert_eq!(
        dependencies_of(&catalog, "apply#sub/c.yaml"),
        ["apply#../d.yaml", "note#c1", "note#c2", "note#first", "note#n"]
    );
    assert_eq!(dependencies_of(&catalog, "note#last"), ["apply#sub/c.yaml", "note#d"]);
    let of: Vec<Option<u32>> =
        catalog.resources.iter().map(|resource| resource.group.map(|group| group.0)).collect();
    assert_eq!(of, [None, None, Some(0), Some(1), Some(0), Some(0), None, None]);
    assert_eq!(catalog.resources[6].node_of, Some(GroupIndex(0)));
    assert_eq!(catalog.resources[4].node_of, Some(GroupIndex(1)));
    assert_eq!(catalog.groups[1].parent, Some(GroupIndex(0)));
    assert_eq!(catalog.groups[0].directory.to_str(), Some("/m/sub"));
    assert_eq!(catalog.groups[1].directory.to_str(), Some("/m"));
}

#[test]
fn children_get_data_from_their_parent() {
    let c = "data: {a: c, l: [1], m: {x: 1}, n: }\n".to_owned()
        + &child("- note: [c: {text: \"{{ toJSON(Data) }}\"}]");
    let machine = Machine::with_facts("{f: fact}").file("c.yaml", &c);
    for (apply, expected) in [
        ("- apply: [c.yaml: ]", r#"{"a":"c","p":"parent","n":"given","l":[1],"m":{"x":1}}"#),
        ("- apply: [c.yaml: {data: }]", r#"{"a":"c","p":"parent","n":"given","l":[1],"m":{"x":1}}"#),
        ("- apply: [c.yaml: {data: {}}]", r#"{"a":"c","l":[1],"m":{"x":1},"n":null}"#),
        (
            "- apply: [c.yaml: {data: {a: '{{ Data.p }}', m: {y: 2}}}]",
            r#"{"a":"parent","l":[1],"m":{"x":1,"y":2},"n":null}"#,
        ),
    ] {
        let text = format!("data: {{p: parent, a: p, n: given}}\n{}", manifest(apply));
        let catalog = machine.catalog(&text);
        let actual = shown(&catalog.resources[0], "text");
        let found: serde_json::Value = serde_json::from_str(&actual).expect("JSON");
        let found: serde_json::Value = serde_json::from_str(found.as_str().expect("text")).expect("JSON");
        let expected: serde_json::Value = serde_json::from_str(expected).expect("JSON");
        assert_eq!(found, expected, "{apply}");
    }
    // Assignments apply to every manifest, and a child gets required values from its parent.
    let machine = Machine::default().assignment("a=given").with_new_keys().file(
        "c.yaml",
        &("data:\n  # @require\n  p:\n".to_owned()
            + &child("- note: [c: {text: '{{ Data.a }}{{ Data.p }}'}]")),
    );
    let text = format!("data: {{p: parent}}\n{}", manifest("- apply: [c.yaml: ]"));
    assert_eq!(shown(&machine.catalog(&text).resources[0], "text"), r#""givenparent""#);
    let actual = machine.reported(&manifest("- apply: [c.yaml: {data: {q: x}}]"));
    assert_eq!(actual.len(), 1, "{actual:?}");
}

#[test]
fn each_manifest_knows_its_directory() {
    let c = child("- note: [c: {text: \"{{ Manifest.dir }} ${ lookup('manifest.dir') }\"}]");
    let machine = Machine::default().file("sub/c.yaml", &c).file("t.j2", "{{ Manifest.dir }}");
    let items = "- note: [n: {text: '{{ Manifest.dir }}/bin'}]\n- apply: [sub/c.yaml]\n- copy: [/t: {source: t.j2}]\n\
                 - task: [t: {provider: shell, command: '${Manifest.dir}/bin $Manifest'}]";
    let catalog = machine.catalog(&manifest(items));
    let texts = [(0, "text"), (1, "text"), (3, "content"), (4, "command")];
    let found = texts.map(|(index, property)| shown(&catalog.resources[index], property));
    assert_eq!(found, ["\"/m/bin\"", "\"/m/sub /m/sub\"", "\"/m\"", "\"/m/bin $Manifest\""]);
    machine.check_all(&[(
        &manifest("- note: [n: {text: '{{ Manifest.directory }}'}]"),
        &["3:37 unknown-name Manifest.directory | Manifest.dir"],
    )]);
}

#[test]
fn children_inherit_noop_and_restrictions() {
    let machine = Machine::default()
        .file("a.yaml", &child("- note: [a: ]\n- apply: [b.yaml: {noop: false, health_check_only: false}]"))
        .file("b.yaml", "ccm: {fail_on_error: true, resources: [note: [b: ]]}");
    let catalog = machine.catalog(&manifest("- apply: [a.yaml: {noop: true}]"));
    assert!(catalog.groups.iter().all(|group| group.noop));
    let fails: Vec<bool> = catalog.groups.iter().map(|group| group.fail_on_error).collect();
    assert_eq!((fails, catalog.fail_on_error), (vec![false, true], false));
    let catalog = machine.catalog(&manifest("- apply: [a.yaml: {health_check_only: true}]"));
    assert!(
        catalog
            .resources
            .iter()
            .filter(|found| &*found.id.type_name == "note")
            .all(|found| found.is_monitored)
    );
    let managed = |name: &str| {
        let found = catalog.resources.iter().find(|resource| resource.id.to_string() == name);
        found.map(|resource| resource.control == Control::Managed)
    };
    assert_eq!(
        (managed("note#a"), managed("note#b"), managed("apply#a.yaml")),
        (Some(false), Some(false), Some(true))
    );
}

#[test]
fn conditions_apply_to_the_child_manifest() {
    let machine = Machine::with_facts("{role: web}")
        .file(
            "a.yaml",
            &child("- note: [a: {text: '{{ Facts.gone }}', control: {if: broken}}]\n- apply: [b.yaml: ]"),
        )
        .file("b.yaml", &child("- note: [b: ]"))
        .file("/x", "yes");
    let catalog = machine.catalog(&manifest("- apply: [a.yaml: {control: {if: \"Facts.role == 'db'\"}}]"));
    let reasons: Vec<String> = catalog.resources.iter().map(|found| format!("{:?}", found.control)).collect();
    assert_eq!(
        reasons,
        [
            "NotManaged { reason: \"`if` of apply#a.yaml is false\" }",
            "NotManaged { reason: \"`if` of apply#a.yaml is false\" }",
            "NotManaged { reason: \"`if` of apply#a.yaml is false\" }",
            "NotManaged { reason: \"`if` is false\" }",
        ]
    );
    // One late resource makes the whole value late.
    let loaded = machine
        .load(&manifest("- apply: [b.yaml: {control: {if: \"file('/x') == 'yes'\"}}]\n- copy: [/x: ]"));
    let catalog = loaded.catalog.as_ref().expect("no error");
    assert!(catalog.resources[..2].iter().all(|resource| resource.control == Control::Late));
    assert_eq!(dependencies_of(catalog, "note#b"), ["copy#/x"]);
    assert!(matches!(completed(&loaded, 0), ccm_manifest::Completion::Resource(_)));
    machine.write("/x", "no");
    for index in [0, 1] {
        assert!(matches!(completed(&loaded, index), ccm_manifest::Completion::NotManaged(_)));
    }
}

#[test]
fn errors_of_children_point_into_their_text() {
    let machine = Machine::with_facts("{}")
        .file("broken.yaml", "ccm: [")
        .file("empty.yaml", "")
        .file(
            "mistaken.yaml",
            &child("- note: [c: {txet: x, text: '{{ Data.gone }}', require: [note#gone]}]"),
        )
        .file("same.yaml", &child("- note: [n: ]"))
        .file("task.yaml", &child("- task: [n: ]"))
        .file("self.yaml", &child("- apply: [./self.yaml: ]"))
        .file("one.yaml", &child("- apply: [two.yaml: ]"))
        .file("two.yaml", &child("- apply: [one.yaml: ]"))
        .file("root.yaml", &child("- apply: [m.yaml: ]"))
        .file("back.yaml", &child("- note: [c: {require: [note#n]}]"))
        .file("within.yaml", &child("- note: [c: {require: [apply#within.yaml]}]"))
        .binary("binary.yaml", &[0xff]);
    machine.check_all(&[
        (&manifest("- apply: [gone.yaml: , /gone.yaml: ]"), &["3:15 unreadable | …", "3:28 unreadable"]),
        (&manifest("- apply: [binary.yaml: ]"), &["3:15 unreadable"]),
        (&manifest("- apply: [broken.yaml: ]"), &["/m/broken.yaml:1:6 syntax"]),
        (&manifest("- apply: [empty.yaml: ]"), &["/m/empty.yaml:1:1 missing | …"]),
        (
            &manifest("- apply: [mistaken.yaml: ]"),
            &[
                "/m/mistaken.yaml:3:18 unknown-property txet | text",
                "/m/mistaken.yaml:3:42 unknown-name Data.gone | Data.gone ?? \"\"",
                "/m/mistaken.yaml:3:62 unknown-reference | note",
            ],
        ),
        (
            &manifest("- task: [n: ]\n- apply: [task.yaml: ]"),
            &["/m/task.yaml:3:14 duplicate-resource (3:14) | …"],
        ),
        (&manifest("- apply: [self.yaml: ]"), &["/m/self.yaml:3:15 cycle"]),
        (&manifest("- apply: [one.yaml: ]"), &["/m/two.yaml:3:15 cycle"]),
        (&manifest("- apply: [root.yaml: ]"), &["/m/root.yaml:3:15 cycle"]),
        (&manifest("- apply: [m.yaml: ]"), &["3:15 cycle"]),
        (
            &manifest("- note: [n: {require: [apply#back.yaml]}]\n- apply: [back.yaml: ]"),
            &["3:28 cycle (4:15) (/m/back.yaml:3:28)"],
        ),
        (&manifest("- apply: [within.yaml: ]"), &["/m/within.yaml:3:28 cycle (3:15)"]),
        (&manifest("- apply: [one.yaml: {allow_apply: false}]"), &["/m/one.yaml:3:15 conflict"]),
        (
            &manifest("- apply: [same.yaml: {noop: x, data: [a], health_check_only: '{{ 5 }}', nop: true}]"),
            &[
                "3:33 wrong-type noop",
                "3:42 wrong-type data",
                "3:66 wrong-type health_check_only | …",
                "3:77 unknown-property nop | noop",
            ],
        ),
        (
            &manifest("- apply: ['{{ Facts.gone }}.yaml': ]"),
            &["3:25 unknown-name Facts.gone | Facts.gone ?? \"DEFAULT\""],
        ),
    ]);
}

#[test]
fn manifests_nest_ten_deep() {
    let mut machine = Machine::default().file("10.yaml", &child("- note: [deepest: ]"));
    for number in 0..10 {
        machine =
            machine.file(&format!("{number}.yaml"), &child(&format!("- apply: [{}.yaml: ]", number + 1)));
    }
    assert_eq!(machine.catalog(&manifest("- apply: [1.yaml: ]")).groups.len(), 10);
    let actual = machine.reported(&manifest("- apply: [0.yaml: ]"));
    assert_eq!(actual, ["/m/9.yaml:3:15 limit-exceeded"]);
}

#[test]
fn many_dependent_children_have_no_duplicate_edges() {
    let mut machine = Machine::default();
    let mut items = String::new();
    for number in 0..40 {
        let notes: Vec<String> = (0..10).map(|note| format!("n{number}-{note}: ")).collect();
        machine = machine.file(&format!("{number}.yaml"), &child(&format!("- note: [{}]", notes.join(", "))));
        let before =
            if number == 0 { String::new() } else { format!("{{require: [apply#{}.yaml]}}", number - 1) };
        items += &format!("- apply: [{number}.yaml: {before}]\n");
    }
    let catalog = machine.catalog(&manifest(&items));
    let graph = Graph::of(&catalog);
    for index in catalog.indices() {
        let written = catalog.resource(index).require.len();
        assert!(written <= 1, "only the node requires something itself");
        let mut on: Vec<u32> = graph.dependencies(index).map(|on| on.0).collect();
        let count = on.len();
        on.sort_unstable();
        on.dedup();
        assert_eq!(on.len(), count);
        assert!(count <= 11);
    }
}

#[test]
fn invalid_child_data_is_reported_once() {
    let machine = Machine::default()
        .file(
            "c.yaml",
            &format!("data: {{x: 1}}\n{}", child("- apply: [d.yaml: ]\n- note: [c: {text: '{{ Data.x }}'}]")),
        )
        .file("d.yaml", &child("- note: [d: {text: '{{ Data.y.z }}'}]"));
    let of = |properties: &str| machine.reported(&manifest(&format!("- apply: [c.yaml: {properties}]")));
    for (properties, expected) in [
        ("{data: [1]}", "3:30 wrong-type data"),
        ("{allow_apply: false, data: {x: 2}}", "/m/c.yaml:4:15 conflict"),
    ] {
        assert_eq!(of(properties), [expected], "{properties}");
    }
}

#[test]
fn a_child_may_get_any_key_from_another_parent() {
    let child = |text: &str| Machine::default().file("/m/c.yaml", text);
    let text = format!("data: {{port: 1}}\n{}", manifest("- apply: [c.yaml: ]"));
    let uses = "ccm: {resources: [note: [n: {text: '{{ Data.prot ?? 80 }}'}]]}\n";
    assert_eq!(child(uses).reported(&text), Vec::<String>::new());
    assert_eq!(Machine::default().reported(uses), ["1:40 warning: unknown-name | prot:, data"]);
}

#[test]
fn keys_of_files_and_assignments_are_data() {
    let uses = "ccm: {resources: [note: [n: {text: '{{ Data.prot ?? 80 }}'}]]}\n";
    let machine = Machine::default().hiera("h.yaml", "data: {prot: 1}\n");
    assert_eq!(machine.reported(uses), Vec::<String>::new());
}
