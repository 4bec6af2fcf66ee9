//! Provider crontab: a line of the crontab of a user, below a comment with the name of the job.

use std::path::Path;
use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{Command, CommandOrigin, Exit, Finished, Host, Role};
use ccm_model::{Claim, ClaimKind, Failure, FailureKind, MissingPrerequisite};

use super::cron_d::is_user_missing;
use super::decide::{CronKind, CronState, parse_entry, plan};
use super::desired::{CronEntry, DesiredJob};
use crate::support::object_plan::ObjectPlan;
use crate::support::output_tail::text;

const PROGRAM: &str = "crontab";
const TIMEOUT: Duration = Duration::from_secs(60);

/// Beginning of the comment above a job.
const MARKER: &str = "# ccm cron: ";

/// Directories of the crontabs of users: on the Debian family, and on the Red Hat family.
const DIRECTORIES: [&str; 2] = ["/var/spool/cron/crontabs", "/var/spool/cron"];

/// Returns the claims of a job: the job, and a part of the crontab, which is at one of two paths.
pub(super) fn claims<'r>(user: &str, name: &str) -> Vec<Claim<'r>> {
    let crontabs = DIRECTORIES.map(|directory| Claim::part_of_file(format!("{directory}/{user}")));
    let job = Claim::exclusive(ClaimKind::CrontabJob, format!("{user}: {name}"));
    crontabs.into_iter().chain([job]).collect()
}

pub(crate) struct Crontab;

impl Provider<CronKind> for Crontab {
    /// The other provider is the default.
    fn suitability(&self, _: Host<'_>) -> Suitability {
        Suitability::Suits(2)
    }

    async fn status(
        &self,
        job: &DesiredJob,
        _: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<CronState, Failure> {
        let mut state = CronState::default();
        if is_user_missing(job, context)? {
            state.user_missing = true;
            return Ok(state);
        }
        state.content = read(job, context).await?;
        let mut lines = state.content.lines().skip_while(|line| !is_marker(line, &job.name));
        state.exists = lines.next().is_some();
        let entry = lines.next().and_then(|line| parse_entry(line, false));
        let is_twice = lines.any(|line| is_marker(line, &job.name));
        state.found = entry.filter(|_| !is_twice).map(|(_, entry)| (job.user.clone(), entry));
        Ok(state)
    }

    async fn execute(
        &self,
        job: &DesiredJob,
        state: &CronState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let new = match plan(job, state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Create(_) | ObjectPlan::Change(_) | ObjectPlan::Remove => {
                new_content(&state.content, &job.name, job.entry.as_ref())
            }
        };
        // Somebody may have edited the crontab since.
        if read(job, context).await? != state.content {
            let message = format!("the crontab of `{}` changed during the run", job.user);
            return Err(Failure::new(FailureKind::Conflict, message).with_hint("run ccm again"));
        }
        let command = Command { stdin: Some(new.into()), ..command(job, "-", context)? };
        let finished = context.host.executor.run_tool(&command, context.cancellation, &mut |_, _| {}).await;
        evaluate(&finished.map_err(|error| error.failure())?)
    }
}

fn is_marker(line: &str, name: &str) -> bool {
    line.strip_prefix(MARKER) == Some(name)
}

/// Reads the crontab of the user; empty if there is none.
async fn read(job: &DesiredJob, context: &Context<'_>) -> Result<String, Failure> {
    let command = Command { role: Role::Query, ..command(job, "-l", context)? };
    let finished = context.queries.run_tool(&command, context.cancellation, &mut |_, _| {}).await;
    let finished = finished.map_err(|error| error.failure())?;
    let printed = text(&finished.stderr);
    if finished.exit == Exit::Code(1) && printed.contains("no crontab for") {
        return Ok(String::new());
    }
    evaluate(&finished)?;
    if finished.stdout.truncated() {
        return Err(Failure::new(FailureKind::Read, format!("the crontab of `{}` is too large", job.user)));
    }
    Ok(text(&finished.stdout))
}

fn command(job: &DesiredJob, action: &str, context: &Context<'_>) -> Result<Command, Failure> {
    let host = context.host;
    let environment = host.system.base_environment();
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
    let program = host.system.find(PROGRAM, &path.unwrap_or_default(), Path::new("/")).map_err(|error| {
        let mut failure = error.failure();
        failure.missing = Some(MissingPrerequisite::Program(PROGRAM.to_owned()).into());
        failure.with_hint("install the package `cron` (Debian family) or `cronie` (Red Hat family)")
    })?;
    Ok(Command {
        args: ["-u", &*job.user, action].map(Into::into).to_vec(),
        environment,
        timeout: Some(TIMEOUT),
        origin: CommandOrigin::Ccm,
        role: Role::Tool,
        ..Command::new(program)
    })
}

fn evaluate(finished: &Finished) -> Result<(), Failure> {
    let Exit::Code(code) = finished.exit else {
        return Err(Failure::new(FailureKind::Stopped, "crontab did not end by itself"));
    };
    if code == 0 {
        return Ok(());
    }
    let mut failure = Failure::new(FailureKind::Exit, format!("crontab failed with exit code {code}"));
    let printed = text(&finished.stderr);
    failure
        .chain
        .extend(printed.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).map(str::to_owned));
    Err(failure)
}

/// Returns a crontab with the job in its place or at the end, or without the job.
fn new_content(old: &str, name: &str, entry: Option<&CronEntry>) -> String {
    let mut text = String::with_capacity(old.len() + 256);
    let job = entry.map(|entry| format!("{MARKER}{name}\n{} {}\n", entry.times, entry.command));
    let mut job = job.as_deref();
    let mut lines = old.lines().peekable();
    while let Some(line) = lines.next() {
        if is_marker(line, name) {
            // The line below belongs to the job, unless it is that of another one.
            lines.next_if(|line| parse_entry(line, false).is_some());
            text.push_str(job.take().unwrap_or_default());
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.push_str(job.unwrap_or_default());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lines_of_a_crontab_stay() {
        let entry = CronEntry { times: "0 2 * * *".to_owned(), command: "new".to_owned() };
        let job = "# ccm cron: a\n0 2 * * * new\n";
        let old = "# ccm cron: a\n1 1 * * * old\n";
        for (before, after) in [
            (String::new(), job.to_owned()),
            ("MAILTO=x".to_owned(), format!("MAILTO=x\n{job}")),
            (
                format!("x\n{old}# ccm cron: b\n2 2 * * * b\n"),
                format!("x\n{job}# ccm cron: b\n2 2 * * * b\n"),
            ),
            (format!("{old}{old}"), job.to_owned()),
            ("# ccm cron: a\n# ccm cron: b\n".to_owned(), format!("{job}# ccm cron: b\n")),
        ] {
            assert_eq!(new_content(&before, "a", Some(&entry)), after, "{before}");
        }
        assert_eq!(new_content(&format!("x\n{old}y\n"), "a", None), "x\ny\n");
    }
}
