//! Comparison of intents: an approval of one action is none of another.

use std::collections::BTreeMap;

use crate::intent::{IntentCaller, IntentContent, IntentDocument};

impl IntentDocument {
    /// Returns `true` if the intents ask for one thing: an approval of the one is an approval of the other.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        (&self.machine, &self.boot, &self.action_digest)
            == (&other.machine, &other.boot, &other.action_digest)
            && self.content.has_subject_of(&other.content)
            && self.content.difference(&other.content).is_none()
    }
}

impl IntentContent {
    /// Returns `true` if both are about the same command, or about a change of the same resource.
    pub fn has_subject_of(&self, other: &Self) -> bool {
        (&self.tool, &self.manifest, &self.resource, &self.purpose, &self.action.argv)
            == (&other.tool, &other.manifest, &other.resource, &other.purpose, &other.action.argv)
    }

    /// Returns the first thing in which a later content with the same subject differs, as a clause.
    pub fn difference(&self, later: &Self) -> Option<String> {
        let (one, other) = (&self.action, &later.action);
        if self.policy != later.policy {
            return Some("the policy has changed".to_owned());
        }
        if one.cwd != other.cwd {
            return Some("the working directory has changed".to_owned());
        }
        if let Some(name) = changed_key(&one.env, &other.env) {
            return Some(format!("the variable {name} has changed"));
        }
        if let Some(name) = changed_key(&one.properties, &other.properties) {
            return Some(format!("the property {name} has changed"));
        }
        let programs = |content: &Self| -> BTreeMap<String, String> {
            let programs = content.programs.iter();
            programs.map(|program| (program.path.clone(), program.sha256.clone())).collect()
        };
        if let Some(path) = changed_key(&programs(self), &programs(later)) {
            return Some(format!("the program {path} has changed"));
        }
        let stdin = |content: &Self| content.action.stdin_sha256.clone();
        let parts = [
            (one.user == other.user, "the user of the command has changed"),
            (stdin(self) == stdin(later), "standard input has changed"),
            (one.timeout_ms == other.timeout_ms, "the time limit has changed"),
            (self.sandbox == later.sandbox, "the sandbox has changed"),
            (one.image == other.image, "the image has changed"),
            (one.change == other.change && one.shell == other.shell, "the change is another one"),
            (is_same_caller(&self.caller, &later.caller), "another user runs ccm"),
            (self.unknown == later.unknown, "other parts of it are not known"),
            (
                (&self.requires, &self.rules, self.valid_ms, self.grant)
                    == (&later.requires, &later.rules, later.valid_ms, later.grant),
                "other approvals are needed",
            ),
        ];
        parts.into_iter().find(|(is_same, _)| !is_same).map(|(_, what)| what.to_owned())
    }
}

fn is_same_caller(one: &IntentCaller, other: &IntentCaller) -> bool {
    (&one.kind, &one.user, one.uid, &one.login) == (&other.kind, &other.user, other.uid, &other.login)
}

fn changed_key(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Option<String> {
    let keys = one.keys().chain(other.keys());
    keys.into_iter().find(|key| one.get(*key) != other.get(*key)).cloned()
}
