//! Order within the layers.

use super::layers::Layers;

/// Number of times that all layers are ordered, to the right and back.
const SWEEPS: usize = 12;

/// Orders the layers so that few arrows cross: each vertex at the mean place of its neighbours, first of those before, then
/// of those after, and so on. The best of all these orders is kept.
pub(super) fn order(layers: &mut Layers) {
    let mut places = vec![0; layers.vertices.len()];
    note_places(layers, &mut places);
    let mut best = (crossings(layers, &places), layers.order.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let to_right = sweep % 2 == 0;
        for step in 0..layers.order.len() {
            let layer = if to_right { step } else { layers.order.len() - 1 - step };
            let mut order = std::mem::take(&mut layers.order[layer]);
            let mean = |vertex: usize| {
                let found = &layers.vertices[vertex];
                let neighbours = if to_right { &found.before } else { &found.after };
                if neighbours.is_empty() {
                    return mean_of(places[vertex], 1);
                }
                mean_of(neighbours.iter().map(|neighbour| places[*neighbour]).sum(), neighbours.len())
            };
            // Equal ones keep their order.
            order.sort_by(|one, other| mean(*one).total_cmp(&mean(*other)));
            for (place, vertex) in order.iter().enumerate() {
                places[*vertex] = place;
            }
            layers.order[layer] = order;
        }
        let found = crossings(layers, &places);
        if found < best.0 {
            best = (found, layers.order.clone());
        }
    }
    layers.order = best.1;
}

#[expect(clippy::cast_precision_loss, reason = "layers have a few thousand places")]
fn mean_of(sum: usize, count: usize) -> f64 {
    sum as f64 / count as f64
}

fn note_places(layers: &Layers, places: &mut [usize]) {
    for layer in &layers.order {
        for (place, vertex) in layer.iter().enumerate() {
            places[*vertex] = place;
        }
    }
}

/// Counts the crossings of arrows between neighbouring layers.
fn crossings(layers: &Layers, places: &[usize]) -> usize {
    let mut count = 0;
    for (layer, order) in layers.order.iter().enumerate() {
        let width = layers.order.get(layer + 1).map_or(0, Vec::len);
        let mut tree = CountingTree::new(width);
        let mut passed = 0;
        for vertex in order {
            let mut ends: Vec<usize> = layers.vertices[*vertex].after.iter().map(|to| places[*to]).collect();
            ends.sort_unstable();
            // Arrows from one vertex do not cross.
            count += ends.iter().map(|end| passed - tree.count_to(*end)).sum::<usize>();
            for end in &ends {
                tree.add(*end);
            }
            passed += ends.len();
        }
    }
    count
}

/// Numbers of arrows by the places where they end.
struct CountingTree(Vec<usize>);

impl CountingTree {
    fn new(width: usize) -> Self {
        Self(vec![0; width + 1])
    }

    fn add(&mut self, place: usize) {
        let mut at = place + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the number of arrows that end at this place or before it.
    fn count_to(&self, place: usize) -> usize {
        let mut at = place + 1;
        let mut count = 0;
        while at > 0 {
            count += self.0[at];
            at &= at - 1;
        }
        count
    }
}
