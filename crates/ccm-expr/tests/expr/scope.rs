//! A scope for tests.

use ccm_expr::{Error, Expression, Function, FunctionError, NameKind, ParseContext, Scope, Timestamp, Value};
use ccm_model::DiagnosticKind;

/// Names from a JSON document, and a `lookup` function.
pub(crate) struct JsonScope {
    pub(crate) names: Value,
    pub(crate) strict: bool,
    /// `true` if an unknown name is null instead of an error.
    pub(crate) open: bool,
}

pub(crate) const FUNCTIONS: &[Function<'_>] =
    &[Function { name: "lookup", min_arguments: 1, max_arguments: 2 }];

impl JsonScope {
    pub(crate) fn new(names: &str) -> Self {
        let json: serde_json::Value = serde_json::from_str(names).expect("the names are JSON");
        Self { names: json.into(), strict: false, open: false }
    }

    pub(crate) fn evaluate(&self, text: &str) -> Result<Value, Error> {
        let Value::Map(map) = &self.names else { panic!("the names are a map") };
        let names: Vec<(&str, NameKind)> = map.iter().map(|(name, value)| (&**name, kind(value))).collect();
        Expression::parse_with(text, &ParseContext { names: &names, functions: FUNCTIONS })?.evaluate(self)
    }

    pub(crate) fn value(&self, text: &str) -> Value {
        self.evaluate(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }
}

fn kind(value: &Value) -> NameKind {
    match value {
        Value::Null => NameKind::Nothing,
        Value::Bool(_) => NameKind::Boolean,
        Value::Int(_) => NameKind::Integer,
        Value::Float(_) => NameKind::Number,
        Value::Text(_) => NameKind::Text,
        Value::List(_) => NameKind::List,
        Value::Map(_) => NameKind::Map,
        _ => NameKind::Anything,
    }
}

impl Scope for JsonScope {
    fn name(&self, name: &str) -> Option<Value> {
        self.names.get(name).cloned().or_else(|| self.open.then_some(Value::Null))
    }

    fn names(&self) -> Vec<String> {
        match &self.names {
            Value::Map(map) => map.keys().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    fn call(&self, _: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        let Value::Text(path) = &arguments[0] else {
            return Err(FunctionError::new(DiagnosticKind::InvalidOperand, "expected a path"));
        };
        let found = path.split('.').try_fold(&self.names, |value, key| value.get(key));
        match found.or(arguments.get(1)) {
            Some(value) => Ok(value.clone()),
            None => Err(FunctionError::new(DiagnosticKind::UnknownName, "there is nothing at this path")),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_700_000_000).expect("the moment exists")
    }

    fn strict(&self) -> bool {
        self.strict
    }
}
