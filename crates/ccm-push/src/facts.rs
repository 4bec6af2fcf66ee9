//! Facts of a host in the inventory, as the assignments of `--fact`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Maximum depth of facts.
const MAX_DEPTH: usize = 16;

/// Facts of a machine: each an assignment `KEY=VALUE`, with dots between the keys of nested maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(Vec<String>);

impl Facts {
    /// Returns the assignments.
    pub fn assignments(&self) -> &[String] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let facts = Map::deserialize(deserializer)?;
        let mut assignments = Vec::new();
        add(&facts, "", 0, &mut assignments).map_err(D::Error::custom)?;
        Ok(Self(assignments))
    }
}

fn add(facts: &Map<String, Value>, before: &str, depth: usize, into: &mut Vec<String>) -> Result<(), String> {
    for (name, value) in facts {
        if name.is_empty()
            || name.contains(['=', '\\'])
            || name.contains(char::is_control)
            || depth > MAX_DEPTH
        {
            return Err(format!("{name:?} is no name of a fact"));
        }
        let key = format!("{before}{}", name.replace('.', "\\."));
        match value {
            Value::Object(inner) => add(inner, &format!("{key}."), depth + 1, into)?,
            Value::Array(_) => {
                return Err(format!(
                    "the fact {name:?} is a list; facts of an inventory are maps, texts, numbers and booleans"
                ));
            }
            // In quotes, a text that looks like a number stays a text.
            value => into.push(format!("{key}={value}")),
        }
    }
    Ok(())
}
