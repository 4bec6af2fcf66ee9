//! Hides values that must not be shown.

use ccm_expr::Value;

/// What stands in the place of such a value.
const REDACTED: &str = "[redacted]";

/// A shorter one is hidden only where it is all there is.
const SHORTEST_WITHIN: usize = 4;

/// Texts that must not be shown.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    /// The longest first, so that what holds another is hidden whole.
    secrets: Vec<String>,
}

impl Redaction {
    /// Hides these.
    pub fn new(secrets: &[String]) -> Self {
        let mut secrets = secrets.to_vec();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// A text without them.
    pub fn text(&self, text: &str) -> String {
        if self.secrets.iter().any(|secret| secret == text) {
            return REDACTED.to_owned();
        }
        let mut shown = text.to_owned();
        for secret in self.secrets.iter().filter(|secret| secret.len() >= SHORTEST_WITHIN) {
            if shown.contains(secret.as_str()) {
                shown = shown.replace(secret.as_str(), REDACTED);
            }
        }
        shown
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
