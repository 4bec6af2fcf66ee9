//! Actions: what a run does to a resource, as data.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Action of a run on a resource; in noop, the action that a run would take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Action {
    /// The verb.
    pub verb: Verb,
    /// What is made or run, on one line: a command, or the attributes of a new file.
    #[serde(default)]
    pub detail: Option<String>,
    /// Aspects that change, in the order of the report.
    #[serde(default)]
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
        Self { verb, detail: None, changes: Vec::new() }
    }

    /// Adds the detail, without line ends.
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
    fn action_of_another_version_is_read() {
        let text = r#"{"verb":"format","changes":[{"aspect":"size","from":null,"to":"1 GB"}]}"#;
        let expected = Action::new(Verb::Unknown).changing("size", None, Some("1 GB".to_owned()));
        assert_eq!(serde_json::from_str::<Action>(text).expect("an action"), expected);
    }
}
