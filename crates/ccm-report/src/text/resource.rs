//! Lines of the text report about a resource.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use anstyle::Style;
use ccm_model::{
    CheckStatus, EntryAction, FailureKind, HealthCheckResult, Outcome, Reason, SkipCause, StopCause,
    Transaction, Verb, display_duration, escape_control,
};

use super::Verbosity;
use super::action_words::{self, Words};
use super::layout::{CHANGE, DIM, FAILURE, PLAIN, Page, WARNING, names};
use super::options::RunReference;
use super::refreshes::pending_detail;
use crate::screen::{Screen, columns};

/// Importance of a resource in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Importance {
    /// Nothing was done, and nothing was wrong.
    Nothing,
    /// The resource was changed, or would be.
    Change,
    /// There are warnings.
    Warning,
    /// The resource failed, or was skipped because of a failure.
    Failure,
}

impl Importance {
    /// Returns the importance of a resource.
    pub(crate) fn of(transaction: &Transaction) -> Self {
        match &transaction.outcome {
            Outcome::Failed(_) => Self::Failure,
            Outcome::Skipped { cause } if is_by_failure(cause) => Self::Failure,
            _ if !transaction.warnings.is_empty() || has_warning(transaction) => Self::Warning,
            outcome if outcome.is_change() => Self::Change,
            _ => Self::Nothing,
        }
    }
}

/// Returns `true` if a health check has a warning.
fn has_warning(transaction: &Transaction) -> bool {
    transaction.health_checks.iter().any(|check| check.status == CheckStatus::Warning)
}

/// Returns `true` if a resource was skipped because of a failure, or of a change that is never made.
fn is_by_failure(cause: &SkipCause) -> bool {
    matches!(
        cause,
        SkipCause::DependencyFailed { .. }
            | SkipCause::DependsOnNoop { .. }
            | SkipCause::ManifestEnded { .. }
            | SkipCause::Stopped { by: StopCause::Failed { .. } }
    )
}

/// Widths of the columns of types and names. They grow with what is announced or written, up to a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnWidths {
    kind: usize,
    name: usize,
}

impl ColumnWidths {
    const MAX_KIND: usize = 18;
    const MAX_NAME: usize = 48;

    /// Makes room for a type and a name.
    pub(super) fn widen(&mut self, kind: &str, name: &str) {
        self.kind = self.kind.max(columns(kind)).min(Self::MAX_KIND);
        self.name = self.name.max(columns(name)).min(Self::MAX_NAME);
    }
}

impl Default for ColumnWidths {
    fn default() -> Self {
        Self { kind: "service".len(), name: 24 }
    }
}

/// Smallest width of the column of names on a terminal.
const MIN_NAME: usize = 24;
/// Columns between a name and what was done.
const GAP: usize = 3;
/// Columns from which on names can take more than the smallest width.
const WIDE: usize = 100;

/// Line of a resource.
struct ResourceLine<'a> {
    sign: char,
    style: Style,
    words: Words,
    /// Text that is written below the line if the line has no room for all of it.
    whole: Option<Cow<'a, str>>,
}

pub(super) fn write(
    page: &mut Page<'_>,
    widths: &mut ColumnWidths,
    transaction: &Transaction,
    verbosity: Verbosity,
    run: Option<RunReference<'_>>,
) -> fmt::Result {
    let line = line(page, transaction, verbosity);
    write_line(page, widths, transaction, &line)?;
    entries(page, transaction)?;
    let is_explained = !line.words.why.is_empty() || line.words.is_why;
    details(page, transaction, verbosity, is_explained)?;
    health_checks(page, transaction, verbosity)?;
    if let Outcome::Failed(failure) = &transaction.outcome {
        super::failure::write(page, transaction, failure, run)?;
    }
    if let Some(text) = &transaction.diff {
        page.diff(text)?;
    }
    // The state of an unchanged resource is the desired one.
    if let Some(state) = transaction.state.as_ref().filter(|_| verbosity == Verbosity::Everything)
        && transaction.outcome != Outcome::Unchanged
    {
        page.styled_below(DIM, "state: ", &state.to_string())?;
    }
    Ok(())
}

