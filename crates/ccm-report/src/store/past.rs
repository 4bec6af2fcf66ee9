//! Past of a machine: which resource changed in which run.

use ccm_model::ResourceId;

use super::{History, RecordedOutcome, StoreError, StoredRun};

/// Run in the past of a machine.
#[derive(Clone, Debug)]
pub struct PastRun<'h> {
    /// The run.
    pub run: &'h StoredRun,
    /// Beginning of its id, unique among the recorded runs.
    pub short: &'h str,
    /// Resources that changed, were refreshed or failed, in the order of the run.
    pub outcomes: Vec<(ResourceId, RecordedOutcome)>,
}

/// Past of a machine.
#[derive(Debug)]
pub struct Past<'h> {
    /// Runs, the newest first.
    pub runs: Vec<PastRun<'h>>,
    /// Errors of records that can't be read.
    pub unreadable: Vec<StoreError>,
}

impl History {
    /// Reads what changed and failed in runs. Runs that changed nothing are not read.
    pub fn past<'h>(&'h self, runs: &[&'h StoredRun]) -> Past<'h> {
        let mut past = Past { runs: Vec::with_capacity(runs.len()), unreadable: Vec::new() };
        for run in runs {
            let is_quiet = run.summary.as_ref().is_some_and(|summary| !summary.is_notable());
            let events = if is_quiet { Ok(Vec::new()) } else { self.events(run) };
            let events = events.unwrap_or_else(|error| {
                past.unreadable.push(error);
                Vec::new()
            });
            let outcomes = super::show::transactions(&events).filter(|line| !line.noop).filter_map(|line| {
                let outcome = RecordedOutcome::of_line(line);
                let is_notable = matches!(
                    outcome,
                    RecordedOutcome::Changed | RecordedOutcome::Refreshed | RecordedOutcome::Failed
                );
                is_notable.then(|| (ResourceId::new(&*line.type_name, &*line.name), outcome))
            });
            past.runs.push(PastRun { run, short: self.short(&run.id), outcomes: outcomes.collect() });
        }
        past
    }
}
