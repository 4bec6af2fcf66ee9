//! Strip of all resources, in the order of the run.

use serde::Serialize;

use super::Run;
use crate::card::Link;
use crate::outcome::{LegendEntry, Mark};
use crate::text::counted;

/// Number of resources from which on equal ones in a row share a mark, unless they failed.
const MAX_SINGLE: usize = 1000;
/// Number of equal resources in a row that share a mark.
const MIN_SHARED: usize = 12;

#[derive(Serialize)]
struct StripCell {
    /// The resource. `None` of several equal ones.
    link: Option<Link>,
    mark: Mark,
    /// Number of resources.
    count: usize,
}

#[derive(Serialize)]
pub(super) struct Strip {
    title: String,
    legend: Vec<LegendEntry>,
    cells: Vec<StripCell>,
}

impl Strip {
    pub(super) fn of(run: &Run<'_>) -> Self {
        let order = run.order();
        let count = |mark: Mark| order.iter().filter(|at| run.mark(**at) == mark).count();
        let legend =
            Mark::ALL.into_iter().map(|mark| LegendEntry { mark, word: mark.word(), count: count(mark) });
        let mut cells: Vec<StripCell> = Vec::new();
        let is_long = order.len() > MAX_SINGLE;
        for row in order.chunk_by(|one, other| run.mark(*one) == run.mark(*other)) {
            let mark = row.first().map_or(Mark::Same, |at| run.mark(*at));
            if is_long && row.len() >= MIN_SHARED && mark != Mark::Failed {
                cells.push(StripCell { link: None, mark, count: row.len() });
            } else {
                let cell =
                    |at: &usize| StripCell { link: Some(run.link(*at)), mark: run.mark(*at), count: 1 };
                cells.extend(row.iter().map(cell));
            }
        }
        Self {
            title: counted(order.len(), "resource"),
            legend: legend.filter(|entry| entry.count > 0).collect(),
            cells,
        }
    }
}