fn line<'a>(page: &Page<'_>, transaction: &'a Transaction, verbosity: Verbosity) -> ResourceLine<'a> {
    let only = |verb: &str| Words { verb: verb.to_owned(), ..Words::default() };
    match &transaction.outcome {
        Outcome::Unchanged => ResourceLine {
            sign: ' ',
            style: if Importance::of(transaction) == Importance::Nothing { DIM } else { WARNING },
            words: only("unchanged"),
            whole: transaction.reason_text().filter(|_| verbosity >= Verbosity::Verbose).map(Cow::Borrowed),
        },
        Outcome::Failed(failure) => ResourceLine {
            sign: 'x',
            style: FAILURE,
            words: only("failed"),
            whole: failure.chain.first().map(|text| Cow::Borrowed(&**text)),
        },
        Outcome::Skipped { cause } => {
            let whole =
                recorded_cause(transaction).map_or_else(|| format!("{cause:#}").into(), Cow::Borrowed);
            let (sign, style) = if is_by_failure(cause) { ('s', FAILURE) } else { (' ', DIM) };
            ResourceLine { sign, style, words: only("skipped"), whole: Some(whole) }
        }
        _ => ResourceLine {
            sign: sign_of_change(transaction),
            style: CHANGE,
            words: Words::of_change(transaction, page.screen),
            whole: None,
        },
    }
}

/// Writes a line for each changed entry of a tree.
fn entries(page: &mut Page<'_>, transaction: &Transaction) -> fmt::Result {
    let is_done = match &transaction.outcome {
        Outcome::Failed(failure) => failure.verified,
        outcome => outcome.is_change(),
    };
    let Some(action) = transaction.action.as_ref().filter(|_| is_done) else {
        return Ok(());
    };
    let is_noop = matches!(transaction.outcome, Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. });
    let label = |entry: &EntryAction| format!("{} ", sign_of_verb(Some(entry.verb)));
    action.entries.iter().try_for_each(|entry| {
        page.styled_below(CHANGE, &label(entry), &action_words::entry(entry, is_noop, page.screen))
    })
}

fn sign_of_change(transaction: &Transaction) -> char {
    if matches!(transaction.outcome, Outcome::Refreshed | Outcome::WouldRefresh { .. }) {
        return '>';
    }
    sign_of_verb(transaction.action.as_ref().map(|action| action.verb))
}

fn sign_of_verb(verb: Option<Verb>) -> char {
    match verb {
        Some(Verb::Create | Verb::Install) => '+',
        Some(Verb::Remove) => '-',
        Some(Verb::Run) => '!',
        Some(Verb::Restart | Verb::Reload) => '>',
        _ => '~',
    }
}

