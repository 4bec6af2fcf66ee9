//! Layout of a picture: time runs from left to right, a column for each layer of dependencies, a row for each resource.
//!
//! The layout follows Sugiyama's method: layers by the longest way, long arrows through a free place in each layer between,
//! an order within the layers that crosses few arrows, then places that keep arrows straight. It is the same each time.

mod coordinates;
mod layers;
mod ordering;
#[cfg(test)]
mod tests;

use coordinates::places;
use layers::Layers;

/// Maximum number of resources of a picture.
pub const MAX_DRAWN: usize = 1000;
/// Height of the box of a resource.
const NODE_HEIGHT: u32 = 24;
/// Space between the rows of boxes, and between an arrow and its neighbours.
const ROW_GAP: u32 = 10;
/// Space between columns, for the arrows.
const COLUMN_GAP: u32 = 48;
/// Width at which a line of boxes without arrows ends.
const LINE_WIDTH: u32 = 1000;

/// The graph has more resources than a picture can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a picture has at most {MAX_DRAWN} resources, and the graph has {count}")]
pub struct TooManyResources {
    /// Number of resources.
    pub count: usize,
}

/// Places of the boxes of a picture, in pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphLayout {
    /// Width of the picture.
    pub width: u32,
    /// Height of the picture.
    pub height: u32,
    /// Height of each box.
    pub node_height: u32,
    /// Left and upper edge of each box.
    pub boxes: Vec<(u32, u32)>,
    /// Points that each arrow passes between its two boxes, from left to right. Two of equal height are the edges of a
    /// column that it passes.
    pub routes: Vec<Vec<(u32, u32)>>,
}

/// Places boxes of these widths so that every arrow, from one box to another, leads to the right. Arrows of a cycle lead
/// anywhere.
///
/// # Panics
/// If an arrow names a box that is not among them.
pub fn layout(widths: &[u32], arrows: &[(usize, usize)]) -> Result<GraphLayout, TooManyResources> {
    if widths.len() > MAX_DRAWN {
        return Err(TooManyResources { count: widths.len() });
    }
    let mut whole = GraphLayout {
        width: 0,
        height: 0,
        node_height: NODE_HEIGHT,
        boxes: vec![(0, 0); widths.len()],
        routes: vec![Vec::new(); arrows.len()],
    };
    let (connected, alone): (Vec<_>, Vec<_>) =
        components(widths.len(), arrows).into_iter().partition(|component| component.len() > 1);
    for component in connected {
        whole.add_component(&component, widths, arrows);
    }
    whole.add_alone(&alone, widths);
    whole.height = whole.boxes.iter().map(|(_, y)| y + NODE_HEIGHT).max().unwrap_or_default();
    Ok(whole)
}

/// Returns the boxes that arrows connect, each group in their order.
fn components(count: usize, arrows: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); count];
    for (from, to) in arrows {
        neighbours[*from].push(*to);
        neighbours[*to].push(*from);
    }
    let mut is_seen = vec![false; count];
    let mut components = Vec::new();
    for first in 0..count {
        let mut component = Vec::new();
        let mut waiting = vec![first];
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut is_seen[at], true) {
                component.push(at);
                waiting.extend(&neighbours[at]);
            }
        }
        if !component.is_empty() {
            component.sort_unstable();
            components.push(component);
        }
    }
    components
}

impl GraphLayout {
    /// Adds boxes that arrows connect below the others.
    fn add_component(&mut self, component: &[usize], widths: &[u32], arrows: &[(usize, usize)]) {
        let mut layers = Layers::new(component, arrows);
        ordering::order(&mut layers);
        let places = places(&layers);
        let columns = columns(&layers, widths);
        let lowest = places.iter().copied().fold(f64::INFINITY, f64::min);
        let top = self.height;
        let row = |vertex: usize| top + rounded(places[vertex] - lowest);
        for (vertex, found) in layers.vertices.iter().enumerate() {
            if let Some(at) = found.node {
                self.boxes[at] = (columns[found.layer].0, row(vertex));
                self.height = self.height.max(row(vertex) + NODE_HEIGHT + ROW_GAP);
            }
        }
        for (arrow, route) in &layers.routes {
            let point = |vertex: &usize| {
                let (left, right) = columns[layers.vertices[*vertex].layer];
                let y = row(*vertex) + NODE_HEIGHT / 2;
                [(left, y), (right, y)]
            };
            self.routes[*arrow] = route.iter().flat_map(point).collect();
        }
        let right = columns.last().map_or(0, |(_, right)| *right);
        self.width = self.width.max(right);
        self.height += ROW_GAP;
    }

    /// Adds boxes without arrows below the others, in lines.
    fn add_alone(&mut self, alone: &[Vec<usize>], widths: &[u32]) {
        let end = self.width.max(LINE_WIDTH);
        let mut x = 0;
        for at in alone.iter().flatten() {
            if x > 0 && x + widths[*at] > end {
                x = 0;
                self.height += NODE_HEIGHT + ROW_GAP;
            }
            self.boxes[*at] = (x, self.height);
            self.width = self.width.max(x + widths[*at]);
            x += widths[*at] + ROW_GAP;
        }
        if x > 0 {
            self.height += NODE_HEIGHT + ROW_GAP;
        }
    }
}

/// Returns the left and the right edge of each layer.
fn columns(layers: &Layers, widths: &[u32]) -> Vec<(u32, u32)> {
    let mut left = 0;
    let column = |layer: &Vec<usize>| {
        let widest =
            layer.iter().filter_map(|vertex| layers.vertices[*vertex].node).map(|at| widths[at]).max();
        let column = (left, left + widest.unwrap_or_default());
        left = column.1 + COLUMN_GAP;
        column
    };
    layers.order.iter().map(column).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pictures are small, and rows begin at 0"
)]
fn rounded(place: f64) -> u32 {
    place.round() as u32
}
