//! Resources that several manifests declare, and manifests that are applied several times.

use ccm_graph::Graph;
use ccm_model::Catalog;

use crate::fake::manifest;
use crate::machine::{Machine, shown};

fn names(catalog: &Catalog) -> Vec<String> {
    catalog.resources.iter().map(|resource| resource.id.to_string()).collect()
}

/// Returns the resources in the order of a run.
fn order(catalog: &Catalog) -> Vec<String> {
    let order = Graph::of(catalog).order();
    order.into_iter().map(|index| catalog.resource(index).id.to_string()).collect()
}

/// Machine with a role `a` that declares `one`, and a role `b` that declares `other`.
fn roles(one: &str, other: &str) -> Machine {
    Machine::with_facts("{on: true, off: false}")
        .file("a.yaml", &manifest(one))
        .file("sub/b.yaml", &manifest(other))
        .file("/m/x", "x")
        .file("/m/sub/x", "x")
}

const BOTH: &str = "- apply: [a.yaml: {alias: a}, sub/b.yaml: {alias: b}]";

#[test]
fn equal_declarations_are_one_resource() {
    for (one, other) in [
        ("- note: [n]", "- note: [n]"),
        ("- note: [n]", "- note: [n: {ensure: present}]"),
        ("- note: [n: {text: x}]", "- note: [n: {text: '{{ \"x\" }}'}]"),
        ("- note: [n: {text: 5}]", "- note: [n: {text: '5'}]"),
        ("- note: [n: {text: x}]", "- note: [{defaults: {text: x}}, n]"),
        ("- note: [n: {autorequire: true}]", "- note: [n]"),
        ("- note: [n: {control: {if: 'Facts.on'}}]", "- note: [n: {control: {if: 'Facts.on'}}]"),
        ("- copy: [/n: {source: sub/x}]", "- copy: [/n: {source: x}]"),
        ("- copy: [/n: {content: \"{{ file('sub/x') }}\"}]", "- copy: [/n: {content: x}]"),
    ] {
        let catalog = roles(one, other).catalog(&manifest(BOTH));
        assert_eq!(catalog.resources.len(), 3, "{one} {other}");
        assert_eq!(catalog.resources[0].group.map(|group| group.0), Some(0), "{one} {other}");
    }
}

#[test]
fn declarations_that_differ_are_an_error_with_both_places() {
    for (one, other, expected) in [
        ("- task: [n]", "- task: [n]", "| …"),
        ("- note: [n]", "- note: [n: {text: x}]", "text | …"),
        ("- note: [n: {text: x}]", "- note: [n: {text: y}]", "text | …"),
        ("- note: [n]", "- note: [n: {autorequire: false}]", "autorequire | …"),
        ("- note: [n]", "- note: [n: {control: {if: 'Facts.on'}}]", "control | …"),
        ("- copy: [/n: {source: x}]", "- copy: [/n: {source: x, mode: 1}]", "mode | …"),
    ] {
        let machine = roles(one, other);
        let found = machine.load(&manifest(BOTH));
        let [error] = &found.diagnostics[..] else { panic!("{one} {other}: {:?}", found.diagnostics) };
        assert_eq!(error.labels.len(), 2, "{error:?}");
        assert!(error.message.contains("`apply#a.yaml` and by `apply#sub/b.yaml`"), "{}", error.message);
        let word = expected.split(' ').next().unwrap_or_default();
        assert!(word == "|" || error.message.contains(&format!("`{word}`")), "{}", error.message);
    }
    let machine = roles("- note: [n]", "- note: [n]");
    let one_in_noop = manifest("- apply: [a.yaml: {noop: true}, sub/b.yaml: ]");
    assert_eq!(
        machine.reported(&one_in_noop),
        ["/m/sub/b.yaml:3:14 duplicate-resource (/m/a.yaml:3:14) | …"]
    );
}

