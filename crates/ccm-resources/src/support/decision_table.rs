//! Decision tables that types are tested with.

use ccm_engine::{Decision, Rule};

/// Compares the decision of each row `conditions | decision | reason` with the expected one, and returns the number
/// of rows. A change is written as its message for noop, without `Would have`; what is kept as
/// `keep`; a failure as `fail`, or `fail, missing` with [`Failure::missing`](ccm_model::Failure::missing), and its reason is
/// the first layer of the chain. Lines that begin with `#` are comments.
pub(crate) fn assert_rows<const N: usize, R: Rule>(
    table: &str,
    decide: impl Fn([&str; N]) -> Decision<R>,
) -> usize {
    let rows = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let assert_row = |row: &str| {
        let [conditions, decision, reason] =
            row.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        let conditions = conditions.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
        let (decided, why) = match decide(conditions) {
            Decision::Keep { reason } => ("keep".to_owned(), reason.to_string()),
            Decision::Fail { failure, .. } => {
                let missing = if failure.missing.is_some() { ", missing" } else { "" };
                (format!("fail{missing}"), failure.chain[0].clone())
            }
            Decision::Change { reason, action, .. } => {
                (action.noop_message(false).replace("Would have ", ""), reason.to_string())
            }
        };
        assert_eq!((&*decided, &*why), (decision, reason), "{row}");
    };
    rows.map(assert_row).count()
}
