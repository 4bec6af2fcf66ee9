//! Prefixes of the chunks that follow each node.

/// Node, bytes with the first one lowest, and the number of bytes.
type Chunk = (u32, u64, u8);

/// Sorted runs, each at least twice as long as the next one, which makes adding cheap on average. They are
/// built on first use, which never happens in a run without commands.
#[derive(Default)]
pub(super) struct Prefixes {
    is_used: bool,
    /// With the first byte highest.
    runs: Vec<Vec<Chunk>>,
    new: Vec<Chunk>,
}

impl Prefixes {
    /// Adds a chunk of up to 8 bytes.
    pub(super) fn add(&mut self, chunk: Chunk) {
        if self.is_used {
            self.new.push(swapped(chunk));
        }
    }

    /// Returns `true` if these bytes are a proper prefix of a chunk of the node. `all` returns the chunks so
    /// far.
    pub(super) fn has_prefix<I: Iterator<Item = Chunk>>(
        &mut self,
        node: u32,
        bytes: &[u8],
        all: impl FnOnce() -> I,
    ) -> bool {
        if !self.is_used {
            self.is_used = true;
            self.new = all().map(swapped).collect();
        }
        self.sort();
        let mut first = [0; 8];
        for (slot, byte) in first.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        let first = u64::from_be_bytes(first);
        let last =
            first | u64::MAX.checked_shr(u32::try_from(bytes.len() * 8).unwrap_or(64)).unwrap_or_default();
        let longer = u8::try_from(bytes.len() + 1).unwrap_or(u8::MAX);
        self.runs.iter().any(|run| {
            let at = run.partition_point(|chunk| *chunk < (node, first, longer));
            run.get(at).is_some_and(|(found, bytes, _)| *found == node && *bytes <= last)
        })
    }

    fn sort(&mut self) {
        if self.new.is_empty() {
            return;
        }
        let mut run = std::mem::take(&mut self.new);
        while let Some(mut shorter) = self.runs.pop_if(|last| last.len() < 2 * run.len()) {
            run.append(&mut shorter);
        }
        #[expect(
            clippy::stable_sort_primitive,
            reason = "it merges the sorted runs, and the unstable sort does not"
        )]
        run.sort();
        self.runs.push(run);
    }
}

fn swapped((node, bytes, length): Chunk) -> Chunk {
    (node, bytes.swap_bytes(), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_runs_are_few_and_complete() {
        let mut prefixes = Prefixes::default();
        let mut has_prefix = |added: u64| {
            let all = (0..added).map(|number| (1, number, 8));
            let found = prefixes.has_prefix(1, &added.to_le_bytes()[..7], || all);
            prefixes.add((1, added, 8));
            (found, prefixes.runs.len())
        };
        let found: Vec<(bool, usize)> = (0..1000).map(&mut has_prefix).collect();
        assert_eq!(found[0], (false, 0));
        // Each is twice as long as the next one.
        assert!(found.iter().all(|(has_prefix, runs)| !has_prefix && *runs <= 10), "{found:?}");
        assert!(has_prefix(500).0 && has_prefix(999).0);
    }
}