/// Writes sign, type and name, and behind them what was done.
fn write_line(
    page: &mut Page<'_>,
    widths: &mut ColumnWidths,
    transaction: &Transaction,
    line: &ResourceLine<'_>,
) -> fmt::Result {
    let ResourceLine { sign, style, words, whole } = line;
    let kind = escape_control(&transaction.id.type_name);
    let name = escape_control(&transaction.id.name);
    let whole = whole.as_deref().map(|text| (text, escape_control(text)));
    // A text of several lines is written below.
    let inline =
        whole.as_ref().filter(|(text, _)| !text.trim_end().contains('\n')).map(|(_, escaped)| &**escaped);
    write!(page.out, "  {style}{sign}{style:#} ")?;
    if page.is_narrow() {
        let rest = page.screen.width.map_or(usize::MAX, |width| width.saturating_sub(5 + columns(&kind)));
        writeln!(page.out, "{DIM}{kind}{DIM:#} {}", page.screen.cut(&name, rest))?;
        return write_narrow(page, *style, words, inline);
    }
    widths.widen(&kind, &name);
    let kind_pad = widths.kind.saturating_sub(columns(&kind)) + 2;
    write!(page.out, "{DIM}{kind}{DIM:#}{:kind_pad$}", "")?;
    let free = page.screen.width.map(|width| width.saturating_sub(4 + columns(&kind) + kind_pad));
    let mut remark = words.in_parentheses(true);
    let mut needed = columns(&words.verb) + columns_behind(inline.unwrap_or(&words.what), &remark);
    let placement = NamePlacement::new(page.screen, &name, widths.name, free);
    let mut why = None;
    if placement.room < needed && !words.why.is_empty() {
        // What was done matters more than why.
        remark = words.in_parentheses(false);
        needed = columns(&words.verb) + columns_behind(&words.what, &remark);
        why = Some(&words.why);
    }
    let NamePlacement { shown, pad, room } = placement;
    write!(page.out, "{shown}{:pad$}{style}{}{style:#}", "", words.verb)?;
    let rest = if *style == DIM { DIM } else { PLAIN };
    match whole {
        Some((_, escaped)) if inline.is_some() && needed <= room => {
            writeln!(page.out, ": {rest}{escaped}{rest:#}")
        }
        Some((text, _)) if !text.is_empty() => {
            page.out.push('\n');
            page.styled_below(rest, "", text)
        }
        _ if !words.is_command && needed > room => {
            page.out.push('\n');
            let remark = if remark.is_empty() { remark } else { format!(" ({remark})") };
            page.below("", &format!("{}{remark}", words.what))?;
            why.map_or(Ok(()), |why| because(page, why))
        }
        _ => {
            write_behind(page, &words.what, &remark, room.saturating_sub(columns(&words.verb)))?;
            page.out.push('\n');
            why.map_or(Ok(()), |why| because(page, why))
        }
    }
}

/// Writes why something is done. On a terminal, a name that is longer than a line is cut.
fn because(page: &mut Page<'_>, why: &str) -> fmt::Result {
    let why = fitting(page, why);
    page.styled_below(DIM, "because: ", &why)
}

/// Cuts each word of a text that does not fit on a line of details.
fn fitting(page: &Page<'_>, text: &str) -> String {
    let room = page.screen.width.map_or(usize::MAX, |width| width.saturating_sub(page.indent() + 4));
    text.split(' ').map(|word| page.screen.cut(word, room)).collect::<Vec<_>>().join(" ")
}

/// Placement of the words behind a name.
struct NamePlacement<'a> {
    /// The name, as far as it is shown.
    shown: Cow<'a, str>,
    /// Blanks behind the name.
    pad: usize,
    /// Columns for the words.
    room: usize,
}

impl<'a> NamePlacement<'a> {
    /// Puts the words below those of other lines. On a terminal, a name that is longer than its column is cut.
    fn new(screen: Screen, name: &'a str, column: usize, free: Option<usize>) -> Self {
        let Some(free) = free else {
            let pad = column.saturating_sub(columns(name)) + GAP;
            return Self { shown: Cow::Borrowed(name), pad, room: usize::MAX };
        };
        // The words need the greater part of the line.
        let column = column.min(if free < WIDE { MIN_NAME } else { free * 2 / 5 });
        let shown = screen.cut(name, column);
        let pad = column.saturating_sub(columns(&shown)) + GAP;
        Self { shown, pad, room: free.saturating_sub(column + GAP) }
    }
}

/// Returns the columns behind the verb.
fn columns_behind(what: &str, remark: &str) -> usize {
    let of_part = |text: &str, around: usize| if text.is_empty() { 0 } else { columns(text) + around };
    of_part(what, 2) + of_part(remark, 3)
}

/// Writes what was done, cut to the room that is left.
fn write_behind(page: &mut Page<'_>, what: &str, remark: &str, room: usize) -> fmt::Result {
    if !what.is_empty() {
        let for_what = room.saturating_sub(2 + columns_behind("", remark));
        write!(page.out, ": {}", page.screen.cut(what, for_what))?;
    }
    if !remark.is_empty() {
        write!(page.out, " ({remark})")?;
    }
    Ok(())
}

