//! Entries of the audit log as text.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use std::time::SystemTime;

use ccm_runtime::audit::{Actor, AuditAccessError, AuditEntry, AuditLine, Line, RecordedVerdict};
use ccm_runtime::model::{escape_control, parse_timestamp};
use ccm_runtime::{LocalZone, Session};

/// Size of the text that is printed at once.
const CHUNK: usize = 64 << 10;
/// Maximum length of a command in the list, in characters.
const MAX_COMMAND: usize = 200;
/// Number of characters of the id of a run.
const SHORT_ID: usize = 13;
/// Maximum number of unreadable lines that are reported.
const MAX_UNREADABLE: usize = 10;

/// Entries to list: those that match every given condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogFilter {
    /// Beginning of the id of a run.
    pub(crate) run: Option<String>,
    /// Earliest time.
    pub(crate) since: Option<SystemTime>,
    /// User who started the run, or as whom a command ran.
    pub(crate) user: Option<String>,
    /// Resource, by type and name or by name.
    pub(crate) resource: Option<String>,
}

/// List of entries.
pub(crate) struct Listing {
    filter: LogFilter,
    /// Maximum number of entries of a text; `None` lists the lines themselves.
    limit: Option<usize>,
    rows: VecDeque<LogRow>,
    /// Number of rows that left at the front.
    left_out: u64,
    /// Commands that run, with the number of their row, if they are listed.
    open: HashMap<String, Option<u64>>,
    /// Runs of the user.
    runs_of_user: HashSet<String>,
    /// A line of the run of the filter was found.
    has_run: bool,
    lines: String,
    unreadable: Vec<(String, u64)>,
}

struct LogRow {
    time: String,
    text: String,
    end: String,
}

impl Listing {
    pub(crate) fn new(filter: LogFilter, limit: Option<usize>) -> Self {
        Self {
            filter,
            limit,
            rows: VecDeque::new(),
            left_out: 0,
            open: HashMap::new(),
            runs_of_user: HashSet::new(),
            has_run: false,
            lines: String::new(),
            unreadable: Vec::new(),
        }
    }

    /// Takes the next line of the log.
    pub(crate) fn take(&mut self, line: AuditLine<'_>) {
        match line {
            AuditLine::Line(text, line) => {
                let is_listed = self.matches(&line);
                if self.limit.is_none() {
                    if is_listed {
                        self.lines += text;
                        self.lines.push('\n');
                    }
                    self.follow(&line.entry, is_listed, None);
                    return;
                }
                let row = is_listed.then(|| row(&line)).flatten();
                let number = row.is_some().then_some(self.left_out + self.rows.len() as u64);
                if let Some(row) = row {
                    self.rows.push_back(row);
                }
                self.follow(&line.entry, is_listed, number);
                if self.limit.is_some_and(|limit| self.rows.len() > limit) {
                    self.rows.pop_front();
                    self.left_out += 1;
                }
            }
            AuditLine::Unreadable { file, row } if self.unreadable.len() < MAX_UNREADABLE => {
                self.unreadable.push((file.to_owned(), row));
            }
            AuditLine::Unreadable { .. } => {}
        }
    }

    /// Follows commands to their ends.
    fn follow(&mut self, entry: &AuditEntry, is_listed: bool, number: Option<u64>) {
        let (intent, end) = match entry {
            AuditEntry::Intent { intent, .. } => {
                // The value of a command that is not listed is none, so that its end is not listed either.
                let row = is_listed.then_some(number.unwrap_or_default());
                self.open.insert(intent.clone(), row);
                return;
            }
            AuditEntry::Finished { intent, outcome, duration_ms, .. } => {
                (intent, format!("{outcome} after {duration_ms}ms"))
            }
            AuditEntry::Interrupted { intent } => (intent, "interrupted: ccm was killed".to_owned()),
            _ => return,
        };
        let Some(Some(number)) = self.open.remove(intent) else { return };
        let position = number.checked_sub(self.left_out).and_then(|at| usize::try_from(at).ok());
        if let Some(row) = position.and_then(|at| self.rows.get_mut(at)) {
            row.end = end;
        }
    }

