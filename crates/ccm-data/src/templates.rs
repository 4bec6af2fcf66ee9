//! Templates: text in the language of Jinja, rendered with facts, data, environment and captured values.
//!
//! The engine is minijinja; it shows in no signature. What a template may read comes from the caller through
//! [`TemplateScope`]; nothing is compiled before it is rendered. Steps, depth and output are bounded, and
//! end in a [`TemplateError`]; what a template builds without writing it is bounded only where the engine lets a
//! filter be asked first.

mod error;
mod explain;
mod growth;
mod include_name;
mod link;
mod mentions;
mod render;
mod scan;
mod values;

use std::cell::Cell;

use ccm_expr::Value;

pub use error::{ScopeError, TemplateError, TemplateFault, TemplatePlace};
pub use mentions::{Mentions, mentions};
pub use render::render;

/// The names that templates know; in lower case too.
const NAMES: [&str; 4] = ["Facts", "Data", "Environ", "Captures"];

/// The functions that templates know besides those of the engine.
const FUNCTIONS: [&str; 3] = ["lookup", "file", "template"];

/// The size in bytes that a template may have.
const LARGEST_TEMPLATE: usize = 1 << 20;

/// The size in bytes of the text that a template may write.
const LARGEST_OUTPUT: usize = 16 << 20;

/// What a template may ask for.
///
/// It is asked on the thread that renders, one question at a time. It may itself render the template that
/// `template(path)` names.
pub trait TemplateScope {
    /// Returns the number of renders that wait for a template that they asked for. Scopes of templates that render one
    /// another share it.
    fn renders(&self) -> &Cell<usize>;

    /// The value of `Facts`, `Data`, `Environ` or `Captures`; asked at most once per render.
    fn name(&self, name: &str) -> Option<Value>;

    /// What `lookup`, `file` or `template` gives. The arguments are as the template wrote them, in any number.
    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScopeError>;

    /// The text of a template to include, by its path below the directory of the manifest; none if there is no
    /// such file. The path is relative and has no `.` or `..` in it.
    fn include(&self, path: &str) -> Result<Option<String>, ScopeError>;
}

#[cfg(test)]
mod tests;
