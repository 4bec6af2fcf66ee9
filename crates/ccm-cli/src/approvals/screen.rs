//! Intents as an approver reads them. Nothing is cut, and control characters are escaped.

use std::time::Duration;

use ccm_runtime::approval::{ApprovalScreen, ApprovalState, ApproveError, ListedIntent};
use ccm_runtime::model::{display_duration, escape_control};
use serde_json::json;

const SEPARATOR: &str = "  ";

/// Returns `true` for what a list shows: what waits, was approved or was rejected.
pub(super) fn is_shown(state: &ApprovalState) -> bool {
    state.is_live() || matches!(state, ApprovalState::Rejected { .. })
}

/// Returns a line for each intent.
pub(super) fn list(intents: &[ListedIntent]) -> String {
    if intents.is_empty() {
        return "nothing waits for an approval\n".to_owned();
    }
    let mut text = String::new();
    for listed in intents {
        let content = &listed.intent.content;
        let caller = content.caller.login.as_ref().unwrap_or(&content.caller.user);
        let mut needs: Vec<String> = content.requires.iter().map(|demand| escaped(&demand.text)).collect();
        // A demand of a rule names it.
        if needs.iter().all(|need| !need.contains(", for rule")) {
            needs.insert(0, escaped(&content.rules.join(", ")));
        }
        let parts = [
            listed.intent.code.clone(),
            escaped(caller),
            escaped(content.resource.as_ref().unwrap_or(&content.tool)),
            state(listed),
            format!("ask: needs {}", needs.join("; ")),
        ];
        text += &format!("{}\n", parts.join(SEPARATOR));
    }
    text
}

/// Returns a line of the list without what changes by itself.
pub(super) fn without_time(line: &str) -> String {
    let parts = line.split(SEPARATOR).filter(|part| !part.starts_with("expires in "));
    parts.collect::<Vec<_>>().join(SEPARATOR)
}

/// Returns the intents as JSON.
pub(super) fn json(intents: &[ListedIntent]) -> String {
    let intents: Vec<_> = intents
        .iter()
        .map(|listed| {
            let (by, reason) = match &listed.state {
                ApprovalState::Waiting(by) | ApprovalState::Approved { by, .. } => (by.clone(), None),
                ApprovalState::Rejected { reason, .. } | ApprovalState::Ended(reason) => {
                    (Vec::new(), Some(reason))
                }
                ApprovalState::Used => (Vec::new(), None),
            };
            json!({
                "intent": listed.intent,
                "state": state_name(&listed.state),
                "approved_by": by,
                "reason": reason,
                "notes": listed.notes,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "approvals": intents }))
}

fn state_name(state: &ApprovalState) -> &'static str {
    match state {
        ApprovalState::Waiting(_) => "pending",
        ApprovalState::Approved { .. } => "approved",
        ApprovalState::Rejected { .. } => "rejected",
        ApprovalState::Used => "used",
        ApprovalState::Ended(_) => "ended",
    }
}

fn state(listed: &ListedIntent) -> String {
    let text = match &listed.state {
        ApprovalState::Waiting(by) => {
            let left = whole_seconds(listed.left.unwrap_or_default());
            let left = format!("expires in {}", display_duration(left));
            if by.is_empty() {
                left
            } else {
                format!("{left}{SEPARATOR}approved by {}", escaped(&by.join(", ")))
            }
        }
        ApprovalState::Approved { by, until, uses } => {
            let uses = if *uses == 1 { String::new() } else { format!(", {uses} uses") };
            format!("approved by {} until {until}{uses}", escaped(&by.join(", ")))
        }
        ApprovalState::Rejected { reason, .. } => format!("rejected: {}", escaped(reason)),
        ApprovalState::Used => "used".to_owned(),
        ApprovalState::Ended(reason) => format!("ended: {}", escaped(reason)),
    };
    let notes = listed.notes.iter().map(|note| format!("{SEPARATOR}{}", escaped(note)));
    std::iter::once(text).chain(notes).collect()
}

