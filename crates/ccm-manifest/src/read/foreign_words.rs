//! Words of other configuration tools, with what to write in ccm instead.

mod properties;
mod types;

use ccm_model::closest;

use crate::read::foreach;

use properties::{LOOPS, OF_TYPE, PROPERTIES, SHARED, VALUES};
use types::{MODULES, OF_PUPPET, STATES, TYPES};

/// Keys below `ccm` that other tools have, with advice.
const SETTINGS: &[(&[&str], &str)] = &[
    (
        &["health_checks", "health_check", "healthchecks"],
        "write `checks`, the health checks after all resources",
    ),
    (
        &["vars", "variables", "parameters", "params", "values", "defaults", "attributes"],
        "write `data:` at the top, beside `ccm:`, whose values are `{{ Data.KEY }}`",
    ),
    (&["tasks", "steps", "states", "pre_tasks", "post_tasks"], "write them as resources below `resources:`"),
    (
        &["handlers"],
        "write each handler below `resources:`, with `subscribe: [TYPE#NAME]`; an `exec` also needs `refresh_only: true`",
    ),
    (
        &["roles", "includes", "include", "imports", "import", "modules", "classes", "dependencies"],
        "write `- apply: [PATH]` below `resources:` for each manifest",
    ),
    (&["hosts"], "remove it: ccm applies the manifest to this machine; `ccm push` applies it to others"),
    (&["become", "gather_facts", "connection"], "remove it: ccm runs as root, on the machine itself"),
    (&["noop", "check_mode"], "remove it, and run `ccm apply --noop`"),
    (&["version"], "remove it: a manifest has no version"),
];

/// Returns advice on a key below `ccm` that another tool has.
pub(crate) fn setting(key: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|(words, _)| words.contains(&key)).map(|(_, advice)| *advice)
}

/// Returns advice on a type of another tool.
pub(crate) fn resource_type(name: &str) -> Option<&'static str> {
    let known = |name: &str| TYPES.iter().find(|(words, _)| words.contains(&name)).map(|(_, advice)| *advice);
    known(name).or_else(|| known(short(name))).or_else(|| of_module(name))
}

/// Returns advice on a type of a module of Puppet, such as `systemd::dropin_file`, and on a function of Salt, such as
/// `pkg.latest`.
fn of_module(name: &str) -> Option<&'static str> {
    let advice = |module: &str| MODULES.iter().find(|(known, _)| *known == module).map(|(_, advice)| *advice);
    if let Some((module, _)) = name.split_once("::") {
        return advice(module).or(Some(OF_PUPPET));
    }
    let (module, function) = name.split_once('.')?;
    advice(module).filter(|_| STATES.contains(&function))
}

/// Returns advice on a property of another tool, for a resource of this type.
pub(crate) fn property(type_name: &str, name: &str) -> Option<&'static str> {
    let of_type = OF_TYPE.iter().find(|(owner, words, _)| *owner == type_name && words.contains(&name));
    let shared =
        || SHARED.iter().find(|(owners, words, _)| owners.contains(&type_name) && words.contains(&name));
    let of_any = || PROPERTIES.iter().find(|(words, _)| words.contains(&name));
    of_type
        .map(|(_, _, advice)| *advice)
        .or_else(|| shared().map(|(_, _, advice)| *advice))
        .or_else(|| of_any().map(|(_, advice)| *advice))
}

/// Returns `true` for a property of other tools whose values are those of `ensure`.
pub(crate) fn is_state(property: &str) -> bool {
    properties::STATES.contains(&property)
}

/// Returns advice on the value of a property that another tool has.
pub(crate) fn value(type_name: &str, property: &str, written: &str) -> Option<&'static str> {
    let is_meant = |(owner, name, words, _): &&(&str, &str, &[&str], &str)| {
        *owner == type_name && *name == property && words.contains(&written)
    };
    VALUES.iter().find(is_meant).map(|(_, _, _, advice)| *advice)
}

/// Returns `true` for a word that means `foreach`, and for a misspelt one.
pub(crate) fn is_loop(word: &str) -> bool {
    LOOPS.contains(&word) || closest(word, [foreach::KEY]).is_some()
}

/// Returns the name of a module without its collection: `copy` of `ansible.builtin.copy`.
pub(crate) fn short(name: &str) -> &str {
    let mut parts = name.splitn(3, '.');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(_), Some(module)) => module,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_word_is_listed_twice() {
        let mut seen = HashSet::new();
        let types = TYPES.iter().flat_map(|(words, _)| words.iter().map(|word| ("", "type", *word)));
        let any = PROPERTIES.iter().flat_map(|(words, _)| words.iter().map(|word| ("", "property", *word)));
        let own =
            OF_TYPE.iter().flat_map(|(owner, words, _)| words.iter().map(|word| (*owner, "property", *word)));
        let shared = SHARED.iter().flat_map(|(owners, words, _)| {
            owners.iter().flat_map(|owner| words.iter().map(|word| (*owner, "property", *word)))
        });
        let settings = SETTINGS.iter().flat_map(|(words, _)| words.iter().map(|word| ("", "setting", *word)));
        for word in types.chain(any).chain(own).chain(shared).chain(settings) {
            assert!(seen.insert(word), "{word:?}");
        }
    }

    #[test]
    fn words_of_a_type_come_before_those_of_any() {
        for (type_name, word, part) in [
            ("exec", "cmd", "`command`"),
            ("apply", "path", "write the path as the name: `- PATH: {…}`"),
            ("service", "state", "write `ensure`"),
            ("exec", "no_log", "`sensitive: true`"),
            ("service", "no_log", "`# @sensitive`"),
            ("exec", "ignore_errors", "`returns`"),
            ("service", "ignore_errors", "a failure stops only"),
            ("cron", "become_user", "`user: NAME`, with the user"),
            ("group", "forcelocal", "accounts of this machine"),
        ] {
            assert!(
                property(type_name, word).is_some_and(|advice| advice.contains(part)),
                "{type_name} {word}"
            );
        }
        assert_eq!(property("file", "cmd"), None);
        assert_eq!(value("service", "enable", "mask"), Some("write `masked: true`"));
        assert_eq!(value("service", "enable", "yes"), None);
    }

    #[test]
    fn types_of_modules_and_collections_are_those_of_the_table() {
        for (written, same) in [
            ("ansible.builtin.copy", "copy"),
            ("community.general.ufw", "ufw"),
            ("ansible.posix.firewalld", "firewalld"),
            ("systemd::dropin_file", "systemd"),
            ("pkg.latest", "pkg"),
            ("concat::fragment", "concat"),
        ] {
            assert!(resource_type(written).is_some(), "{written}");
            assert_eq!(resource_type(written), resource_type(same), "{written}");
        }
        assert_eq!(resource_type("profile::web"), Some(OF_PUPPET));
        for word in ["unheard", "file", "file.max", "web.port", "host.info.os", "service.name"] {
            assert_eq!(resource_type(word), None, "{word}");
        }
    }
}
