//! Page of a push: all hosts, and what was done on them, each set of changes once.

use std::time::SystemTime;

use ccm_host::LocalZone;
use ccm_model::{Transaction, TransactionLine};
use ccm_report::RecordedOutcome;
use serde::Serialize;

use crate::card::{Card, CardSpace, OutputLines};
use crate::door::{PageError, render};
use crate::outcome::{LegendEntry, Mark};
use crate::text::{anchor, counted, shortened};

/// Maximum number of sets of changes with cards.
const MAX_SETS: usize = 100;
/// Maximum number of cards of a page.
const MAX_CARDS: usize = 400;

/// Push of a manifest to hosts.
#[derive(Debug)]
pub struct HostsView<'v> {
    /// Manifest, source or command that was pushed.
    pub subject: &'v str,
    /// Time of its beginning.
    pub began: SystemTime,
    /// Result in a line, such as `3 hosts: 2 changed, 1 not reached`.
    pub sentence: String,
    /// Reason for which the push ended early.
    pub halted: Option<&'static str>,
    /// Nothing was changed.
    pub is_noop: bool,
    /// All hosts, in their order.
    pub hosts: Vec<HostView<'v>>,
    /// Sets of changes, in the order in which they are shown.
    pub sets: Vec<HostSetView<'v>>,
}

/// Host of a push.
#[derive(Debug)]
pub struct HostView<'v> {
    /// Name in the inventory.
    pub name: &'v str,
    /// End of its part in the push.
    pub outcome: HostOutcome,
    /// Result in a few words.
    pub result: String,
    /// Position of its set of changes, if it has one.
    pub set: Option<usize>,
    /// Lines about a failure without a run.
    pub details: Vec<String>,
    /// Advice on that failure.
    pub hints: Vec<String>,
    /// Codes of requests for an approval.
    pub codes: &'v [String],
    /// Version of its ccm.
    pub version: Option<&'v str>,
    /// Run there.
    pub run_id: Option<&'v str>,
}

/// End of a host's part in a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostOutcome {
    /// The run failed, or there was none.
    Failed,
    /// ssh did not connect.
    Unreachable,
    /// The run changed something or, in noop, would.
    Changed,
    /// The run changed nothing.
    Unchanged,
    /// The push ended before.
    NotBegun,
}

/// Changes and failures that several hosts share.
#[derive(Debug)]
pub struct HostSetView<'v> {
    /// Number of changes and failures, such as `2 changes, 1 failure`.
    pub title: String,
    /// Positions of the hosts.
    pub hosts: &'v [usize],
    /// Changed, failed and depending resources, in their order.
    pub transactions: &'v [Transaction],
    /// Lines that commands have printed.
    pub output: Vec<&'v str>,
}

#[derive(Serialize)]
struct HostLink<'v> {
    mark: Mark,
    name: &'v str,
    anchor: String,
}

#[derive(Serialize)]
struct HostRow<'v> {
    link: HostLink<'v>,
    result: &'v str,
    set: Option<String>,
    details: Vec<String>,
    hints: Vec<String>,
    codes: &'v [String],
    version: &'v str,
    run_id: &'v str,
}

#[derive(Serialize)]
struct HostSet<'v> {
    anchor: String,
    title: String,
    hosts: Vec<HostLink<'v>>,
    cards: Vec<Card>,
    /// Cards that are left out.
    more: Option<String>,
    output: Option<OutputLines>,
}

#[derive(Serialize)]
struct HostsPage<'v> {
    title: String,
    subject: &'v str,
    began: String,
    mark: Mark,
    outcome: &'static str,
    sentence: &'v str,
    halted: Option<&'static str>,
    legend: Vec<LegendEntry>,
    changes_title: &'static str,
    sets: Vec<HostSet<'v>>,
    more_sets: Option<String>,
    /// Hosts with details or requests for an approval.
    troubled: Vec<HostRow<'v>>,
    hosts: Vec<HostRow<'v>>,
    version: &'static str,
}

impl HostOutcome {
    /// Every outcome, in the order of importance.
    const ALL: [Self; 5] = [Self::Failed, Self::Unreachable, Self::Changed, Self::Unchanged, Self::NotBegun];

    fn mark(self, is_noop: bool) -> Mark {
        match self {
            Self::Failed => Mark::Failed,
            Self::Unreachable => Mark::Unmet,
            Self::Changed if is_noop => Mark::Would,
            Self::Changed => Mark::Changed,
            Self::Unchanged => Mark::Same,
            Self::NotBegun => Mark::Open,
        }
    }

