//! Property values that are more than text: each is checked where it is read.

use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

use ccm_model::{Text, escape_control};
use schemars::json_schema;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::inline_schema::inline_schema;
use crate::length::Length;

/// An absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AbsolutePath(pub PathBuf);

impl<'de> Deserialize<'de> for AbsolutePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text_without_nul(deserializer)?;
        if !text.starts_with('/') {
            return Err(D::Error::custom(format!("`{}` is not an absolute path", escape_control(&text))));
        }
        Ok(Self(PathBuf::from(text)))
    }
}

/// Absolute directories with `:` between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchPath(pub String);

impl<'de> Deserialize<'de> for SearchPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text_without_nul(deserializer)?;
        absolute_entries(&text)?;
        Ok(Self(text))
    }
}

/// What a relative or empty entry finds depends on where a program happens to stand.
fn absolute_entries<E: Error>(search_path: &str) -> Result<(), E> {
    match search_path.split(':').find(|directory| !directory.starts_with('/')) {
        None => Ok(()),
        Some("") => Err(E::custom("a search path with an empty entry")),
        Some(directory) => {
            let shown = escape_control(directory);
            Err(E::custom(format!("`{shown}` in the search path is not an absolute path")))
        }
    }
}

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCode(pub u8);

impl<'de> Deserialize<'de> for ExitCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = i64::deserialize(deserializer)?;
        let out_of_range = |_| D::Error::custom(format!("exit codes are 0 to 255, found {code}"));
        u8::try_from(code).map(Self).map_err(out_of_range)
    }
}

/// A span of time, or none for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeout(pub Option<Duration>);

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Length(duration) = Length::deserialize(deserializer)?;
        Ok(Self(Some(duration).filter(|duration| !duration.is_zero())))
    }
}

/// How often something is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tries(pub usize);

impl Tries {
    const MOST: i64 = 1000;
}

impl<'de> Deserialize<'de> for Tries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tries = i64::deserialize(deserializer)?;
        match usize::try_from(tries) {
            Ok(number) if (1..=Self::MOST).contains(&tries) => Ok(Self(number)),
            _ => Err(D::Error::custom(format!("tries are 1 to {}, found {tries}", Self::MOST))),
        }
    }
}

/// The permissions that new files do not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Umask(pub u32);

impl<'de> Deserialize<'de> for Umask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        let digits = text.strip_prefix("0o").unwrap_or(&text);
        let is_octal = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
        let umask = u32::from_str_radix(digits, 8).ok().filter(|umask| is_octal && *umask <= 0o777);
        umask.map(Self).ok_or_else(|| {
            let shown = escape_control(&text);
            D::Error::custom(format!("`{shown}` is not a umask in octal digits\nhint: write it like `0027`"))
        })
    }
}

/// Whether lines of output go to the log while they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogOutput {
    /// All of them.
    Always,
    /// None.
    Never,
    /// None, but a failure quotes the end, as it does in any case.
    #[default]
    OnFailure,
}

impl<'de> Deserialize<'de> for LogOutput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl Visitor<'_> for Words {
            type Value = LogOutput;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("`true`, `false` or `on_failure`")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<LogOutput, E> {
                Ok(if value { LogOutput::Always } else { LogOutput::Never })
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<LogOutput, E> {
                match value {
                    "on_failure" => Ok(LogOutput::OnFailure),
                    "true" | "false" => Err(E::custom(format!(
                        "expected `true`, `false` or `on_failure`, found the text \"{value}\"\nhint: write it without quotes"
                    ))),
                    _ => Err(E::unknown_variant(value, &["true", "false", "on_failure"])),
                }
            }
        }
        deserializer.deserialize_any(Words)
    }
}

/// Variables in the order they were written, names unique.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment(pub Vec<(String, String)>);

impl Environment {
    fn add<E: Error>(&mut self, name: String, value: String) -> Result<(), E> {
        if name.is_empty() {
            return Err(E::custom("an environment entry without a name"));
        }
        if value.is_empty() {
            return Err(E::custom(format!("the environment entry `{}` has no value", escape_control(&name))));
        }
        if name.contains(['=', '\0']) || value.contains('\0') {
            return Err(E::custom(format!(
                "the environment entry `{}` holds a character that no variable can",
                escape_control(&name)
            )));
        }
        if name == "PATH" {
            absolute_entries(&value)?;
        }
        if self.0.iter().any(|(known, _)| *known == name) {
            return Err(E::custom(format!(
                "the environment entry `{}` is given twice",
                escape_control(&name)
            )));
        }
        self.0.push((name, value));
        Ok(())
    }
}

/// One element `KEY=VALUE`.
struct Assignment(String, String);

impl<'de> Deserialize<'de> for Assignment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        let Some((name, value)) = text.split_once('=') else {
            return Err(D::Error::custom(format!(
                "`{}` is not of the form KEY=VALUE",
                escape_control(&text)
            )));
        };
        // Checked here as well, so that the mistake is shown at its element.
        Environment::default().add(name.to_owned(), value.to_owned())?;
        Ok(Self(name.to_owned(), value.to_owned()))
    }
}

/// The value of one variable in a map.
struct VariableValue(String);

impl<'de> Deserialize<'de> for VariableValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::deserialize(deserializer).map(|text| Self(text.0))
    }
}

impl<'de> Deserialize<'de> for Environment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrMap;
        impl<'de> Visitor<'de> for ListOrMap {
            type Value = Environment;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of KEY=VALUE or a map")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Environment, A::Error> {
                let mut environment = Environment::default();
                while let Some(Assignment(name, value)) = list.next_element()? {
                    environment.add(name, value)?;
                }
                Ok(environment)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Environment, A::Error> {
                let mut environment = Environment::default();
                while let Some((name, VariableValue(value))) = map.next_entry::<String, _>()? {
                    environment.add(name, value)?;
                }
                Ok(environment)
            }
        }
        deserializer.deserialize_any(ListOrMap)
    }
}

/// One value, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OneOrMany<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Collect<T> {
            type Value = Vec<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("one value or a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(values)
            }
        }
        deserializer.deserialize_tuple_struct("OneOrMany", 1, Collect(PhantomData)).map(Self)
    }
}

/// No argument, path or variable of a process can hold a NUL character.
fn text_without_nul<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Text::deserialize(deserializer)?.0;
    if text.contains('\0') { Err(D::Error::custom("the text holds a NUL character")) } else { Ok(text) }
}

inline_schema! {
    AbsolutePath => |_generator| json_schema!({ "type": "string", "pattern": "^/" });
    SearchPath => |_generator| json_schema!({ "type": "string", "pattern": "^/[^:]*(:/[^:]*)*$" });
    ExitCode => |_generator| json_schema!({ "type": "integer", "minimum": 0, "maximum": 255 });
    Timeout => |generator| generator.subschema_for::<Length>();
    Tries => |_generator| json_schema!({ "type": "integer", "minimum": 1, "maximum": Tries::MOST });
    Umask => |_generator| json_schema!({ "type": ["string", "number"], "pattern": "^(0o)?0*[0-7]{1,3}$" });
    LogOutput => |_generator| json_schema!({ "enum": [true, false, "on_failure"] });
    Environment => |_generator| {
        json_schema!({
            "anyOf": [
                { "type": "array", "items": { "type": "string", "pattern": "^[^=]+=[\\s\\S]+$" } },
                { "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"], "minLength": 1 }, "propertyNames": { "pattern": "^[^=]+$" } },
            ]
        })
    };
    OneOrMany<T> => |generator| {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    };
}
