//! Mutations of inputs, determined by a seed.

/// Usual maximum length of an input in bytes. Other tests cover longer inputs.
pub(crate) const MAX_LENGTH: usize = 32 << 10;

/// Pieces with a meaning for more than one reader.
const PIECES: &[&str] = &[
    "\0",
    "\t",
    "\r\n",
    "\n",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\u{fffd}",
    "\u{e9}",
    "\u{1f600}",
    "\u{202e}",
    "\u{1b}[31m",
    "\\",
    "'",
    "\"",
    "#",
    ":",
    ": ",
    "- ",
    "-1",
    "0",
    "9223372036854775807",
    "9223372036854775808",
    "1e999",
    "0x7fffffffffffffff",
    "null",
    "true",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "{{",
    "}}",
    "${",
    "|",
    ">",
    "&a ",
    "*a",
    "!!str ",
    "<<: ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "? ",
    "~",
    ",",
    "\n  ",
    "\n    - ",
];

/// Step from one state of the generator to the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Generator of numbers that depend only on the seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, iteration: u64) -> Self {
        // A number of the generator as its state: otherwise, an iteration would get the numbers of the one
        // before, without the first.
        Self(Self(seed ^ iteration.wrapping_mul(STEP)).next())
    }

    fn next(&mut self) -> u64 {
        // SplitMix64: small seeds are as good as others.
        self.0 = self.0.wrapping_add(STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    fn of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    /// Returns a range of at most `max` of `length` bytes.
    fn range(&mut self, length: usize, max: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below((length - start).min(max) + 1)
    }
}

/// Returns an input of the corpus, or a part of one that is longer than `max` bytes, with some changes.
pub(crate) fn mutated(corpus: &[Vec<u8>], words: &[&str], max: usize, random: &mut Random) -> Vec<u8> {
    let whole = random.of(corpus);
    let start = random.below(whole.len().saturating_sub(max) + 1);
    let mut input = whole[start..whole.len().min(start + max)].to_vec();
    for _ in 0..=random.below(6) {
        change(&mut input, corpus, words, random);
    }
    input.truncate(max);
    input
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(12) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => input.insert(at, random.byte()),
        2 => drop(input.drain(random.range(input.len(), 8))),
        3 => drop(input.drain(random.range(input.len(), usize::MAX))),
        4 => input.truncate(at),
        5 => {
            let other = random.of(corpus);
            input.truncate(at);
            input.extend(&other[random.below(other.len() + 1)..]);
        }
        6 => {
            let other = random.of(corpus);
            let part = other[random.range(other.len(), 200)].to_vec();
            drop(input.splice(at..at, part));
        }
        7 => {
            let part = input[random.range(input.len(), 40)].repeat(1 + random.below(64));
            drop(input.splice(at..at, part));
        }
        8 => move_line(input, random),
        9 => {
            let piece = random.of(PIECES).bytes();
            drop(input.splice(random.range(input.len(), 4), piece));
        }
        _ => {
            let word = if words.is_empty() { "" } else { random.of(words) };
            drop(input.splice(at..at, word.bytes()));
        }
    }
}

/// Moves a line, and may change its indentation.
fn move_line(input: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<Vec<u8>> = input.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let mut line = lines.remove(random.below(lines.len()));
    match random.below(4) {
        0 => drop(line.splice(0..0, *b"  ")),
        1 => drop(line.drain(..line.len().min(2))),
        _ => {}
    }
    lines.insert(random.below(lines.len() + 1), line);
    *input = lines.concat();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_input_is_longer_than_the_maximum() {
        let corpus = [b"0123456789".repeat(20), b"short".to_vec()];
        let input = |number| mutated(&corpus, &["word "], 64, &mut Random::new(1, number));
        assert!((0..1_000).all(|number| input(number).len() <= 64));
        // A part of a long input may begin anywhere.
        assert!((0..1_000).any(|number| input(number).starts_with(b"3456789")));
        assert_eq!(input(7), input(7));
    }

    #[test]
    fn inputs_have_numbers_of_their_own() {
        for seed in [0, 1, 7] {
            let mut one = Random::new(seed, 5);
            one.next();
            assert_ne!(one.next(), Random::new(seed, 6).next());
        }
    }
}
