//! Errors of templates.

use std::ops::Range;

use ccm_model::DiagnosticKind;

use super::{MAX_BUILT_TEXT, MAX_OUTPUT, MAX_TEMPLATE};

/// Error of a template. Its text holds no values, because they may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct TemplateError {
    /// Fault.
    pub fault: TemplateFault,
    /// Location of the error in the template or an include, then the tags that lead there, the nearest first.
    pub locations: Vec<TemplateLocation>,
    /// Hints.
    pub hints: Vec<String>,
}

/// Location in the text of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateLocation {
    /// Name of the template, as passed to render or include.
    pub template: String,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Kind of a template error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateFault {
    /// The text is too long.
    #[error("the template is larger than {} MiB", MAX_TEMPLATE >> 20)]
    TooLarge,
    /// The text is no template.
    #[error("{0}")]
    Syntax(String),
    /// Expressions, blocks, includes or calls are nested too deep, usually by infinite recursion.
    #[error("the template is nested too deep")]
    TooDeep,
    /// Templates render one another through `template(path)`, usually by infinite recursion.
    #[error("more than {0} templates are nested by `template()`")]
    TooManyRenders(usize),
    /// Too many steps.
    #[error("the template takes more than {0} steps")]
    TooManySteps(u64),
    /// Too much output.
    #[error("the template writes more than {} MiB", MAX_OUTPUT >> 20)]
    TooMuchOutput,
    /// Too much text that operations build.
    #[error("the operations of the template build more than {} MiB of text", MAX_BUILT_TEXT >> 20)]
    TooMuchText,
    /// Too many elements that operations build or walk through.
    #[error("the template builds or compares lists and maps with too many elements")]
    TooManyElements,
    /// A name, a key or an element does not exist.
    #[error("{}", match expression { Some(expression) => format!("`{expression}` does not exist"), None => "a value used here does not exist".to_owned() })]
    Undefined {
        /// Expression in the template, if known.
        expression: Option<String>,
        /// Names and keys at the start of the expression.
        path: Vec<String>,
    },
    /// Unknown filter, test, function or method.
    #[error("unknown {kind} `{name}`")]
    Unknown {
        /// "filter", "test", "function" or "method".
        kind: &'static str,
        /// Name.
        name: String,
    },
    /// An included template does not exist; the field is its name, if that is in the template's text.
    #[error("{}", match .0 { Some(name) => format!("there is no template `{name}`"), None => "the included template does not exist".to_owned() })]
    NoTemplate(Option<String>),
    /// The name of an include leads out of the directory.
    #[error("a template can include only files in the directory of the manifest")]
    Outside,
    /// An operator or a filter does not support its operands.
    #[error("{0}")]
    Operation(String),
    /// The scope returned an error.
    #[error("{1}")]
    Refused(DiagnosticKind, String),
    /// minijinja failed.
    #[error("the template can't be rendered: {0}")]
    Minijinja(String),
}

impl TemplateFault {
    /// Returns the kind of the diagnostic.
    pub fn kind(&self) -> DiagnosticKind {
        match self {
            Self::TooLarge
            | Self::TooDeep
            | Self::TooManyRenders(_)
            | Self::TooManySteps(_)
            | Self::TooMuchOutput
            | Self::TooMuchText
            | Self::TooManyElements => DiagnosticKind::LimitExceeded,
            Self::Syntax(_) => DiagnosticKind::ExpressionSyntax,
            Self::Undefined { .. } => DiagnosticKind::UnknownName,
            Self::Unknown { .. } => DiagnosticKind::UnknownFunction,
            Self::NoTemplate(_) => DiagnosticKind::Unreadable,
            Self::Outside | Self::Operation(_) => DiagnosticKind::InvalidOperand,
            Self::Refused(kind, _) => *kind,
            Self::Minijinja(_) => DiagnosticKind::EvaluationFailed,
        }
    }
}

impl TemplateError {
    pub(super) fn new(fault: TemplateFault) -> Self {
        Self { fault, locations: Vec::new(), hints: Vec::new() }
    }
}

impl TemplateLocation {
    /// Builds a location from bytes, which may lie past the end or inside characters.
    pub(super) fn new(template: &str, text: &str, range: Range<usize>) -> Self {
        let boundary = |mut offset: usize| {
            offset = offset.min(text.len());
            while !text.is_char_boundary(offset) {
                offset -= 1;
            }
            offset
        };
        let start = boundary(range.start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            template: template.to_owned(),
            range: start..boundary(range.end).max(start),
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// Error of a [`super::TemplateScope`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScopeError {
    /// Kind of the diagnostic.
    pub kind: DiagnosticKind,
    /// Message: lower case, no full stop, one layer per line.
    pub message: String,
    /// Hints.
    pub hints: Vec<String>,
}

impl ScopeError {
    /// Builds an error without hints.
    pub fn new(kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }
}

/// The locations of the inner template's error become lines of the message.
impl From<TemplateError> for ScopeError {
    fn from(error: TemplateError) -> Self {
        let at = |location: &TemplateLocation| {
            format!("{}:{}:{}", location.template, location.line, location.column)
        };
        let mut message = String::new();
        if let Some(location) = error.locations.first() {
            message += &format!("{}: ", at(location));
        }
        message += &error.fault.to_string();
        for location in error.locations.iter().skip(1) {
            message += &format!("\nincluded at {}", at(location));
        }
        Self { kind: error.fault.kind(), message, hints: error.hints }
    }
}
