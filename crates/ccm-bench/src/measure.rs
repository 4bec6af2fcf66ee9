//! Taking times and printing them.

use std::time::{Duration, Instant};

/// The median of several rounds.
pub(crate) fn time(rounds: usize, mut work: impl FnMut()) -> Duration {
    let mut taken: Vec<Duration> = (0..rounds).map(|_| once(&mut work)).collect();
    median(&mut taken)
}

/// The medians of two works that take turns, so that both meet the same weather.
pub(crate) fn times(rounds: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (Duration, Duration) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        first.push(once(&mut ours));
        second.push(once(&mut theirs));
    }
    (median(&mut first), median(&mut second))
}

fn once(work: &mut impl FnMut()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

/// The middle one.
pub(crate) fn median(taken: &mut [Duration]) -> Duration {
    taken.sort_unstable();
    taken[taken.len() / 2]
}

/// Prints two times and their ratio.
pub(crate) fn ratio(name: &str, ours: Duration, theirs: Duration) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{name:<44} {:>9.2} ms {:>9.2} ms {ratio:>8.2}", millis(ours), millis(theirs));
}

/// Prints the time for one of many.
pub(crate) fn per(name: &str, all: Duration, count: u32) {
    println!("{name:<44} {:>9.2} µs", all.as_secs_f64() * 1e6 / f64::from(count));
}

/// Prints a bare number.
pub(crate) fn print(name: &str, value: f64) {
    println!("{name:<44} {value:>34.2}");
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
