//! Beginnings of the chunks that go on from each node.

/// Node, bytes of which the first is the lowest, and how many bytes there are.
type Chunk = (u32, u64, u8);

/// Sorted runs, of which each is at least twice as long as the next one, so that to add is cheap on average.
/// They are first sorted when they are first asked for, which never happens in a run that starts no command.
#[derive(Default)]
pub(super) struct Prefixes {
    is_used: bool,
    /// With the first byte as the highest.
    runs: Vec<Vec<Chunk>>,
    /// Chunks that are in no run yet.
    new: Vec<Chunk>,
}

impl Prefixes {
    /// Adds a chunk of up to 8 bytes.
    pub(super) fn add(&mut self, chunk: Chunk) {
        if self.is_used {
            self.new.push(swapped(chunk));
        }
    }

    /// Returns `true` if a chunk of the node begins with these bytes and is longer. `all` are the chunks that
    /// were added so far.
    pub(super) fn goes_on<I: Iterator<Item = Chunk>>(
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
        for (place, byte) in first.iter_mut().zip(bytes) {
            *place = *byte;
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
            reason = "it merges the sorted runs in it, and the other does not"
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
        let mut goes_on = |added: u64| {
            let all = (0..added).map(|number| (1, number, 8));
            let found = prefixes.goes_on(1, &added.to_le_bytes()[..7], || all);
            prefixes.add((1, added, 8));
            (found, prefixes.runs.len())
        };
        let found: Vec<(bool, usize)> = (0..1000).map(&mut goes_on).collect();
        assert_eq!(found[0], (false, 0));
        // Each is twice as long as the next one.
        assert!(found.iter().all(|(goes_on, runs)| !goes_on && *runs <= 10), "{found:?}");
        assert!(goes_on(500).0 && goes_on(999).0);
    }
}