/// Returns everything about an intent. One that can't be shown whole is an error.
pub(crate) fn request(listed: &ListedIntent) -> Result<String, ApproveError> {
    let code = || listed.intent.code.clone();
    let screen = ApprovalScreen::of(&listed.intent)
        .map_err(|source| ApproveError::Unshowable { code: code(), source })?;
    let mut text = headline(&screen);
    if !screen.is_change {
        text += &format!("{}\n", circumstances(&screen));
    }
    text += &commands(&screen);
    let (first, others) = screen.exact.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
    if screen.is_change {
        for line in &screen.exact {
            text += &format!("  {line}\n");
        }
    } else {
        text += &format!("exactly: {first}\n");
        for line in others {
            text += &format!("  {line}\n");
        }
    }
    for property in &screen.properties {
        text += &format!("property {property}\n");
    }
    for line in &screen.stdin {
        text += &format!("standard input: {line}\n");
    }
    if let Some(digest) = &screen.hidden_stdin {
        text += &format!("standard input that is not shown: sha256 {digest}\n");
    }
    for (path, digest) in &screen.programs {
        text += &format!("file {path} sha256 {digest}\n");
    }
    text += &format!("needs {}; {}\n", screen.requires.join("; "), state(listed));
    if let Some(grant) = screen.grant {
        text += &format!(
            "the policy allows up to {} uses for {} (`--uses`)\n",
            grant.uses,
            display_duration(Duration::from_millis(grant.for_ms))
        );
    }
    if !screen.reason.is_empty() {
        text += &format!("Its reason, not checked: \"{}\"\n", screen.reason.join("\\n"));
    }
    Ok(text)
}

fn headline(screen: &ApprovalScreen) -> String {
    let who = screen.login.as_ref().unwrap_or(&screen.caller);
    let purpose = screen.purpose.as_deref().unwrap_or(&screen.tool);
    let what = match (&screen.resource, &screen.manifest) {
        (Some(resource), Some(manifest)) => format!("{purpose} of {resource}, manifest {manifest}"),
        (Some(resource), None) => format!("{purpose} of {resource}"),
        _ => {
            let client = screen.client.as_ref().map_or_else(String::new, |client| format!(" {client}"));
            format!("tool {} ({}{client})", screen.tool, screen.kind)
        }
    };
    format!("{}: for {who}, {what}\n", screen.machine)
}

fn commands(screen: &ApprovalScreen) -> String {
    let rows: Vec<(&str, String)> =
        screen.commands.iter().map(|row| (&*row.text, row.effects.join(", "))).collect();
    let width = |of: fn(&(&str, String)) -> usize| {
        rows.iter().map(of).filter(|width| *width <= 60).max().unwrap_or(0)
    };
    let (first, second) = (width(|row| row.0.chars().count()), width(|row| row.1.chars().count()));
    let mut text = String::new();
    for (command, (shown, effects)) in screen.commands.iter().zip(&rows) {
        let (number, reasons) = (command.number, command.reasons.join(", "));
        let line = format!("{number:3}  {shown:first$}  {effects:second$}  {}  {reasons}", command.verdict);
        text += &format!("{}\n", line.trim_end());
        if command.is_unknown {
            text += "       not all of its words are known before it runs\n";
        }
    }
    text
}

fn circumstances(screen: &ApprovalScreen) -> String {
    let user = screen.user.as_deref().unwrap_or("the user of ccm");
    let place = match (&screen.image, &screen.sandbox) {
        (Some(image), _) => format!("in a container of {image}"),
        (None, _) if screen.is_unconfined => "WITHOUT A SANDBOX".to_owned(),
        (None, Some(profile)) => format!("in the sandbox {profile}"),
        (None, None) => "in a sandbox".to_owned(),
    };
    let variables = if screen.variables.is_empty() {
        String::new()
    } else {
        format!(", variables {}", screen.variables.join(" "))
    };
    format!("as {user}, in {}, {place}{variables}", screen.cwd)
}

fn whole_seconds(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs())
}

/// Returns a text on one line, with nothing in it that a terminal would obey.
fn escaped(text: &str) -> String {
    escape_control(text).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_on_its_line() {
        assert_eq!(escaped("a\nb\u{1b}[2J\u{202e}"), "a\\nb\\u{1b}[2J\\u{202e}");
    }

    #[test]
    fn the_remaining_time_is_no_change_of_the_list() {
        assert_eq!(
            without_time("7K3F  root  expires in 3s  ask"),
            without_time("7K3F  root  expires in 2s  ask")
        );
    }
}
