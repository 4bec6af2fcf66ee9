//! The beginning and the end of a stream, kept in bounded memory.

use super::CapturedOutput;

/// Maximum number of bytes kept of the beginning.
const MAX_HEAD: usize = 1024 * 1024;
/// Maximum number of bytes kept of the end.
const MAX_TAIL: usize = 64 * 1024;

/// Collects a stream.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    /// Up to twice the tail, so that its front is cut off once per tail and not once per read.
    recent: Vec<u8>,
    behind_head: u64,
}

impl Capture {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(MAX_HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        self.behind_head += rest.len() as u64;
        let rest = &rest[rest.len().saturating_sub(MAX_TAIL)..];
        if self.recent.len() + rest.len() > 2 * MAX_TAIL {
            self.recent.drain(..self.recent.len() - MAX_TAIL);
        }
        self.recent.extend_from_slice(rest);
    }

    pub(super) fn finish(self) -> CapturedOutput {
        let mut tail = self.recent;
        tail.drain(..tail.len().saturating_sub(MAX_TAIL));
        CapturedOutput { head: self.head, dropped: self.behind_head - tail.len() as u64, tail }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(bytes: &[u8], read: usize) -> CapturedOutput {
        let mut capture = Capture::default();
        bytes.chunks(read).for_each(|chunk| capture.push(chunk));
        capture.finish()
    }

    #[test]
    fn the_beginning_and_the_end_are_kept_and_the_rest_counted() {
        for (printed, head, tail, dropped) in [
            (0, 0, 0, 0),
            (1, 1, 0, 0),
            (MAX_HEAD, MAX_HEAD, 0, 0),
            (MAX_HEAD + 1, MAX_HEAD, 1, 0),
            (MAX_HEAD + MAX_TAIL, MAX_HEAD, MAX_TAIL, 0),
            (MAX_HEAD + MAX_TAIL + 1, MAX_HEAD, MAX_TAIL, 1),
            (MAX_HEAD + 5 * MAX_TAIL + 7, MAX_HEAD, MAX_TAIL, 4 * MAX_TAIL + 7),
        ] {
            for read in [4096, 65_536, 3 * MAX_HEAD] {
                let found = captured(&vec![b'x'; printed], read);
                let lengths = (found.head.len(), found.tail.len(), found.dropped, found.truncated());
                assert_eq!(lengths, (head, tail, dropped as u64, dropped > 0), "{printed} bytes by {read}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn what_is_kept_does_not_depend_on_the_reads(length in MAX_HEAD - 10..MAX_HEAD + 4 * MAX_TAIL, read in 1000_usize..200_000) {
            let printed: Vec<u8> = (0..=250).cycle().take(length).collect();
            let found = captured(&printed, read);
            prop_assert_eq!(&found.head[..], &printed[..length.min(MAX_HEAD)]);
            prop_assert!(printed.ends_with(&found.tail));
            prop_assert_eq!(found.head.len() as u64 + found.dropped + found.tail.len() as u64, length as u64);
        }
    }
}
