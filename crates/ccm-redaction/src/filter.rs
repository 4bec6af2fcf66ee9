//! A Bloom filter: a small test that excludes most keys that are not in a set.

use std::hash::{BuildHasherDefault, Hasher};

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// Bits per key while the filter fits into the fastest cache, and beyond that.
const MANY_BITS: usize = 256;
const FEW_BITS: usize = 16;
const CACHED_BITS: usize = 1 << 18;

/// Two bits for each key of a set, in a word that depends on the key.
#[derive(Default)]
pub(super) struct Filter {
    /// Words of the filter; the number of words is a power of two.
    words: Vec<u64>,
    keys: usize,
}

impl Filter {
    pub(super) fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// Returns `false` if the key is certainly not in the set.
    #[inline]
    pub(super) fn may_hold(&self, key: u64) -> bool {
        let (index, first, second) = position(key, self.words.len());
        self.words.get(index).is_some_and(|word| word >> first & 1 == 1 && word >> second & 1 == 1)
    }

    /// Adds a key that is not in the set. `all` returns the present keys, in case the filter has to grow.
    pub(super) fn add<K: Iterator<Item = u64>>(&mut self, key: u64, all: impl FnOnce() -> K) {
        self.keys += 1;
        let bits = self.words.len() * 64;
        if bits < self.keys * FEW_BITS || bits < CACHED_BITS && bits < self.keys * MANY_BITS {
            self.words = vec![0; (self.words.len() * 4).max(16)];
            all().for_each(|key| self.set(key));
        }
        self.set(key);
    }

    fn set(&mut self, key: u64) {
        let (index, first, second) = position(key, self.words.len());
        if let Some(word) = self.words.get_mut(index) {
            *word |= 1 << first | 1 << second;
        }
    }
}

/// Returns the index of the word of a key, and its two bits in the word.
#[inline]
fn position(key: u64, words: usize) -> (usize, u64, u64) {
    // The first bits of the product depend on all bits of the key.
    let hash = key.wrapping_mul(FACTOR);
    ((hash >> 40) as usize & words.wrapping_sub(1), hash >> 34 & 63, hash >> 28 & 63)
}

/// Hasher for keys that no attacker can choose.
pub(super) type KeyHash = BuildHasherDefault<KeyHasher>;

#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut number = [0; 8];
            number[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(number));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(26) ^ number).wrapping_mul(FACTOR);
    }

    fn finish(&self) -> u64 {
        // A hash table uses the last bits, but only the first bits depend on all bits of the key.
        self.0.rotate_left(26)
    }
}
