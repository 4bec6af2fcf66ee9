//! Writes texts and values so that expanding them restores the original.

use std::sync::Arc;

use ccm_data::interpolation::{SplitText, split};
use ccm_expr::Value;
use ccm_properties::TextSyntax;

pub(super) fn escape(text: &str, syntax: TextSyntax) -> String {
    if split(text, syntax == TextSyntax::Shell) == SplitText::Literal {
        return text.to_owned();
    }
    match syntax {
        TextSyntax::Plain | TextSyntax::Record(_) => escape_braces(text),
        // A value of a single expression is split or passed to the shell like the text itself.
        TextSyntax::Argv | TextSyntax::Call(_) | TextSyntax::Shell => format!("{{{{ {} }}}}", quoted(text)),
    }
}

/// Escapes each opening brace by itself, so that the text stays readable.
pub(super) fn escape_braces(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("${") {
            escaped.push_str("\\${");
            2
        } else if rest.starts_with("{{") {
            escaped.push_str("{{ \"{{\" }}");
            2
        } else {
            escaped.push(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    escaped
}

/// Returns a value as a literal, or `None` if no literal exists for the value.
pub(super) fn expression(value: &Value) -> Option<String> {
    let all = |values: &mut dyn Iterator<Item = Option<String>>| {
        values.collect::<Option<Vec<_>>>().map(|values| values.join(", "))
    };
    match value {
        Value::Null => Some("nil".to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Int(number) if *number == i64::MIN => None,
        Value::Int(number) if *number < 0 => Some(format!("({number})")),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) if number.is_finite() => Some(format!("({number:?})")),
        Value::Text(text) => Some(quoted(text)),
        Value::List(elements) => Some(format!("[{}]", all(&mut elements.iter().map(expression))?)),
        Value::Map(map) => {
            let entry =
                |(key, value): (&Arc<str>, &Value)| Some(format!("{}: {}", quoted(key), expression(value)?));
            Some(format!("{{{}}}", all(&mut map.iter().map(entry))?))
        }
        _ => None,
    }
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use ccm_data::interpolation::TextPart;
    use ccm_expr::{Expression, FunctionError, Scope, Timestamp};
    use ccm_model::DiagnosticKind;
    use proptest::prelude::*;

    use super::*;

    struct Empty;

    impl Scope for Empty {
        fn name(&self, _: &str) -> Option<Value> {
            None
        }

        fn names(&self) -> Vec<String> {
            Vec::new()
        }

        fn call(&self, _: &str, _: &[Value]) -> Result<Value, FunctionError> {
            Err(FunctionError::new(DiagnosticKind::UnknownFunction, "there is none"))
        }

        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
    }

    fn evaluated(expression: &str) -> Value {
        let read = Expression::parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
        read.evaluate(&Empty).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    fn expanded(text: &str, for_shell: bool) -> String {
        match split(text, for_shell) {
            SplitText::Literal => text.to_owned(),
            SplitText::Errors(places) => panic!("{text}: {places:?}"),
            SplitText::Parts(parts) => parts
                .iter()
                .map(|part| match part {
                    TextPart::Literal(literal) => literal.clone(),
                    TextPart::Expression { inner, .. } => evaluated(&text[inner.clone()]).to_string(),
                })
                .collect(),
        }
    }

    #[test]
    fn escaping_keeps_braces_literal() {
        for (text, syntax, escaped) in [
            ("plain } {", TextSyntax::Plain, "plain } {"),
            ("a ${b} {{c}}", TextSyntax::Plain, r#"a \${b} {{ "{{" }}c}}"#),
            ("echo ${HOME}", TextSyntax::Shell, "echo ${HOME}"),
            ("echo ${HOME} {{", TextSyntax::Shell, r#"{{ "echo ${HOME} {{" }}"#),
            ("echo '${x}'", TextSyntax::Argv, r#"{{ "echo '${x}'" }}"#),
        ] {
            assert_eq!(escape(text, syntax), escaped);
        }
    }

    proptest! {
        #[test]
        fn expanding_restores_the_escaped_text(text in "[${}\\\\\"'a F.:-]{0,16}|\\PC*|([${}]|Facts|\n|\u{1b}){0,12}") {
            for syntax in [TextSyntax::Plain, TextSyntax::Argv, TextSyntax::Call(&["contains"]), TextSyntax::Shell] {
                let escaped = escape(&text, syntax);
                prop_assert_eq!(expanded(&escaped, syntax == TextSyntax::Shell), &*text, "{:?} {}", syntax, escaped);
            }
        }

        #[test]
        fn a_literal_evaluates_to_its_value(number: i64, fraction: f64, text: String, key: String) {
            let value = Value::map([
                ("list", Value::list([Value::Int(number), Value::Float(fraction), Value::Null, Value::Bool(true)])),
                (&*key, Value::text(text)),
            ]);
            if let Some(written) = expression(&value) {
                prop_assert_eq!(format!("{:?}", evaluated(&written)), format!("{value:?}"));
            }
        }
    }
}
