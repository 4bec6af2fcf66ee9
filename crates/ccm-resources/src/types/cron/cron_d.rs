//! Provider `cron_d`: a file in `/etc/cron.d`.

use std::path::{Path, PathBuf};

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{AccountError, FileAttributes, FileKind, InspectOptions};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, is_variable_name};

use super::decide::{CronState, StrangerJob, parse_entry};
use super::desired::{CronEntry, DesiredJob};
use crate::parts::text::{TextFile, lines, replace, shown};
use crate::support::file_failure::{check_replaceable, file_failure};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};

pub(super) const DIRECTORY: &str = "/etc/cron.d";
const MODE: u32 = 0o644;

/// First line of each file, by which ccm knows its own files.
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
            state.user_missing = is_user_missing(job, context)? && !context.would_be_principal(&job.user);
            state.lacks_daemon = !has_daemon(context)?;
        }
        let path = job_path(&job.name);
        let found = context.host.files.inspect(&path, InspectOptions::default());
        let found = found.map_err(|error| file_failure(&error))?;
        state.exists = found.link || found.target.is_some();
        let is_file = found.target.as_ref().is_some_and(|file| file.kind == FileKind::File);
        if is_file || found.link && job.entry.is_some() {
            let file = TextFile::read(&path, context)?;
            state.is_open = found.target.is_some_and(|file| file.mode & 0o022 != 0 || file.uid != 0);
            if let Some((environment, user, entry)) = parse_file(file.content()) {
                state.environment = environment;
                state.found = Some((user, entry));
            }
            state.stranger = (!is_own(file.content())).then_some(StrangerJob::File(path.clone()));
            state.content = file.into_content();
        } else if state.exists {
            state.stranger = Some(StrangerJob::File(path.clone()));
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
            (ObjectPlan::Remove, _) => {
                TextFile::found(&path, state.content.clone()).unchanged(files)?;
                files.remove(&path, false).map_err(|error| file_failure(&error))
            }
            (ObjectPlan::Create(_) | ObjectPlan::Change(_), Some(entry)) => {
                let environment: String = job.environment.iter().flat_map(|line| [line, "\n"]).collect();
                let text =
                    format!("{COMMENT}\n{environment}{} {} {}\n", entry.times, job.user, entry.command);
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

/// Programs that run jobs.
const DAEMONS: [&str; 4] = ["cron", "crond", "fcron", "bcron-start"];

/// Makes timers of systemd from jobs.
const GENERATOR: &str = "/usr/lib/systemd/system-generators/systemd-crontab-generator";

/// Returns `true` if something on this machine runs jobs, or may do so after an earlier resource.
pub(super) fn has_daemon(context: &Context<'_>) -> Result<bool, Failure> {
    let is_installed = |name: &str| context.host.system.find_helper(name).is_ok();
    if DAEMONS.iter().any(|name| is_installed(name) || context.may_be_program(name)) {
        return Ok(true);
    }
    let generator = context.host.files.inspect(Path::new(GENERATOR), InspectOptions::default());
    Ok(generator.map_err(|error| file_failure(&error))?.target.is_some())
}

/// Returns `true` if the user of a job does not exist.
pub(super) fn is_user_missing(job: &DesiredJob, context: &Context<'_>) -> Result<bool, Failure> {
    match context.host.system.account(&job.user) {
        Ok(_) => Ok(false),
        Err(AccountError::NoUser { .. }) => Ok(true),
        Err(error) => Err(Failure::from_error(FailureKind::Read, &error)),
    }
}

/// Returns `true` for a file that ccm wrote, and for an empty one, which has no job.
pub(super) fn is_own(content: &[u8]) -> bool {
    lines(content).next().is_none_or(|first| first == COMMENT.as_bytes())
}

/// Reads the variables, the user and the entry of a file that has nothing else.
pub(super) fn parse_file(content: &[u8]) -> Option<(Vec<String>, String, CronEntry)> {
    let mut lines = lines(content.strip_suffix(b"\n")?);
    lines.next().filter(|line| *line == COMMENT.as_bytes())?;
    let mut environment = Vec::new();
    let (user, entry) = loop {
        let line = lines.next()?;
        if let Some(entry) = parse_entry(line, true) {
            break entry;
        }
        let name = line.split(|byte| *byte == b'=').next().filter(|name| name.len() < line.len())?;
        str::from_utf8(name).ok().filter(|name| is_variable_name(name))?;
        environment.push(shown(line));
    };
    Some((environment, user?, entry)).filter(|_| lines.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_with_the_job_alone_has_its_form() {
        let line = "0 2 * * * root a\n";
        let parse_file = |content: &str| parse_file(content.as_bytes());
        assert!(parse_file(&format!("{COMMENT}\n{line}")).is_some());
        let (environment, user, entry) =
            parse_file(&format!("{COMMENT}\nMAILTO=ada\nA=\"\"\n@daily ada a b\n")).expect("a job");
        assert_eq!(
            (&*environment.join(" "), &*user, &*entry.line()),
            ("MAILTO=ada A=\"\"", "ada", "@daily a b")
        );
        for content in ["", line, COMMENT, "# x\n"] {
            assert!(parse_file(content).is_none(), "{content}");
        }
        for rest in
            ["0 2 * * * root a", &format!("{line}{line}"), &format!("{line}A=b\n"), "# x\n", "A b\n", "\n"]
        {
            assert!(parse_file(&format!("{COMMENT}\n{rest}")).is_none(), "{rest}");
        }
    }

    #[test]
    fn files_of_others_lack_the_comment() {
        for (content, expected) in [
            (format!("{COMMENT}\n0 2 * * * root a\n"), true),
            (format!("{COMMENT}\nedited"), true),
            (String::new(), true),
            ("0 2 * * * root a\n".to_owned(), false),
            (format!("# x\n{COMMENT}\n"), false),
            (format!("{COMMENT} Not.\n"), false),
            ("\n".to_owned(), false),
        ] {
            assert_eq!(is_own(content.as_bytes()), expected, "{content}");
        }
    }
}
