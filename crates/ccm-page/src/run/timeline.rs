//! Timeline: when the resources were worked on, and what each waited for.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use ccm_model::display_duration;
use serde::Serialize;

use super::Run;
use crate::card::Link;
use crate::text::counted;

/// Maximum number of rows.
const MAX_ROWS: usize = 60;
/// Part of the run that a resource has to take for a row of its own.
const MIN_PART: u32 = 100;
/// Number of parts of the width.
const WIDTH: f64 = 1000.0;
/// Height of a row in pixels, which the style has as well.
const ROW: usize = 24;
/// Space above a bar in its row.
const BAR_TOP: usize = 6;
/// Number of parts of the axis.
const TICKS: u32 = 4;

#[derive(Serialize)]
struct TimelineRow {
    link: Link,
    duration: String,
    x: u32,
    width: u32,
    y: usize,
    is_critical: bool,
}

#[derive(Serialize)]
pub(super) struct Timeline {
    rows: Vec<TimelineRow>,
    /// Lines from the end of a dependency to the beginning of what waited for it.
    arrows: String,
    height: usize,
    ticks: Vec<String>,
    /// Resources that are not shown.
    left_out: Option<String>,
    critical: Vec<Link>,
    critical_duration: String,
    duration: String,
}

impl Timeline {
    pub(super) fn of(run: &Run<'_>) -> Option<Self> {
        let graph = &run.view.graph;
        let total = graph.duration();
        if total.is_zero() {
            return None;
        }
        let critical = graph.critical_path();
        let on_path: BTreeSet<usize> = critical.nodes.iter().copied().collect();
        let shown = shown(run, &on_path);
        let rows_by_position: HashMap<usize, usize> =
            shown.iter().enumerate().map(|(row, at)| (*at, row)).collect();
        let mut rows = Vec::new();
        let mut arrows = String::new();
        for (row, at) in shown.iter().enumerate() {
            let Some(result) = &graph.nodes[*at].result else { continue };
            let (x, end) = (part(result.begin, total), part(result.end(), total));
            rows.push(TimelineRow {
                link: run.link(*at),
                duration: display_duration(result.duration),
                x,
                width: end.saturating_sub(x).max(3),
                y: row * ROW + BAR_TOP,
                is_critical: on_path.contains(at),
            });
            let from = graph.unblocked_by(*at).and_then(|on| Some((rows_by_position.get(&on)?, on)));
            if let Some((from_row, on)) = from
                && let Some(before) = &graph.nodes[on].result
            {
                let from_x = part(before.end(), total);
                let (from_y, to_y) = (from_row * ROW + ROW / 2, row * ROW + ROW / 2);
                arrows += &format!("M{from_x} {from_y}V{to_y}H{x}");
            }
        }
        Some(Self {
            height: rows.len() * ROW,
            rows,
            arrows,
            ticks: (0..=TICKS).map(|tick| display_duration(total * tick / TICKS)).collect(),
            left_out: Some(graph.order.len() - shown.len())
                .filter(|count| *count > 0)
                .map(|count| counted(count, "resource")),
            critical: critical.nodes.iter().take(MAX_ROWS).map(|at| run.link(*at)).collect(),
            critical_duration: display_duration(critical.duration),
            duration: display_duration(total),
        })
    }
}

/// Returns the resources with a row, in the order of the run: those of the critical path, what is notable, and what took
/// longest.
fn shown(run: &Run<'_>, on_path: &BTreeSet<usize>) -> Vec<usize> {
    let graph = &run.view.graph;
    let total = graph.duration();
    let is_long = |at: &usize| {
        graph.nodes[*at].result.as_ref().is_some_and(|result| result.duration * MIN_PART >= total)
    };
    let has_row = |at: &usize| run.mark(*at).is_notable() || on_path.contains(at) || is_long(at);
    let mut by_rank: Vec<usize> = graph.order.iter().copied().filter(has_row).collect();
    let rank = |at: &usize| {
        let duration = graph.nodes[*at].result.as_ref().map_or(Duration::ZERO, |result| result.duration);
        (!run.mark(*at).is_notable(), !on_path.contains(at), std::cmp::Reverse(duration))
    };
    by_rank.sort_by_key(rank);
    by_rank.truncate(MAX_ROWS);
    let chosen: BTreeSet<usize> = by_rank.into_iter().collect();
    graph.order.iter().copied().filter(|at| chosen.contains(at)).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the width")]
fn part(time: Duration, total: Duration) -> u32 {
    (time.as_secs_f64() / total.as_secs_f64() * WIDTH).clamp(0.0, WIDTH) as u32
}
