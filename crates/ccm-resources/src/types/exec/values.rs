//! Property values that are checked when they are decoded.

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeMap, Scalar, ScalarKind, Span, escape_control, is_variable_name,
};
use ccm_properties::{
    CheckInput, PropertyKind, PropertyValue, Text, TextKind, TextValue, ValueError, expected, is_empty_text,
    octal,
};

use crate::support::values::absolute_path::without_nul;

/// Absolute directories with `:` between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchPath(pub String);

impl TextValue for SearchPath {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^/[^:]*(:/[^:]*)*$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        without_nul(text)?;
        absolute_entries(text)?;
        Ok(Self(text.to_owned()))
    }
}

/// Checks that no entry is relative or empty: lookups would depend on the working directory.
fn absolute_entries(search_path: &str) -> Result<(), ValueError> {
    match search_path.split(':').find(|directory| !directory.starts_with('/')) {
        None => Ok(()),
        Some("") => Err(ValueError::new("the search path has an empty entry")),
        Some(directory) => {
            let shown = escape_control(directory);
            let error = ValueError::new(format!("`{shown}` in the search path is not an absolute path"));
            let hint = if directory.contains('$') {
                "write all directories: nothing is expanded here, and `PATH` is not known"
            } else {
                "write the full path of each directory"
            };
            Err(error.with_hint(hint))
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCodeValue(pub u8);

impl PropertyValue for ExitCodeValue {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(0), max: Some(255) };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let code = i64::decode(node, errors)?;
        let message = |_| {
            Diagnostic::error(
                DiagnosticKind::InvalidValue,
                node.span,
                format!("an exit code must be between 0 and 255, found {code}"),
            )
        };
        u8::try_from(code).map(Self).map_err(|error| errors.push(message(error))).ok()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tries(pub usize);

impl Tries {
    const MAX: i64 = 1000;
}

impl PropertyValue for Tries {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(1), max: Some(Self::MAX) };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let tries = i64::decode(node, errors)?;
        let number = usize::try_from(tries).ok().filter(|_| (1..=Self::MAX).contains(&tries));
        if number.is_none() {
            let message = format!("`tries` must be between 1 and {}, found {tries}", Self::MAX);
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message));
        }
        number.map(Self)
    }
}

/// Permissions that new files do not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Umask(pub u32);

impl PropertyValue for Umask {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::DIGITS.matching("^(0o)?0*[0-7]{1,3}$"));

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        octal(node, ("umask", "0027"), errors, |text| {
            let digits = text.strip_prefix("0o").unwrap_or(text);
            let is_octal = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
            let umask = u32::from_str_radix(digits, 8).ok().filter(|umask| is_octal && *umask <= 0o777);
            umask.map(Self).ok_or_else(|| {
                let message = format!("`{}` is not a umask in octal digits", escape_control(text));
                ValueError::new(message).with_hint("write a umask like `0027`")
            })
        })
    }
}

/// Lines of output that are logged while the command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogOutput {
    Always,
    Never,
    /// No lines. A failure still quotes the last ones.
    #[default]
    OnFailure,
}

impl LogOutput {
    const WORDS: [&str; 3] = ["true", "false", "on_failure"];
}

impl PropertyValue for LogOutput {
    const KIND: PropertyKind = PropertyKind::Words(&Self::WORDS);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        const EXPECTED: &str = "`true`, `false` or `on_failure`";
        let error = match (node.as_scalar().map(Scalar::kind), node.as_text()) {
            (Some(ScalarKind::Bool(true)), _) => return Some(Self::Always),
            (Some(ScalarKind::Bool(false)), _) => return Some(Self::Never),
            (Some(ScalarKind::Text), Some("on_failure")) => return Some(Self::OnFailure),
            (Some(ScalarKind::Text), Some(text @ ("true" | "false"))) => {
                let message = format!("expected {EXPECTED}, found the text \"{text}\"");
                ValueError::new(message).with_hint("write the value without quotes")
            }
            (Some(ScalarKind::Text), Some(text)) => ValueError::not_one_of(text, &Self::WORDS),
            _ => {
                errors.push(expected(EXPECTED, node));
                return None;
            }
        };
        errors.push(error.at(node.span));
        None
    }
}

/// Variables in the order of the manifest, with unique names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment(pub Vec<(String, String)>);