/// Writes what was done below the name, on a screen without room for both on one line.
fn write_narrow(page: &mut Page<'_>, style: Style, words: &Words, whole: Option<&str>) -> fmt::Result {
    /// Number of lines that a command takes at most.
    const MAX_LINES: usize = 4;
    let width = page.screen.width.unwrap_or(usize::MAX);
    let Words { verb, what, .. } = words;
    let remark = words.in_parentheses(true);
    let mut text = verb.clone();
    if let Some(whole) = whole {
        text += &format!(": {whole}");
    } else if !what.is_empty() {
        text += &format!(": {}", page.screen.cut(what, width.saturating_mul(MAX_LINES)));
    }
    if !remark.is_empty() {
        text += &format!(" {}", fitting(page, &format!("({remark})")));
    }
    let indent = page.indent();
    page.text(style, indent, &text)
}

/// Writes a line for each health check with a warning, and if asked for, for those that are ok. The failure of a resource
/// names the others.
fn health_checks(page: &mut Page<'_>, transaction: &Transaction, verbosity: Verbosity) -> fmt::Result {
    let shown = transaction.health_checks.iter().filter(|check| match check.status {
        CheckStatus::Ok => verbosity >= Verbosity::Verbose,
        CheckStatus::Warning => true,
        CheckStatus::Critical | CheckStatus::Unknown => false,
    });
    shown.into_iter().try_for_each(|check| {
        let style = if check.status == CheckStatus::Ok { DIM } else { WARNING };
        page.styled_below(style, "health check ", &check_text(check))
    })
}

/// Returns name, status and output of a health check, and how long it took to get there.
fn check_text(check: &HealthCheckResult) -> String {
    let HealthCheckResult { name, tries, duration, .. } = check;
    let tries = match tries {
        0 | 1 => String::new(),
        tries => format!(" ({tries} tries in {})", display_duration(*duration)),
    };
    format!("`{name}` {}{tries}", check.verdict())
}

/// Returns the cause of a skipped resource in the record of an earlier version, which holds only its text.
fn recorded_cause(transaction: &Transaction) -> Option<&str> {
    let is_skipped = matches!(transaction.outcome, Outcome::Skipped { .. });
    let recorded =
        transaction.reason.as_ref().filter(|reason| is_skipped && reason.rule == Reason::UNKNOWN_RULE);
    recorded.map(|reason| &*reason.text)
}

/// Writes what else is known of a resource. `is_explained` says that its line has told why something is done.
fn details(
    page: &mut Page<'_>,
    transaction: &Transaction,
    verbosity: Verbosity,
    is_explained: bool,
) -> fmt::Result {
    let outcome = &transaction.outcome;
    // The line of a change names its triggers.
    if !transaction.triggered_by.is_empty() && !outcome.is_change() {
        page.below("triggered by: ", &names(&transaction.triggered_by))?;
    }
    transaction.pending_refreshes.iter().try_for_each(|pending| pending_detail(page, pending))?;
    // What was in its desired state did not fail because of that.
    let is_unhealthy = matches!(outcome, Outcome::Failed(failure) if failure.kind == FailureKind::HealthCheck && !failure.changed);
    let is_shown_above = *outcome == Outcome::Unchanged
        || is_explained
        || is_unhealthy
        || recorded_cause(transaction).is_some()
        || matches!(outcome, Outcome::WouldChange { message } | Outcome::WouldRefresh { message }
            if Some(&**message) == transaction.reason_text() && transaction.action.is_none());
    if verbosity >= Verbosity::Verbose
        && let Some(reason) = transaction.reason_text().filter(|_| !is_shown_above)
    {
        let label = if matches!(outcome, Outcome::Failed(_)) { "tried because: " } else { "because: " };
        page.styled_below(DIM, label, reason)?;
    }
    transaction.warnings.iter().try_for_each(|warning| page.styled_below(WARNING, "warning: ", warning))?;
    transaction.notes.iter().try_for_each(|note| page.below("", note))
}
