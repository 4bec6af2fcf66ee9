//! Layers of a picture.

use std::collections::HashMap;

/// Maximum number of free places for long arrows. Arrows beyond that lead straight.
const MAX_PLACES: usize = 4000;

/// Box, or free place that a long arrow passes.
pub(super) struct Vertex {
    /// Position of the box. `None` of a free place.
    pub(super) node: Option<usize>,
    pub(super) layer: usize,
    /// Neighbours in the layer before.
    pub(super) before: Vec<usize>,
    /// Neighbours in the layer after.
    pub(super) after: Vec<usize>,
}

pub(super) struct Layers {
    pub(super) vertices: Vec<Vertex>,
    /// Vertices of each layer, in their order.
    pub(super) order: Vec<Vec<usize>>,
    /// Free places that arrows pass, by the positions of the arrows.
    pub(super) routes: Vec<(usize, Vec<usize>)>,
}

impl Layers {
    /// Puts the boxes of a component into layers.
    pub(super) fn new(component: &[usize], arrows: &[(usize, usize)]) -> Self {
        let vertices: HashMap<usize, usize> =
            component.iter().enumerate().map(|(vertex, at)| (*at, vertex)).collect();
        let own = arrows
            .iter()
            .enumerate()
            .filter_map(|(arrow, (from, to))| Some((arrow, *vertices.get(from)?, *vertices.get(to)?)));
        let own: Vec<(usize, usize, usize)> = own.filter(|(_, from, to)| from != to).collect();
        let ranks = ranks(component.len(), &own);
        let vertex = |(vertex, at): (usize, &usize)| Vertex {
            node: Some(*at),
            layer: ranks[vertex],
            before: Vec::new(),
            after: Vec::new(),
        };
        let depth = ranks.iter().max().map_or(0, |deepest| deepest + 1);
        let mut layers = Self {
            vertices: component.iter().enumerate().map(vertex).collect(),
            order: vec![Vec::new(); depth],
            routes: Vec::new(),
        };
        for (arrow, from, to) in own {
            layers.connect(arrow, from, to);
        }
        for (vertex, found) in layers.vertices.iter().enumerate() {
            layers.order[found.layer].push(vertex);
        }
        layers
    }

    /// Connects two boxes, through a free place in each layer between.
    fn connect(&mut self, arrow: usize, from: usize, to: usize) {
        let (first, last) = (self.vertices[from].layer, self.vertices[to].layer);
        let between = last.saturating_sub(first + 1);
        // An arrow of a cycle leads to the left.
        if last <= first || self.vertices.len() + between > MAX_PLACES {
            return;
        }
        let mut route = Vec::with_capacity(between);
        let mut previous = from;
        for layer in first + 1..last {
            let place = self.vertices.len();
            self.vertices.push(Vertex { node: None, layer, before: vec![previous], after: Vec::new() });
            self.vertices[previous].after.push(place);
            route.push(place);
            previous = place;
        }
        self.vertices[previous].after.push(to);
        self.vertices[to].before.push(previous);
        if !route.is_empty() {
            self.routes.push((arrow, route));
        }
    }
}

/// Returns the layer of each vertex: behind everything that leads to it, and no further from what it leads to than needed.
fn ranks(count: usize, arrows: &[(usize, usize, usize)]) -> Vec<usize> {
    let mut after = vec![Vec::new(); count];
    let mut unmet = vec![0_usize; count];
    for (_, from, to) in arrows {
        after[*from].push(*to);
        unmet[*to] += 1;
    }
    let mut ranks = vec![0_usize; count];
    let mut order: Vec<usize> = (0..count).filter(|vertex| unmet[*vertex] == 0).collect();
    let mut is_done: Vec<bool> = unmet.iter().map(|unmet| *unmet == 0).collect();
    let mut next = 0;
    let mut first_open = 0;
    while order.len() < count || next < order.len() {
        let Some(vertex) = order.get(next).copied() else {
            // Only members of a cycle and what is behind them are left: the first one begins.
            while is_done[first_open] {
                first_open += 1;
            }
            is_done[first_open] = true;
            order.push(first_open);
            continue;
        };
        next += 1;
        for to in &after[vertex] {
            if is_done[*to] {
                continue;
            }
            ranks[*to] = ranks[*to].max(ranks[vertex] + 1);
            unmet[*to] -= 1;
            if unmet[*to] == 0 {
                is_done[*to] = true;
                order.push(*to);
            }
        }
    }
    // What nothing leads to stands right before what it leads to.
    let mut has_before = vec![false; count];
    for (_, _, to) in arrows {
        has_before[*to] = true;
    }
    for vertex in 0..count {
        if let Some(nearest) = after[vertex].iter().map(|to| ranks[*to]).min().filter(|_| !has_before[vertex])
        {
            ranks[vertex] = nearest.saturating_sub(1);
        }
    }
    ranks
}