#[test]
fn a_declaration_that_is_off_gives_way() {
    for items in [
        "- apply: [a.yaml: {control: {if: Facts.off}}, sub/b.yaml: ]",
        "- apply: [a.yaml: , sub/b.yaml: {control: {if: Facts.off}}]",
        "- apply: [a.yaml: {health_check_only: true}, sub/b.yaml: ]",
    ] {
        let machine = roles("- note: [n: {text: a}]", "- note: [n: {text: a}]");
        let catalog = machine.catalog(&manifest(items));
        let note = catalog.resources.iter().find(|resource| &*resource.id.name == "n").expect("the note");
        assert_eq!(note.control, ccm_model::Control::Managed, "{items}");
        assert_eq!(catalog.resources.len(), 3);
    }
}

#[test]
fn a_later_declaration_adds_names_and_edges() {
    let machine = roles(
        "- note: [x, {n: {alias: one, require: [note#x]}}]",
        "- note: [y, {n: {alias: other, require: [note#y], subscribe: [note#z]}}, z]",
    );
    let items = format!("{BOTH}\n- task: [t: {{subscribe: [note#one, note#other]}}]");
    let catalog = machine.catalog(&manifest(&items));
    let note = catalog.resources.iter().find(|resource| &*resource.id.name == "n").expect("the note");
    let aliases: Vec<&str> = note.aliases.iter().map(|alias| &**alias).collect();
    assert_eq!(aliases, ["one", "other"]);
    let on = |edges: &[ccm_model::Dependency]| {
        edges.iter().map(|edge| catalog.resource(edge.on).id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(on(&note.require), ["note#x", "note#y"]);
    assert_eq!(on(&note.subscribe), ["note#z"]);
}

#[test]
fn roles_with_common_resources_may_require_each_other_in_any_order() {
    let role = |name: &str| {
        manifest(&format!(
            "- note: [common, {{service: {{subscribe: [note#common]}}}}, {{only-{name}: {{require: [note#service]}}}}]"
        ))
    };
    let machine = Machine::default().file("a.yaml", &role("a")).file("b.yaml", &role("b"));
    for (items, first) in [
        ("- apply: [a.yaml: , b.yaml: ]", "a"),
        ("- apply: [a.yaml: , b.yaml: {require: [apply#a.yaml]}]", "a"),
        ("- apply: [a.yaml: {require: [apply#b.yaml]}, b.yaml: ]", "b"),
        ("- apply: [a.yaml: {require: [note#only-b]}, b.yaml: ]", "b"),
        (
            "- apply: [a.yaml: {require: [note#between]}, b.yaml: ]\n- note: [between: {require: [apply#b.yaml]}]",
            "b",
        ),
        ("- apply: [b.yaml: {require: [apply#a.yaml]}, a.yaml: ]", "a"),
        ("- apply: [b.yaml: , a.yaml: {subscribe: [apply#b.yaml]}]", "b"),
    ] {
        let catalog = machine.catalog(&manifest(items));
        let order = order(&catalog);
        let own: Vec<&String> =
            order.iter().filter(|name| !name.contains("apply") && !name.contains("between")).collect();
        let second = if first == "a" { "b" } else { "a" };
        let expected =
            ["note#common", "note#service", &format!("note#only-{first}"), &format!("note#only-{second}")];
        assert_eq!(own, expected, "{items}");
    }
}

#[test]
fn a_child_is_applied_with_several_data() {
    let text = "data: {site: , port: 80}\n".to_owned()
        + &manifest("- note: [common, '{{ Data.site }}': {text: '{{ Data.port }}', require: [note#common]}]");
    let machine = Machine::default().file("roles/vhost.yaml", &text);
    let items = "- apply:\n    - one: {manifest: roles/vhost.yaml, data: {site: a}}\n    \
                 - other: {manifest: roles/vhost.yaml, data: {site: b, port: 81}}\n- note: [end: {require: [apply#other]}]";
    let catalog = machine.catalog(&manifest(items));
    assert_eq!(names(&catalog), ["note#common", "note#a", "apply#one", "note#b", "apply#other", "note#end"]);
    let text_of = |name: &str| {
        let resource = catalog.resources.iter().find(|resource| &*resource.id.name == name).expect("a note");
        shown(resource, "text")
    };
    assert_eq!((text_of("a"), text_of("b")), ("80".to_owned(), "81".to_owned()));
    assert_eq!(catalog.groups.len(), 2);
}

#[test]
fn the_same_child_with_the_same_data_is_one() {
    let machine = Machine::default()
        .file("c.yaml", &manifest("- task: [t]\n- apply: [e.yaml]"))
        .file("e.yaml", &manifest("- task: [u]"))
        .file(
            "v.yaml",
            &format!(
                "data: {{x: }}\n{}",
                manifest("- task: [t: {command: '/{{ Data.x }}'}]\n- apply: [e.yaml]")
            ),
        )
        .file("a.yaml", &manifest("- apply: [c.yaml]\n- note: [a: {require: [apply#c.yaml]}]"))
        .file("b.yaml", &manifest("- apply: [./c.yaml]\n- note: [b: {require: [apply#./c.yaml]}]"));
    let catalog = machine.catalog(&manifest("- apply: [a.yaml, b.yaml]"));
    assert_eq!(
        names(&catalog),
        [
            "task#t",
            "task#u",
            "apply#e.yaml",
            "apply#c.yaml",
            "note#a",
            "apply#a.yaml",
            "note#b",
            "apply#b.yaml"
        ]
    );
    assert_eq!(catalog.groups.len(), 4);
    let b = &catalog.resources[6];
    assert_eq!(catalog.resource(b.require[0].on).id.to_string(), "apply#c.yaml");
    // In one manifest it may be a mistake.
    machine.check_all(&[
        (&manifest("- apply: [c.yaml, ./c.yaml]"), &["3:23 warning: no-effect (3:15) | data"]),
        (&manifest("- note: [n, n]"), &["3:17 warning: no-effect (3:14) | …"]),
        (&manifest("- note: [n, n: {text: x}]"), &["3:17 duplicate-resource (3:14)"]),
        (
            &manifest("- foreach: [1, 2]\n  note: [n]"),
            &["4:14 duplicate-resource (3:17) (3:20) | {{ Item }}"],
        ),
        // Data that the child does not use makes no difference.
        (
            &manifest("- apply: [c.yaml, d: {manifest: c.yaml, data: {x: 1}}]"),
            &["3:23 warning: no-effect (3:15) | …"],
        ),
        (
            &manifest("- apply: [x: {manifest: v.yaml, data: {x: 1}}, y: {manifest: v.yaml, data: {x: 2}}]"),
            &["/m/v.yaml:4:14 duplicate-resource (/m/v.yaml:4:14) | {{ Data.NAME }}"],
        ),
    ]);
}

#[test]
fn children_that_double_at_each_depth_end() {
    let mut machine = Machine::default().file("9.yaml", &manifest("- note: [deepest]"));
    for number in 0..9 {
        let next = number + 1;
        let items = format!(
            "- apply: ['a{next}-{{{{ Data.n }}}}': {{manifest: {next}.yaml, data: {{n: '{{{{ Data.n }}}}0'}}}}, \
             'b{next}-{{{{ Data.n }}}}': {{manifest: {next}.yaml, data: {{n: '{{{{ Data.n }}}}1'}}}}]"
        );
        machine = machine.file(&format!("{number}.yaml"), &format!("data: {{n: }}\n{}", manifest(&items)));
    }
    let reported = machine.reported(&manifest("- apply: [0.yaml: {data: {n: x}}]"));
    assert!(reported.iter().any(|error| error.contains("limit-exceeded")), "{reported:?}");
}
