//! Provider crontab: a line of the crontab of a user, below a comment with the name of the job.

use std::rc::Rc;
use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{Exit, Host, Role};
use ccm_model::{Claim, ClaimKind, Failure, FailureKind};

use super::cron_d::is_user_missing;
use super::decide::{CronState, parse_entry};
use super::desired::{CronEntry, DesiredJob};
use crate::parts::text::{TextLines, check_encoding, lines};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};
use crate::support::output_tail::{bytes, text};
use crate::support::program::Program;

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

impl Provider<Object<DesiredJob>> for Crontab {
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
        let crontab = Rc::new(read(job, context).await?);
        let mut lines = lines(&crontab).skip_while(|line| !is_marker(line, &job.name));
        state.exists = lines.next().is_some();
        let entry = lines.next().and_then(|line| parse_entry(line, false));
        let is_twice = lines.any(|line| is_marker(line, &job.name));
        state.found = entry.filter(|_| !is_twice).map(|(_, entry)| (job.user.clone(), entry));
        state.content = Some(Rc::clone(&crontab));
        Ok(state)
    }

    async fn execute(
        &self,
        job: &DesiredJob,
        state: &CronState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let old = state.content.as_deref().map(Vec::as_slice).unwrap_or_default();
        let new = match job.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Create(_) | ObjectPlan::Change(_) | ObjectPlan::Remove => {
                new_content(old, &job.name, job.entry.as_ref())
            }
        };
        // Somebody may have edited the crontab since.
        if read(job, context).await? != old {
            let message = format!("the crontab of `{}` changed during the run", job.user);
            return Err(Failure::conflict(message).with_hint("run ccm again"));
        }
        crontab(job, "-").stdin(new).run(&*context).await
    }
}

fn is_marker(line: &[u8], name: &str) -> bool {
    line.strip_prefix(MARKER.as_bytes()) == Some(name.as_bytes())
}

/// Reads the crontab of the user; empty if there is none.
async fn read(job: &DesiredJob, context: &Context<'_>) -> Result<Vec<u8>, Failure> {
    let program = crontab(job, "-l");
    let finished = program.finish(Role::Query, context).await?;
    if finished.exit == Exit::Code(1) && text(&finished.stderr).contains("no crontab for") {
        return Ok(Vec::new());
    }
    if let Some(failure) = program.failure(&finished) {
        return Err(failure);
    }
    // What is written back has its secrets.
    let printed = finished.printed_stdout();
    if printed.truncated() {
        return Err(Failure::new(FailureKind::Read, format!("the crontab of `{}` is too large", job.user)));
    }
    let crontab = bytes(printed);
    check_encoding(format_args!("the crontab of `{}`", job.user), &crontab)?;
    Ok(crontab)
}

/// Returns a call of crontab for the user of a job.
fn crontab(job: &DesiredJob, action: &str) -> Program {
    let program = Program::new("crontab").in_package("`cron` (Debian family) or `cronie` (Red Hat family)");
    program.with(["-u", &*job.user, action]).time_limit(TIMEOUT)
}

/// Returns a crontab with the job in its place or at the end, or without the job.
fn new_content(old: &[u8], name: &str, entry: Option<&CronEntry>) -> Vec<u8> {
    let job = entry.map(|entry| [format!("{MARKER}{name}"), format!("{} {}", entry.times, entry.command)]);
    let mut lines = TextLines::of(old);
    let markers = lines.positions(|line| is_marker(line, name));
    for marker in markers.iter().rev() {
        // The line below belongs to the job, unless it is that of another one.
        let has_entry = parse_entry(lines.get(marker + 1), false).is_some();
        lines.splice(*marker..marker + 1 + usize::from(has_entry), []);
    }
    let at = markers.first().copied().unwrap_or(lines.len());
    lines.splice(at..at, job.iter().flatten().map(String::as_bytes));
    // crontab refuses a last line without a line end.
    lines.close();
    lines.into_content()
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
            let found = new_content(before.as_bytes(), "a", Some(&entry));
            assert_eq!(String::from_utf8(found).expect("text"), after, "{before}");
        }
        assert_eq!(new_content(format!("x\n{old}y\n").as_bytes(), "a", None), b"x\ny\n");
        let before = b"# caf\xe9\r\n# ccm cron: a\r\n1 1 * * * \xe9\r\n2 2 * * * \xe9";
        let after = b"# caf\xe9\r\n# ccm cron: a\r\n0 2 * * * new\r\n2 2 * * * \xe9\r\n";
        assert_eq!(new_content(before, "a", Some(&entry)), after);
    }
}
