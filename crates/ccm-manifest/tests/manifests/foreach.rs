//! `foreach`: resources for each item of a list.

use ccm_model::{Catalog, Control};

use crate::fake::{catalog, manifest, reported};
use crate::machine::{Machine, late_property, shown};

/// Data whose items begin in line 4.
const USERS: &str = "data: {users: [{name: ada, admin: true}, {name: bob, admin: false}]}\n";

/// Returns the resources as `type#name`.
fn ids(catalog: &Catalog) -> Vec<String> {
    catalog.resources.iter().map(|resource| resource.id.to_string()).collect()
}

fn with_users(items: &str) -> String {
    USERS.to_owned() + &manifest(items)
}

#[test]
fn each_item_has_its_own_resources_in_order() {
    let text = with_users(
        "- note: [first: ]\n\
         - foreach: '{{ Data.users }}'\n  task:\n\
         \x20   - defaults: {command: 'run {{ Item.name }} {{ Index }}'}\n\
         \x20   - make {{ Item.name }}: {alias: 'm-{{ Item.name }}'}\n\
         \x20   - check {{ Item.name }}: {command: 'true', require: ['task#m-{{ Item.name }}']}\n\
         - note: [last: ]",
    );
    let catalog = catalog(&text);
    let expected =
        ["note#first", "task#make ada", "task#check ada", "task#make bob", "task#check bob", "note#last"];
    assert_eq!(ids(&catalog), expected);
    assert_eq!(shown(&catalog.resources[3], "command"), r#""run bob 1""#);
    assert_eq!(shown(&catalog.resources[4], "command"), r#""true""#);
    assert_eq!(catalog.resources[4].require[0].on.get(), 3);
    assert_eq!(catalog.resources[1].aliases.first().map(|alias| &**alias), Some("m-ada"));
}

#[test]
fn lists_and_maps_are_written_or_computed() {
    for (list, expected) in [
        ("[a, b]", "a=0 b=1"),
        ("['{{ 1 + 1 }}', x]", "2=0 x=1"),
        ("'{{ 1..3 }}'", "1=0 2=1 3=2"),
        ("'{{ map(Data.users, .name) }}'", "ada=0 bob=1"),
        ("'{{ [] }}'", ""),
        ("[]", ""),
        ("{}", ""),
    ] {
        let text = with_users(&format!("- foreach: {list}\n  note: [\"{{{{ Item }}}}={{{{ Index }}}}\": ]"));
        assert_eq!(ids(&catalog(&text)).join(" ").replace("note#", ""), expected, "{list}");
    }
    for (map, expected) in [
        ("{a: 1, b: {c: d}}", r#"a=1=0 b={"c":"d"}=1"#),
        ("{'{{ Data.users[0].name }}': '{{ Data.users[1].name }}'}", "ada=bob=0"),
        ("'{{ {\"k\": [1]} }}'", "k=[1]=0"),
        (
            "'{{ groupBy(Data.users, .admin) }}'",
            r#"true=[{"name":"ada","admin":true}]=0 false=[{"name":"bob","admin":false}]=1"#,
        ),
    ] {
        let name = "{{ Item.key }}={{ Item.value }}={{ Index }}";
        let text = with_users(&format!("- foreach: {map}\n  note: {{name: '{name}'}}"));
        assert_eq!(ids(&catalog(&text)).join(" ").replace("note#", ""), expected, "{map}");
    }
}

#[test]
fn a_list_in_a_list_is_made_by_an_expression() {
    let text = "data: {users: [{name: ada, keys: [k1, k2]}, {name: bob, keys: [k3]}]}\n".to_owned()
        + &manifest(
            "- foreach: '{{ flatten(map(Data.users, let user = #; map(user.keys, ({name: user.name, key: #})))) }}'\n  \
             note: ['{{ Item.name }}:{{ Item.key }}': ]",
        );
    assert_eq!(ids(&catalog(&text)), ["note#ada:k1", "note#ada:k2", "note#bob:k3"]);
}

#[test]
fn values_of_an_item_are_not_expanded_again() {
    let text = "data: {words: ['{{ \"{{ 1 + 1 }}\" }}', \"{{ '${ Facts.x }' }}\"]}\n".to_owned()
        + &manifest(
            "- foreach: '{{ Data.words }}'\n  note: ['n{{ Item }}': {text: '{{ Item }}'}]\n\
             - foreach: [\"{{ '{{ 3 }}' }}\"]\n  note: ['{{ Item }}': ]",
        );
    let catalog = catalog(&text);
    assert_eq!(ids(&catalog), ["note#n{{ 1 + 1 }}", "note#n${ Facts.x }", "note#{{ 3 }}"]);
    assert_eq!(shown(&catalog.resources[1], "text"), r#""${ Facts.x }""#);
}

#[test]
fn a_value_of_an_item_stays_in_its_word() {
    let text = manifest("- foreach: ['a b', \"it's\"]\n  task: ['run {{ Item }}': ]");
    let catalog = catalog(&text);
    assert_eq!(ids(&catalog), ["task#run a b", "task#run it's"]);
    assert_eq!(shown(&catalog.resources[0], "command"), r#""run 'a b'""#);
}

#[test]
fn shell_text_of_an_item_has_its_names() {
    let shell = "task: ['{{ Item }}': {provider: shell, command: 'echo ${Item} ${Index} ${HOME} $Item'}]";
    let repeated = catalog(&manifest(&format!("- foreach: [a]\n  {shell}")));
    assert_eq!(shown(&repeated.resources[0], "command"), r#""echo a 0 ${HOME} $Item""#);
    let alone = catalog(&manifest(&format!("- {}", shell.replace("{{ Item }}", "a"))));
    assert_eq!(shown(&alone.resources[0], "command"), r#""echo ${Item} ${Index} ${HOME} $Item""#);
}

#[test]
fn conditions_templates_and_lookups_have_the_item() {
    let machine = Machine::default()
        .file(
            "t.j2",
            "{{ Item.name }} {{ item.name }} {{ Index }} {% for item in [1] %}{{ item }}{% endfor %}",
        )
        .file("t.templ", "<${ Item.name }>");
    let text = with_users(
        "- foreach: '{{ Data.users }}'\n  copy:\n\
         \x20   - '/a/{{ Item.name }}': {source: t.j2, control: {if: Item.admin}}\n\
         \x20   - '/b/{{ Item.name }}': {content: \"{{ template('t.templ') }}\", control: {unless: Index == 0}}\n\
         \x20   - '/c/{{ Item.name }}': {content: \"{{ lookup('item.name') }}{{ lookup('item.x', '-') }}{{ lookup('index') }}\"}",
    );
    let catalog = machine.catalog(&text);
    assert_eq!(shown(&catalog.resources[0], "content"), r#""ada ada 0 1""#);
    let off = |index: usize| matches!(catalog.resources[index].control, Control::NotManaged { .. });
    assert_eq!([0, 1, 3, 4].map(off), [false, true, true, false].map(|off| off));
    assert_eq!(shown(&catalog.resources[4], "content"), r#""<bob>""#);
    assert_eq!(shown(&catalog.resources[5], "content"), r#""bob-1""#);
}

#[test]
fn late_values_have_the_item() {
    let machine = Machine::default();
    let text = with_users(
        "- copy: [/x: {content: from x, capture: {}}]\n\
         - foreach: '{{ Data.users }}'\n  copy:\n    - '/y/{{ Item.name }}': {content: \"{{ Item.name }}: {{ file('/x') }}\"}",
    );
    let loaded = machine.load(&text);
    machine.write("/x", "written");
    assert_eq!(late_property(&loaded, 1, "content"), r#""ada: written""#);
    assert_eq!(late_property(&loaded, 2, "content"), r#""bob: written""#);
    let rendered =
        ccm_manifest::render(loaded.catalog.as_ref().expect("no error"), &loaded).expect("a manifest");
    assert!(rendered.contains(r#"{{ "bob" }}: {{ file(''/x'') }}"#), "{rendered}");
}

#[test]
fn a_child_manifest_can_be_applied_for_each_item() {
    let machine = Machine::default()
        .file("web.yaml", "data: {who: }\nccm: {resources: [{note: ['w{{ Data.who }}': ]}]}")
        .file(
            "db.yaml",
            "data: {who: }\nccm: {resources: [{note: ['d{{ Data.who }}': ]}, {note: ['{{ Item }}': ]}]}",
        );
    let apply = |roles: &str| {
        manifest(&format!(
            "- foreach: [{roles}]\n  apply: ['{{{{ Item }}}}.yaml': {{data: {{who: '{{{{ Index }}}}'}}}}]"
        ))
    };
    assert_eq!(ids(&machine.catalog(&apply("web"))), ["note#w0", "apply#web.yaml"]);
    // The item does not exist in the child, and the error names it.
    assert_eq!(
        machine.reported(&apply("web, db")),
        ["/m/db.yaml:2:62 unknown-name (3:22) | Item, foreach, foreach: LIST"]
    );
}

#[test]
fn errors_name_the_item() {
    let text = with_users(
        "- foreach: '{{ Data.users }}'\n  task:\n    - a {{ Item.name }}: {level: '{{ Item.name }}', timeout: x}",
    );
    let found = reported(&text);
    // An error of all items is reported once.
    assert_eq!(
        found,
        [
            "6:38 invalid-value level (4:16) | …",
            "6:38 invalid-value level (4:16) | …",
            "6:66 wrong-type timeout (4:16)",
        ]
    );
    let loaded = crate::fake::loaded(&text);
    let labels: Vec<&str> = loaded.diagnostics.iter().map(|found| &*found.labels[1].text).collect();
    let of = |item: &str| format!("in item {item} of `foreach`");
    assert_eq!(labels, [of("1 (`ada`)"), of("2 (`bob`)"), of("1 (`ada`)")]);
}

#[test]
fn two_items_with_one_name_are_an_error() {
    for (list, name, expected) in [
        ("[a, b, a, a]", "{{ Item }}", "5:14 duplicate-resource (4:17) (4:23) | Item"),
        ("'{{ [1, 1] }}'", "{{ Item }}", "5:14 duplicate-resource (4:16) | Item"),
        ("[a, b, c]", "x", "5:14 duplicate-resource (4:17) (4:20) | {{ Item }}"),
    ] {
        let text = with_users(&format!("- foreach: {list}\n  note: ['{name}': ]"));
        assert_eq!(reported(&text), [expected], "{list}");
    }
    let message = |items: &str| crate::fake::loaded(&with_users(items)).diagnostics[0].message.clone();
    assert_eq!(
        message("- foreach: [a, b, a]\n  note: ['{{ Item }}': ]"),
        "duplicate resource `note#a`, in item 1 (`a`) of `foreach` and in item 3 (`a`) of `foreach`"
    );
    assert_eq!(
        message("- foreach: [a, b]\n  note: ['{{ Item }}': {alias: x}]"),
        "duplicate alias `x`, in item 1 (`a`) of `foreach` and in item 2 (`b`) of `foreach`"
    );
    // One of two resources is in no `foreach`.
    let text = with_users("- note: [b: ]\n- foreach: [a, b]\n  note: ['{{ Item }}': ]\n- note: [a: ]");
    assert_eq!(reported(&text), ["6:14 warning: no-effect (4:14) | …", "7:14 warning: no-effect (6:14) | …"]);
}

#[test]
fn the_list_must_be_a_list_or_a_map() {
    for (list, expected) in [
        ("'{{ Data.nope }}'", "4:25 unknown-name Data.nope | Data.nope ?? []"),
        ("Data.users", "4:16 wrong-type | foreach: \"{{ Data.users }}\""),
        ("ada", "4:16 wrong-type | foreach: [ada]"),
        ("5", "4:16 wrong-type | foreach: \"{{ 1..5 }}\""),
        ("true", "4:16 wrong-type"),
        ("'{{ Data.users[0].name }}'", "4:16 wrong-type | split(Data.users[0].name, \",\")"),
        ("'{{ Data.users[0]?.x }}'", "4:16 wrong-type | Data.users[0]?.x ?? []"),
        ("", "4:7 missing | foreach: LIST, foreach: []"),
        ("'{{ Captures.a.b }}'", "4:20 late-value | …"),
        ("['{{ Captures.a.b }}']", "4:21 late-value | …"),
        ("'{{ file(\"/m/list\") }}'", "4:16 late-value | …"),
        ("'{{ Item }}'", "4:20 unknown-name | Item, foreach, foreach: LIST"),
        ("'{{ Index }}'", "4:20 unknown-name | Index, foreach, foreach: LIST"),
        ("'{{ let Item = 1; [Item] }}'", "4:24 reserved-name | …"),
        ("'{{ 1..100001 }}'", "4:16 limit-exceeded | …"),
    ] {
        // No error is reported again where the missing resources are used.
        let text = with_users(&format!(
            "- foreach: {list}\n  note: ['n{{{{ Item }}}}': ]\n- note: [x: {{require: ['note#nada']}}]\n- copy: [/m/list: {{content: ''}}]"
        ));
        let machine = Machine::default().file("list", "a b");
        assert_eq!(machine.reported(&text), [expected], "{list}");
    }
}

#[test]
fn late_lists_are_refused_by_name() {
    let message = |list: &str| {
        let text = manifest(&format!(
            "- copy: [/m/list: {{content: '', alias: l, capture: {{a: b}}}}]\n- foreach: '{list}'\n  note: ['{{{{ Item }}}}': ]"
        ));
        Machine::default().file("list", "a").load(&text).diagnostics[0].message.clone()
    };
    assert!(message("{{ Captures.l.a }}").contains("`Captures.l` is known only after"));
    assert!(
        message("{{ split(file(\"list\"), \",\") }}")
            .contains("the content of `copy#/m/list` is known only after")
    );
}

#[test]
fn resources_of_an_empty_list_are_checked() {
    let text = with_users(
        "- foreach: []\n  task:\n    - 'a {{ Item.b }}': {tmeout: 5, timeout: '{{ Item }}', require: ['note#{{ Item }}']}\n    \
         - '': {}",
    );
    assert_eq!(reported(&text), ["6:30 unknown-property tmeout | timeout", "7:11 missing"]);
    // A reference can't mean a resource that does not exist on this machine.
    let text = with_users("- foreach: []\n  note: ['{{ Item }}': ]\n- note: [x: {require: [note#a]}]");
    assert_eq!(reported(&text), ["6:28 unknown-reference | note"]);
}

#[test]
fn foreach_has_one_place() {
    for (items, expected) in [
        ("- foreach: [a]", "3:7 missing | task:"),
        ("- foreach: [a]\n  note:", "4:7 warning: no-effect"),
        ("- foreach: [a]\n  note: [x: ]\n  task: [y: ]", "5:7 misplaced | - task:"),
        ("- for_each: [a]\n  note: [x: ]", "3:7 unknown-key | foreach"),
        ("- with_items: [a]\n  note: [x: ]", "3:7 unknown-key | foreach"),
        ("- note: [x: {foreach: [a]}]", "3:18 unknown-property foreach | foreach: LIST, {{ Item }}"),
        ("- note: {name: x, foreach: [a]}", "3:23 unknown-property foreach | foreach: LIST, {{ Item }}"),
        ("- note: [{foreach: [a], x: }]", "3:15 misplaced | - foreach: LIST | …"),
        ("- foreach: [a]\n  note: [{foreach: [b], '{{ Item }}': }]", "4:15 misplaced | - foreach: LIST | …"),
    ] {
        assert_eq!(reported(&manifest(items)), [expected], "{items}");
    }
}

#[test]
fn misspelt_items_are_suggested() {
    for (name, expected) in [
        ("{{ Itme.name }}", "5:18 unknown-name (4:16) | Item"),
        ("{{ item.name }}", "5:18 unknown-name (4:16) | Item"),
        ("{{ Item.nam }}", "5:23 unknown-name Item.nam (4:16) | name"),
        ("{{ Indx }}", "5:18 unknown-name (4:16) | Index"),
        ("{{ lookup(\"itme.name\") }}", "5:18 unknown-name itme.name (4:16) | item"),
        ("{{ Item.name ?? Itme.name }}", "5:31 unknown-name (4:16) | Item"),
    ] {
        let text = with_users(&format!("- foreach: '{{{{ Data.users }}}}'\n  note: ['{name}': ]"));
        assert_eq!(reported(&text), [expected], "{name}");
    }
    let outside = manifest("- note: ['{{ Item }}': ]\n- note: ['{{ lookup(\"itme\") }}': ]");
    assert_eq!(
        reported(&outside),
        [
            "3:18 unknown-name | Item, foreach, foreach: LIST",
            "4:18 unknown-name itme | facts., data., environ.",
        ]
    );
}

#[test]
fn secret_items_are_not_named() {
    let text = "data:\n  # @sensitive\n  pins: [abc, 'xyz']\n".to_owned()
        + &manifest("- foreach: '{{ Data.pins }}'\n  note: ['n{{ Index }}': {txt: '{{ Item }}'}]");
    let loaded = crate::fake::loaded(&text);
    let error = loaded.diagnostics.iter().find(|found| found.labels.len() == 2).expect("an error");
    assert_eq!(error.labels[1].text, "in item 1 of `foreach`");
}

#[test]
fn resources_take_bounded_memory() {
    let text = manifest(&format!(
        "- foreach: '{{{{ 1..50000 }}}}'\n  note: ['{{{{ Item }}}}': {{text: '{}'}}]",
        "x".repeat(10_000)
    ));
    assert_eq!(reported(&text), ["3:16 limit-exceeded | source: PATH"]);
    // The limit of the number holds for all lists together.
    let list = "- foreach: '{{ 1..60000 }}'\n  note: ['LIST{{ Item }}': ]\n";
    let text = manifest(&(list.replace("LIST", "a") + list));
    assert_eq!(reported(&text), ["5:16 limit-exceeded | …"]);
}

#[test]
fn generated_lists_have_loops_of_their_own() {
    let machine = Machine::default().file("t.j2", "- foreach: [a]\n  note: [x: ]\n");
    let text = "ccm: {resources_template: t.j2}";
    assert_eq!(machine.reported(text), ["/m/t.j2 (rendered):1:3 misplaced | {% for item in LIST %}"]);
}

#[test]
fn a_template_adds_to_the_resources() {
    let machine = Machine::default().file("t.j2", "- note: [c: {require: [note#a]}]\n");
    let catalog = machine.catalog("ccm: {resources_template: t.j2, resources: [{note: [a: ]}]}");
    assert_eq!(ids(&catalog), ["note#a", "note#c"]);
    let catalog = machine
        .catalog("ccm: {resources_template: t.j2, resources: [{foreach: [a, b], note: ['{{ Item }}': ]}]}");
    assert_eq!(ids(&catalog), ["note#a", "note#b", "note#c"]);
    // Null means not given.
    let machine = Machine::default().file("t.j2", "[]");
    assert!(machine.catalog("ccm: {resources_template: t.j2, resources: }").resources.is_empty());
}
