//! Selection of recorded runs.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{History, StoredRun};

/// Runs to select: those that match every part of the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Runs that changed something. With `failed`, either is enough.
    pub changed: bool,
    /// Runs that did not succeed: failed, refused, stopped or killed. With `changed`, either is enough.
    pub failed: bool,
    /// Runs of this manifest. A relative path matches the end of the recorded path.
    pub manifest: Option<PathBuf>,
    /// Runs that began at this time or later.
    pub since: Option<SystemTime>,
    /// Maximum number of runs.
    pub limit: Option<usize>,
}

impl RunFilter {
    fn selects(&self, run: &StoredRun) -> bool {
        let result = match (self.changed, self.failed) {
            (false, false) => true,
            (changed, failed) => changed && run.has_changed() || failed && run.has_failed(),
        };
        let manifest = self.manifest.as_deref().is_none_or(|manifest| run.is_of(manifest));
        let since = self.since.is_none_or(|since| run.began().is_none_or(|began| began >= since));
        result && manifest && since
    }
}

impl StoredRun {
    /// Returns `true` if the run changed or refreshed something.
    pub fn has_changed(&self) -> bool {
        self.summary.as_ref().is_some_and(|summary| summary.counts.any_change())
    }

    /// Returns `true` if the run did not succeed. The end of a run that is still going on is not known, so that
    /// run counts as failed.
    pub fn has_failed(&self) -> bool {
        use super::RunOutcome::{Changed, Unchanged};
        self.summary.as_ref().is_none_or(|summary| !matches!(summary.outcome(), Unchanged | Changed))
    }

    /// Returns `true` if this is a run of that manifest. A relative path matches the end of the recorded path.
    pub fn is_of(&self, manifest: &Path) -> bool {
        let recorded = Path::new(self.manifest());
        recorded == manifest || manifest.is_relative() && recorded.ends_with(manifest)
    }
}

impl History {
    /// Returns the runs that a filter selects, the newest first.
    pub fn select(&self, filter: &RunFilter) -> Vec<&StoredRun> {
        let selected = self.runs().iter().filter(|run| filter.selects(run));
        selected.take(filter.limit.unwrap_or(usize::MAX)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use ccm_model::{Counts, display_timestamp};

    use super::*;
    use crate::screen::Screen;
    use crate::store::StoredSummary;

    fn run(manifest: &str, at: u64, changed: usize, failed: usize) -> StoredRun {
        let summary = StoredSummary {
            manifest: manifest.to_owned(),
            begin: display_timestamp(UNIX_EPOCH + Duration::from_secs(at), 2),
            counts: Counts { changed, failed, ..Counts::default() },
            exit_code: if failed > 0 { 4 } else { 0 },
            ..StoredSummary::default()
        };
        StoredRun { id: at.to_string(), start: None, summary: Some(summary), ended: true }
    }

    #[test]
    fn runs_are_selected_by_every_part_of_the_filter() {
        let killed = StoredRun { id: "4".to_owned(), start: None, summary: None, ended: false };
        let runs = vec![
            killed,
            run("/etc/ccm/site.yaml", 30, 0, 1),
            run("/etc/ccm/web.yaml", 20, 1, 0),
            run("/etc/ccm/site.yaml", 10, 0, 0),
        ];
        let history = History { runs, directory: None, path: PathBuf::new(), screen: Screen::default() };
        let all = RunFilter::default;
        let manifest = |path: &str| RunFilter { manifest: Some(path.into()), ..all() };
        let since = |seconds| RunFilter { since: Some(UNIX_EPOCH + Duration::from_secs(seconds)), ..all() };
        for (filter, expected) in [
            (all(), "4 30 20 10"),
            (RunFilter { changed: true, ..all() }, "20"),
            (RunFilter { failed: true, ..all() }, "4 30"),
            (RunFilter { changed: true, failed: true, ..all() }, "4 30 20"),
            (RunFilter { limit: Some(2), ..all() }, "4 30"),
            (RunFilter { failed: true, limit: Some(1), ..all() }, "4"),
            (manifest("/etc/ccm/site.yaml"), "30 10"),
            (manifest("site.yaml"), "30 10"),
            (manifest("ccm/web.yaml"), "20"),
            (manifest("eb.yaml"), ""),
            // The time of a run without a readable record is not known.
            (since(20), "4 30 20"),
        ] {
            let selected: Vec<&str> = history.select(&filter).iter().map(|run| &*run.id).collect();
            assert_eq!(selected.join(" "), expected, "{filter:?}");
        }
    }
}
