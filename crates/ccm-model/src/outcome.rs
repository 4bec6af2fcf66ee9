//! What became of a resource.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{ResourceId, StreamTail};

/// What became of a resource; each has exactly one at the end of a run, however the run ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was in the desired state, or had nothing to do.
    Unchanged,
    /// It was brought to the desired state.
    Changed,
    /// It was triggered, and did what a trigger asks of it.
    Refreshed,
    /// Noop: it would have been changed.
    WouldChange {
        /// What would have happened, in the voice of `Would have executed`.
        message: String,
    },
    /// Noop: it would have been refreshed.
    WouldRefresh {
        /// What would have happened.
        message: String,
    },
    /// It was not looked at.
    Skipped {
        /// Why not.
        cause: SkipCause,
    },
    /// It is not in the desired state, and could not be brought there.
    Failed(Box<Failure>),
}

/// Why a resource was not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipCause {
    /// Something it depends on, directly or not, failed.
    Unmet {
        /// The resources that failed, not those between.
        culprits: Vec<ResourceId>,
    },
    /// What it waits for is never done, and that of something it depends on neither.
    Undone {
        /// The resources that are in noop, while this one is not.
        noop: Vec<ResourceId>,
    },
    /// Its `control` is off, or that of a manifest around it.
    NotManaged {
        /// Why, in words.
        reason: String,
    },
    /// It is neither named by `--only` nor needed by what is.
    NotSelected,
    /// The manifest it stands in was ended before its turn, and the run goes on.
    ManifestEnded {
        /// The resource that failed in it.
        culprit: ResourceId,
    },
    /// The run ended before its turn.
    Stopped {
        /// What ended the run.
        by: StopCause,
    },
}

/// What ended a run before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// `fail_on_error`, and this resource failed.
    Failed {
        /// The resource.
        culprit: ResourceId,
    },
    /// A signal asked ccm to end.
    Signal {
        /// Its name, such as `SIGINT`.
        name: String,
        /// Its number.
        number: i32,
    },
    /// The time given to the whole run was over.
    Timeout {
        /// The time that was given.
        after: Duration,
    },
}

/// Why a resource failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// The error, then what caused it: one layer each, lower case, no full stop.
    pub chain: Vec<String>,
    /// What to do about it.
    pub hints: Vec<String>,
    /// Whether the system may have been changed before it failed.
    pub changed: bool,
    /// The end of what a command printed.
    pub output: Vec<StreamTail>,
    /// What an earlier resource could have made or removed to prevent it.
    pub missing: Option<Missing>,
}

/// What an earlier resource could have brought about to prevent a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A user or a group, which no file brings.
    Principal,
    /// A program of this name somewhere in the search path.
    Program(String),
    /// The unit of systemd of this name, which is a file in one of many directories.
    Unit(String),
    /// One of this name that can be started: the one that is there is masked, or holds a mistake.
    UsableUnit(String),
    /// Something else at this path, or something at all.
    Path(PathBuf),
}

impl Missing {
    /// Tells whether removing something could bring it about, because it may be in the way.
    pub fn may_be_by_removal(&self) -> bool {
        matches!(self, Self::UsableUnit(_) | Self::Path(_))
    }

    /// Tells whether a resource that manages this path could bring it about.
    pub fn is_at(&self, managed: &Path) -> bool {
        match self {
            Self::Principal => false,
            Self::Program(name) => managed.file_name().is_some_and(|found| found == name.as_str()),
            Self::Unit(name) | Self::UsableUnit(name) => managed.file_name().is_some_and(|found| {
                // `a@b.service` is made from `a@.service`.
                let template = name.split_once('@').zip(name.rsplit_once('.'));
                let template = template.map(|((stem, _), (_, suffix))| format!("{stem}@.{suffix}"));
                found == name.as_str() || template.is_some_and(|template| found == template.as_str())
            }),
            // A directory above it, the thing itself, or something in it that is in the way.
            Self::Path(path) => path.starts_with(managed) || managed.starts_with(path),
        }
    }
}

impl Failure {
    /// Builds a failure with one layer.
    pub fn new(message: impl Into<String>) -> Self {
        Self { chain: vec![message.into()], ..Self::default() }
    }

    /// Builds a failure from an error and everything that caused it.
    pub fn from_error(error: &dyn std::error::Error) -> Self {
        let mut chain = vec![error.to_string()];
        let mut source = error.source();
        while let Some(cause) = source {
            chain.push(cause.to_string());
            source = cause.source();
        }
        Self { chain, ..Self::default() }
    }

    /// Puts a layer above the others, which it was caused by.
    #[must_use]
    pub fn because_of(mut self, context: impl Into<String>) -> Self {
        self.chain.insert(0, context.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl Outcome {
    /// Tells whether it did, or in noop would do, something; only this triggers subscribers.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Changed | Self::Refreshed | Self::WouldChange { .. } | Self::WouldRefresh { .. })
    }

    /// One word for it, as the text report prints it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unchanged => "stable",
            Self::Changed => "changed",
            Self::Refreshed => "refreshed",
            Self::WouldChange { .. } => "would change",
            Self::WouldRefresh { .. } => "would refresh",
            Self::Skipped { cause: SkipCause::Unmet { .. } | SkipCause::Undone { .. } } => "unmet",
            Self::Skipped { .. } => "skipped",
            Self::Failed(_) => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_bring_a_unit() {
        for (unit, managed, expected) in [
            ("web.service", "/etc/systemd/system/web.service", true),
            ("web.service", "/etc/systemd/system/web.timer", false),
            ("web.service", "/etc/systemd/system", false),
            ("web@one.service", "/usr/lib/systemd/system/web@.service", true),
            ("web@one.service", "/usr/lib/systemd/system/web@one.service", true),
            ("web@one.service", "/usr/lib/systemd/system/web@two.service", false),
        ] {
            assert_eq!(
                Missing::Unit(unit.to_owned()).is_at(Path::new(managed)),
                expected,
                "{unit} {managed}"
            );
        }
    }
}
