//! Index of the entries in the files of `programs/`, which the compiler builds.

/// Files of entries.
const FILES: [&str; 12] = [
    include_str!("../../programs/wrappers.yaml"),
    include_str!("../../programs/interpreters.yaml"),
    include_str!("../../programs/files.yaml"),
    include_str!("../../programs/texts.yaml"),
    include_str!("../../programs/archives.yaml"),
    include_str!("../../programs/network.yaml"),
    include_str!("../../programs/packages.yaml"),
    include_str!("../../programs/containers.yaml"),
    include_str!("../../programs/development.yaml"),
    include_str!("../../programs/git.yaml"),
    include_str!("../../programs/git_reading.yaml"),
    include_str!("../../programs/system.yaml"),
];

/// Number of entries.
pub(super) const COUNT: usize = count();

/// Texts of all entries.
pub(super) static ENTRIES: [EntryText; COUNT] = entries();

/// Names of all entries, a hash table with linear probing.
static NAMES: [EntryName; BUCKETS] = names();

/// Number of buckets, of which at least half are free.
const BUCKETS: usize = 4_096;

/// First line of the examples of an entry. They are its last key.
const EXAMPLES: &[u8] = b"  examples:";

/// Text of an entry, as offsets into its file.
#[derive(Clone, Copy)]
pub(super) struct EntryText {
    file: usize,
    start: usize,
    /// Start of the examples.
    examples: usize,
    end: usize,
}

/// Name of an entry, as offsets into its file.
#[derive(Clone, Copy)]
struct EntryName {
    start: u32,
    /// 0 for a free bucket.
    length: u16,
    entry: u16,
}

impl EntryText {
    /// Returns the entry with its keys, without its examples.
    pub(super) fn text(&self) -> &'static str {
        &FILES[self.file][self.start..self.examples]
    }

    /// Returns the entry with its keys and its examples.
    #[cfg(test)]
    pub(super) fn whole(&self) -> &'static str {
        &FILES[self.file][self.start..self.end]
    }
}

/// Returns the position of the entry with a name.
pub(super) fn position(name: &str) -> Option<usize> {
    let mut bucket = hash(name.as_bytes(), 0, name.len());
    loop {
        let known = NAMES[bucket % BUCKETS];
        if known.length == 0 {
            return None;
        }
        let (entry, start) = (usize::from(known.entry), known.start as usize);
        if FILES[ENTRIES[entry].file].as_bytes()[start..start + usize::from(known.length)] == *name.as_bytes()
        {
            return Some(entry);
        }
        bucket += 1;
    }
}

/// Returns the hash of a part of a text (FNV-1a).
const fn hash(text: &[u8], start: usize, end: usize) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = start;
    while at < end {
        hash = (hash ^ text[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash as usize
}

/// Returns the position behind the line at `at`.
const fn next_line(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'\n' {
        at += 1;
    }
    at + 1
}

/// Returns `true` if the line at `at` is a top-level key.
const fn is_key(text: &[u8], at: usize) -> bool {
    !matches!(text[at], b' ' | b'#' | b'\n')
}

const fn is_examples(text: &[u8], at: usize) -> bool {
    let mut length = 0;
    while length < EXAMPLES.len() && at + length < text.len() && text[at + length] == EXAMPLES[length] {
        length += 1;
    }
    length == EXAMPLES.len()
}

const fn count() -> usize {
    let (mut count, mut file) = (0, 0);
    while file < FILES.len() {
        let text = FILES[file].as_bytes();
        let mut at = 0;
        while at < text.len() {
            count += is_key(text, at) as usize;
            at = next_line(text, at);
        }
        file += 1;
    }
    count
}

const fn entries() -> [EntryText; COUNT] {
    let mut entries = [EntryText { file: 0, start: 0, examples: 0, end: 0 }; COUNT];
    let (mut count, mut file) = (0, 0);
    while file < FILES.len() {
        let text = FILES[file].as_bytes();
        let mut at = 0;
        while at < text.len() {
            if is_key(text, at) {
                entries[count] = EntryText { file, start: at, examples: text.len(), end: text.len() };
                // The entry before in the same file ends here.
                if count > 0 && entries[count - 1].file == file {
                    let before = &mut entries[count - 1];
                    before.end = at;
                    if before.examples > at {
                        before.examples = at;
                    }
                }
                count += 1;
            } else if is_examples(text, at) {
                entries[count - 1].examples = at;
            }
            at = next_line(text, at);
        }
        file += 1;
    }
    entries
}

#[expect(clippy::cast_possible_truncation, reason = "the files and their number are small")]
#[expect(clippy::large_stack_arrays, reason = "the compiler runs this")]
const fn names() -> [EntryName; BUCKETS] {
    let mut names = [EntryName { start: 0, length: 0, entry: 0 }; BUCKETS];
    let (mut entry, mut count) = (0, 0);
    while entry < COUNT {
        let text = FILES[ENTRIES[entry].file].as_bytes();
        let mut start = ENTRIES[entry].start;
        loop {
            let mut end = start;
            while !matches!(text[end], b' ' | b':') {
                end += 1;
            }
            let mut bucket = hash(text, start, end);
            while names[bucket % BUCKETS].length > 0 {
                bucket += 1;
            }
            let length = (end - start) as u16;
            names[bucket % BUCKETS] = EntryName { start: start as u32, length, entry: entry as u16 };
            count += 1;
            if text[end] == b':' {
                break;
            }
            start = end + 1;
        }
        entry += 1;
    }
    assert!(count <= BUCKETS / 2);
    names
}
