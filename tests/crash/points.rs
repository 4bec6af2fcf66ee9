//! Which calls of a run meet a fault, and going through them.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use ccm_testkit::may_take_long;

/// Most calls that one sweep tries unless the tests may take long.
const MOST: usize = 16;

/// Returns the numbers of the calls to try, beginning with 1: all calls if the tests may take long; else some, evenly, of
/// every `every`th call, all calls that sync, and the calls before, at and after each rename. `CCM_FUZZ_SEED` chooses where
/// they begin, so that others are tried each time.
pub(crate) fn selected(calls: &[String], every: usize) -> Vec<usize> {
    let all = 1..=calls.len();
    if may_take_long() {
        return all.collect();
    }
    let is = |at: usize, name: &str| calls.get(at).is_some_and(|call| call.starts_with(name));
    let near = |at: usize| {
        is(at, "fsync") || is(at, "fdatasync") || (at.saturating_sub(1)..=at + 1).any(|at| is(at, "rename"))
    };
    let chosen: Vec<usize> = all.filter(|number| (number - 1) % every == 0 || near(number - 1)).collect();
    spread(&chosen, seed())
}

/// Returns at most [`MOST`] of the numbers, evenly. The seed chooses which.
fn spread(chosen: &[usize], seed: usize) -> Vec<usize> {
    let count = chosen.len().min(MOST);
    let first = seed % (chosen.len() / count.max(1)).max(1);
    (0..count).map(|next| chosen[next * chosen.len() / count + first]).collect()
}

#[test]
fn seeds_choose_other_points_and_reach_nearly_all() {
    assert!(spread(&[], 3).is_empty());
    for length in [1, MOST - 1, MOST, MOST + 1, 100, 1000] {
        let all: Vec<usize> = (1..=length).collect();
        let mut reached = std::collections::BTreeSet::new();
        for seed in 0..length {
            let some = spread(&all, seed);
            assert_eq!(some.len(), length.min(MOST));
            reached.extend(some);
        }
        assert!(reached.len() >= length / MOST * length.min(MOST), "{length}: {}", reached.len());
    }
}

fn seed() -> usize {
    std::env::var("CCM_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "whoever asks for the output wants to know how many")]
/// Checks each point, as many at once as there are processors, and panics with all errors.
pub(crate) fn check_each<T: Send>(
    points: impl IntoIterator<Item = T>,
    check: impl Fn(T) -> Result<(), String> + Sync,
) {
    let points = Mutex::new(points.into_iter().collect::<Vec<T>>().into_iter());
    let wrong = Mutex::new(Vec::new());
    let tried = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                loop {
                    let next = points.lock().expect("the points").next();
                    let Some(point) = next else { break };
                    *tried.lock().expect("the count") += 1;
                    if let Err(error) = check(point) {
                        wrong.lock().expect("the errors").push(error);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("the errors");
    let tried = tried.into_inner().expect("the count");
    let few: Vec<&str> = wrong.iter().take(5).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} of {tried} points are wrong (seed {}), among them:\n{}",
        wrong.len(),
        seed(),
        few.join("\n\n")
    );
    println!("{tried} points tried");
}
