//! A scope for tests.

use ccm_expr::{Error, Expression, Function, FunctionError, Kind, Known, Scope, Timestamp, Value};

/// Names from a JSON document, and a function that looks into them.
pub(crate) struct World {
    pub(crate) names: Value,
    pub(crate) strict: bool,
    /// Whether a name that isn't there is nothing instead of a mistake.
    pub(crate) open: bool,
}

pub(crate) const FUNCTIONS: &[Function<'_>] = &[Function { name: "lookup", least: 1, most: 2 }];

impl World {
    pub(crate) fn new(names: &str) -> Self {
        let json: serde_json::Value = serde_json::from_str(names).expect("the names are JSON");
        Self { names: json.into(), strict: false, open: false }
    }

    pub(crate) fn evaluate(&self, text: &str) -> Result<Value, Error> {
        let Value::Map(map) = &self.names else { panic!("the names are a map") };
        let names: Vec<(&str, Kind)> = map.iter().map(|(name, value)| (&**name, kind(value))).collect();
        Expression::parse_with(text, &Known { names: &names, functions: FUNCTIONS })?.evaluate(self)
    }

    pub(crate) fn value(&self, text: &str) -> Value {
        self.evaluate(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Nothing,
        Value::Bool(_) => Kind::Boolean,
        Value::Int(_) => Kind::Integer,
        Value::Float(_) => Kind::Number,
        Value::Text(_) => Kind::Text,
        Value::List(_) => Kind::List,
        Value::Map(_) => Kind::Map,
        _ => Kind::Anything,
    }
}

impl Scope for World {
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
        let Value::Text(path) = &arguments[0] else { return Err(FunctionError::new("expected a path")) };
        let found = path.split('.').try_fold(&self.names, |value, key| value.get(key));
        match found.or(arguments.get(1)) {
            Some(value) => Ok(value.clone()),
            None => Err(FunctionError::new("there is nothing at this path")),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_700_000_000).expect("the moment exists")
    }

    fn strict(&self) -> bool {
        self.strict
    }
}
