//! Conditions of rules: expressions about the caller, the command and the machine.

use std::ops::Range;

use ccm_expr::{
    Error as ExpressionError, Expression, FunctionError, NameKind, ParseContext, Scope, Timestamp, Value,
};
use ccm_model::DiagnosticKind;

/// Names that conditions can use.
const NAMES: [(&str, NameKind); 4] = [
    ("caller", NameKind::Map),
    ("command", NameKind::Map),
    ("resource", NameKind::Map),
    ("Facts", NameKind::Map),
];

/// Keys of the names, apart from those of `Facts`.
const KEYS: [(&str, &[&str]); 3] = [
    ("caller", &["kind", "user"]),
    ("command", &["program", "args", "text", "directory", "effects"]),
    ("resource", &["type", "name"]),
];

/// Expression that has to be true.
#[derive(Clone, Debug)]
pub struct RuleCondition {
    expression: Expression,
}

/// Error in the text of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleConditionError {
    pub kind: DiagnosticKind,
    pub message: String,
    pub hints: Vec<String>,
    pub range: Range<usize>,
}

/// Result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    /// The expression has no result, or none that is true or false.
    Unknown,
}

/// Values for conditions that do not depend on the command.
pub trait ConditionValues {
    /// Returns the name of the user who calls, if it is known.
    fn user(&self) -> Option<String>;

    /// Returns the facts of the machine. They are gathered only if a condition names them.
    fn facts(&self) -> Option<Value>;

    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// Values of a caller about whom nothing is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoValues;

impl ConditionValues for NoValues {
    fn user(&self) -> Option<String> {
        None
    }

    fn facts(&self) -> Option<Value> {
        None
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// Names of an evaluation.
pub(crate) struct ConditionScope<'v> {
    pub caller: Value,
    pub command: Value,
    pub resource: Value,
    pub values: &'v dyn ConditionValues,
}

impl RuleCondition {
    /// Parses an expression, and checks its names.
    pub(crate) fn parse(text: &str) -> Result<Self, RuleConditionError> {
        let context = ParseContext { names: &NAMES, functions: &[] };
        let expression = Expression::parse_with(text, &context).map_err(|error| RuleConditionError {
            kind: error.cause.kind(),
            message: error.message.clone(),
            hints: error.hints.clone(),
            range: error.range.clone(),
        })?;
        for mention in expression.mentions().names {
            let [name, rest @ ..] = &*mention.path else { continue };
            let unknown = |what: &str, nearest: Option<&str>, all: Vec<&str>| RuleConditionError {
                kind: DiagnosticKind::UnknownName,
                message: format!("unknown name `{what}`"),
                hints: vec![match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("the names are {}", ccm_model::listed(&all, "and")),
                }],
                range: mention.range.clone(),
            };
            if !NAMES.iter().any(|(known, _)| known == name) {
                let all: Vec<&str> = NAMES.iter().map(|(known, _)| *known).collect();
                let nearest = ccm_model::closest(name, all.iter().copied());
                return Err(unknown(name, nearest, all));
            }
            let Some((_, keys)) = KEYS.iter().find(|(known, _)| known == name) else { continue };
            if let Some(key) = rest.first().filter(|key| !keys.contains(&key.as_str())) {
                let nearest = ccm_model::closest(key, keys.iter().copied());
                return Err(unknown(&format!("{name}.{key}"), nearest, keys.to_vec()));
            }
        }
        Ok(Self { expression })
    }

    /// Returns the expression as it is written.
    pub fn text(&self) -> &str {
        self.expression.text()
    }

    pub(crate) fn evaluate(&self, scope: &ConditionScope<'_>) -> Truth {
        match self.expression.evaluate(scope) {
            Ok(Value::Bool(true)) => Truth::True,
            Ok(Value::Bool(false)) => Truth::False,
            Ok(_) | Err(ExpressionError { .. }) => Truth::Unknown,
        }
    }
}

impl Scope for ConditionScope<'_> {
    fn name(&self, name: &str) -> Option<Value> {
        match name {
            "caller" => Some(self.caller.clone()),
            "command" => Some(self.command.clone()),
            "resource" => Some(self.resource.clone()),
            "Facts" => self.values.facts(),
            _ => None,
        }
    }

    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn call(&self, function: &str, _: &[Value]) -> Result<Value, FunctionError> {
        let message = format!("there is no function `{function}`");
        Err(FunctionError::new(DiagnosticKind::UnknownFunction, message))
    }

    fn now(&self) -> Timestamp {
        self.values.now()
    }

    fn strict(&self) -> bool {
        true
    }
}
