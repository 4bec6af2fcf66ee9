//! Loading what was rendered gives what was loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use ccm_expr::Timestamp;
use ccm_model::{Claim, PathKind, SourceMap};
use ccm_properties::{Checked, ChildManifest, JsonMap, OwnProperties, Text, TypeSpec};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::load::{Request, load};
use crate::sources::{FactPath, Sources};

/// A type with a property for each syntax.
struct Thing;

/// A property for each syntax.
const PROPERTIES: &[PropertySpec] = &[
    PropertySpec::new::<Text>("text", &[]),
    PropertySpec { syntax: TextSyntax::Shell, ..PropertySpec::new::<Text>("shell", &[]) },
    PropertySpec { syntax: TextSyntax::Argv, ..PropertySpec::new::<Text>("words", &[]) },
    PropertySpec::new::<Vec<Text>>("list", &[]),
    PropertySpec { syntax: TextSyntax::Record(CALL), ..PropertySpec::new::<Json>("map", &[]) },
    PropertySpec::new::<i64>("count", &[]),
    PropertySpec::new::<Text>("source", &[]),
];

const CALL: &[PropertySpec] =
    &[PropertySpec { syntax: TextSyntax::Call(&["contains"]), ..PropertySpec::new::<Text>("call", &[]) }];

impl TypeSpec for Thing {
    fn name(&self) -> &'static str {
        "thing"
    }

    fn summary(&self) -> &'static str {
        "Is there for tests."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["one", "two"]
    }

    fn template_source(&self) -> Option<(&'static str, &'static str)> {
        Some(("source", "text"))
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let path = Some(&*resource.id.name).filter(|name| name.starts_with('/'));
        path.map(|path| Claim::path(path, PathKind::Directory)).into_iter().collect()
    }
}

impl OwnProperties for Thing {
    fn properties(&self) -> &'static [PropertySpec] {
        PROPERTIES
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let count = checked.resource.properties.get("count");
        let is_number =
            |node: &&Node| node.as_scalar().is_some_and(|scalar| matches!(scalar.kind(), Kind::Int(_)));
        let wrong = count.filter(|node| !is_number(node));
        wrong.map(|node| Diagnostic::error(node.span, "expected a number")).into_iter().collect()
    }
}

/// A type that applies a manifest.
struct Apply;

impl TypeSpec for Apply {
    fn name(&self) -> &'static str {
        "apply"
    }

    fn summary(&self) -> &'static str {
        "Applies a manifest."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["manifest"]
    }

    fn child_manifest<'r>(&self, resource: &'r Resource) -> Option<ChildManifest<'r>> {
        let noop = resource.properties.get("noop").is_some();
        let data = resource.properties.get("data");
        let path = &resource.id.name;
        Some(ChildManifest { path, noop, health_check_only: false, allow_apply: true, data })
    }
}

impl OwnProperties for Apply {
    fn properties(&self) -> &'static [PropertySpec] {
        const { &[PropertySpec::new::<bool>("noop", &[]), PropertySpec::new::<JsonMap>("data", &[])] }
    }

    fn check(&self, _: &Checked<'_>) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// Facts and files of a test.
#[derive(Default)]
struct World {
    facts: Computed,
    files: BTreeMap<PathBuf, String>,
}

impl Sources for World {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn facts(&self, _: &[FactPath], _: &mut SourceMap) -> Result<Computed, Vec<Diagnostic>> {
        Ok(self.facts.clone())
    }

    fn environment(&self, _: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        Ok(Vec::new())
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

fn loaded<'s>(text: &str, world: &'s World) -> Loaded<'s> {
    let request = Request {
        name: "manifest.yaml".to_owned(),
        text: text.into(),
        directory: PathBuf::from("/root"),
        hiera: Vec::new(),
        assignments: Vec::new(),
    };
    load(request, &[&Thing, &Apply], world)
}

fn rendered(text: &str, world: &World) -> String {
    let mut loaded = loaded(text, world);
    let catalog = loaded.catalog.take().unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics));
    render(&catalog, &loaded).unwrap_or_else(|mistakes| panic!("{mistakes:#?}\n{text}"))
}

/// A catalog without the places in its texts.
fn meaning(text: &str, world: &World) -> Vec<String> {
    let loaded = loaded(text, world);
    let catalog = loaded.catalog.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics));
    let ids = |edges: &[Dependency]| -> BTreeSet<String> {
        edges.iter().map(|edge| catalog.resource(edge.on).id.to_string()).collect()
    };
    let one = |resource: &Resource| {
        let properties: BTreeMap<String, String> = resource
            .properties
            .given()
            .map(|entry| (entry.key.text.to_string(), format!("{:?}", nodes::to_value(&entry.value))))
            .collect();
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {properties:?}",
            resource.id,
            resource.alias,
            resource.ensure.as_ref().map(|ensure| &ensure.value),
            resource.provider.as_ref().map(|provider| &provider.value),
            ids(&resource.require),
            ids(&resource.subscribe),
            resource.control,
        )
    };
    let settings = format!("{:?} {:?} {:?}", catalog.name, catalog.pre_message, catalog.fail_on_error);
    std::iter::once(settings).chain(catalog.resources.iter().map(one)).collect()
}

