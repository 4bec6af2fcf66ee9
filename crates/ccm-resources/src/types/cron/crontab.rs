//! Provider crontab: a line of the crontab of a user, below a comment with the name of the job.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{Exit, Files, Host, Role};
use ccm_model::{Claim, ClaimKind, Failure, FailureKind, sha256};

use super::cron_d::{has_daemon, is_user_missing};
use super::decide::{CronState, StrangerJob, parse_entry};
use super::desired::{CronEntry, DesiredJob};
use crate::parts::crontabs::CRONTABS;
use crate::parts::text::{TextLines, check_encoding, lines};
use crate::support::file_failure::check_replaceable_by_program;
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};
use crate::support::output_tail::{bytes, text};
use crate::support::program::Program;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Beginning of the comment above a job. The name and a checksum of the entry below follow.
const MARKER: &str = "# ccm cron: ";
const CHECKSUM_DIGITS: usize = 16;

/// Returns the claims of a job: the job, and a part of the crontab, which is at one of two paths.
pub(super) fn claims<'r>(user: &str, name: &str) -> Vec<Claim<'r>> {
    let crontabs = CRONTABS.map(|directory| Claim::part_of_file(format!("{directory}/{user}")));
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
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<CronState, Failure> {
        let mut state = CronState::default();
        if is_user_missing(job, context)? {
            // A new user has no crontab.
            state.user_missing = !context.would_be_principal(&job.user);
            return Ok(state);
        }
        state.lacks_daemon = job.entry.is_some() && !has_daemon(context)?;
        let crontab = Rc::new(read(job, context).await?);
        let found = FoundJob::find(&crontab, job);
        state.exists = !found.pieces.is_empty();
        state.stranger = found.stranger;
        state.is_unsigned = found.is_unsigned;
        if let [piece] = &*found.pieces {
            let entry = lines(&crontab).nth(piece.start + 1).filter(|_| piece.len() == 2);
            let entry = entry.and_then(|line| parse_entry(line, false));
            state.found = entry.map(|(_, entry)| (job.user.clone(), entry));
        }
        state.content = Some(crontab);
        if reading.is_before() && !matches!(job.plan(&state), ObjectPlan::Keep { .. } | ObjectPlan::Fail(_)) {
            check_spool(job, context.host.files)?;
        }
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
            ObjectPlan::Create(_) | ObjectPlan::Change(_) | ObjectPlan::Remove => new_content(old, job),
        };
        // Somebody may have edited the crontab since.
        if read(job, context).await? != old {
            let message = format!("the crontab of `{}` changed during the run", job.user);
            return Err(Failure::conflict(message).with_hint("run ccm again"));
        }
        crontab(job, "-").stdin(new).run(&*context).await
    }
}

/// Returns the failure of a change that crontab can't make, because it replaces the file of the user.
fn check_spool(job: &DesiredJob, files: &dyn Files) -> Result<(), Failure> {
    let directory =
        CRONTABS.into_iter().map(Path::new).find(|path| files.is_directory(path).unwrap_or(false));
    directory.map_or(Ok(()), |directory| check_replaceable_by_program(&directory.join(&job.user), files))
}

/// What a crontab has of a job.
#[derive(Debug, Default, PartialEq, Eq)]
struct FoundJob {
    /// Ranges of lines: a comment of the job, with its entry or alone.
    pieces: Vec<Range<usize>>,
    /// Line below a comment of the job that may be somebody else's.
    stranger: Option<StrangerJob>,
    /// True if a comment lacks the checksum of its entry.
    is_unsigned: bool,
}

impl FoundJob {
    fn find(crontab: &[u8], job: &DesiredJob) -> Self {
        let desired = job.entry.as_ref().map(CronEntry::line);
        let lines = TextLines::of(crontab);
        let mut found = Self::default();
        for at in lines.positions(|line| is_comment_of(line, &job.name)) {
            let below = Some(lines.get(at + 1)).filter(|below| at + 1 < lines.len() && !is_comment(below));
            let Some(entry) = below else {
                // The entry was deleted, and nothing of anybody else is in its place.
                found.pieces.push(at..at + 1);
                continue;
            };
            let is_signed = lines.get(at) == comment(&job.name, entry).as_bytes();
            let is_desired = desired.as_ref().is_some_and(|desired| desired.as_bytes() == entry);
            if !is_signed && !is_desired && found.stranger.is_none() {
                let has_checksum = lines.get(at).len() > MARKER.len() + job.name.len();
                found.stranger = Some(StrangerJob::Line { number: at + 2, has_checksum });
            }
            found.is_unsigned |= !is_signed;
            found.pieces.push(at..at + 2);
        }
        found
    }
}

/// Returns the comment of a job with the checksum of its entry, by which ccm knows whether the line below is its own.
fn comment(name: &str, entry: &[u8]) -> String {
    let checksum = sha256(entry);
    format!("{MARKER}{name} {}", checksum.get(..CHECKSUM_DIGITS).unwrap_or_default())
}

/// Returns the jobs of ccm in a crontab, each with its name. Entries that somebody changed are left out.
pub(super) fn jobs_in(crontab: &[u8]) -> Vec<(String, CronEntry)> {
    let lines = TextLines::of(crontab);
    let job = |at: usize| {
        let name = str::from_utf8(lines.get(at).strip_prefix(MARKER.as_bytes())?).ok()?.split(' ').next()?;
        let entry = Some(lines.get(at + 1)).filter(|_| at + 1 < lines.len())?;
        let is_signed = lines.get(at) == comment(name, entry).as_bytes();
        let (_, parsed) = parse_entry(entry, false).filter(|_| is_signed)?;
        Some((name.to_owned(), parsed))
    };
    lines.positions(is_comment).into_iter().filter_map(job).collect()
}

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(MARKER.as_bytes())
}

