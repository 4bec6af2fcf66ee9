//! The pure decision about a job.

use std::rc::Rc;

use ccm_engine::Described;
use ccm_model::{Failure, MissingPrerequisite};

use super::desired::{CronEntry, DesiredJob};
use crate::parts::text::shown;
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// State of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CronState {
    /// True if the job is there, in whatever form.
    pub exists: bool,
    /// User and entry; `None` if the job has another form.
    pub found: Option<(String, CronEntry)>,
    /// Whole content of the file or crontab in which the job is; `None` if there is none.
    pub content: Option<Rc<Vec<u8>>>,
    /// True if cron ignores the file, because others than root may write it.
    pub is_open: bool,
    pub user_missing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CronDifference {
    Times {
        from: Option<String>,
        to: String,
    },
    User {
        from: Option<String>,
        to: String,
    },
    Command {
        from: Option<String>,
        to: String,
    },
    /// There is more than the job, or less.
    Content,
    Permissions,
}

impl ObjectDifference for CronDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Times { .. } => "times",
            Self::User { .. } => "user",
            Self::Command { .. } => "command",
            Self::Content => "content",
            Self::Permissions => "permissions",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Times { from, to } | Self::User { from, to } | Self::Command { from, to } => {
                (from.clone(), Some(to.clone()))
            }
            Self::Content | Self::Permissions => (None, None),
        }
    }
}

impl ObjectType for DesiredJob {
    type State = CronState;
    type Difference = CronDifference;
    type Effect = ();

    fn plan(&self, state: &CronState) -> ObjectPlan<CronDifference> {
        let Some(entry) = &self.entry else {
            return if state.exists { ObjectPlan::Remove } else { ObjectPlan::Keep { exists: false } };
        };
        if state.user_missing {
            let user = &self.user;
            let failure = Failure::conflict(format!("user `{user}` does not exist"));
            return ObjectPlan::Fail(
                failure
                    .of_property("user")
                    .with_missing(MissingPrerequisite::Principal(user.clone()))
                    .with_hint(format!("add a `user` resource for `{user}`")),
            );
        }
        let old = state.found.as_ref();
        let mut found = Vec::new();
        let value =
            |from: Option<&String>, to: &String| (from != Some(to)).then(|| (from.cloned(), to.clone()));
        if let Some((from, to)) = value(old.map(|(_, entry)| &entry.times), &entry.times) {
            found.push(CronDifference::Times { from, to });
        }
        if let Some((from, to)) = value(old.map(|(user, _)| user), &self.user) {
            found.push(CronDifference::User { from, to });
        }
        if let Some((from, to)) = value(old.map(|(_, entry)| &entry.command), &entry.command) {
            found.push(CronDifference::Command { from, to });
        }
        if !state.exists {
            return ObjectPlan::Create(found);
        }
        if old.is_none() {
            found = vec![CronDifference::Content];
        }
        if state.is_open {
            found.push(CronDifference::Permissions);
        }
        ObjectPlan::of_existing(found)
    }

    fn shown(&self) -> String {
        format!("the job `{}`", self.name)
    }

    fn describe(&self, state: &CronState) -> Described {
        let ensure = if state.exists { "present" } else { "absent" };
        Described::new(ensure).with("times", state.found.as_ref().map(|(_, entry)| entry.times.clone()))
    }
}

/// Splits a line of a crontab into five times, the user if it has one, and the command.
pub(crate) fn parse_entry(line: &[u8], has_user: bool) -> Option<(Option<String>, CronEntry)> {
    let mut rest = line.trim_ascii();
    if !rest.first().is_some_and(|first| first.is_ascii_digit() || *first == b'*') {
        return None;
    }
    let mut next = || {
        let (word, after) = rest.split_at(rest.iter().position(|byte| matches!(byte, b' ' | b'\t'))?);
        rest = after.trim_ascii_start();
        Some(shown(word))
    };
    let times: Option<Vec<String>> = (0..5).map(|_| next()).collect();
    let times = times?.join(" ");
    let user = if has_user { Some(next()?) } else { None };
    (!rest.is_empty()).then(|| (user, CronEntry { times, command: shown(rest) }))
}

#[cfg(test)]
mod tests;
