//! Record of a run in the state directory.

use std::time::SystemTime;

use ccm_host::state::Directory;
use ccm_host::{Clock, random, started_by};
use ccm_model::{Event, RunSummary, SessionStarted, SourceVersion, Transaction};
use ccm_report::{
    DiffSpace, GraphSource, Ids, JsonLine, LineEncoder, Recorded, RunIdentity, RunStore, StoredSummary,
};

use crate::run::{RecordDetail, RunOptions};

/// Ids of a run and its events, their lines, and the file with recorded lines.
pub(crate) struct RunRecord {
    encoder: LineEncoder,
    began: SystemTime,
    /// Id of the newest recorded run at the beginning.
    pub(crate) earlier: Option<String>,
    store: Option<RunStore>,
    diffs: DiffSpace,
    /// Several manifests are one run: only the first of them begins it, and its end is not that of one of them.
    joins: Joins,
}

/// Part of a run that several manifests are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joins {
    /// One manifest is the run.
    Nothing,
    /// The first manifest begins the run.
    First,
    /// The run has begun.
    Later,
}

/// Parts of events that are reported, and not only recorded.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reported {
    /// Lines of JSON.
    pub(crate) lines: bool,
    /// Changes of content as diffs.
    pub(crate) diffs: bool,
}

impl RunRecord {
    /// Creates the id of a run. It is greater than that of the earlier run, even if the clock was set back.
    pub(crate) fn new(
        (manifest, source): (&str, Option<SourceVersion>),
        earlier: Option<String>,
        clock: &dyn Clock,
    ) -> Self {
        let ids = Ids::new(random());
        let ids = match &earlier {
            Some(newest) => ids.after(newest),
            None => ids,
        };
        let began = clock.now();
        let encoder = LineEncoder::new(ids, began, manifest.to_owned(), env!("CARGO_PKG_VERSION"));
        let encoder = encoder.started_by(started_by()).of_source(source);
        Self { encoder, began, earlier, store: None, diffs: DiffSpace::default(), joins: Joins::Nothing }
    }

    /// Lets several manifests be one run.
    pub(crate) fn joining(self) -> Self {
        Self { joins: Joins::First, ..self }
    }

    /// Starts writing. A run without a state directory is not recorded.
    pub(crate) fn begin(&mut self, state: Option<&Directory>, options: &RunOptions) {
        self.diffs = DiffSpace::default();
        let identity = self.encoder.identity();
        self.store = state.map(|state| {
            let store = RunStore::begin(state, identity, options.keep_runs);
            store.with_full_graph(options.record == RecordDetail::Full)
        });
    }

    /// Records an event in the graph of the run. To be called before [`Self::accept`].
    pub(crate) fn accept_graph(&mut self, event: &Event, source: &dyn GraphSource) {
        if let Some(store) = &mut self.store {
            store.record_graph(event, source);
        }
    }

    /// Writes what is collected, before the run waits.
    pub(crate) fn write_out(&mut self) {
        if let Some(store) = &mut self.store {
            store.write_out();
        }
    }

    /// Creates the id of a second run, which verifies that the first one is idempotent.
    pub(crate) fn begin_verification(&mut self, clock: &dyn Clock) {
        self.began = clock.now();
        self.encoder.begin_verification(self.began);
    }

    pub(crate) fn identity(&self) -> &RunIdentity {
        self.encoder.identity()
    }

    /// Records an event. Returns its line if the line was recorded or is requested. The record has diffs that are
    /// not reported; they are removed from the event and its line.
    pub(crate) fn accept(&mut self, event: &mut Event, reported: Reported) -> Option<JsonLine<'_>> {
        if let Event::ArtifactsLeft(artifacts) = event {
            if let Some(store) = &mut self.store {
                store.keep(artifacts);
            }
            return None;
        }
        match (&*event, self.joins) {
            (Event::SessionStarted(_), Joins::Later)
            | (Event::SessionFinished(_), Joins::First | Joins::Later) => return None,
            (Event::SessionStarted(session), joins) => {
                self.began = session.at;
                if joins == Joins::First {
                    self.joins = Joins::Later;
                }
            }
            _ => {}
        }
        if let Some(store) = &mut self.store {
            store.measure(event);
        }
        // The store records few events of an unchanged machine, and encoding the others would cost time.
        let is_stored = self.store.as_ref().is_some_and(|store| store.wants(event));
        if is_stored
            && let Event::ResourceFinished(transaction) = event
            && let Some(diff) = transaction.diff.take()
        {
            return self.accept_diff(transaction, diff, reported);
        }
        if !reported.diffs
            && let Event::ResourceFinished(transaction) = event
        {
            transaction.diff = None;
        }
        if !is_stored && !reported.lines {
            return None;
        }
        let line = self.encoder.encode(event)?;
        if let Some(store) = self.store.as_mut().filter(|_| is_stored) {
            store.accept(&line);
        }
        Some(line)
    }

    /// Records the event of a resource with its diff, which the event keeps if diffs are reported.
    fn accept_diff(
        &mut self,
        transaction: &mut Transaction,
        diff: String,
        reported: Reported,
    ) -> Option<JsonLine<'_>> {
        let store = self.store.as_mut()?;
        let (recorded, reported_diff) = match (self.diffs.take(&diff), reported.diffs) {
            (None, true) => {
                transaction.diff = Some(diff);
                let line = self.encoder.transaction(transaction);
                store.accept(&line);
                return Some(line);
            }
            (Some(shortened), true) => (shortened, Some(diff)),
            (shortened, false) => (shortened.unwrap_or(diff), None),
        };
        transaction.diff = Some(recorded);
        store.accept(&self.encoder.transaction(transaction));
        transaction.diff = reported_diff;
        reported.lines.then(|| self.encoder.transaction_again(transaction))
    }

    /// Returns `true` if the run is recorded.
    pub(crate) fn is_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Returns `true` if something could not be written.
    pub(crate) fn failed(&self) -> bool {
        self.store.as_ref().is_some_and(RunStore::failed)
    }

    /// Ends the record with the exit code of the run.
    pub(crate) fn end(&mut self, summary: &RunSummary, exit_code: u8) -> Option<Recorded> {
        let store = self.store.take()?;
        Some(store.finish(StoredSummary::of(self.encoder.identity(), self.began, summary, exit_code)))
    }

    /// Ends the record of a run that several manifests were.
    pub(crate) fn end_joined(mut self, summary: &RunSummary, exit_code: u8) -> Option<Recorded> {
        self.joins = Joins::Nothing;
        self.accept(&mut Event::SessionFinished(Box::new(summary.clone())), Reported::default());
        self.end(summary, exit_code)
    }

    /// Ends the record of a run whose manifest was refused.
    pub(crate) fn refuse(mut self, errors: &str, exit_code: u8) -> Option<Recorded> {
        let start = SessionStarted {
            at: self.began,
            noop: false,
            monitor_only: false,
            resources: 0,
            host: String::new(),
            manifest: String::new(),
            run_id: String::new(),
            message: None,
        };
        self.accept(&mut Event::SessionStarted(start), Reported::default());
        let store = self.store.take()?;
        Some(store.finish(StoredSummary::refused(self.encoder.identity(), self.began, errors, exit_code)))
    }
}