fn is_comment_of(line: &[u8], name: &str) -> bool {
    let rest = line.strip_prefix(MARKER.as_bytes()).and_then(|rest| rest.strip_prefix(name.as_bytes()));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b" "))
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
    // The lines of a job that is to be removed are found by their bytes, whatever else a user wrote.
    if job.entry.is_some() {
        check_encoding(format_args!("the crontab of `{}`", job.user), &crontab)?;
    }
    Ok(crontab)
}

/// Returns a call of crontab for the user of a job.
fn crontab(job: &DesiredJob, action: &str) -> Program {
    let program = Program::new("crontab").in_package("`cron` (Debian family) or `cronie` (Red Hat family)");
    program.with(["-u", &*job.user, action]).time_limit(TIMEOUT)
}

/// Returns a crontab with the job in its place or at the end, or without the job.
fn new_content(old: &[u8], job: &DesiredJob) -> Vec<u8> {
    let written = job.entry.as_ref().map(CronEntry::line);
    let written = written.map(|entry| [comment(&job.name, entry.as_bytes()), entry]);
    let mut lines = TextLines::of(old);
    let pieces = FoundJob::find(old, job).pieces;
    let at = pieces.first().map_or(lines.len(), |first| first.start);
    for piece in pieces.into_iter().rev() {
        lines.splice(piece, []);
    }
    lines.splice(at..at, written.iter().flatten().map(String::as_bytes));
    // crontab refuses a last line without a line end.
    lines.close();
    lines.into_content()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(entry: Option<CronEntry>) -> DesiredJob {
        DesiredJob { name: "a".to_owned(), entry, environment: Vec::new(), user: "ada".to_owned() }
    }

    fn new() -> DesiredJob {
        job(Some(CronEntry { times: "0 2 * * *".to_owned(), command: "new".to_owned() }))
    }

    fn signed(entry: &str) -> String {
        format!("{}\n{entry}\n", comment("a", entry.as_bytes()))
    }

    #[test]
    fn other_lines_of_a_crontab_stay() {
        let made = signed("0 2 * * * new");
        let old = signed("1 1 * * * old");
        let daily = signed("@daily old");
        for (before, present, absent) in [
            (String::new(), made.clone(), ""),
            ("MAILTO=x".to_owned(), format!("MAILTO=x\n{made}"), "MAILTO=x\n"),
            (
                format!("x\n{old}# ccm cron: b\n2 2 * * * b\n"),
                format!("x\n{made}# ccm cron: b\n2 2 * * * b\n"),
                "x\n# ccm cron: b\n2 2 * * * b\n",
            ),
            (format!("{old}{daily}y\n"), format!("{made}y\n"), "y\n"),
            (
                "# ccm cron: a\n# ccm cron: b\n".to_owned(),
                format!("{made}# ccm cron: b\n"),
                "# ccm cron: b\n",
            ),
            ("# ccm cron: a\n".to_owned(), made.clone(), ""),
            ("# ccm cron: a\n0 2 * * * new\ny\n".to_owned(), format!("{made}y\n"), "y\n"),
            (
                "# ccm cron: ab\n1 1 * * * x\n".to_owned(),
                format!("# ccm cron: ab\n1 1 * * * x\n{made}"),
                "# ccm cron: ab\n1 1 * * * x\n",
            ),
        ] {
            let changed = |job| String::from_utf8(new_content(before.as_bytes(), &job)).expect("text");
            assert_eq!(changed(new()), present, "{before}");
            let is_own = FoundJob::find(before.as_bytes(), &job(None)).stranger.is_none();
            if is_own {
                assert_eq!(changed(job(None)), absent, "{before}");
            }
        }
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let before = [b"# caf\xe9\r\n", crlf(&old).as_bytes(), b"2 2 * * * \xe9"].concat();
        let after = [b"# caf\xe9\r\n", crlf(&made).as_bytes(), b"2 2 * * * \xe9\r\n"].concat();
        assert_eq!(new_content(&before, &new()), after);
    }

    #[test]
    fn a_line_that_ccm_did_not_write_is_a_stranger() {
        let comment_of = |entry: &str| comment("a", entry.as_bytes());
        let old = "1 1 * * * old";
        for (before, stranger) in [
            (signed(old), None),
            (signed("@daily old"), None),
            ("# ccm cron: a\n0 2 * * * new".to_owned(), None),
            (format!("{}\n0 2 * * * new\n", comment_of(old)), None),
            ("# ccm cron: a\n".to_owned(), None),
            (format!("{}\n# ccm cron: b\n", comment_of(old)), None),
            ("# ccm cron: a\n1 1 * * * old\n".to_owned(), Some((2, false))),
            ("# ccm cron: a\n@daily a\n9 9 * * * other\n".to_owned(), Some((2, false))),
            (format!("x\n{}\n9 9 * * * other\n", comment_of(old)), Some((3, true))),
            (format!("{}\nMAILTO=x\n{old}\n", comment_of(old)), Some((2, true))),
            (format!("{}\n\n{old}\n", comment_of(old)), Some((2, true))),
            (format!("{}\n# mine\n{old}\n", comment_of(old)), Some((2, true))),
            (format!("{}\n#{old}\n", comment_of(old)), Some((2, true))),
            (format!("{}\n{old} \n", comment_of(old)), Some((2, true))),
            (format!("{}{}\n9 9 * * * other\n", signed(old), comment_of(old)), Some((4, true))),
        ] {
            let found = FoundJob::find(before.as_bytes(), &new()).stranger;
            let stranger = stranger.map(|(number, has_checksum)| StrangerJob::Line { number, has_checksum });
            assert_eq!(found, stranger, "{before}");
        }
    }
}
