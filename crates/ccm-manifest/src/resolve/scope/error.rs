//! Reasons why an expression has no value.

use std::ops::Range;

use ccm_expr::Value;
use ccm_model::{DiagnosticKind, ResourceIndex, SYSTEM_FACTS, Span, closest};

use crate::unchecked::{LeftOut, OmittedInputs};

#[derive(Debug)]
pub(crate) enum EvalError {
    Invalid(InvalidExpression),
    /// The expression depends on resources that have not run yet.
    Deferred(Vec<DeferredOn>),
    /// A value that the expression needs is unavailable, which was reported.
    Reported,
    /// The expression uses an input that was left out.
    Unchecked,
}

#[derive(Debug)]
pub(crate) struct InvalidExpression {
    pub(crate) kind: DiagnosticKind,
    pub(crate) range: Range<usize>,
    pub(crate) message: Box<str>,
    pub(crate) hints: Vec<String>,
    /// Closest valid name, which one of the hints mentions.
    pub(crate) nearest: Option<Box<str>>,
    /// Locations in templates, innermost first, each with a label.
    pub(crate) locations: Box<[(Span, String)]>,
    /// Constant prefix of the path that has no value.
    pub(crate) missing: Option<Box<[String]>>,
    /// Bytes of an earlier part that the error contradicts.
    pub(crate) earlier: Option<Box<Range<usize>>>,
}

/// Returns `true` if the path leads to a fact that ccm gathers on every machine.
pub fn is_of_system_fact(path: &[String]) -> bool {
    matches!(path, [root, fact, ..] if is_facts(root) && SYSTEM_FACTS.contains(&&**fact))
}

fn is_facts(root: &str) -> bool {
    matches!(root, "Facts" | "facts")
}

impl InvalidExpression {
    /// Returns a hint with the fact that was probably meant.
    pub(crate) fn fact_suggestion(&self) -> Option<String> {
        let fact = || self.missing.as_deref()?.get(1);
        let near = self.nearest.as_deref().or_else(|| closest(fact()?, SYSTEM_FACTS));
        near.map(|meant| format!("did you mean `{meant}`?"))
    }

    /// Returns `true` if the error is a missing key in the data.
    pub(crate) fn is_missing_data(&self) -> bool {
        let root = self.missing.as_deref().and_then(<[_]>::first);
        matches!(root.map(String::as_str), Some("Data" | "data"))
    }

    /// Returns the input that the missing path leads to, if that may be left out.
    pub(crate) fn omissible_input(&self, omitted: OmittedInputs, known: &Value) -> Option<LeftOut> {
        let [root, path @ ..] = self.missing.as_deref()? else { return None };
        let name = path.first()?;
        match &**root {
            "Environ" | "environ" if omitted.files => Some(LeftOut::Variable(name.clone())),
            // A suggestion means that the name is misspelt.
            "Facts" | "facts" if omitted.facts && self.is_missing_fact(known) => {
                self.fact_suggestion().is_none().then(|| LeftOut::Fact(path.join(".")))
            }
            _ => None,
        }
    }

    /// Returns `true` if the error is a missing fact, unless every machine has the fact.
    pub(crate) fn is_missing_fact(&self, known: &Value) -> bool {
        let Some([root, path @ ..]) = self.missing.as_deref() else { return false };
        let is_system_fact = |fact: &String| SYSTEM_FACTS.contains(&&**fact) && known.get(fact).is_some();
        is_facts(root) && !path.first().is_some_and(is_system_fact)
    }
}

/// Reason why a value is late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeferredOn {
    File(ResourceIndex),
    Capture {
        /// Name or alias of the resource. `None` for a computed name.
        name: Option<String>,
        /// Captured key. `None` for a computed key or for all keys.
        key: Option<String>,
        /// Byte range in the expression. `None` within a template.
        range: Option<Range<usize>>,
    },
    /// Run of a resource, which noop prevents.
    Execution(ResourceIndex),
    /// The value does not exist, for this reason.
    NoValue(String),
}
