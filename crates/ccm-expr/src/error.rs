//! Errors of expressions, with their span.

use std::ops::Range;

use ccm_model::DiagnosticKind;

use crate::{FunctionError, functions};

/// Stage at which an error is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Parsing, which does not depend on the values of names.
    Compile,
    /// Evaluation.
    Run,
}

/// Cause of an error, for callers that react to it.
#[derive(Debug)]
pub enum Cause {
    /// The expression breaks the syntax of the language.
    Syntax,
    /// An operator or a function does not accept its operands.
    Operand,
    /// A variable has the name of something else.
    TakenName,
    /// The scope has no such name.
    UnknownName(String),
    /// Neither the language nor the scope has a function of this name.
    UnknownFunction(String),
    /// A value has no method of this name.
    UnknownMethod(String),
    /// A map lacks a key. The path ends before the first computed key: `Facts`, `host`, `inof`.
    MissingKey(Vec<String>),
    /// A function of the embedding program refused its arguments.
    Function {
        /// Name of the function.
        name: String,
        /// Error of the function.
        error: Box<FunctionError>,
    },
    /// A map has a key twice.
    DuplicateKey {
        /// Bytes of the first of the two keys; empty for a computed key.
        first: Range<usize>,
    },
    /// The expression exceeds a limit.
    Limit,
}

impl Cause {
    /// Returns the kind of the diagnostic.
    pub fn kind(&self) -> DiagnosticKind {
        match self {
            Self::Syntax => DiagnosticKind::ExpressionSyntax,
            Self::Operand | Self::UnknownMethod(_) => DiagnosticKind::InvalidOperand,
            Self::TakenName => DiagnosticKind::ReservedName,
            Self::UnknownName(_) | Self::MissingKey(_) => DiagnosticKind::UnknownName,
            Self::UnknownFunction(_) => DiagnosticKind::UnknownFunction,
            Self::Function { error, .. } => error.kind,
            Self::DuplicateKey { .. } => DiagnosticKind::DuplicateKey,
            Self::Limit => DiagnosticKind::LimitExceeded,
        }
    }
}

/// Error of an expression.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Stage that found the error.
    pub stage: Stage,
    /// Bytes of the expression's text.
    pub range: Range<usize>,
    /// Message. Names kinds and names, never values.
    pub message: String,
    /// Hints in the imperative.
    pub hints: Vec<String>,
    /// Name that was probably meant; one of the hints holds the name too.
    pub nearest: Option<Box<str>>,
    /// Cause, for callers that react to it.
    pub cause: Cause,
}

/// Result of a fallible step. The error is boxed because nearly every step succeeds.
pub(crate) type ExprResult<T> = Result<T, Box<Error>>;

impl Error {
    /// Builds an error in the syntax.
    pub(crate) fn syntax(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            stage: Stage::Compile,
            range,
            message: message.into(),
            hints: Vec::new(),
            nearest: None,
            cause: Cause::Syntax,
        })
    }

    /// Builds an error in an operand, found by parsing.
    pub(crate) fn compile(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Self::syntax(range, message).with_cause(Cause::Operand)
    }

    /// Builds an error in an operand, found by evaluation.
    pub(crate) fn run(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        let mut error = Self::compile(range, message);
        error.stage = Stage::Run;
        error
    }

    pub(crate) fn with_hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn with_hint_if(self: Box<Self>, applies: bool, hint: impl Into<String>) -> Box<Self> {
        if applies { self.with_hint(hint) } else { self }
    }

    /// Suggests the candidate nearest to `word`, if one is near.
    pub(crate) fn did_you_mean<'a>(
        mut self: Box<Self>,
        word: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Box<Self> {
        match ccm_model::closest(word, candidates) {
            Some(nearest) => {
                self.nearest = Some(nearest.into());
                self.with_hint(format!("did you mean `{nearest}`?"))
            }
            None => self,
        }
    }

    /// Builds the error about a name that the scope does not have.
    pub(crate) fn unknown_name(range: Range<usize>, name: &str, known: &[String]) -> Box<Self> {
        let error =
            Self::run(range, format!("there is no `{name}`")).with_cause(Cause::UnknownName(name.to_owned()));
        if functions::find(name).is_some() {
            return error.with_hint(format!("call the function: `{name}(…)`"));
        }
        error.did_you_mean(name, known.iter().map(String::as_str))
    }

    /// Turns an error into that about the second of two equal keys of a map.
    pub(crate) fn of_duplicate_key(self: Box<Self>, first: Range<usize>) -> Box<Self> {
        self.with_cause(Cause::DuplicateKey { first }).with_hint("remove one of the two, or rename it")
    }

    pub(crate) fn with_cause(mut self: Box<Self>, cause: Cause) -> Box<Self> {
        self.cause = cause;
        self
    }
}
