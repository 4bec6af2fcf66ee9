//! Variables of a job.

use ccm_model::{Diagnostic, Node, is_variable_name};
use ccm_properties::{PropertyKind, PropertyValue, Text, TextKind, ValueError, expected};

/// Maximum length of a line with a variable, which cron cuts.
const MAX_LENGTH: usize = 900;

/// Variables that cron sets to the user of the job, whatever a file says.
const OF_THE_USER: [&str; 2] = ["LOGNAME", "USER"];

/// Lines with the variables of a job, as a file of cron has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JobEnvironment(pub Vec<String>);

impl PropertyValue for JobEnvironment {
    const KIND: PropertyKind = PropertyKind::Map {
        keys: Some("^[A-Za-z_][A-Za-z0-9_]*$"),
        values: &PropertyKind::Text(TextKind::ANY),
        min: 0,
    };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            errors.push(expected("a map of variables, such as `{MAILTO: ada}`", node));
            return None;
        };
        let before = errors.len();
        let mut lines = Vec::new();
        for entry in map.entries() {
            let name = &*entry.key.text;
            if !is_variable_name(name) {
                let message = format!("`{}` is not the name of a variable", name.escape_debug());
                errors.push(ValueError::new(message).at(entry.key.span));
            } else if OF_THE_USER.contains(&name) {
                let error = ValueError::new(format!("cron sets `{name}` to the user of the job"));
                errors.push(error.with_hint("write `user`").at(entry.key.span));
            } else if let Some(Text(value)) = Text::decode(&entry.value, errors) {
                match line(name, &value) {
                    Ok(line) => lines.push(line),
                    Err(error) => errors.push(error.at(entry.value.span)),
                }
            }
        }
        (errors.len() == before).then_some(Self(lines))
    }
}

/// Returns the line that sets a variable. cron takes blanks around a value away, and the first pair of quotes.
fn line(name: &str, value: &str) -> Result<String, ValueError> {
    if value.chars().any(char::is_control) {
        return Err(ValueError::new(format!("the variable `{name}` of cron is one line of text")));
    }
    if name.len() + value.len() > MAX_LENGTH {
        return Err(ValueError::new(format!("the variable `{name}` is longer than {MAX_LENGTH} bytes")));
    }
    let quote = ['"', '\''].into_iter().find(|quote| !value.contains(*quote));
    let needs_quotes = value.is_empty() || value.trim() != value || value.starts_with(['"', '\'']);
    match (needs_quotes, quote) {
        (false, _) => Ok(format!("{name}={value}")),
        (true, Some(quote)) => Ok(format!("{name}={quote}{value}{quote}")),
        (true, None) => Err(ValueError::new(format!(
            "the variable `{name}` has both kinds of quotes, and begins or ends with one or with a blank"
        ))
        .with_hint("set the variable in a script, and run that")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_as_cron_reads_them() {
        for (value, expected) in [
            ("ada", "A=ada"),
            ("", "A=\"\""),
            (" a ", "A=\" a \""),
            ("\"a\"", "A='\"a\"'"),
            ("it's", "A=it's"),
            ("a 'b' \"c\"", "A=a 'b' \"c\""),
            ("50% # $HOME", "A=50% # $HOME"),
        ] {
            assert_eq!(line("A", value).ok().as_deref(), Some(expected));
        }
        for value in ["'a\"", "a\nb", &"a".repeat(MAX_LENGTH)] {
            assert!(line("A", value).is_err(), "{value}");
        }
    }
}
