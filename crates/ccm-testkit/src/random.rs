//! Reproducible random numbers, for inputs that a test makes.

/// Source of random numbers: the same ones for the same seed, which must not be 0.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Starts with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }

    /// Returns one of several texts.
    pub fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}
