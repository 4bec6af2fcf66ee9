//! Redacts secrets in texts and values.

use ccm_expr::Value;
use ccm_redaction::{REDACTED, Redactor};

/// Secret texts to redact.
#[derive(Debug)]
pub struct Redaction {
    secrets: Vec<String>,
    redactor: Redactor,
}

impl Redaction {
    /// Creates a redaction of these secrets.
    pub fn new(secrets: &[String]) -> Self {
        Self { secrets: secrets.to_vec(), redactor: Redactor::new(secrets.iter().map(String::as_str)) }
    }

    /// Returns a text without secrets. A secret too short for a search is redacted only as a whole text.
    pub fn text(&self, text: &str) -> String {
        if self.secrets.iter().any(|secret| secret == text) {
            return REDACTED.to_owned();
        }
        self.redactor.redact(text).into_owned()
    }

    /// Returns a value without secrets. Keys stay as they are.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::List(elements) => Value::list(elements.iter().map(|element| self.value(element))),
            Value::Map(map) => {
                Value::map(map.iter().map(|(key, value)| (std::sync::Arc::clone(key), self.value(value))))
            }
            Value::Null | Value::Bool(_) => value.clone(),
            other => {
                let written = ccm_data::printed::to_text(other);
                let shown = self.text(&written);
                if shown == *written { other.clone() } else { Value::text(shown) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_redacted_everywhere() {
        let secrets = ["hunter2", "hunter22", "abc", "4711"].map(str::to_owned);
        let redaction = Redaction::new(&secrets);
        for (text, shown) in [
            ("hunter2", "[redacted]"),
            ("password=hunter22;", "password=[redacted];"),
            ("abc", "[redacted]"),
            ("abcd", "abcd"),
            ("port", "port"),
        ] {
            assert_eq!(redaction.text(text), shown);
        }
        let value = Value::map([("a", Value::list([Value::Int(4711), Value::Int(4712), Value::Null]))]);
        assert_eq!(redaction.value(&value).to_string(), r#"{"a":["[redacted]",4712,null]}"#);
    }
}
