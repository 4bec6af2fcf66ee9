//! Evaluates the expressions of `@validate`, which have `value` and the validators.

use ccm_data::annotations::EvaluationError;
use ccm_data::validators::{self, VALIDATORS};
use ccm_expr::{Cause, Expression, Function, FunctionError, NameKind, ParseContext, Scope, Timestamp, Value};
use ccm_model::DiagnosticKind;

/// Returns `true` if the expression holds for the value.
pub(crate) fn evaluate(text: &str, value: &Value, now: Timestamp) -> Result<bool, EvaluationError> {
    let names = VALIDATORS.iter().flat_map(|validator| validator.names);
    let functions: Vec<Function<'_>> =
        names.map(|name| Function { name, min_arguments: 1, max_arguments: 2 }).collect();
    let known = ParseContext { names: &[("value", NameKind::Anything)], functions: &functions };
    let refused = |error: ccm_expr::Error| {
        let kind = error.cause.kind();
        let mut hints = error.hints;
        // The key itself is the most frequent name that does not exist here.
        if hints.is_empty()
            && let Cause::UnknownName(name) = &error.cause
        {
            let has_value = text.split(|part: char| !part.is_alphanumeric()).any(|word| word == "value");
            hints.push(if has_value {
                format!("write a text between quotes: `\"{name}\"`")
            } else {
                "write `value` for the value of the key".to_owned()
            });
        }
        if text.get(error.range.start..).is_some_and(|rest| rest.starts_with('@')) {
            hints = vec!["write each annotation as a comment line of its own".to_owned()];
        }
        EvaluationError { kind, message: error.message, range: Some(error.range), hints }
    };
    let expression = Expression::parse_with(text, &known).map_err(refused)?;
    let scope = ValidationScope { value, now };
    expression.check_names(&scope).map_err(refused)?;
    match expression.evaluate(&scope).map_err(refused)? {
        Value::Bool(is_valid) => Ok(is_valid),
        other => Err(EvaluationError {
            kind: DiagnosticKind::WrongType,
            message: format!("a validation must be true or false, found {}", other.kind()),
            range: None,
            hints: vec!["compare the value, or call a validator such as `isIP(value)`".to_owned()],
        }),
    }
}

struct ValidationScope<'a> {
    value: &'a Value,
    now: Timestamp,
}

impl Scope for ValidationScope<'_> {
    fn name(&self, name: &str) -> Option<Value> {
        (name == "value").then(|| self.value.clone())
    }

    fn names(&self) -> Vec<String> {
        vec!["value".to_owned()]
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        let Some(validator) = validators::find(function) else {
            return Err(FunctionError::new(
                DiagnosticKind::UnknownFunction,
                format!("there is no validator `{function}`"),
            ));
        };
        let answer = validator.call(function, arguments);
        answer
            .map(Value::Bool)
            .map_err(|error| FunctionError::new(DiagnosticKind::InvalidOperand, error.to_string()))
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn strict(&self) -> bool {
        true
    }
}
