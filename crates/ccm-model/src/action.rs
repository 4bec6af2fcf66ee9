//! Actions: what a run does to a resource, as data.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape_control;

/// Maximum length of a text of an action in an event, in bytes.
const MAX_TEXT: usize = 4 << 10;

/// Action of a run on a resource; in noop, the action that a run would take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Action {
    /// The verb.
    pub verb: Verb,
    /// What is made, run or removed: a command, or the attributes of a new file. In an event it is one line of
    /// about 4 KiB at most, with a mark where it was cut.
    #[serde(default)]
    pub detail: Option<String>,
    /// Aspects that change, in the order of the report.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Actions on the files of a tree, in the order of their paths; at most 10000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryAction>,
}

/// Action on one file or directory of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct EntryAction {
    /// Path relative to the tree.
    pub path: String,
    /// The verb.
    pub verb: Verb,
    /// What is made or removed, as in the action of the tree.
    #[serde(default)]
    pub detail: Option<String>,
    /// Aspects that change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// Change of one aspect of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Change {
    /// Name of the aspect, such as `mode`. The aspect that the verb names, such as the version of an upgraded
    /// package, is `version`.
    pub aspect: Cow<'static, str>,
    /// Value before the change. `None` if there was none, or if it is not shown.
    pub from: Option<String>,
    /// Value after the change. `None` if there is none, or if it is not shown.
    pub to: Option<String>,
    /// Lines of a text that change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<ChangedLines>,
}

/// Number of lines of a text that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ChangedLines {
    /// Lines that are added.
    pub added: usize,
    /// Lines that are removed.
    pub removed: usize,
}

/// Verb of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verb {
    /// Makes something that did not exist.
    Create,
    /// Changes something that exists.
    Change,
    /// Puts something else in its place.
    Replace,
    /// Removes something.
    Remove,
    /// Runs a command.
    Run,
    /// Installs a package.
    Install,
    /// Installs a later version of a package.
    Upgrade,
    /// Installs an earlier version of a package.
    Downgrade,
    /// Starts a service.
    Start,
    /// Stops a service.
    Stop,
    /// Restarts a service.
    Restart,
    /// Makes a service read its configuration again.
    Reload,
    /// Makes a service start at boot.
    Enable,
    /// Keeps a service from starting at boot.
    Disable,
    /// Makes it impossible to start a service.
    Mask,
    /// Makes it possible again to start a service.
    Unmask,
    /// Applies a child manifest.
    Apply,
    /// A verb that another version of ccm did not record or that this version does not support.
    #[serde(other)]
    Unknown,
}

impl Action {
    /// Builds an action without details.
    pub fn new(verb: Verb) -> Self {
        Self { verb, detail: None, changes: Vec::new(), entries: Vec::new() }
    }

    /// Adds the detail. Line ends are escaped and a long text is cut later, once secrets are redacted.
    #[must_use]
    pub fn of(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds a change of an aspect.
    #[must_use]
    pub fn changing(
        mut self,
        aspect: impl Into<Cow<'static, str>>,
        from: Option<String>,
        to: Option<String>,
    ) -> Self {
        self.changes.push(Change { aspect: aspect.into(), from, to, lines: None });
        self
    }

    /// Adds a change of a text whose lines were counted.
    #[must_use]
    pub fn changing_lines(mut self, aspect: impl Into<Cow<'static, str>>, lines: ChangedLines) -> Self {
        self.changes.push(Change { aspect: aspect.into(), from: None, to: None, lines: Some(lines) });
        self
    }

    /// Puts each text on one line and cuts what is too long. Call this after secrets were redacted: the
    /// beginning of a secret before a cut could not be recognized.
    #[must_use]
    pub fn into_shown(mut self) -> Self {
        let own = std::iter::once((&mut self.detail, &mut self.changes));
        let entries = self.entries.iter_mut().map(|entry| {
            entry.path = one_line(&entry.path);
            (&mut entry.detail, &mut entry.changes)
        });
        for (detail, changes) in own.chain(entries) {
            let texts = changes.iter_mut().flat_map(|change| [&mut change.from, &mut change.to]);
            for text in texts.chain([detail]).flatten() {
                *text = one_line(text);
            }
        }
        self
    }
}

/// Puts a text on one line, and cuts a long one with a mark.
pub(crate) fn one_line(text: &str) -> String {
    let escaped = escape_control(text.trim());
    if escaped.len() <= MAX_TEXT {
        return escaped.into_owned();
    }
    let end = (0..=MAX_TEXT).rev().find(|end| escaped.is_char_boundary(*end)).unwrap_or_default();
    format!("{}... (truncated, {} more bytes)", &escaped[..end], escaped.len() - end)
}

impl Verb {
    /// Returns the word for an action that a run would take, after `would`.
    pub fn infinitive(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Change | Self::Unknown => "change",
            Self::Replace => "replace",
            Self::Remove => "remove",
            Self::Run => "run",
            Self::Install => "install",
            Self::Upgrade => "upgrade",
            Self::Downgrade => "downgrade",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Reload => "reload",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Mask => "mask",
            Self::Unmask => "unmask",
            Self::Apply => "apply",
        }
    }

    /// Returns the word for an action that was taken.
    pub fn past(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Change | Self::Unknown => "changed",
            Self::Replace => "replaced",
            Self::Remove => "removed",
            Self::Run => "ran",
            Self::Install => "installed",
            Self::Upgrade => "upgraded",
            Self::Downgrade => "downgraded",
            Self::Start => "started",
            Self::Stop => "stopped",
            Self::Restart => "restarted",
            Self::Reload => "reloaded",
            Self::Enable => "enabled",
            Self::Disable => "disabled",
            Self::Mask => "masked",
            Self::Unmask => "unmasked",
            Self::Apply => "applied",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shown_on_one_bounded_line() {
        let shown = |detail: &str| Action::new(Verb::Run).of(detail).into_shown().detail.expect("a detail");
        assert_eq!(shown("make -j2"), "make -j2");
        assert_eq!(shown("set -e\n\tmake 'a b'\n"), r"set -e\n\tmake 'a b'");
        let long = shown(&format!("{}ä{}", "x".repeat(MAX_TEXT - 1), "y".repeat(98)));
        assert_eq!(long, format!("{}... (truncated, 100 more bytes)", "x".repeat(MAX_TEXT - 1)));
        let changed = Action::new(Verb::Change).changing("version", Some("1\n2".to_owned()), None);
        assert_eq!(changed.into_shown().changes[0].from.as_deref(), Some(r"1\n2"));
        let entry = EntryAction {
            path: "a\nb".to_owned(),
            verb: Verb::Create,
            detail: Some("1\n2".to_owned()),
            changes: Vec::new(),
        };
        let shown = Action { entries: vec![entry], ..Action::new(Verb::Change) }.into_shown();
        assert_eq!((&*shown.entries[0].path, shown.entries[0].detail.as_deref()), (r"a\nb", Some(r"1\n2")));
    }

    #[test]
    fn action_of_another_version_is_read() {
        let text = r#"{"verb":"format","changes":[{"aspect":"size","from":null,"to":"1 GB"}]}"#;
        let expected = Action::new(Verb::Unknown).changing("size", None, Some("1 GB".to_owned()));
        assert_eq!(serde_json::from_str::<Action>(text).expect("an action"), expected);
    }
}