    fn matches(&mut self, line: &Line) -> bool {
        let entry = &line.entry;
        if let AuditEntry::RunBegun { run, by, .. } = entry
            && self.filter.user.as_deref().is_some_and(|user| is_by(by, user))
        {
            self.runs_of_user.insert(run.clone());
        }
        let LogFilter { run, since, user, resource } = &self.filter;
        let is_of_run =
            run.as_deref().is_none_or(|run| run_of(entry).is_some_and(|own| own.starts_with(run)));
        self.has_run |= is_of_run;
        if let Some(since) = since
            && parse_timestamp(&line.time).is_some_and(|time| time < *since)
        {
            return false;
        }
        if let AuditEntry::Finished { intent, .. } | AuditEntry::Interrupted { intent } = entry {
            let begun = self.open.get(intent);
            let is_filtered = run.is_some() || user.is_some() || resource.is_some();
            return begun.map_or(!is_filtered, Option::is_some);
        }
        let is_of_user = user.as_deref().is_none_or(|user| {
            run_of(entry).is_some_and(|run| self.runs_of_user.contains(run)) || has_user(entry, user)
        });
        let is_of_resource = resource
            .as_deref()
            .is_none_or(|resource| resource_of(entry).is_some_and(|own| is_resource(own, resource)));
        is_of_run && is_of_user && is_of_resource
    }

    /// Returns the lines that have come together, if there are enough of them.
    pub(crate) fn full_chunk(&mut self) -> Option<String> {
        (self.lines.len() >= CHUNK).then(|| std::mem::take(&mut self.lines))
    }

    /// Returns the run of the filter, if no line of the log is of that run.
    pub(crate) fn missing_run(&self) -> Option<&str> {
        self.filter.run.as_deref().filter(|_| !self.has_run)
    }

    /// Returns the places of lines that can't be read.
    pub(crate) fn unreadable(&self) -> &[(String, u64)] {
        &self.unreadable
    }

    /// Returns the number of entries before the listed ones.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the text, with times of a zone.
    pub(crate) fn text(self, zone: &LocalZone) -> String {
        let mut text = self.lines;
        for LogRow { time, text: row, end } in self.rows {
            let time = parse_timestamp(&time).map_or(time, |time| zone.display(time));
            let end = if end.is_empty() { end } else { format!(": {end}") };
            text += &escape_control(&format!("{time}  {row}{end}"));
            text.push('\n');
        }
        text
    }
}

/// Returns the id of the newest run.
pub(crate) fn last_run(
    session: &Session,
    directory: Option<&Path>,
) -> Result<Option<String>, AuditAccessError> {
    let mut last = None;
    session.governance().read_audit(directory, &mut |line| {
        if let AuditLine::Line(_, line) = line
            && let AuditEntry::RunBegun { run, .. } = line.entry
        {
            last = Some(run);
        }
    })?;
    Ok(last)
}

fn is_by(by: &Actor, user: &str) -> bool {
    by.user == user || by.sudo_user.as_deref() == Some(user)
}

fn has_user(entry: &AuditEntry, name: &str) -> bool {
    match entry {
        AuditEntry::Intent { user, by, .. } => user == name || by.as_ref().is_some_and(|by| is_by(by, name)),
        AuditEntry::Refused { by, .. } => by.as_ref().is_some_and(|by| is_by(by, name)),
        AuditEntry::Approval { approver, .. } => approver.as_deref() == Some(name),
        _ => false,
    }
}

fn run_of(entry: &AuditEntry) -> Option<&str> {
    match entry {
        AuditEntry::RunBegun { run, .. }
        | AuditEntry::RunEnded { run, .. }
        | AuditEntry::Intent { run, .. }
        | AuditEntry::Refused { run, .. }
        | AuditEntry::Change { run, .. }
        | AuditEntry::Resource { run, .. } => Some(run),
        _ => None,
    }
}

fn resource_of(entry: &AuditEntry) -> Option<&str> {
    match entry {
        AuditEntry::Intent { resource, .. } | AuditEntry::Refused { resource, .. } => resource.as_deref(),
        AuditEntry::Change { resource, .. } | AuditEntry::Resource { resource, .. } => Some(resource),
        _ => None,
    }
}

