//! The reference of resource types as data.

use ccm_runtime::{Explanation, PropertyReference};
use ccm_testkit::Scratch;

use crate::session;

#[test]
fn types_and_properties_are_explained_as_their_tables_say() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let explain = |name: Option<&str>| session.explain(name);
    let Ok(Explanation::Types(types)) = explain(None) else { panic!("no list of types") };
    let names: Vec<&str> = types.iter().map(|found| found.name).collect();
    assert_eq!(names, session.types().iter().map(|spec| spec.name()).collect::<Vec<_>>());
    for (found, spec) in types.iter().zip(session.types()) {
        assert_eq!(explain(Some(found.name)), Ok(Explanation::Type(found.clone())));
        let names = |properties: &[PropertyReference]| -> Vec<&str> {
            properties.iter().map(|property| property.name).collect()
        };
        let table: Vec<&str> = spec.properties().iter().map(|property| property.name).collect();
        assert_eq!(names(&found.properties), table);
        assert_eq!(
            names(&found.common),
            [
                "name",
                "alias",
                "ensure",
                "provider",
                "require",
                "subscribe",
                "autorequire",
                "control",
                "health_checks"
            ]
        );
    }
    let json = serde_json::to_value(explain(Some("service")).expect("a type")).expect("JSON");
    assert_eq!(json["type"]["ensures"][0], "running");
}

#[test]
fn a_key_of_a_map_is_named_by_its_path() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let explained = session.explain(Some("exec.sandbox.network"));
    let Ok(Explanation::Property { type_name, path, property }) = explained else {
        panic!("no property: {explained:?}")
    };
    assert_eq!(
        (type_name, &*path, property.name, &*property.kind),
        ("exec", "sandbox.network", "network", "boolean")
    );
    for (name, message, nearest) in [
        ("exce", "there is no resource type `exce`", Some("exec")),
        ("exec.comand", "`exec` has no property `comand`", Some("command")),
        ("exec.sandbox.networks", "`exec.sandbox` has no property `networks`", Some("network")),
        ("exec.command.x", "`exec.command` has no property `x`", None),
        ("exec.", "`exec` has no property ``", None),
    ] {
        let error = session.explain(Some(name)).expect_err("no such name");
        assert_eq!((&*error.to_string(), error.nearest.as_deref()), (message, nearest));
    }
}
