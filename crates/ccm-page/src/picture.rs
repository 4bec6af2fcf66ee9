//! Pictures of graphs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ccm_graph::{GraphLayout, MAX_DRAWN, TooManyResources, layout};
use ccm_model::ResourceId;
use ccm_report::{RecordedEdgeKind, RunGraph, RunView};
use serde::Serialize;

use crate::door::{PageError, render};
use crate::outcome::Mark;
use crate::text::{anchor, counted, cut, is_cut};

/// Width of a character of a label.
const CHARACTER: u32 = 8;
/// Space before a label: that of its mark, or none.
const MARK: u32 = 26;
const MARGIN: u32 = 9;
/// Distance from the upper edge of a box to the line that its label stands on.
const BASELINE: u32 = 16;
/// Space around a picture, so that no line at its edge is cut.
const EDGE: u32 = 2;
/// Maximum number of resources in the picture of a part of a graph.
const MAX_NEIGHBOURS: usize = 300;

/// Resource of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureNode {
    /// Type and name.
    pub id: ResourceId,
    /// Positions of the resources that it depends on, with the kind of the dependency.
    pub edges: Vec<(usize, RecordedEdgeKind)>,
}

#[derive(Serialize)]
struct DrawnNode {
    mark: Mark,
    /// Place of the resource in the page. `None` outside of a page.
    anchor: Option<String>,
    label: String,
    /// Whole name, if the label is cut.
    title: Option<String>,
    x: u32,
    y: u32,
    width: u32,
    text_x: u32,
    text_y: u32,
    /// Outline of the mark.
    shape: &'static str,
}

/// All arrows of a kind.
#[derive(Serialize)]
struct DrawnEdge {
    kind: &'static str,
    path: String,
}

/// Graph with all coordinates.
#[derive(Serialize)]
pub(crate) struct Drawing {
    width: u32,
    height: u32,
    node_height: u32,
    nodes: Vec<DrawnNode>,
    edges: Vec<DrawnEdge>,
    /// Description for people who can't see the picture.
    label: String,
    /// Sentence about what is not drawn.
    left_out: Option<String>,
}

/// Draws the graph of a manifest as SVG.
pub fn picture(nodes: &[PictureNode]) -> Result<Result<String, PageError>, TooManyResources> {
    let mut drawing = Drawing::new(nodes, &|_| (Mark::Same, None))?;
    drawing.label = format!("Graph of {}", counted(nodes.len(), "resource"));
    Ok(render("picture.svg", &drawing))
}

impl Drawing {
    /// Draws the graph of a run: all of it, or what changed and failed with its neighbours if it is too large.
    pub(crate) fn of_run(view: &RunView<'_>) -> Option<Self> {
        let graph = &view.graph;
        let linked = linked(graph);
        if linked.is_empty() {
            return None;
        }
        let total = graph.nodes.len();
        let (chosen, is_part) =
            if total <= MAX_DRAWN { (linked.clone(), false) } else { (neighbours(graph), true) };
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let positions: HashMap<usize, usize> =
            chosen.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        let node = |at: &usize| PictureNode {
            id: graph.nodes[*at].id.clone(),
            edges: graph.nodes[*at]
                .edges
                .iter()
                .filter_map(|edge| Some((*positions.get(&edge.on)?, edge.kind)))
                .collect(),
        };
        let nodes: Vec<PictureNode> = chosen.iter().map(node).collect();
        let marked = |at: usize| {
            let old = chosen[at];
            (Mark::at(graph, old), Some(anchor(&graph.nodes[old].id, old)))
        };
        // A graph of this size can be drawn.
        let mut drawing = Self::new(&nodes, &marked).ok()?;
        let alone = total - linked.len();
        drawing.left_out = match (is_part, alone) {
            (true, _) => Some(format!(
                "Of {}, the picture has those that changed or failed, with their neighbours.",
                counted(total, "resource")
            )),
            (false, 0) => None,
            (false, 1) => Some("1 resource depends on nothing, and nothing depends on it.".to_owned()),
            (false, alone) => {
                Some(format!("{alone} resources depend on nothing, and nothing depends on them."))
            }
        };
        drawing.label = format!("Graph of {}", counted(nodes.len(), "resource"));
        Some(drawing)
    }

