//! What can go wrong with a template, and where.

use std::ops::Range;

use super::{LARGEST_OUTPUT, LARGEST_TEMPLATE};

/// A mistake in a template. Its text never holds a value that the template works on, for it may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct TemplateError {
    /// What is wrong.
    pub fault: TemplateFault,
    /// Where, in the template itself or in one that it includes; then the tags that led to that place, the
    /// nearest first. Empty for what has no place.
    pub places: Vec<TemplatePlace>,
    /// What to do about it.
    pub hints: Vec<String>,
}

/// A place in the text of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplatePlace {
    /// The name of the template, as it was given to render or to include.
    pub template: String,
    /// The bytes of its text.
    pub range: Range<usize>,
    /// The line on which they begin, from 1.
    pub line: usize,
    /// The column in characters at which they begin, from 1.
    pub column: usize,
}

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateFault {
    /// The text is too long to be a template.
    #[error("the template is larger than {} MiB", LARGEST_TEMPLATE >> 20)]
    TooLarge,
    /// The text is not a template.
    #[error("{0}")]
    Syntax(String),
    /// Expressions, blocks, includes or calls are nested too deep, most often because they never end.
    #[error("the template is nested too deep")]
    TooDeep,
    /// Templates render one another through `template(path)`, most often because they never end.
    #[error("more than {0} templates render one another")]
    TooManyRenders(usize),
    /// It would take too long.
    #[error("the template takes more than {0} steps")]
    TooManySteps(u64),
    /// It would write too much.
    #[error("the template writes more than {} MiB", LARGEST_OUTPUT >> 20)]
    TooMuchOutput,
    /// A name, a key or an element does not exist.
    #[error("{}", match expression { Some(expression) => format!("`{expression}` does not exist"), None => "a value that is used here does not exist".to_owned() })]
    Undefined {
        /// As the template writes it, where that can be told.
        expression: Option<String>,
        /// The names and keys that the expression begins with.
        path: Vec<String>,
    },
    /// There is no such filter, test, function or method.
    #[error("unknown {kind} `{name}`")]
    Unknown {
        /// What it would be: "filter", "test", "function" or "method".
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A template that is included does not exist; its name, if the template itself has it.
    #[error("{}", match .0 { Some(name) => format!("there is no template `{name}`"), None => "the template that is included here does not exist".to_owned() })]
    NoTemplate(Option<String>),
    /// The name of a template that is included leads out of the directory.
    #[error("a template includes only what lies in the directory of the manifest")]
    Outside,
    /// An operator or a filter was used on what it does not work on.
    #[error("{0}")]
    Operation(String),
    /// What the template asked for was refused.
    #[error("{0}")]
    Refused(String),
    /// The template could not be rendered at all.
    #[error("the template can't be rendered: {0}")]
    Engine(String),
}

impl TemplateError {
    /// Builds an error that has no place.
    pub(super) fn new(fault: TemplateFault) -> Self {
        Self { fault, places: Vec::new(), hints: Vec::new() }
    }
}

impl TemplatePlace {
    /// The place of these bytes, which may lie past the end or inside characters.
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

/// Why a caller does not give what a template asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScopeError {
    /// What is wrong: lower case, no full stop, one layer per line.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl ScopeError {
    /// Builds one without hints.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new() }
    }
}

/// A mistake in a template that another one renders: the places become lines of the message.
impl From<TemplateError> for ScopeError {
    fn from(error: TemplateError) -> Self {
        let at = |place: &TemplatePlace| format!("{}:{}:{}", place.template, place.line, place.column);
        let mut message = String::new();
        if let Some(place) = error.places.first() {
            message += &format!("{}: ", at(place));
        }
        message += &error.fault.to_string();
        for place in error.places.iter().skip(1) {
            message += &format!("\nincluded at {}", at(place));
        }
        Self { message, hints: error.hints }
    }
}