/// Texts that try to mean something.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[${}\\\\\"'a F.:#\n-]{1,16}",
        "\\PC{1,12}",
        prop::sample::select(vec![
            "yes",
            "no",
            "0644",
            "5.10",
            "2026-11-20",
            "1:30",
            "null",
            "~",
            "",
            " x",
            "x "
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn what_is_rendered_is_what_was_loaded(
        texts in prop::collection::vec(any_text(), 6),
        count in 1_usize..6,
        edges in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let facts = Computed::map([
            ("texts", Computed::list(texts.iter().map(|text| Computed::text(&**text)))),
            ("more", Computed::map([(&*texts[0], Computed::list([Computed::Int(-7), Computed::Float(0.5)]))])),
        ]);
        let world = World { facts, ..World::default() };
        let mut manifest = "ccm:\n  pre_message: '{{ Facts.texts[5] }}'\n  resources:\n    - thing:\n".to_owned();
        for (index, edge) in edges.iter().take(count).enumerate() {
            let on = format!("n{} {{{{ Facts.texts[1] }}}}", edge.index(index.max(1)));
            let edge = match index {
                0 => String::new(),
                index if index % 2 == 0 => format!("            require: [\"thing#{on}\"]\n"),
                _ => format!("            subscribe: [\"thing#{on}\"]\n"),
            };
            manifest += &format!(
                "        - \"n{index} {{{{ Facts.texts[1] }}}}\":\n            text: \"{{{{ Facts.texts[0] }}}}\"\n            shell: \"${{HOME}} \\\\${{x}} {{{{ Facts.texts[2] }}}}\"\n            words: \"{{{{ Facts.texts[3] }}}}\"\n            list: [\"{{{{ Facts.texts[4] }}}}\", 0644, \"a \\\\${{b}}\"]\n            map: \"{{{{ Facts.more }}}}\"\n            count: 007\n{edge}"
            );
        }
        let first = rendered(&manifest, &world);
        // Written as text that is no number of data, it is one for the type.
        let same = |text: &str| meaning(text, &world).join("\n").replace(r#"Text(\"007\")"#, "Int(7)");
        prop_assert_eq!(same(&first), same(&manifest), "{}", first);
        prop_assert_eq!(rendered(&first, &world), first);
    }
}

#[test]
fn children_stand_in_one_list() {
    let mut world = World::default();
    world.files.insert(
        "/root/sub/child.yaml".into(),
        "data: {word: own}\nccm:\n  resources:\n    - thing:\n        - b: {source: x.txt, text: '{{ Data.word }}'}\n        - c: {require: [thing#b]}\n".to_owned(),
    );
    world.files.insert("/root/quiet.yaml".into(), "ccm: {resources: [{thing: {name: q}}]}\n".to_owned());
    let manifest = "\
data: {word: mine}
ccm:
  name: all
  fail_on_error: true
  resources:
    - thing:
        - a: {}
        - off: {control: {if: 'false'}}
    - apply:
        - sub/child.yaml: {require: [thing#a]}
        - quiet.yaml: {noop: true}
    - thing:
        - d: {subscribe: [apply#sub/child.yaml], require: [thing#off, apply#quiet.yaml]}
        - defaults: {count: 0x10}
    - thing: {name: defaults, text: yes}
";
    let expected = "\
# left out: thing#off: `if` is false
# left out: thing#q: nothing is changed in its manifest
ccm:
  name: all
  fail_on_error: true
  resources:
    - thing:
        - a: {}
    - thing:
        - b:
            require:
              - thing#a
            source: /root/sub/x.txt
            text: own
    - thing:
        - c:
            require:
              - thing#b
              - thing#a
    - thing:
        - d:
            require:
              - thing#a
            subscribe:
              - thing#b
              - thing#c
            count: 16
    - thing:
        name: defaults
        text: \"yes\"
";
    let text = rendered(manifest, &world);
    assert_eq!(text, expected);
    assert_eq!(
        rendered(&text, &world).lines().collect::<Vec<_>>(),
        expected.lines().skip(2).collect::<Vec<_>>()
    );
}

#[test]
fn a_number_stays_one_where_any_value_may_stand() {
    let manifest = "ccm:\n  resources:\n    - thing:\n        - a: {text: 0644, list: [5.10], map: {number: 0644, text: '0644'}}\n";
    let text = rendered(manifest, &World::default());
    let expected = "            text: \"0644\"\n            list:\n              - \"5.10\"\n            map:\n              number: 644\n              text: \"0644\"\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn what_waits_stays_an_expression_of_what_is_known() {
    let mut world = World { facts: Computed::map([("n", Computed::Int(-3))]), ..World::default() };
    world.files.insert(
        "/root/sub/child.yaml".into(),
        "data: {path: /made}\nccm:\n  resources:\n    - thing:\n        - x: {text: 'a ${ file(Data.path) == file(\"near\") } \\${b}', control: {unless: 'file(Data.path) == \"x\"'}}\n".to_owned(),
    );
    let manifest = "\
data:
  # @sensitive
  secret: hunter22
  path: /made
ccm:
  resources:
    - thing:
        - /made: {text: '{{ Data.secret }} and more'}
        - y: {text: '{{ file(Data.path) + string(Facts.n) + Data.secret }}'}
    - apply: {name: sub/child.yaml}
";
    let expected = r#"ccm:
  resources:
    - thing:
        - /made:
            text: "[redacted] and more"
    - thing:
        - "y":
            require:
              - thing#/made
            text: '{{ file("/made") + string((-3)) + "[redacted]" }}'
    - thing:
        - x:
            require:
              - thing#/made
            control:
              unless: 'file("/made") == "x"'
            text: 'a {{ file("/made") == file("/root/sub/near") }} \${b}'
"#;
    let text = rendered(manifest, &world);
    assert_eq!(text, expected);
    assert_eq!(rendered(&text, &world), expected);
}

#[test]
fn a_template_that_waits_is_refused() {
    let mut world = World::default();
    world.files.insert("/root/t.j2".into(), "{{ file('/made') }}\n".to_owned());
    let manifest = "ccm:\n  resources:\n    - thing:\n        - /made: {}\n        - y: {source: t.j2}\n        - z: {text: \"{{ template('t.j2') }}\"}\n";
    let mut loaded = loaded(manifest, &world);
    let catalog = loaded.catalog.take().expect("a catalog");
    let mistakes = render(&catalog, &loaded).expect_err("two mistakes");
    let messages: Vec<_> = mistakes.iter().map(|mistake| &*mistake.message).collect();
    assert_eq!(
        messages,
        [
            "`thing#y` can't be written: the template `t.j2` is rendered only during the run",
            "`thing#z` can't be written: a template is rendered only during the run",
        ]
    );
}

#[test]
fn order_is_kept_across_what_is_left_out() {
    let mut world = World::default();
    world.files.insert(
        "/root/quiet.yaml".into(),
        "ccm: {resources: [{thing: {name: q, require: [thing#a]}}]}\n".to_owned(),
    );
    let manifest = "\
ccm:
  resources:
    - thing:
        - last: {subscribe: [thing#off], require: [apply#quiet.yaml]}
        - b: {}
        - off: {control: {if: 'false'}, require: [thing#off2]}
        - off2: {control: {if: 'false'}, subscribe: [thing#b]}
        - a: {}
    - apply:
        - quiet.yaml: {noop: true}
";
    let text = rendered(manifest, &world);
    let last = "        - last:\n            require:\n              - thing#a\n              - thing#b\n";
    assert!(text.contains(last), "{text}");
    assert_eq!(text.matches("require").count(), 1, "{text}");
}

#[test]
fn what_would_mean_something_else_is_refused() {
    let mut world = World::default();
    world.files.insert("/made".into(), "x".to_owned());
    world.files.insert(
        "/root/sub/c.yaml".into(),
        "ccm:\n  resources:\n    - thing:\n        - c: {text: \"{{ file(file('/made')) }}\"}\n".to_owned(),
    );
    world.files.insert("/root/quiet.yaml".into(), "ccm: {resources: [{thing: {name: /quiet}}]}\n".to_owned());
    let manifest = "\
data: {x: 1, list: [x]}
ccm:
  resources:
    - thing:
        - /made: {}
        - a: {text: \"{{ lookup('data.' + file('/made')) }}\"}
        - b: {text: \"{{ map(Data.list, lookup('data.' + #)) }} {{ file('/made') }}\"}
        - d: {text: \"{{ file('/quiet') }}\"}
        - e: {text: \"{{ file('/made') + lookup('data.x', file('/made')) }}\"}
        - fine: {text: \"{{ file('/made') + (Data.gone ?? 'x') + lookup('data.x') }}\"}
    - apply:
        - sub/c.yaml: {}
        - quiet.yaml: {noop: true}
";
    let mut loaded = loaded(manifest, &world);
    let catalog = loaded.catalog.take().unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let mistakes = render(&catalog, &loaded).expect_err("mistakes");
    let messages: Vec<_> = mistakes.iter().map(|mistake| &*mistake.message).collect();
    assert_eq!(
        messages,
        [
            "`thing#a` can't be written: `lookup('data.' + file('/made'))` is known only during the run",
            "`thing#b` can't be written: `lookup('data.' + #)` is known only during the run",
            "`thing#d` can't be written: it waits for `thing#/quiet`, which is in noop and left out",
            "`thing#e` can't be written: `lookup('data.x', file('/made'))` is known only during the run",
            "`thing#c` can't be written: the path in `file(file('/made'))` is known only during the run",
        ]
    );
}
