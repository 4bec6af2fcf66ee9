//! Options of the text report.

use crate::screen::Screen;

/// Amount of detail of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verbosity {
    /// Failures and warnings, and a summary if something failed or the run was stopped.
    Quiet,
    /// What changed, what failed, live output, messages of the manifest and a summary.
    #[default]
    Normal,
    /// Also unchanged and unselected resources, and the reason for each outcome.
    Verbose,
    /// Also the state of changed resources, as JSON.
    Everything,
}

/// Options of a report.
#[derive(Clone, Debug, Default)]
pub struct TextOptions {
    /// Amount of detail.
    pub verbosity: Verbosity,
    /// Abilities of the receiver.
    pub screen: Screen,
    /// Ids of the newest run that was recorded before, and of the runs of the same call. The short id of a run differs
    /// from all others.
    pub other_runs: Vec<String>,
    /// State directory of the run, if `ccm history` needs it.
    pub state_directory: Option<String>,
}

/// Recorded run that a report refers to.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunReference<'a> {
    /// Short id.
    pub(super) id: &'a str,
    pub(super) state_directory: Option<&'a str>,
}

/// Minimum number of characters of a short id: all those of its time, in milliseconds. A shorter id, of which a report
/// showed what no earlier run had, could name a later run as well.
pub(crate) const SHORT_ID: usize = 13;

/// Returns the beginning of the id of a run that no other run has, and that no later run will have.
pub(crate) fn short_id<'a>(id: &'a str, others: &[String]) -> &'a str {
    let shared = |other: &String| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let shared = others.iter().filter(|other| *other != id).map(shared).max().unwrap_or_default();
    id.get(..SHORT_ID.max(shared + 1)).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_differs_from_those_of_other_runs() {
        let id = "01a200c1-277e-7000-99d1-4c221e08d6d6";
        for (others, short) in [
            (&[][..], "01a200c1-277e"),
            (&["01a200c1-277d-7000-99d1-4c221e08d6d6"], "01a200c1-277e"),
            (
                &["01a200c1-277e-7001-99d1-4c221e08d6d6", id, "01a1ffff-277e-7000-99d1-4c221e08d6d6"],
                "01a200c1-277e-7000",
            ),
            (&[id], "01a200c1-277e"),
        ] {
            let others: Vec<String> = others.iter().map(|other| (*other).to_owned()).collect();
            assert_eq!(short_id(id, &others), short);
        }
        assert_eq!(short_id("", &[]), "");
    }
}
