//! Ids for runs and events, in ascending order.

use std::time::{SystemTime, UNIX_EPOCH};

/// Generator of ids of the form UUID version 7, each greater than the previous one. If the clock stands still
/// or goes back, the id repeats the previous time, and the twelve bits after the time are a counter.
#[derive(Clone, Debug)]
pub struct Ids {
    milliseconds: u64,
    count: u16,
    chance: u64,
}

const TIME_BITS: u64 = (1 << 48) - 1;
const COUNT_BITS: u16 = (1 << 12) - 1;

impl Ids {
    /// Builds a generator from a random seed.
    pub fn new(seed: u128) -> Self {
        let [low, high] = [seed & u128::from(u64::MAX), seed >> 64].map(u64::try_from);
        let chance = low.unwrap_or_default() ^ high.unwrap_or_default().rotate_left(32);
        Self { milliseconds: 0, count: 0, chance }
    }

    /// Continues after an id of another generator, so that all further ids are greater.
    #[must_use]
    pub fn after(mut self, earlier: &str) -> Self {
        let number = |range| u64::from_str_radix(earlier.get(range)?, 16).ok();
        let parts = (|| Some((number(0..8)? << 16 | number(9..13)?, number(15..18)?)))();
        // The last possible time has no greater ids.
        if let Some((milliseconds, count)) = parts.filter(|(milliseconds, _)| *milliseconds < TIME_BITS) {
            (self.milliseconds, self.count) = (milliseconds, u16::try_from(count).unwrap_or(COUNT_BITS));
        }
        self
    }

    /// Returns the next id, for an event at a time.
    pub fn next(&mut self, at: SystemTime) -> String {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let now = u64::try_from(since).unwrap_or(TIME_BITS) & TIME_BITS;
        if now > self.milliseconds {
            (self.milliseconds, self.count) = (now, 0);
        } else if self.count < COUNT_BITS {
            self.count += 1;
        } else {
            (self.milliseconds, self.count) = (self.milliseconds + 1, 0);
        }
        let first = self.milliseconds << 16 | u64::from(0x7000 | self.count);
        format_id(u128::from(first) << 64 | u128::from(self.draw() >> 2 | 1 << 63))
    }

    /// Returns the next number of the `SplitMix64` sequence, which is uniform and does not repeat within a
    /// run. Ids need not be secret, so the numbers may be predictable.
    fn draw(&mut self) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn format_id(number: u128) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let mut places = text.iter_mut().enumerate().filter(|(at, _)| !matches!(at, 8 | 13 | 18 | 23));
    for byte in number.to_be_bytes() {
        for digit in [byte >> 4, byte & 15] {
            if let Some((_, place)) = places.next() {
                *place = DIGITS[usize::from(digit)];
            }
        }
    }
    str::from_utf8(&text).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_has_the_form_of_version_7() {
        let id = Ids::new(7).next(UNIX_EPOCH + Duration::from_millis(0x019a_8c3f_0102));
        assert!(id.starts_with("019a8c3f-0102-7000-"), "{id}");
        assert_eq!(id.len(), 36);
        assert!(matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
    }

    #[test]
    fn different_seeds_yield_different_ids() {
        let first = |seed| Ids::new(seed).next(UNIX_EPOCH);
        assert_ne!(first(1), first(2));
        assert_ne!(first(1), first(1 << 64));
    }

    #[test]
    fn ids_continue_after_those_of_another_generator() {
        for (earlier, moment) in [(9_000, 1_000), (9_000, 9_000), (1_000, 9_000)] {
            let mut first = Ids::new(1);
            let at = |milliseconds| UNIX_EPOCH + Duration::from_millis(milliseconds);
            for _ in 0..5_000 {
                let newest = first.next(at(earlier));
                let next = Ids::new(2).after(&newest).next(at(moment));
                assert!(next > newest, "{next} after {newest}");
                assert_eq!(next.len(), 36);
            }
        }
        let last = "ffffffff-ffff-7fff-ffff-ffffffffffff";
        for odd in [last, "", "x", "ä", "0000"] {
            assert_eq!(Ids::new(1).after(odd).next(UNIX_EPOCH).len(), 36, "{odd}");
        }
    }

    #[test]
    fn ids_ascend_although_the_clock_stands_still() {
        let mut ids = Ids::new(1);
        let all: Vec<String> = (0..10_000).map(|_| ids.next(UNIX_EPOCH)).collect();
        assert!(all.is_sorted_by(|earlier, later| earlier < later));
    }

    proptest! {
        #[test]
        fn ids_always_ascend(seed: u128, moments in prop::collection::vec(0_u64..5_000, 0..200)) {
            let mut ids = Ids::new(seed);
            let all: Vec<String> =
                moments.iter().map(|moment| ids.next(UNIX_EPOCH + Duration::from_millis(*moment))).collect();
            prop_assert!(all.is_sorted_by(|earlier, later| earlier < later));
        }
    }
}
