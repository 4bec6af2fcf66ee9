//! Decision tables that types are tested with.

use ccm_engine::{Decision, Rule};
use ccm_model::{Action, Change};

/// Compares the decision of each row `conditions | message | reason | action` with the expected one, and
/// returns the number of rows. Lines that begin with `#` are comments.
pub(crate) fn assert_rows<const N: usize, R: Rule>(
    table: &str,
    decide: impl Fn([&str; N]) -> Decision<R>,
) -> usize {
    let rows = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let assert_row = |row: &str| {
        let [conditions, message, reason, action] =
            row.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        let conditions = conditions.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
        let (decided, why, done) = match decide(conditions) {
            Decision::Keep { reason } => ("keep".to_owned(), reason.to_string(), "-".to_owned()),
            Decision::Fail { failure, .. } => {
                let missing = if failure.missing.is_some() { ", missing" } else { "" };
                (format!("fail{missing}"), failure.chain[0].clone(), "-".to_owned())
            }
            Decision::Change { reason, noop_message, action, .. } => {
                (noop_message.replace("Would have ", ""), reason.to_string(), shown(&action))
            }
        };
        assert_eq!((&*decided, &*why, &*done), (message, reason, action), "{row}");
    };
    rows.map(assert_row).count()
}

/// Returns an action as tables show it: `change: mode 0600 to 0644, content +1 -1`.
pub(crate) fn shown(action: &Action) -> String {
    let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
    let change = |Change { aspect, from, to, lines }: &Change| match lines {
        Some(lines) => format!("{aspect} +{} -{}", lines.added, lines.removed),
        None if from.is_none() && to.is_none() => aspect.to_string(),
        None => format!("{aspect} {} to {}", side(from), side(to)),
    };
    let parts: Vec<String> = action.detail.iter().cloned().chain(action.changes.iter().map(change)).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{}{parts}", action.verb.infinitive())
}
