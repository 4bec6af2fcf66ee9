//! Manifest of `ccm push --run`: one exec.

use ccm_runtime::model::split_words;
use serde_json::json;

use crate::error::{CommandError, CommandResult};

/// Name of the manifest in its bundle.
pub(super) const MANIFEST: &str = "run.yaml";

/// Returns a manifest that runs a command.
pub(super) fn manifest(command: &str, is_shell: bool) -> CommandResult<String> {
    let exec = if is_shell {
        json!({ "command": literal(command), "provider": "shell", "logoutput": true })
    } else {
        let words = split_words(command).map_err(|error| wrong(&error.to_string()))?;
        let Some((program, rest)) = words.split_first() else { return Err(wrong("it is empty")) };
        let rest: Vec<_> = rest.iter().map(|word| literal(word)).collect();
        json!({ "command": literal(program), "args": rest, "logoutput": true })
    };
    let manifest = json!({ "ccm": { "name": "push-run", "resources": [{ "exec": [{ "run": exec }] }] } });
    // JSON is YAML.
    Ok(format!("{manifest}\n"))
}

/// Returns a text without expressions for the manifest.
fn literal(text: &str) -> String {
    text.replace("{{", "{{ '{{' }}")
}

fn wrong(reason: &str) -> CommandError {
    CommandError::usage(format!("the command of --run is wrong: {reason}; nothing was run"))
}