    fn word(self, is_noop: bool) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Unreachable => "not reached",
            Self::Changed if is_noop => "would change",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::NotBegun => "not begun",
        }
    }
}

/// Returns the page of a push.
pub fn hosts_page(view: &HostsView<'_>, zone: &LocalZone) -> Result<String, PageError> {
    let count = |outcome| view.hosts.iter().filter(|host| host.outcome == outcome).count();
    let legend = HostOutcome::ALL.into_iter().map(|outcome| LegendEntry {
        mark: outcome.mark(view.is_noop),
        word: outcome.word(view.is_noop),
        count: count(outcome),
    });
    let legend: Vec<LegendEntry> = legend.filter(|entry| entry.count > 0).collect();
    let first = legend.first();
    let cards = view.sets.iter().map(|set| set.transactions.len()).sum::<usize>().min(MAX_CARDS);
    let (mut space, mut left) = (CardSpace::of(cards), MAX_CARDS);
    let sets = view.sets.iter().take(MAX_SETS).enumerate();
    let sets = sets.map(|(at, set)| host_set(view, (at, set), &mut space, &mut left)).collect();
    let is_troubled =
        |host: &&HostView<'_>| !(host.details.is_empty() && host.hints.is_empty() && host.codes.is_empty());
    let rows = |troubled: bool| {
        let hosts = view.hosts.iter().enumerate().filter(move |(_, host)| !troubled || is_troubled(host));
        hosts.map(|(at, _)| host_row(view, at)).collect()
    };
    let page = HostsPage {
        title: format!("{} – ccm push {}", view.sentence, view.subject),
        subject: view.subject,
        began: zone.display(view.began),
        mark: first.map_or(Mark::Same, |entry| entry.mark),
        outcome: first.map_or("no host", |entry| entry.word),
        sentence: &view.sentence,
        halted: view.halted,
        changes_title: if view.is_noop { "What would be done" } else { "What was done" },
        sets,
        more_sets: view.sets.len().checked_sub(MAX_SETS + 1).map(|more| counted(more + 1, "more set")),
        troubled: rows(true),
        hosts: rows(false),
        legend,
        version: env!("CARGO_PKG_VERSION"),
    };
    render("hosts.html", &page)
}

fn link<'v>(view: &HostsView<'v>, at: usize) -> HostLink<'v> {
    let host = &view.hosts[at];
    HostLink { mark: host.outcome.mark(view.is_noop), name: host.name, anchor: format!("host-{}", at + 1) }
}

fn host_row<'v>(view: &'v HostsView<'v>, at: usize) -> HostRow<'v> {
    let host = &view.hosts[at];
    let short = |lines: &[String]| lines.iter().map(|line| shortened(line)).collect();
    HostRow {
        link: link(view, at),
        result: &host.result,
        set: host.set.filter(|set| *set < MAX_SETS).map(set_anchor),
        details: short(&host.details),
        hints: short(&host.hints),
        codes: host.codes,
        version: host.version.unwrap_or_default(),
        run_id: host.run_id.unwrap_or_default(),
    }
}

fn set_anchor(at: usize) -> String {
    format!("set-{}", at + 1)
}

fn host_set<'v>(
    view: &'v HostsView<'v>,
    (at, set): (usize, &HostSetView<'_>),
    space: &mut CardSpace,
    left: &mut usize,
) -> HostSet<'v> {
    let hosts: Vec<HostLink<'v>> = set.hosts.iter().map(|host| link(view, *host)).collect();
    let first = hosts.first().map_or("", |host| host.name);
    let shown = set.transactions.len().min(*left);
    *left -= shown;
    let mut cards = Vec::with_capacity(shown);
    for (position, transaction) in set.transactions.iter().take(shown).enumerate() {
        let mark = Mark::of(Some(RecordedOutcome::from(&transaction.outcome)));
        // A resource may be in several sets.
        let anchor = format!("{}-{}", set_anchor(at), anchor(&transaction.id, position));
        let mut card = Card::new(&transaction.id, mark, anchor, format!("ccm history last, on {first}"));
        card.is_open = mark == Mark::Failed;
        card.took(transaction.duration);
        card.describe(&TransactionLine::from(transaction));
        card.fit(space);
        cards.push(card);
    }
    let left_out = set.transactions.len() - shown;
    HostSet {
        anchor: set_anchor(at),
        title: format!("{}: {}", counted(hosts.len(), "host"), set.title),
        hosts,
        cards,
        more: (left_out > 0).then(|| counted(left_out, "more resource")),
        output: OutputLines::of("output", &set.output),
    }
}
