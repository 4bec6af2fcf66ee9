//! Hides values that must not be shown.

use ccm_expr::Value;
use ccm_redaction::{REDACTED, Redactor};

/// Texts that must not be shown.
#[derive(Debug)]
pub struct Redaction {
    secrets: Vec<String>,
    redactor: Redactor,
}

impl Redaction {
    /// Hides these.
    pub fn new(secrets: &[String]) -> Self {
        Self { secrets: secrets.to_vec(), redactor: Redactor::new(secrets.iter().map(String::as_str)) }
    }

    /// A text without them. One that is too short to be looked for is hidden where it is all there is.
    pub fn text(&self, text: &str) -> String {
        if self.secrets.iter().any(|secret| secret == text) {
            return REDACTED.to_owned();
        }
        self.redactor.redact(text).into_owned()
    }

    /// A value without them; keys stay.
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
    fn what_is_secret_is_hidden_wherever_it_stands() {
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
