//! Places of the vertices in their layers.

use super::layers::Layers;
use super::{NODE_HEIGHT, ROW_GAP};

/// Number of times that all layers are placed, to the right and back.
const SWEEPS: usize = 8;
/// Weight of a free place, so that long arrows are straight.
const WEIGHT_OF_PLACE: f64 = 4.0;

/// Returns the upper edge of each vertex.
pub(super) fn places(layers: &Layers) -> Vec<f64> {
    let mut places = vec![0.0; layers.vertices.len()];
    for layer in &layers.order {
        let mut next = 0.0;
        for (at, vertex) in layer.iter().enumerate() {
            places[*vertex] = next;
            next += distance(layers, layer, at);
        }
    }
    for sweep in 0..SWEEPS {
        let to_right = sweep % 2 == 0;
        for step in 0..layers.order.len() {
            let layer = if to_right { step } else { layers.order.len() - 1 - step };
            place(layers, layer, to_right, &mut places);
        }
    }
    places
}

/// Returns the distance of a vertex to the next one of its layer.
fn distance(layers: &Layers, layer: &[usize], at: usize) -> f64 {
    let is_box = |at: usize| layer.get(at).is_some_and(|vertex| layers.vertices[*vertex].node.is_some());
    f64::from(if is_box(at) || is_box(at + 1) { NODE_HEIGHT + ROW_GAP } else { ROW_GAP })
}

/// Places a layer as near to the mean of its neighbours as its order and its distances allow: the places with the least
/// squares of what each is off, found by joining neighbours that would come too close.
fn place(layers: &Layers, layer: usize, to_right: bool, places: &mut [f64]) {
    let order = &layers.order[layer];
    let mut groups: Vec<PlacedGroup> = Vec::new();
    let mut offset = 0.0;
    for (at, vertex) in order.iter().enumerate() {
        let found = &layers.vertices[*vertex];
        let neighbours = if to_right { &found.before } else { &found.after };
        let neighbours = if neighbours.is_empty() { &[*vertex][..] } else { neighbours };
        let (sum, count) = neighbours
            .iter()
            .fold((0.0, 0.0), |(sum, count), neighbour| (sum + places[*neighbour], count + 1.0));
        let weight = if found.node.is_none() { WEIGHT_OF_PLACE } else { 1.0 };
        let mut group = PlacedGroup { first: at, place: sum / count - offset, weight };
        while let Some(before) = groups.pop_if(|before| before.place > group.place) {
            group = before.joined(&group);
        }
        groups.push(group);
        offset += distance(layers, order, at);
    }
    let mut offset = 0.0;
    let mut group = 0;
    for (at, vertex) in order.iter().enumerate() {
        if groups.get(group + 1).is_some_and(|next| next.first <= at) {
            group += 1;
        }
        places[*vertex] = groups[group].place + offset;
        offset += distance(layers, order, at);
    }
}

/// Vertices that stand as close as they can. Places are without the distances before them.
struct PlacedGroup {
    first: usize,
    place: f64,
    weight: f64,
}

impl PlacedGroup {
    fn joined(&self, next: &Self) -> Self {
        let weight = self.weight + next.weight;
        let place = (self.place * self.weight + next.place * next.weight) / weight;
        Self { first: self.first, place, weight }
    }
}
