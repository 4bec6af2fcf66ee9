//! Authority of a file: what a file may only make stricter.

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeEntry, NodeMap, Span};
use ccm_properties::PropertySet as _;

use super::{PolicyDocument, given};

/// What a file may do to the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAuthority {
    /// The file may allow and deny.
    Full,
    /// The file may only make the policy stricter.
    OnlyStricter,
    /// The file belongs to the user of the run, and may only make the policy stricter.
    OfUser,
}

/// Keys of a file that can only make the policy stricter.
const KEYS: [&str; 6] = ["ccm_policy", "guard", "rules", "patterns", "whitelist", "custom_deny_patterns"];

/// Conditions of an approval that may be easier than those of another file.
const EASING: [&str; 4] = ["grant", "via", "pending", "valid"];

impl FileAuthority {
    /// Returns the advice on what such a file can't have.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::OfUser => "remove it: your own policy adds to that of the system, and can't change it",
            Self::Full | Self::OnlyStricter => {
                "move it to policy.yaml, or list this file below `trusted` there"
            }
        }
    }

    /// Reports everything that lifts a restriction in a file that can only make the policy stricter.
    pub(super) fn check(self, root: &Node, errors: &mut Vec<Diagnostic>) {
        if self == Self::Full {
            return;
        }
        let mut refuse = |span: Span, what: &str| {
            let message =
                format!("`{what}` is not allowed in this file, which can only make the policy stricter");
            let error = Diagnostic::error(DiagnosticKind::Misplaced, span, message);
            errors.push(error.with_hint(self.advice()));
        };
        for NodeEntry { key, .. } in entries(root) {
            let is_known = PolicyDocument::PROPERTIES.iter().any(|known| known.name == &*key.text);
            if is_known && !KEYS.contains(&&*key.text) {
                refuse(key.span, &key.text);
            }
        }
        if let Some(allow) = given(root, "patterns").and_then(|patterns| given(&patterns.value, "allow")) {
            refuse(allow.key.span, "allow");
        }
        let verdicts = given(root, "guard").map_or(&[][..], |guard| entries(&guard.value));
        for verdict in verdicts.iter().filter(|entry| entry.value.as_text() == Some("allow")) {
            refuse(verdict.value.span, "allow");
        }
        for rule in given(root, "rules").and_then(|rules| rules.value.as_list()).unwrap_or_default() {
            if let Some(allow) = given(rule, "allow") {
                refuse(allow.key.span, "allow");
            }
            if let Some(sandbox) = given(rule, "sandbox") {
                refuse(sandbox.value.span, "sandbox");
            }
            // What a rule asks for takes the place of what the guard asks for.
            let ask = given(rule, "ask").map(|ask| &ask.value);
            for entry in EASING.iter().filter_map(|key| given(ask?, key)) {
                refuse(entry.key.span, &entry.key.text);
            }
        }
    }
}

fn entries(node: &Node) -> &[NodeEntry] {
    node.as_map().map_or(&[], NodeMap::entries)
}
