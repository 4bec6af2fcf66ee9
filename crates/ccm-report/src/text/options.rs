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
    /// Id of the newest run that was recorded before. The short id of this run differs from it.
    pub earlier_run: Option<String>,
}

/// Number of characters of a short id, if no other run has the same ones.
const SHORT_ID: usize = 8;

/// Returns the beginning of the id of a run that the run before does not have.
pub(crate) fn short_id<'a>(id: &'a str, earlier: Option<&str>) -> &'a str {
    let shared =
        earlier.map_or(0, |earlier| id.bytes().zip(earlier.bytes()).take_while(|(a, b)| a == b).count());
    id.get(..SHORT_ID.max(shared + 1)).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_differs_from_the_one_before() {
        let id = "01a200c1-277e-7000-99d1-4c221e08d6d6";
        for (earlier, short) in [
            (None, "01a200c1"),
            (Some("01a1ffff-277e-7000-99d1-4c221e08d6d6"), "01a200c1"),
            (Some("01a200c1-26ff-7000-99d1-4c221e08d6d6"), "01a200c1-27"),
            (Some(id), id),
        ] {
            assert_eq!(short_id(id, earlier), short);
        }
        assert_eq!(short_id("", None), "");
    }
}
