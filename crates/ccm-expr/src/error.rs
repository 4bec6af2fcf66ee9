//! What is wrong with an expression, and where.

use std::ops::Range;

use crate::FunctionError;

/// When a mistake shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// On reading the expression, whatever its names hold.
    Compile,
    /// On evaluating it.
    Run,
}

/// Why an expression is wrong, as far as a caller may want to react.
#[derive(Debug)]
pub enum Cause {
    /// It doesn't follow the language: its syntax, or the kinds its operators and functions take.
    Language,
    /// It names something that the scope doesn't have.
    UnknownName(String),
    /// It asks a map for a key that isn't there. The path ends before the first key that was worked out:
    /// `Facts`, `host`, `inof`.
    MissingKey(Vec<String>),
    /// A function of the caller refused.
    Function {
        /// The function's name.
        name: String,
        /// What it said.
        error: Box<FunctionError>,
    },
    /// It grew beyond what one expression may use.
    Limit,
}

/// A mistake in an expression.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// When it shows.
    pub stage: Stage,
    /// Its place: a range of bytes of the expression's text.
    pub range: Range<usize>,
    /// What is wrong. Names kinds and names, never values.
    pub message: String,
    /// How to go on.
    pub hints: Vec<String>,
    /// Name that was probably meant, which one of the hints names too.
    pub nearest: Option<Box<str>>,
    /// Why, for callers that react to it.
    pub cause: Cause,
}

/// The result of a step that may fail. The error is boxed because nearly every step succeeds.
pub(crate) type Fallible<T> = Result<T, Box<Error>>;

impl Error {
    /// A mistake that shows on reading.
    pub(crate) fn compile(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            stage: Stage::Compile,
            range,
            message: message.into(),
            hints: Vec::new(),
            nearest: None,
            cause: Cause::Language,
        })
    }

    /// A mistake that shows on evaluating.
    pub(crate) fn run(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        let mut error = Self::compile(range, message);
        error.stage = Stage::Run;
        error
    }

    /// The same with a way to go on.
    pub(crate) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hints.push(hint.into());
        self
    }

    /// The same with the nearest of the names that would have been right, if one is near.
    pub(crate) fn did_you_mean<'a>(
        mut self: Box<Self>,
        word: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Box<Self> {
        match ccm_model::closest(word, candidates) {
            Some(nearest) => {
                self.nearest = Some(nearest.into());
                self.hint(format!("did you mean `{nearest}`?"))
            }
            None => self,
        }
    }

    /// The same with a cause.
    pub(crate) fn because(mut self: Box<Self>, cause: Cause) -> Box<Self> {
        self.cause = cause;
        self
    }
}
