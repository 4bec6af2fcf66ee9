//! Provider `cron_d`: a file in `/etc/cron.d`.

use std::path::PathBuf;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{AccountError, FileAttributes, FileKind, InspectOptions};
use ccm_model::{Failure, FailureKind, MissingPrerequisite};

use super::decide::{CronState, parse_entry};
use super::desired::DesiredJob;
use crate::parts::text::{TextFile, lines, replace};
use crate::support::file_failure::{check_replaceable, file_failure};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};

const DIRECTORY: &str = "/etc/cron.d";
const MODE: u32 = 0o644;
const COMMENT: &str = "# Managed by ccm; changes are overwritten.";

pub(crate) struct CronDirectory;

impl Provider<Object<DesiredJob>> for CronDirectory {
    async fn status(
        &self,
        job: &DesiredJob,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<CronState, Failure> {
        let mut state = CronState::default();
        if job.entry.is_some() {
            state.user_missing = is_user_missing(job, context)?;
        }
        let path = job_path(&job.name);
        let found = context.host.files.inspect(&path, InspectOptions::default());
        let found = found.map_err(|error| file_failure(&error))?;
        state.exists = found.link || found.target.is_some();
        let is_file = found.target.as_ref().is_some_and(|file| file.kind == FileKind::File);
        if is_file || found.link && job.entry.is_some() {
            let file = TextFile::read(&path, context)?;
            state.is_open = found.target.is_some_and(|file| file.mode & 0o022 != 0 || file.uid != 0);
            state.found = parse_file(file.content());
            state.content = file.into_content();
        } else if found.parent_missing && job.entry.is_some() {
            let message = format!("the directory \"{DIRECTORY}\" does not exist");
            return Err(Failure::conflict(message)
                .with_missing(MissingPrerequisite::Path(DIRECTORY.into()))
                .with_hint("install the package `cron` (Debian family) or `cronie` (Red Hat family)"));
        }
        if reading.is_before() && !matches!(job.plan(&state), ObjectPlan::Keep { .. } | ObjectPlan::Fail(_)) {
            check_replaceable(&path, context.host.files)?;
        }
        Ok(state)
    }

    async fn execute(
        &self,
        job: &DesiredJob,
        state: &CronState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let path = job_path(&job.name);
        let files = context.host.files;
        match (job.plan(state), &job.entry) {
            (ObjectPlan::Fail(failure), _) => Err(failure),
            (ObjectPlan::Remove, _) => files.remove(&path, false).map_err(|error| file_failure(&error)),
            (ObjectPlan::Create(_) | ObjectPlan::Change(_), Some(entry)) => {
                let text = format!("{COMMENT}\n{} {} {}\n", entry.times, job.user, entry.command);
                let attributes = FileAttributes { uid: Some(0), gid: Some(0), mode: Some(MODE) };
                let written = TextFile::found(&path, state.content.clone()).unchanged(files)?;
                replace(&written, text.as_bytes(), attributes, files)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the path of the file of a job.
pub(super) fn job_path(name: &str) -> PathBuf {
    PathBuf::from(format!("{DIRECTORY}/{name}"))
}

/// Returns `true` if the user of a job does not exist.
pub(super) fn is_user_missing(job: &DesiredJob, context: &Context<'_>) -> Result<bool, Failure> {
    match context.host.system.account(&job.user) {
        Ok(_) => Ok(false),
        Err(AccountError::NoUser { .. }) => Ok(true),
        Err(error) => Err(Failure::from_error(FailureKind::Read, &error)),
    }
}

/// Reads the job of a file that has nothing else.
fn parse_file(content: &[u8]) -> Option<(String, super::desired::CronEntry)> {
    let mut lines = lines(content.strip_suffix(b"\n")?).filter(|line| *line != COMMENT.as_bytes());
    let (user, entry) = parse_entry(lines.next()?, true)?;
    Some((user?, entry)).filter(|_| lines.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_with_the_job_alone_has_its_form() {
        let line = "0 2 * * * root a\n";
        let parse_file = |content: &str| parse_file(content.as_bytes());
        assert!(parse_file(line).is_some() && parse_file(&format!("{COMMENT}\n{line}")).is_some());
        for content in
            ["", "0 2 * * * root a", &format!("PATH=/bin\n{line}"), &format!("{line}{line}"), "# x\n"]
        {
            assert!(parse_file(content).is_none(), "{content}");
        }
    }
}
