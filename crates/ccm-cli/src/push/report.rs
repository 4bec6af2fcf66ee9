//! The report of a push as text: groups of the same changes, failures, hosts that were not reached.

use std::io::{self, Write, stdout};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::AutoStream;
use ccm_push::{ChangeSet, EndCause, Halt};
use ccm_runtime::model::{Event, Outcome, OutputLine, Stream};
use ccm_runtime::report::{TextOptions, TextReport, Verbosity};

use super::ends::EndDetail;
use super::{HostResult, PushResult, PushedHost, ends};
use crate::colour::coloured;
use crate::listeners::report_screen;

/// Maximum number of hosts that a group names.
const MAX_NAMES: usize = 60;

/// Returns the report.
pub(super) fn text(result: &PushResult) -> String {
    let mut text = String::new();
    for set in result.sets.by_size() {
        text += &group(result, set);
    }
    text += &early_ends(result);
    text += &approvals(result);
    text += &not_begun(result);
    text += &format!("{}\n", totals(result));
    text
}

/// Returns the group of all hosts with the same changes.
fn group(result: &PushResult, set: &ChangeSet) -> String {
    let names: Vec<&str> = set.hosts.iter().map(|at| &*result.hosts[*at].name).collect();
    let mut text = format!("{}: {}\n", counted(names.len(), "host"), changes_in_short(result, set));
    text += &named(&names);
    text += &events(set);
    text + "\n"
}

/// Returns what a set of changes is, such as `2 changes, 1 failure`.
pub(super) fn changes_in_short(result: &PushResult, set: &ChangeSet) -> String {
    let is = |matches: fn(&Outcome) -> bool| {
        set.changes.transactions.iter().filter(|found| matches(&found.outcome)).count()
    };
    let changes = is(Outcome::is_change);
    let failures = is(|outcome| matches!(outcome, Outcome::Failed(_)));
    let mut parts = Vec::new();
    if changes > 0 {
        let verb = if result.is_noop { "would be made" } else { "" };
        parts.push(format!("{} {verb}", counted(changes, "change")).trim().to_owned());
    }
    if failures > 0 {
        parts.push(counted(failures, "failure"));
    }
    if set.changes.ended_early {
        parts.push("ended early".to_owned());
    }
    if parts.is_empty() {
        parts.push("unchanged".to_owned());
    }
    parts.join(", ")
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Returns names, indented, as many as a person reads.
fn named(names: &[&str]) -> String {
    let mut shown = names[..names.len().min(MAX_NAMES)].join(", ");
    if names.len() > MAX_NAMES {
        shown += &format!(" and {} more, which `--output json` names", names.len() - MAX_NAMES);
    }
    report_screen().folded(&format!("  {shown}\n")).into_owned()
}

/// Returns the changes as a run on this machine reports them.
fn events(set: &ChangeSet) -> String {
    let buffer = SharedBuffer::default();
    let out = coloured(buffer.clone(), AutoStream::choice(&stdout()));
    let options =
        TextOptions { verbosity: Verbosity::Normal, screen: report_screen(), ..TextOptions::default() };
    let mut report =
        TextReport::new(out, options).with_resources(set.changes.transactions.iter().map(|found| &found.id));
    if let Some(first) = set.changes.transactions.first() {
        for line in set.changes.outputs.iter().flat_map(|output| &output.lines) {
            let output = OutputLine { id: first.id.clone(), stream: Stream::Stdout, line: line.clone() };
            report.accept(&Event::OutputReceived(output));
        }
    }
    for transaction in &set.changes.transactions {
        report.accept(&Event::ResourceFinished(Box::new(transaction.clone())));
    }
    // A buffer takes everything.
    let _ = report.finish();
    buffer.text()
}

/// Returns the hosts on which no run ended, with their reasons. Hosts with the same reason share it.
fn early_ends(result: &PushResult) -> String {
    let mut groups: Vec<(String, String, Vec<&str>)> = Vec::new();
    for host in &result.hosts {
        let Some(end) = host.end.as_ref().filter(|end| !matches!(end.cause, EndCause::Ran(_))) else {
            continue;
        };
        let mut text = format!("{}\n", ends::without_run(&end.cause));
        for line in ends::details(end) {
            text += &match line {
                EndDetail::Line(line) => format!("  {line}\n"),
                EndDetail::Hint(hint) => format!("  hint: {hint}\n"),
            };
        }
        if let Some((.., names)) = groups.iter_mut().find(|(known, ..)| *known == text) {
            names.push(&host.name);
            continue;
        }
        // A hint that names a host names the first.
        let hint = ends::hint(&end.cause, host).map(|hint| format!("  hint: {hint}\n"));
        groups.push((text, hint.unwrap_or_default(), vec![&host.name]));
    }
    let group = |(text, hint, names): &(String, String, Vec<&str>)| match &names[..] {
        [name] => format!("{name}: {text}{hint}"),
        names => format!("{}: {text}{hint}{}", counted(names.len(), "host"), named(names)),
    };
    let text: String = groups.iter().map(group).collect();
    if text.is_empty() { text } else { text + "\n" }
}

/// Returns what waits for an approval on each host.
fn approvals(result: &PushResult) -> String {
    let mut text = String::new();
    for PushedHost { name, end, .. } in &result.hosts {
        for code in end.iter().flat_map(|end| &end.codes) {
            text += &format!("{name}: {code} waits for an approval\n");
        }
    }
    if text.is_empty() {
        return text;
    }
    text + "  hint: `ssh HOST ccm approvals export CODE > statement` brings a statement here to sign; see docs/use/approvals.md\n\n"
}

fn not_begun(result: &PushResult) -> String {
    let names: Vec<_> =
        result.hosts.iter().filter(|host| host.end.is_none()).map(|host| &*host.name).collect();
    if names.is_empty() {
        return String::new();
    }
    let reason = halt_reason(result.halt);
    format!("{} not begun, because {reason}\n{}\n", counted(names.len(), "host"), named(&names))
}

/// Returns the reason for which hosts were not begun.
pub(super) fn halt_reason(halt: Option<Halt>) -> &'static str {
    match halt {
        Some(Halt::Canary) => "a canary failed",
        Some(Halt::Failures) => "too many hosts failed",
        Some(Halt::Interrupted) | None => "the push was interrupted",
    }
}

/// Returns the last line, such as `50 hosts: 41 changed, 8 unchanged, 1 not reached`.
pub(super) fn totals(result: &PushResult) -> String {
    let ends: Vec<_> = result.hosts.iter().map(|host| host.end.as_ref()).collect();
    let count =
        |matches: &dyn Fn(Option<&HostResult>) -> bool| ends.iter().filter(|end| matches(**end)).count();
    let changed = if result.is_noop { "would change" } else { "changed" };
    let is_good = |end: &HostResult| !end.has_failed();
    let parts = [
        (count(&|end| end.is_some_and(|end| is_good(end) && end.has_changed())), changed),
        (count(&|end| end.is_some_and(|end| is_good(end) && !end.has_changed())), "unchanged"),
        (
            count(&|end| end.is_some_and(|end| end.has_failed() && end.cause != EndCause::Unreachable)),
            "failed",
        ),
        (count(&|end| end.is_some_and(|end| end.cause == EndCause::Unreachable)), "not reached"),
        (count(&|end| end.is_none()), "not begun"),
    ];
    let parts: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    format!("{}: {}", counted(ends.len(), "host"), parts.join(", "))
}

/// Buffer that can be read after its writer is gone.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
