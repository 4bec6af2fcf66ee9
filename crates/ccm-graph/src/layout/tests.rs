use std::collections::HashSet;

use super::*;

fn laid_out(count: usize, arrows: &[(usize, usize)]) -> GraphLayout {
    layout(&vec![100; count], arrows).expect("a layout")
}

/// Returns small numbers that look random, the same each time.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % below.max(1)
    }
}

fn random_arrows(count: usize, arrows: usize, seed: u64) -> Vec<(usize, usize)> {
    let mut number = numbers(seed);
    let arrow = |_| {
        let to = 1 + number(count - 1);
        (number(to), to)
    };
    (0..arrows).map(arrow).collect::<HashSet<_>>().into_iter().collect()
}

fn assert_is_readable(layout: &GraphLayout, widths: &[u32], arrows: &[(usize, usize)]) {
    for (from, to) in arrows {
        assert!(layout.boxes[*from].0 + widths[*from] < layout.boxes[*to].0, "{from} {to}");
    }
    for (at, (x, y)) in layout.boxes.iter().enumerate() {
        assert!(x + widths[at] <= layout.width && y + layout.node_height <= layout.height, "{at}");
        for (other, (other_x, other_y)) in layout.boxes.iter().enumerate().skip(at + 1) {
            let is_beside = x + widths[at] <= *other_x || other_x + widths[other] <= *x;
            assert!(is_beside || y.abs_diff(*other_y) >= layout.node_height, "{at} {other}");
        }
    }
}

#[test]
fn time_runs_from_left_to_right() {
    let found = laid_out(4, &[(0, 1), (1, 2), (0, 3), (3, 2)]);
    let columns: Vec<u32> = found.boxes.iter().map(|(x, _)| *x).collect();
    assert_eq!(columns, [0, 148, 296, 148]);
    assert_eq!((found.width, found.height), (396, 58));
    // Between two rows.
    assert_eq!(found.boxes[0].1, 17);
    assert_eq!(found.boxes[2].1, 17);
}

#[test]
fn small_graphs_have_a_place_for_everything() {
    for (count, arrows) in [
        (0, &[][..]),
        (1, &[]),
        (3, &[]),
        (2, &[(0, 1)]),
        (2, &[(1, 0)]),
        (2, &[(0, 1), (0, 1)]),
        (5, &[(0, 4), (4, 1), (1, 3), (0, 3)]),
        (6, &[(0, 1), (2, 3), (4, 5)]),
    ] {
        assert_is_readable(&laid_out(count, arrows), &vec![100; count], arrows);
    }
}

#[test]
fn a_long_arrow_passes_beside_the_boxes() {
    let arrows = [(0, 1), (1, 2), (2, 3), (0, 3)];
    let found = laid_out(4, &arrows);
    let route = &found.routes[3];
    assert_eq!(route.len(), 4);
    for (x, y) in route {
        let hits = |(left, top): &(u32, u32)| {
            (*left..=left + 100).contains(x) && (*top..=top + found.node_height).contains(y)
        };
        assert!(!found.boxes.iter().any(hits), "{x} {y}");
    }
}

#[test]
fn cycles_and_arrows_to_themselves_end() {
    for arrows in [&[(0, 0)][..], &[(0, 1), (1, 0)], &[(0, 1), (1, 2), (2, 0), (2, 3)]] {
        assert_eq!(laid_out(4, arrows).boxes.len(), 4);
    }
}

#[test]
fn random_graphs_are_readable_and_the_same_each_time() {
    for seed in 0..40 {
        let count = 2 + numbers(seed)(60);
        let arrows = random_arrows(count, count * 2, seed);
        let mut number = numbers(seed);
        let widths: Vec<u32> =
            (0..count).map(|_| 50 + u32::try_from(number(200)).unwrap_or_default()).collect();
        let found = layout(&widths, &arrows).expect("a layout");
        assert_is_readable(&found, &widths, &arrows);
        assert_eq!(layout(&widths, &arrows).as_ref(), Ok(&found));
    }
}

#[test]
fn large_graphs_have_a_layout() {
    let arrows = random_arrows(MAX_DRAWN, 1200, 7);
    assert_is_readable(&laid_out(MAX_DRAWN, &arrows), &vec![100; MAX_DRAWN], &arrows);
    // A chain whose every box the first one leads to.
    let chain = (1..MAX_DRAWN).flat_map(|at| [(at - 1, at), (0, at)]);
    let chain: Vec<(usize, usize)> = chain.collect();
    assert_eq!(laid_out(MAX_DRAWN, &chain).boxes[MAX_DRAWN - 1].0, 148 * 999);
    assert_eq!(layout(&vec![1; MAX_DRAWN + 1], &[]), Err(TooManyResources { count: MAX_DRAWN + 1 }));
}
