//! Measuring times and printing them.

use std::time::{Duration, Instant};

/// Width of the first column.
pub(crate) const NAME: usize = 54;

pub(crate) fn time<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
    let mut taken: Vec<Duration> = (0..rounds).map(|_| once(&mut work)).collect();
    median(&mut taken)
}

/// Returns the median times of two functions. They take turns, so that both have the same conditions.
pub(crate) fn times<T, U>(
    rounds: usize,
    mut ours: impl FnMut() -> T,
    mut theirs: impl FnMut() -> U,
) -> (Duration, Duration) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // Neither gets the better place.
        if round % 2 == 0 {
            first.push(once(&mut ours));
            second.push(once(&mut theirs));
        } else {
            second.push(once(&mut theirs));
            first.push(once(&mut ours));
        }
    }
    (median(&mut first), median(&mut second))
}

/// Returns the time of a function, without the time to drop its result.
fn once<T>(work: &mut impl FnMut() -> T) -> Duration {
    let began = Instant::now();
    let made = work();
    let took = began.elapsed();
    drop(made);
    took
}

pub(crate) fn median(taken: &mut [Duration]) -> Duration {
    taken.sort_unstable();
    taken[taken.len() / 2]
}

pub(crate) fn ratio(name: &str, ours: Duration, theirs: Duration) {
    ratio_within(name, ours, theirs, None);
}

/// Prints two times, and their ratio with its aim.
pub(crate) fn ratio_within(name: &str, ours: Duration, theirs: Duration, aim: impl Into<Option<f64>>) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let columns = format!("{:>9.2} ms {:>9.2} ms {ratio:>8.2}", millis(ours), millis(theirs));
    row(name, &columns, ratio, aim.into());
}

/// Prints two numbers, and their ratio with its aim.
pub(crate) fn counts_within(name: &str, ours: i64, theirs: i64, aim: impl Into<Option<f64>>) {
    let float = |count: i64| i32::try_from(count).map_or(f64::NAN, f64::from);
    let ratio = float(ours) / float(theirs);
    row(name, &format!("{ours:>12} {theirs:>12} {ratio:>8.2}"), ratio, aim.into());
}

pub(crate) fn per(name: &str, all: Duration, count: u32) {
    per_within(name, all, count, None);
}

/// Prints the time for each of `count`, with an aim in microseconds.
pub(crate) fn per_within(name: &str, all: Duration, count: u32, aim: impl Into<Option<f64>>) {
    let each = all.as_secs_f64() * 1e6 / f64::from(count);
    row(name, &format!("{each:>9.2} µs"), each, aim.into());
}

/// Prints a number with its unit and its aim.
pub(crate) fn number_within(name: &str, value: f64, unit: &str, aim: f64) {
    row(name, &format!("{value:>9.2} {unit}"), value, Some(aim));
}

pub(crate) fn print(name: &str, value: f64) {
    print_within(name, value, None);
}

pub(crate) fn print_within(name: &str, value: f64, aim: impl Into<Option<f64>>) {
    row(name, &format!("{value:>34.2}"), value, aim.into());
}

/// Prints a row. A missed aim is no error, because the machine may be slow.
fn row(name: &str, columns: &str, value: f64, aim: Option<f64>) {
    let aim = aim
        .map_or_else(String::new, |aim| format!("≤ {aim:.2}{}", if value > aim { ", missed" } else { "" }));
    println!("{}", format!("{name:<NAME$} {columns:<34}   {aim}").trim_end());
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