    fn new(
        nodes: &[PictureNode],
        marked: &dyn Fn(usize) -> (Mark, Option<String>),
    ) -> Result<Self, TooManyResources> {
        let labels: Vec<String> = nodes.iter().map(|node| cut(&node.id.to_string())).collect();
        let is_marked = nodes.first().is_some_and(|_| marked(0).1.is_some());
        let before = if is_marked { MARK } else { MARGIN };
        let widths: Vec<u32> = labels.iter().map(|label| before + width_of(label) + MARGIN).collect();
        let arrows: Vec<(usize, usize)> = nodes
            .iter()
            .enumerate()
            .flat_map(|(at, node)| node.edges.iter().map(move |(on, _)| (*on, at)))
            .collect();
        let found = layout(&widths, &arrows)?;
        let kinds = nodes.iter().flat_map(|node| node.edges.iter().map(|(_, kind)| *kind));
        let mut paths: BTreeMap<RecordedEdgeKind, String> = BTreeMap::new();
        for (arrow, kind) in kinds.enumerate() {
            let path = curve(&found, &widths, arrows[arrow], &found.routes[arrow]);
            paths.entry(kind).or_default().push_str(&path);
        }
        let edges = paths.into_iter().map(|(kind, path)| DrawnEdge { kind: class(kind), path }).collect();
        let GraphLayout { width, height, boxes, node_height, .. } = found;
        let drawn = labels.into_iter().enumerate().map(|(at, label)| {
            let (mark, anchor) = marked(at);
            DrawnNode {
                mark,
                anchor,
                label,
                title: Some(nodes[at].id.to_string()).filter(|name| is_cut(name)),
                x: boxes[at].0 + EDGE,
                y: boxes[at].1 + EDGE,
                width: widths[at],
                text_x: before,
                text_y: BASELINE,
                shape: shape(mark),
            }
        });
        let nodes = drawn.collect();
        let (width, height) = (width + 2 * EDGE, height + 2 * EDGE);
        Ok(Self { width, height, node_height, nodes, edges, label: String::new(), left_out: None })
    }
}

/// Returns the width of a label. Characters of Asian scripts take two columns.
fn width_of(label: &str) -> u32 {
    let columns: u32 = label.chars().map(|character| if u32::from(character) > 0x1100 { 2 } else { 1 }).sum();
    columns * CHARACTER
}

/// Returns the line of an arrow: a curve between each two columns, straight in the columns that it passes.
fn curve(layout: &GraphLayout, widths: &[u32], (from, to): (usize, usize), route: &[(u32, u32)]) -> String {
    let middle = layout.node_height / 2;
    let at = |(x, y): (u32, u32)| (x + EDGE, y + EDGE);
    let (mut x, mut y) = at((layout.boxes[from].0 + widths[from], layout.boxes[from].1 + middle));
    let end = at((layout.boxes[to].0, layout.boxes[to].1 + middle));
    let mut path = format!("M{x} {y}");
    let points = route.iter().map(|point| at(*point)).chain([end]);
    for (number, (to_x, to_y)) in points.enumerate() {
        // Every second part is within a column.
        if number % 2 == 1 || y == to_y {
            path += &format!("L{to_x} {to_y}");
        } else {
            let bend = u32::midpoint(x, to_x);
            path += &format!("C{bend} {y} {bend} {to_y} {to_x} {to_y}");
        }
        (x, y) = (to_x, to_y);
    }
    path
}

/// Returns the outline of a mark, whose middle is at 14, 12.
fn shape(mark: Mark) -> &'static str {
    match mark {
        Mark::Failed => "M14 5.5l6.5 6.5-6.5 6.5-6.5-6.5z",
        Mark::Unmet => "M8.5 7h11l-5.5 10.5z",
        Mark::Changed => "M9 7h10v10h-10z",
        Mark::Refreshed => "M9 12a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
        Mark::Would => "M10 12a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        Mark::Skipped => "M10 8h8v8h-8z",
        Mark::Open => "M12 12a2 2 0 1 0 4 0a2 2 0 1 0-4 0z",
        Mark::Same => "M9 10.5h10v3h-10z",
    }
}

fn class(kind: RecordedEdgeKind) -> &'static str {
    match kind {
        RecordedEdgeKind::Require => "require",
        RecordedEdgeKind::Subscribe => "subscribe",
        RecordedEdgeKind::Derived => "derived",
        RecordedEdgeKind::Group => "group",
    }
}

/// Returns the resources with a dependency or a dependant.
fn linked(graph: &RunGraph) -> BTreeSet<usize> {
    let nodes = graph.nodes.iter().enumerate();
    let of_node = |(at, node): (usize, &ccm_report::RecordedNode)| {
        let own = (!node.edges.is_empty()).then_some(at);
        node.edges.iter().map(|edge| edge.on).chain(own).collect::<Vec<_>>()
    };
    nodes.flat_map(of_node).collect()
}

/// Returns what changed or failed, failures first, with its neighbours, up to a limit.
fn neighbours(graph: &RunGraph) -> BTreeSet<usize> {
    let mut dependants: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        for edge in &node.edges {
            dependants.entry(edge.on).or_default().push(at);
        }
    }
    let mut notable: Vec<usize> =
        (0..graph.nodes.len()).filter(|at| Mark::at(graph, *at).is_notable()).collect();
    notable.sort_by_key(|at| (Mark::at(graph, *at), *at));
    let mut chosen = BTreeSet::new();
    for at in notable {
        let before = graph.nodes[at].edges.iter().map(|edge| edge.on);
        let after = dependants.get(&at).map_or(&[][..], |found| found).iter().copied();
        for neighbour in std::iter::once(at).chain(before).chain(after) {
            if chosen.len() >= MAX_NEIGHBOURS {
                return chosen;
            }
            chosen.insert(neighbour);
        }
    }
    chosen
}
