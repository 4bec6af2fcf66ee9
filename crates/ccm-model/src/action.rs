//! Actions: what a run does to a resource, as data.

use std::borrow::Cow;
use std::fmt;

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

    /// Returns the message of noop for the action, such as `Would have changed: mode 0600 to 0644`. That of a command
    /// comes from the specification of the type, and names a trigger.
    pub fn noop_message(&self, is_triggered: bool) -> String {
        if self.verb == Verb::Run {
            let via = if is_triggered { " via subscribe" } else { "" };
            return format!("Would have executed{via}");
        }
        let entries = match self.entries.len() {
            0 => None,
            1 => Some("1 entry".to_owned()),
            number => Some(format!("{number} entries")),
        };
        let changes = self.changes.iter().map(Change::to_string);
        let parts = self.detail.iter().cloned().chain(changes).chain(entries);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        let colon = if parts.is_empty() { "" } else { ": " };
        format!("Would have {}{colon}{}", self.verb.past(), parts.join(", "))
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

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { aspect, from, to, lines } = self;
        // The verb names this aspect, and says that a version is removed.
        let is_version = aspect == "version";
        let (name, blank) = if is_version { ("", "") } else { (&**aspect, " ") };
        formatter.write_str(name)?;
        match (from, to) {
            (Some(from), Some(to)) => write!(formatter, "{blank}{from} to {to}")?,
            (Some(from), None) if !is_version => write!(formatter, "{blank}{from} to none")?,
            (Some(one), None) | (None, Some(one)) => write!(formatter, "{blank}{one}")?,
            (None, None) => {}
        }
        match lines {
            Some(lines) => write!(formatter, " +{} -{}", lines.added, lines.removed),
            None => Ok(()),
        }
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
    fn message_of_noop_says_what_the_action_does() {
        let change = Action::new(Verb::Change)
            .changing("mode", Some("0600".to_owned()), Some("0644".to_owned()))
            .changing("jitter", Some("1m".to_owned()), None)
            .changing("uid", None, Some("7".to_owned()))
            .changing_lines("content", ChangedLines { added: 2, removed: 1 });
        let entry =
            EntryAction { path: "a".to_owned(), verb: Verb::Create, detail: None, changes: Vec::new() };
        let tree = Action { entries: vec![entry; 2], ..Action::new(Verb::Create).of("directory") };
        let run = Action::new(Verb::Run).of("make");
        let install = Action::new(Verb::Install).changing("version", None, None);
        let upgrade = Action::new(Verb::Upgrade).changing("version", Some("1".into()), Some("2".into()));
        let removal = Action::new(Verb::Remove).changing("version", Some("1".into()), None);
        for (action, is_triggered, expected) in [
            (&change, false, "changed: mode 0600 to 0644, jitter 1m to none, uid 7, content +2 -1"),
            (&tree, false, "created: directory, 2 entries"),
            (&Action::new(Verb::Start), true, "started"),
            (&install, false, "installed"),
            (&upgrade, false, "upgraded: 1 to 2"),
            (&removal, false, "removed: 1"),
            (&run, false, "executed"),
            (&run, true, "executed via subscribe"),
        ] {
            assert_eq!(action.noop_message(is_triggered), format!("Would have {expected}"));
        }
    }

    #[test]
    fn action_of_another_version_is_read() {
        let text = r#"{"verb":"format","changes":[{"aspect":"size","from":null,"to":"1 GB"}]}"#;
        let expected = Action::new(Verb::Unknown).changing("size", None, Some("1 GB".to_owned()));
        assert_eq!(serde_json::from_str::<Action>(text).expect("an action"), expected);
    }
}
