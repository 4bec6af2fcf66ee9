//! Names and numbers of accounts, as a manifest writes them.

use ccm_model::{Diagnostic, DiagnosticKind, Node};
use ccm_properties::{PropertyKind, PropertyValue, TextKind, TextValue, ValueError};

/// Maximum length of a name in bytes. Records of logins have no room for more.
const MAX_LENGTH: usize = 32;

/// Name of a user or of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccountName(pub String);

impl TextValue for AccountName {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::ANY.matching("^(?![-+~]|[0-9]+$|\\.{1,2}$)[^:,/\\s]{1,32}$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let Some(message) = name_error(text, "an account") else { return Ok(Self(text.to_owned())) };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let error = ValueError::new(message);
        Err(if is_number {
            error.with_hint("write the name, as `getent` prints it for the number")
        } else {
            error
        })
    }
}

/// Returns the error in the name of an account, such as "a user", that no tool accepts. What only some tools refuse is
/// left to them.
pub(crate) fn name_error(name: &str, what: &str) -> Option<String> {
    let shown = name.escape_debug();
    let is_separator = |c: &char| matches!(c, ':' | ',' | '/') || c.is_whitespace() || c.is_control();
    if name.is_empty() {
        Some(format!("the name of {what} is empty"))
    } else if let Some(wrong) = name.chars().find(is_separator) {
        let wrong = wrong.escape_debug();
        Some(format!("`{shown}` contains `{wrong}`, which is not allowed in the name of {what}"))
    } else if name.starts_with(['-', '+', '~']) {
        Some(format!("the name of {what} can't begin like `{shown}`"))
    } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
        Some(format!("`{shown}` is a number, not the name of {what}"))
    } else if name == "." || name == ".." {
        Some(format!("`{shown}` is not the name of {what}"))
    } else if name.len() > MAX_LENGTH {
        Some(format!("`{shown}` is longer than {MAX_LENGTH} bytes"))
    } else {
        None
    }
}

/// Number of a user or of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccountId(pub u32);

impl AccountId {
    /// The largest number means no account to the kernel.
    const MAX: i64 = u32::MAX as i64 - 1;
}

impl PropertyValue for AccountId {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(0), max: Some(Self::MAX) };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let before = errors.len();
        let Some(number) = i64::decode(node, errors) else {
            let hint = "write a number such as 1500: the name is that of the resource";
            errors.iter_mut().skip(before).for_each(|error| error.hints.push(hint.to_owned()));
            return None;
        };
        let id = u32::try_from(number).ok().filter(|_| number <= Self::MAX);
        if id.is_none() {
            let message = format!("expected a number from 0 to {}, found {number}", Self::MAX);
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message));
        }
        id.map(Self)
    }
}

/// Returns names as reports show them.
pub(crate) fn name_list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_tool_accepts_are_refused() {
        for name in ["ada", "_apt", "web-01", "a.b", "Ada", "svc$", "1a", "jürgen", "x"] {
            assert_eq!(name_error(name, "a user"), None, "{name}");
        }
        let long = "a".repeat(MAX_LENGTH + 1);
        for name in ["", "-a", "+a", "~a", "a:b", "a,b", "a/b", "a b", "a\n", "12", ".", "..", &long] {
            assert!(name_error(name, "a user").is_some(), "{name:?}");
        }
    }

    #[test]
    fn errors_name_what_is_meant() {
        for (name, what, message) in [
            ("60", "an account", "`60` is a number, not the name of an account"),
            ("a b", "a user", "`a b` contains ` `, which is not allowed in the name of a user"),
            ("-a", "a group", "the name of a group can't begin like `-a`"),
            ("", "an account", "the name of an account is empty"),
        ] {
            assert_eq!(name_error(name, what).as_deref(), Some(message));
        }
    }
}
