//! Loop that runs a target with its corpus and mutations of the corpus.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use crate::Target;
use crate::corpus::corpus;
use crate::mutation::{MAX_LENGTH, Random, mutated};
use crate::watch::Watch;

const SEED: u64 = 1;

/// Length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Number of mutated inputs.
    Inputs(u64),
    /// Time for mutated inputs.
    Time(Duration),
}

impl Effort {
    /// Returns the number of inputs in `CCM_FUZZ_INPUTS`, or one target's share of the seconds in
    /// `CCM_FUZZ_SECONDS`, which all targets share in parallel, or without either a number of inputs.
    pub fn from_environment(inputs: u64) -> Self {
        if let Some(inputs) = number("CCM_FUZZ_INPUTS") {
            return Self::Inputs(inputs);
        }
        let Some(seconds) = number("CCM_FUZZ_SECONDS") else { return Self::Inputs(inputs) };
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let side_by_side = std::thread::available_parallelism().map_or(1, usize::from);
        let side_by_side = count(side_by_side.min(crate::TARGETS.len()));
        Self::Time(Duration::from_secs(seconds) * side_by_side / count(crate::TARGETS.len()))
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = ccm_host::variable(variable)?;
    let text = text.to_string_lossy();
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// Returns the corpus of a target and a number of mutated inputs, which are the same each time.
pub fn mutations(target: &Target, inputs: u64) -> Vec<Vec<u8>> {
    let corpus = corpus(target.name);
    let one = |number| mutated(&corpus, target.words, MAX_LENGTH, &mut Random::new(SEED, number));
    let mutated: Vec<Vec<u8>> = (0..inputs).map(one).collect();
    corpus.into_iter().chain(mutated).collect()
}

/// Runs a target with its corpus and then with mutations; `CCM_FUZZ_SEED` sets the seed, and `CCM_FUZZ_LENGTH`
/// the maximum length of a mutation in bytes. An input that fails is written to a file, whose path is printed
/// with the seed.
pub fn endure(target: &Target, effort: Effort) {
    let seed = number("CCM_FUZZ_SEED").unwrap_or(SEED);
    let length =
        number("CCM_FUZZ_LENGTH").and_then(|length| usize::try_from(length).ok()).unwrap_or(MAX_LENGTH);
    let corpus = corpus(target.name);
    let watch = Watch::new(target.name);
    let attempt = |input: &[u8]| {
        watch.begin(input);
        let begun = Instant::now();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(input))) {
            eprintln!("{} fails with seed {seed} and the input in {}", target.name, watch.keep().display());
            eprintln!("{}", input.escape_ascii());
            resume_unwind(panic);
        }
        begun.elapsed()
    };
    let mut slowest = corpus.iter().map(|input| attempt(input)).max().unwrap_or_default();
    let begun = Instant::now();
    let mut inputs = 0;
    while match effort {
        Effort::Inputs(max) => inputs < max,
        Effort::Time(max) => begun.elapsed() < max,
    } {
        let took = attempt(&mutated(&corpus, target.words, length, &mut Random::new(seed, inputs)));
        slowest = slowest.max(took);
        inputs += 1;
        if inputs % 64 == 0 {
            watch.check_memory();
        }
    }
    watch.check_memory();
    let (name, kept) = (target.name, corpus.len());
    eprintln!(
        "{name}: seed {seed}, {kept} inputs of the corpus and {inputs} mutations, the slowest {slowest:?}"
    );
}
