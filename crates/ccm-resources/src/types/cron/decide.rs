//! The pure decision about a job.

use std::path::PathBuf;
use std::rc::Rc;

use ccm_engine::{Described, Undescribed};
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
    /// Lines with the variables of the job.
    pub environment: Vec<String>,
    /// Whole content of the file or crontab in which the job is; `None` if there is none.
    pub content: Option<Rc<Vec<u8>>>,
    /// True if cron ignores the file, because others than root may write it.
    pub is_open: bool,
    pub user_missing: bool,
    /// True if no program that runs jobs is installed.
    pub lacks_daemon: bool,
    /// True if the comment of ccm lacks the checksum of the entry below it.
    pub is_unsigned: bool,
    /// What is in the place of the job and may be somebody else's.
    pub stranger: Option<StrangerJob>,
}

/// Job that ccm may not have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StrangerJob {
    /// File in the directory of jobs, without the comment of ccm.
    File(PathBuf),
    /// Line of a crontab with this number, below the comment of the job.
    Line { number: usize, has_checksum: bool },
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
    Environment {
        from: String,
        to: String,
    },
    /// There is more than the job, or less.
    Content,
    /// The comment lacks the checksum of the entry.
    Comment,
    Permissions,
}

impl ObjectDifference for CronDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Times { .. } => "times",
            Self::User { .. } => "user",
            Self::Command { .. } => "command",
            Self::Environment { .. } => "environment",
            Self::Content => "content",
            Self::Comment => "comment",
            Self::Permissions => "permissions",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Times { from, to } | Self::User { from, to } | Self::Command { from, to } => {
                (from.clone(), Some(to.clone()))
            }
            Self::Environment { from, to } => {
                let shown = |lines: &String| Some(lines.clone()).filter(|lines| !lines.is_empty());
                (shown(from), shown(to))
            }
            Self::Content | Self::Comment | Self::Permissions => (None, None),
        }
    }
}

impl ObjectType for DesiredJob {
    type State = CronState;
    type Difference = CronDifference;
    type Effect = ();

    fn plan(&self, state: &CronState) -> ObjectPlan<CronDifference> {
        if let Some(stranger) = &state.stranger {
            return ObjectPlan::Fail(self.of_stranger(stranger));
        }
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
        let environment = || [&state.environment, &self.environment].map(|lines| lines.join(", "));
        if state.environment != self.environment {
            let [from, to] = environment();
            found.push(CronDifference::Environment { from, to });
        }
        if !state.exists {
            return ObjectPlan::Create(found);
        }
        if old.is_none() {
            found = vec![CronDifference::Content];
        }
        if found.is_empty() && state.is_unsigned {
            found.push(CronDifference::Comment);
        }
        if state.is_open {
            found.push(CronDifference::Permissions);
        }
        ObjectPlan::of_existing(found)
    }

    fn shown(&self) -> String {
        format!("the job `{}`", self.name)
    }

    fn warnings(&self, state: &CronState) -> Vec<String> {
        let warning = "no cron daemon is installed, so nothing runs the job; Debian has it in the package `cron`, the Red Hat \
                       family in `cronie`";
        state.lacks_daemon.then(|| warning.to_owned()).into_iter().collect()
    }

    fn undescribed(&self, state: &CronState) -> Undescribed {
        Undescribed::found(state)
    }

    fn describe(&self, state: &CronState) -> Described {
        let ensure = if state.exists { "present" } else { "absent" };
        Described::new(ensure).with("times", state.found.as_ref().map(|(_, entry)| entry.times.clone()))
    }
}

impl DesiredJob {
    /// Returns the failure of a job in whose place may be somebody else's.
    fn of_stranger(&self, stranger: &StrangerJob) -> Failure {
        let Self { name, user, .. } = self;
        match stranger {
            StrangerJob::File(path) => {
                let shown = path.display();
                let hint = match &self.entry {
                    Some(_) => "give the job another name, or remove the file by hand if nothing needs it",
                    None => {
                        "remove the file with a `file` resource if nothing needs it: a `cron` resource removes only what \
                             ccm wrote"
                    }
                };
                Failure::conflict(format!("\"{shown}\" was not written by ccm"))
                    .with_missing(MissingPrerequisite::Path(path.clone()))
                    .with_hint(hint)
            }
            StrangerJob::Line { number, has_checksum } => {
                let why = if *has_checksum {
                    "is not the one that ccm wrote"
                } else {
                    "may be somebody else's, because the comment has no checksum"
                };
                let message = format!(
                    "line {number} of the crontab of `{user}`, below the comment of the job `{name}`, {why}"
                );
                Failure::conflict(message).with_hint(format!(
                    "remove line {} with `crontab -u {user} -e`, and line {number} as well if it is this job; then run ccm \
                     again",
                    number - 1
                ))
            }
        }
    }
}

/// Splits a line of a crontab into its times, the user if it has one, and the command.
pub(crate) fn parse_entry(line: &[u8], has_user: bool) -> Option<(Option<String>, CronEntry)> {
    let mut rest = line.trim_ascii();
    let fields = match rest.first()? {
        b'@' => 1,
        b'*' => 5,
        first if first.is_ascii_digit() => 5,
        _ => return None,
    };
    let mut next = || {
        let (word, after) = rest.split_at(rest.iter().position(|byte| matches!(byte, b' ' | b'\t'))?);
        rest = after.trim_ascii_start();
        Some(shown(word))
    };
    let times: Option<Vec<String>> = (0..fields).map(|_| next()).collect();
    let times = times?.join(" ");
    let user = if has_user { Some(next()?) } else { None };
    (!rest.is_empty()).then(|| (user, CronEntry { times, command: shown(rest) }))
}

#[cfg(test)]
mod tests;