impl Environment {
    /// Adds a variable. An empty value is allowed only where `may_be_empty`.
    fn add(&mut self, name: &str, value: &str, may_be_empty: bool) -> Result<(), ValueError> {
        let shown = escape_control(name);
        if value.is_empty() && !may_be_empty {
            let error = ValueError::new(format!("the environment entry `{shown}` has no value"));
            return Err(error.with_hint(format!("write a map for an empty value: `{shown}: \"\"`")));
        }
        if name.contains('=') || value.contains('\0') {
            let message = format!(
                "the environment entry `{shown}` contains a character that is not allowed in a variable"
            );
            return Err(ValueError::new(message));
        }
        if name == "PATH" {
            absolute_entries(value)?;
        }
        if self.0.iter().any(|(known, _)| *known == name) {
            return Err(ValueError::new(format!("the environment entry `{shown}` is given twice")));
        }
        self.0.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    fn add_assignment(&mut self, text: &str) -> Result<(), ValueError> {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            let shown = escape_control(text);
            let error = ValueError::new(format!("`{shown}` is not of the form KEY=VALUE"));
            if check_name(text).is_ok() { error.with_hint(format!("write `{shown}=VALUE`")) } else { error }
        })?;
        check_name(name)?;
        self.add(name, value, false)
    }
}

impl PropertyValue for Environment {
    const KIND: PropertyKind = PropertyKind::Either(&[
        PropertyKind::List(&PropertyKind::Text(TextKind::STRICT.matching("^[^=0-9][^=]*=[\\s\\S]+$"))),
        PropertyKind::Map {
            keys: Some("^[^=0-9][^=]*$"),
            values: &PropertyKind::Text(TextKind::ANY),
            min: 0,
        },
    ]);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let before = errors.len();
        let mut environment = Self::default();
        if let Some(list) = node.as_list() {
            for element in list {
                let Some(Text(text)) = Text::decode(element, errors) else { continue };
                let added = environment.add_assignment(&text);
                errors.extend(added.err().map(|error| error.at(element.span)));
            }
        } else if let Some(map) = node.as_map() {
            for entry in map.entries() {
                let name = &*entry.key.text;
                if let Err(error) = check_name(name) {
                    errors.push(error.at(entry.key.span));
                    continue;
                }
                let Some(Text(text)) = Text::decode(&entry.value, errors) else { continue };
                let added = environment.add(name, &text, is_empty_text(&entry.value));
                errors.extend(added.err().map(|error| error.at(entry.value.span)));
            }
        } else {
            let error = expected("a list of KEY=VALUE or a map", node);
            let name = node.as_text().and_then(|text| text.split_once('=')).map(|(name, _)| name.trim());
            let name = name.filter(|name| check_name(name).is_ok());
            let hint = name.map(|name| format!("write `{{{name}: \"VALUE\"}}`"));
            errors.push(hint.into_iter().fold(error, Diagnostic::with_hint));
        }
        (errors.len() == before).then_some(environment)
    }
}

/// Checks that a variable can have this name. Programs other than shells use names such as `spring.profiles.active`.
fn check_name(name: &str) -> Result<(), ValueError> {
    if name.is_empty() {
        return Err(ValueError::new("an environment entry has no name"));
    }
    let is_refused = |part: char| part.is_whitespace() || part.is_control();
    if !name.starts_with(|first: char| first.is_ascii_digit()) && !name.contains(is_refused) {
        return Ok(());
    }
    let error = ValueError::new(format!("`{}` is not the name of a variable", escape_control(name)));
    Err(match name.split_once(char::is_whitespace) {
        Some((word @ ("export" | "declare" | "set"), _)) => error.with_hint(format!("leave `{word}` out")),
        _ if name.starts_with(|first: char| first.is_ascii_digit()) => {
            error.with_hint("begin the name with a letter or `_`")
        }
        _ => error.with_hint("use a name without blanks and control characters"),
    })
}

/// Returns a warning for each variable with a name that a shell does not use.
pub(crate) fn names_not_for_a_shell(checked: &CheckInput<'_>) -> Vec<Diagnostic> {
    let Some(node) = checked.resource.properties.get("environment") else { return Vec::new() };
    let listed = node.as_list().into_iter().flatten();
    let listed = listed.filter_map(|element| Some((element.as_text()?.split_once('=')?.0, element.span)));
    let entries = node.as_map().into_iter().flat_map(NodeMap::entries);
    let mapped = entries.map(|entry| (&*entry.key.text, entry.key.span));
    let refused = listed.chain(mapped).filter(|(name, _)| !is_variable_name(name));
    let warning = |(name, span): (&str, Span)| {
        let message = format!("a shell may not pass on the variable `{}`", escape_control(name));
        let hint = "use letters, digits and `_` alone, or start the program with the posix provider";
        Diagnostic::warning(DiagnosticKind::NoEffect, span, message).with_hint(hint)
    };
    refused.map(warning).collect()
}
