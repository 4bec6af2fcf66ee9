//! Counts of what a run did, by verb.

use ccm_model::{Outcome, RunSummary, Transaction, Verb};

use crate::counts::{self, CountedGroup};

/// Number of changes by verb, in the order in which the verbs first came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    done: Vec<(Verb, usize)>,
    would: Vec<(Verb, usize)>,
    /// Number of changes in noop in which a run would fail.
    would_fail: usize,
}

impl Tally {
    /// Counts a resource.
    pub(crate) fn add(&mut self, transaction: &Transaction) {
        let counts = match &transaction.outcome {
            Outcome::Changed | Outcome::Refreshed => &mut self.done,
            Outcome::Failed(failure) if failure.verified => &mut self.done,
            Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. } => &mut self.would,
            _ => return,
        };
        self.would_fail += usize::from(transaction.would_fail);
        let verb = transaction.action.as_ref().map_or(Verb::Change, |action| action.verb);
        match counts.iter_mut().find(|(known, _)| *known == verb) {
            Some((_, count)) => *count += 1,
            None => counts.push((verb, 1)),
        }
    }

    /// Returns the counts of a run that are not zero, such as `7 unchanged; would create 1, change 2`.
    pub(crate) fn counted(&self, run: &RunSummary) -> String {
        let (mut unchanged, mut plain) = (None, Vec::new());
        let (mut done, mut would) = (run.counts.failed_after_change, 0);
        for (group, count) in counts::counted(run) {
            match group {
                CountedGroup::Changed | CountedGroup::Refreshed => done += count,
                CountedGroup::WouldChange | CountedGroup::WouldRefresh => would += count,
                CountedGroup::Unchanged => unchanged = Some(format!("{count} {}", group.words())),
                CountedGroup::Failed => plain.push(failed(count, run.counts.failed_after_change)),
                // Nothing else was to be done.
                CountedGroup::Skipped if run.monitor_only => {}
                CountedGroup::SkippedAfterFailure | CountedGroup::Skipped => {
                    plain.push(format!("{count} {}", group.words()));
                }
            }
        }
        let done = completed(&self.done, done).map(|counts| listed(&counts, Verb::past));
        let would = completed(&self.would, would);
        let would = would.map(|counts| {
            let would_fail = match self.would_fail {
                0 => String::new(),
                count => format!(" ({count} would fail now)"),
            };
            format!("would {}{would_fail}", listed(&counts, Verb::infinitive))
        });
        let plain = (!plain.is_empty()).then(|| plain.join(", "));
        [unchanged, done, would, plain].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// Returns the number of failed resources, of which some were changed before.
fn failed(count: usize, after_change: usize) -> String {
    let after = match after_change {
        0 => return format!("{count} failed"),
        1 => "after its change",
        _ => "after their changes",
    };
    if count == after_change {
        format!("{count} failed {after}")
    } else {
        format!("{count} failed, {after_change} of them {after}")
    }
}

/// Returns the counts of each verb. Changes whose events are lost count as changes.
fn completed(counts: &[(Verb, usize)], total: usize) -> Option<Vec<(Verb, usize)>> {
    let known: usize = counts.iter().map(|(_, count)| count).sum();
    let mut counts = counts.to_vec();
    if let Some(lost) = total.checked_sub(known).filter(|lost| *lost > 0) {
        match counts.iter_mut().find(|(verb, _)| *verb == Verb::Change) {
            Some((_, count)) => *count += lost,
            None => counts.push((Verb::Change, lost)),
        }
    }
    Some(counts).filter(|counts| !counts.is_empty())
}

fn listed(counts: &[(Verb, usize)], word: fn(Verb) -> &'static str) -> String {
    counts.iter().map(|(verb, count)| format!("{} {count}", word(*verb))).collect::<Vec<_>>().join(", ")
}
