//! Commands of units, which no shell reads.

use ccm_model::{escape_control, shell_syntax, split_words};
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Maximum length of a line of a unit.
const MAX_LENGTH: usize = 8192;

/// A program and its arguments, which no shell reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OneCommand(pub(crate) Vec<String>);

impl TextValue for OneCommand {
    const KIND: PropertyKind = PropertyKind::Text(TextKind { min_length: 1, ..TextKind::STRICT });

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let words = split_words(text).map_err(|error| ValueError::new(escape_control(&error.to_string())))?;
        if words.first().is_none_or(String::is_empty) {
            return Err(ValueError::new("the command is empty"));
        }
        if let Some(syntax) = shell_syntax(text).filter(|syntax| syntax.kind.needs_shell()) {
            let shown = escape_control(&text[syntax.range]).into_owned();
            return Err(ValueError::new(format!("`{shown}` is for a shell, and none reads this command"))
                .with_hint("write `sh -c '…'`, or a script with a `file` resource"));
        }
        if text.contains('\0') || text.len() > MAX_LENGTH {
            return Err(ValueError::new("the command is too long, or has a NUL character"));
        }
        if words[0].contains('/') && !words[0].starts_with('/') {
            let shown = words[0].escape_debug();
            return Err(ValueError::new(format!(
                "the program `{shown}` is neither a name nor an absolute path"
            )));
        }
        if words[0].starts_with(['-', '@', ':', '+', '!', '|']) {
            let shown = words[0].escape_debug();
            return Err(ValueError::new(format!("`{shown}` is not the name of a program")));
        }
        Ok(Self(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_checked() {
        for command in ["/usr/bin/backup --all", "sh -c 'a | b'", "echo 'a  b' $HOME"] {
            assert!(OneCommand::from_text(command).is_ok(), "{command}");
        }
        for command in ["", " ", "a | b", "a && b", "a > b", "./a", "-a", "'a", "\"\" a", "cd /srv"] {
            assert!(OneCommand::from_text(command).is_err(), "{command}");
        }
    }
}
