use ccm_engine::ResourceKind as _;

use super::*;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

const TABLE: &str = include_str!("../decide_table.txt");

#[test]
fn decisions_match_the_table() {
    let word = |text: &str| match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    let rows = assert_rows(TABLE, |[ensure, boot, blacklist, options, activity, at_boot, settings]| {
        let is_absent = ensure == "absent";
        let module = DesiredModule {
            name: "br_netfilter".to_owned(),
            is_absent,
            boot: if is_absent { Some(false) } else { word(boot) },
            blacklist: if is_absent { word(blacklist) } else { Some(false) },
            options: (options != "-").then(|| options.replace("[]", "")),
        };
        let state = ModuleState {
            activity: match activity {
                "loaded" => ModuleActivity::Loaded,
                "builtin" => ModuleActivity::BuiltIn,
                _ => ModuleActivity::Unloaded,
            },
            is_loaded_at_boot: word(at_boot) == Some(true),
            settings: ModprobeSettings {
                is_blacklisted: settings == "blacklist",
                options: if settings.contains('=') { settings.to_owned() } else { String::new() },
            },
            ..ModuleState::default()
        };
        Object::decide(&module, &state, None)
    });
    assert_eq!(rows, 17);
}

#[test]
fn names_are_those_of_modules() {
    for name in ["br_netfilter", "usb-storage", "8021q"] {
        assert!(name_error(name).is_none(), "{name}");
    }
    let long = "a".repeat(56);
    for name in ["", "-r", "a b", "a.ko", "/lib/a", "a\n", &long] {
        assert!(name_error(name).is_some(), "{name}");
    }
}
