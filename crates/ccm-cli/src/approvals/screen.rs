//! Requests as an approver reads them. Nothing is cut, and control characters are escaped.

use std::time::Duration;

use ccm_model::{display_duration, escape_control};
use ccm_runtime::{ApprovalRequest, ListedRequest, RequestState, RequestedAction};
use serde_json::json;

const SEPARATOR: &str = "  ";

/// Returns a line for each request.
pub(super) fn list(requests: &[ListedRequest]) -> String {
    if requests.is_empty() {
        return "nothing waits for an approval\n".to_owned();
    }
    let mut text = String::new();
    for listed in requests {
        let ListedRequest { request, .. } = listed;
        let needs: Vec<String> = request.needs.iter().map(|need| escaped(&need.text)).collect();
        let parts = [
            request.code.clone(),
            escaped(&request.user),
            escaped(&request.resource),
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

/// Returns the requests as JSON.
pub(super) fn json(requests: &[ListedRequest]) -> String {
    let requests: Vec<_> = requests
        .iter()
        .map(|listed| json!({ "intent": listed.request, "state": state_name(&listed.state) }))
        .collect();
    format!("{:#}\n", json!({ "approvals": requests }))
}

fn state_name(state: &RequestState) -> &'static str {
    match state {
        RequestState::Waiting(_) => "pending",
        RequestState::Approved { .. } => "approved",
        RequestState::Rejected(_) => "rejected",
        RequestState::Used => "used",
        RequestState::Ended(_) => "ended",
    }
}

fn state(listed: &ListedRequest) -> String {
    match &listed.state {
        RequestState::Waiting(by) => {
            let left = format!("expires in {}", display_duration(whole_seconds(listed.time_left)));
            if by.is_empty() {
                left
            } else {
                format!("{left}{SEPARATOR}approved by {}", escaped(&by.join(", ")))
            }
        }
        RequestState::Approved { by, until, uses } => {
            let uses = if *uses == 1 { String::new() } else { format!(", {uses} uses") };
            format!("approved by {} until {until}{uses}", escaped(&by.join(", ")))
        }
        RequestState::Rejected(reason) => format!("rejected: {}", escaped(reason)),
        RequestState::Used => "used".to_owned(),
        RequestState::Ended(reason) => format!("ended: {reason}"),
    }
}

/// Returns everything about a request.
pub(crate) fn request(listed: &ListedRequest) -> String {
    let ListedRequest { request, .. } = listed;
    let ApprovalRequest { action, commands, .. } = request;
    let mut text = format!(
        "{}: for {}, {} of {}, manifest {}\n",
        escaped(&request.machine),
        escaped(&request.user),
        request.purpose,
        escaped(&request.resource),
        escaped(&request.manifest)
    );
    if action.change.is_empty() {
        text += &format!("{}\n", circumstances(action));
    }
    let rows: Vec<(String, String)> =
        commands.iter().map(|row| (escaped(&row.text), escaped(&row.effects.join(", ")))).collect();
    let width = |of: fn(&(String, String)) -> &String| {
        rows.iter().map(|row| of(row).chars().count()).filter(|width| *width <= 60).max().unwrap_or(0)
    };
    let (first, second) = (width(|row| &row.0), width(|row| &row.1));
    for (number, (command, (shown, effects))) in commands.iter().zip(&rows).enumerate() {
        let reasons = escaped(&command.reasons.join(", "));
        let line =
            format!("{:3}  {shown:first$}  {effects:second$}  {}  {reasons}", number + 1, command.verdict);
        text += &format!("{}\n", line.trim_end());
        if command.is_partly_unknown {
            text += "       not all of its words are known before it runs\n";
        }
    }
    if !action.argv.is_empty() {
        let words: Vec<String> = action.argv.iter().map(|word| format!("{:?}", &**word)).collect();
        text += &format!("exactly: [{}]\n", words.join(", "));
    }
    for line in action.stdin.iter().flat_map(|input| input.lines()) {
        text += &format!("standard input: {}\n", escaped(line));
    }
    for line in action.change.iter().flat_map(|part| part.lines()) {
        text += &format!("  {}\n", escaped(line));
    }
    for (path, digest) in &action.programs {
        text += &format!("file {} sha256 {digest}\n", escaped(path));
    }
    let needs: Vec<String> = request.needs.iter().map(|need| escaped(&need.text)).collect();
    text += &format!("needs {}; {}\n", needs.join("; "), state(listed));
    text
}

fn circumstances(action: &RequestedAction) -> String {
    let user = action.user.as_ref().map_or_else(|| "the user of ccm".to_owned(), |user| escaped(user));
    let place = match (&action.image, &action.sandbox) {
        (Some(image), _) => format!("in a container of {}", escaped(image)),
        (None, Some(_)) => "in a sandbox".to_owned(),
        (None, None) => "WITHOUT A SANDBOX".to_owned(),
    };
    let names: Vec<String> = action.environment.keys().map(|name| escaped(name)).collect();
    format!("as {user}, in {}, {place}, variables {}", escaped(&action.directory), names.join(" "))
}

/// Returns `true` if a request can't be approved any more.
pub(crate) fn ended(state: &RequestState) -> bool {
    !matches!(state, RequestState::Waiting(_) | RequestState::Approved { .. })
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