fn is_resource(resource: &str, named: &str) -> bool {
    resource == named || resource.split_once('#').is_some_and(|(_, name)| name == named)
}

/// Returns the row of an entry. Seals, and ends that stand behind their command, have none.
fn row(line: &Line) -> Option<LogRow> {
    let short = |run: &str| run.chars().take(SHORT_ID).collect::<String>();
    let about =
        |resource: &Option<String>| resource.as_ref().map(|name| format!("{name}, ")).unwrap_or_default();
    let text = match &line.entry {
        AuditEntry::RunBegun { run, manifest, noop, source, by, .. } => {
            let noop = if *noop { " in noop" } else { "" };
            let version = source.as_ref().map(|source| format!(", {}", source.version)).unwrap_or_default();
            format!("run {} began{noop}: {manifest}{version}, by {}", short(run), actor(by))
        }
        AuditEntry::RunEnded { run, exit_code, changed, failed } => {
            format!("run {} ended: exit code {exit_code}, {changed} changed, {failed} failed", short(run))
        }
        AuditEntry::Intent { purpose, resource, argv, user, image, verdict, .. } => {
            let image = image.as_ref().map(|image| format!(" in {image}")).unwrap_or_default();
            let (about, judged) = (about(resource), judged(verdict));
            format!("  {about}{purpose} as {user}{image}: {}{judged}", command(argv))
        }
        AuditEntry::Refused { purpose, resource, argv, reason, .. } => {
            let command = if argv.is_empty() { String::new() } else { format!(": {}", command(argv)) };
            format!("  {}{purpose} refused{command}: {reason}", about(resource))
        }
        AuditEntry::Change { resource, verdict, .. } => format!("  {resource}, change{}", judged(verdict)),
        AuditEntry::Resource { resource, outcome, error, checks, .. } => {
            let error = error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            let checks: Vec<String> =
                checks.iter().map(|check| format!("{} {}", check.name, check.status)).collect();
            let checks = if checks.is_empty() { String::new() } else { format!(" ({})", checks.join(", ")) };
            format!("  {resource} {outcome}{error}{checks}")
        }
        AuditEntry::Approval { intent, event, approver, reason } => {
            let by = approver.as_ref().map(|approver| format!(" by {approver}")).unwrap_or_default();
            let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("  approval of {intent} {event}{by}{reason}")
        }
        AuditEntry::ForwardFailed { receiver, seal, reason } => {
            format!("seal {seal} was not forwarded to {receiver}: {reason}")
        }
        AuditEntry::LogBegun { machine, .. } => format!("log of {machine} began"),
        AuditEntry::Repaired { bytes, .. } => format!("an incomplete line of {bytes} bytes was cut off"),
        AuditEntry::Retired { segment, lines, .. } => {
            format!("file {segment} with {lines} lines was removed")
        }
        _ => return None,
    };
    Some(LogRow { time: line.time.clone(), text, end: String::new() })
}

fn actor(by: &Actor) -> String {
    match (&by.unit, &by.sudo_user) {
        (Some(unit), _) => unit.clone(),
        (None, Some(sudo_user)) if *sudo_user != by.user => format!("{sudo_user} as {}", by.user),
        _ => by.user.clone(),
    }
}

fn judged(verdict: &RecordedVerdict) -> String {
    let RecordedVerdict { verdict, rule, approval } = verdict;
    let approval = approval.as_ref().map(|id| format!(", approval {id}")).unwrap_or_default();
    match (&**verdict, rule) {
        ("none", _) => approval,
        (verdict, Some(rule)) => format!(" [{verdict} by {rule}{approval}]"),
        (verdict, None) => format!(" [{verdict}{approval}]"),
    }
}

fn command(argv: &[String]) -> String {
    let is_plain = |word: &&String| {
        !word.is_empty() && word.chars().all(|at| at.is_alphanumeric() || "-_./:=,+@%[]".contains(at))
    };
    let quoted = |word: &String| match Some(word).filter(is_plain) {
        Some(word) => word.clone(),
        None => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let shown = argv.iter().map(quoted).collect::<Vec<_>>().join(" ");
    if shown.chars().count() <= MAX_COMMAND {
        return shown;
    }
    shown.chars().take(MAX_COMMAND).chain(['…']).collect()
}
