//! Fields of an input object.

use std::time::Duration;

use ccm_model::{closest, escape_control};
use serde_json::{Map, Value};

use crate::input::ToolInputError;

/// Maximum number of elements of a list, and of variables.
const MAX_ELEMENTS: usize = 4096;
/// Maximum length of a text that the kernel takes as one argument, with its zero byte.
const MAX_ARGUMENT: usize = 128 << 10;

/// Reader of an input object, which refuses every field that nobody asked for.
pub(crate) struct InputFields<'v> {
    tool: &'static str,
    fields: &'v Map<String, Value>,
    known: &'static [&'static str],
}

impl<'v> InputFields<'v> {
    /// Checks that an input is an object of known fields.
    pub(crate) fn new(
        tool: &'static str,
        input: &'v Value,
        known: &'static [&'static str],
    ) -> Result<Self, ToolInputError> {
        let Some(fields) = input.as_object() else {
            let message = format!("the input of `{tool}` must be an object, found {}", json_kind(input));
            return Err(ToolInputError::new(message, format!("pass an object with {}", listed(known))));
        };
        if let Some(unknown) = fields.keys().find(|name| !known.contains(&&***name)) {
            let shown: String = unknown.chars().take(64).collect();
            let message = format!("`{tool}` has no field `{}`", escape_control(&shown));
            let hint = match closest(unknown, known.iter().copied()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("use {}", listed(known)),
            };
            return Err(ToolInputError::new(message, hint));
        }
        Ok(Self { tool, fields, known })
    }

    /// Returns the value of a field; null counts as not given.
    fn get(&self, name: &str) -> Option<&'v Value> {
        debug_assert!(self.known.contains(&name), "a field that the schema lacks");
        self.fields.get(name).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> ToolInputError {
        let message = format!("`{name}` of `{}` must be {expected}, found {}", self.tool, json_kind(found));
        ToolInputError::new(message, format!("pass {expected}"))
    }

    fn text_of(&self, name: &str, value: &'v Value, limit: usize) -> Result<&'v str, ToolInputError> {
        let text = value.as_str().ok_or_else(|| self.wrong(name, "a text", value))?;
        if text.contains('\0') {
            let message = format!("`{name}` of `{}` contains a NUL byte", self.tool);
            return Err(ToolInputError::new(message, "remove the NUL byte"));
        }
        if text.len() >= limit {
            let message =
                format!("`{name}` of `{}` has {} bytes; the limit is {}", self.tool, text.len(), limit - 1);
            let hint = "write the data to a file of the workspace, and pass its path";
            return Err(ToolInputError::new(message, hint));
        }
        Ok(text)
    }

    /// Returns a text below a length.
    pub(crate) fn text(&self, name: &str, limit: usize) -> Result<Option<String>, ToolInputError> {
        let text = self.get(name).map(|value| self.text_of(name, value, limit)).transpose()?;
        Ok(text.map(str::to_owned))
    }

    /// Returns a text that must be given and not be blank.
    pub(crate) fn required(&self, name: &str, limit: usize) -> Result<String, ToolInputError> {
        match self.text(name, limit)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(ToolInputError::new(
                format!("`{name}` of `{}` is empty", self.tool),
                format!("write `{name}`"),
            )),
            None => {
                Err(ToolInputError::new(format!("`{}` needs `{name}`", self.tool), format!("add `{name}`")))
            }
        }
    }

    /// Returns a path, absolute or relative.
    pub(crate) fn path(&self, name: &str) -> Result<Option<String>, ToolInputError> {
        /// Maximum length of a path that the kernel takes.
        const MAX_PATH: usize = 4096;
        match self.text(name, MAX_PATH)? {
            Some(path) if path.is_empty() => Err(ToolInputError::new(
                format!("`{name}` of `{}` is empty", self.tool),
                format!("write a path, or leave out `{name}`"),
            )),
            path => Ok(path),
        }
    }

    /// Returns a list of arguments.
    pub(crate) fn arguments(&self, name: &str) -> Result<Option<Vec<String>>, ToolInputError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let list = value.as_array().ok_or_else(|| self.wrong(name, "a list of texts", value))?;
        self.check_count(name, list.len())?;
        let element = |(at, value)| {
            let name = format!("{name}[{at}]");
            self.text_of(&name, value, MAX_ARGUMENT).map(str::to_owned)
        };
        list.iter().enumerate().map(element).collect::<Result<_, _>>().map(Some)
    }

    fn check_count(&self, name: &str, count: usize) -> Result<(), ToolInputError> {
        if count <= MAX_ELEMENTS {
            return Ok(());
        }
        let message =
            format!("`{name}` of `{}` has {count} elements; the limit is {MAX_ELEMENTS}", self.tool);
        Err(ToolInputError::new(message, "write the data to a file of the workspace, and pass its path"))
    }

    /// Returns variables, sorted by name.
    pub(crate) fn variables(&self, name: &str) -> Result<Vec<(String, String)>, ToolInputError> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let map = value.as_object().ok_or_else(|| self.wrong(name, "an object of texts", value))?;
        self.check_count(name, map.len())?;
        let mut variables = Vec::with_capacity(map.len());
        for (key, value) in map {
            if !is_variable_name(key) {
                let shown: String = key.chars().take(64).collect();
                let shown = escape_control(&shown).into_owned();
                let message = format!("`{name}` of `{}` has a variable with the name \"{shown}\"", self.tool);
                let hint = "use letters, digits and `_`, and begin with no digit";
                return Err(ToolInputError::new(message, hint));
            }
            let text = self.text_of(&format!("{name}.{key}"), value, MAX_ARGUMENT)?;
            variables.push((key.clone(), text.to_owned()));
        }
        variables.sort();
        Ok(variables)
    }

    /// Returns a time limit in milliseconds, of at most `most`.
    pub(crate) fn timeout(&self, name: &str, most: Duration) -> Result<Option<Duration>, ToolInputError> {
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        let Some(value) = self.get(name) else { return Ok(None) };
        let Some(number) = value.as_f64() else {
            return Err(self.wrong(name, "a whole number of milliseconds", value));
        };
        let whole = value.as_u64().or_else(|| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the number is within the range"
            )]
            let whole = (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64);
            whole
        });
        match whole.filter(|millis| (1..=most).contains(millis)) {
            Some(millis) => Ok(Some(Duration::from_millis(millis))),
            None => Err(ToolInputError::new(
                format!(
                    "`{name}` of `{}` must be a whole number between 1 and {most}, found {value}",
                    self.tool
                ),
                if number < 1.0 {
                    format!("leave out `{name}` for the usual limit; no call is endless")
                } else if number.fract() != 0.0 {
                    "use a whole number of milliseconds".to_owned()
                } else {
                    format!("use at most {most} milliseconds, and split longer work into several calls")
                },
            )),
        }
    }

    /// Returns a whole number in a range.
    pub(crate) fn number(&self, name: &str, least: i64, most: i64) -> Result<Option<i64>, ToolInputError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_i64().filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None if value.is_number() => Err(ToolInputError::new(
                format!(
                    "`{name}` of `{}` must be a whole number between {least} and {most}, found {value}",
                    self.tool
                ),
                format!("use a number between {least} and {most}"),
            )),
            None => Err(self.wrong(name, "a whole number", value)),
        }
    }

    /// Returns a word out of a list.
    pub(crate) fn word(
        &self,
        name: &str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, ToolInputError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = self.text_of(name, value, 4096)?;
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Ok(Some(word));
        }
        let shown: String = text.chars().take(64).collect();
        let message = format!("`{name}` of `{}` can't be `{}`", self.tool, escape_control(&shown));
        Err(ToolInputError::new(message, format!("use {}", ccm_model::listed(words, "or"))))
    }

    /// Returns a number or a word as text.
    pub(crate) fn number_or_text(&self, name: &str) -> Result<Option<String>, ToolInputError> {
        match self.get(name) {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            _ => self.text(name, 64),
        }
    }
}

/// Returns `true` for a name that every shell and program understands.
fn is_variable_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
        && name.len() < 256
}

/// Returns the kind of a JSON value, with its article.
pub fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "no field".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}
