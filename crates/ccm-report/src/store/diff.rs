//! Diffs in the record of a run.

/// Maximum length of a recorded diff in bytes, without the mark at its end.
const MAX_DIFF: usize = 64 << 10;
/// Maximum length of all diffs of a run in bytes. A record that is much longer is not shown any more.
const MAX_DIFFS: usize = 16 << 20;
/// Recorded in place of a diff that does not fit any more.
const NOT_RECORDED: &str = "the diff is not recorded: the diffs of this run are longer than 16 MiB\n";

/// Space for the diffs of a run.
#[derive(Debug)]
pub struct DiffSpace {
    left: usize,
}

impl Default for DiffSpace {
    fn default() -> Self {
        Self { left: MAX_DIFFS }
    }
}

impl DiffSpace {
    /// Takes the space of a diff. Returns what is recorded in its place if the diff is too long: a long one is cut
    /// after a whole line, with a mark.
    pub fn take(&mut self, diff: &str) -> Option<String> {
        let recorded = (diff.len() > MAX_DIFF).then(|| cut(diff));
        let length = recorded.as_deref().unwrap_or(diff).len();
        match self.left.checked_sub(length) {
            Some(left) => {
                self.left = left;
                recorded
            }
            None => Some(NOT_RECORDED.to_owned()),
        }
    }
}

fn cut(diff: &str) -> String {
    let end = diff.as_bytes()[..MAX_DIFF].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (kept, rest) = diff.split_at(end);
    format!("{kept}... (truncated, {} more lines)\n", rest.lines().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut_after_a_line() {
        let recorded = |diff: &str| DiffSpace::default().take(diff);
        assert_eq!(recorded("-a\n+b\n"), None);
        let line = "+ä34567\n";
        let fits = line.repeat(MAX_DIFF / line.len());
        assert_eq!(recorded(&fits), None);
        for more in [1, 400] {
            let long = line.repeat(fits.len() / line.len() + more);
            let expected = format!("{fits}... (truncated, {more} more lines)\n");
            assert!(recorded(&long) == Some(expected), "{more}");
        }
        let unbroken = "+".repeat(MAX_DIFF + 1);
        assert_eq!(recorded(&unbroken).as_deref(), Some("... (truncated, 1 more lines)\n"));
    }

    #[test]
    fn the_diffs_of_a_run_have_limited_space() {
        let mut space = DiffSpace::default();
        let long = "+\n".repeat(MAX_DIFF / 2);
        for _ in 0..MAX_DIFFS / MAX_DIFF {
            assert_eq!(space.take(&long), None);
        }
        assert_eq!(space.take("+"), Some(NOT_RECORDED.to_owned()));
        assert_eq!(space.take(""), None);
        let mut space = DiffSpace { left: 3 };
        assert_eq!(space.take("four"), Some(NOT_RECORDED.to_owned()));
        assert_eq!(space.take("two"), None, "a shorter one still fits");
    }
}
