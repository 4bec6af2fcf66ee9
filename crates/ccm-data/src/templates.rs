//! Templates: Jinja text rendered with facts, data, environment and captured values.
//!
//! The implementation is minijinja, which appears in no signature. The caller provides names, functions and includes
//! through [`TemplateScope`]. Exceeding a limit of steps, depth or output is a [`TemplateError`], and so is exceeding
//! one of the values that a template builds, whether it prints them or not (see `meter` and `output_limits`).
//!
//! Where Jinja2 renders a text, this crate renders the same or returns an error: values without a meaning together
//! are refused (see `operators` and `kinds`).

mod checked_source;
mod comparisons;
mod dependencies;
mod error;
mod error_conversion;
mod filters;
mod foreign_names;
mod include_name;
mod kept;
mod kinds;
mod loop_variables;
mod meter;
mod methods;
mod missing_paths;
mod operators;
mod output_limits;
mod render;
mod render_thread;
mod scan;
mod settings;
mod syntax_hints;
mod values;

use std::cell::Cell;

use ccm_expr::Value;

pub use comparisons::comparisons;
pub use dependencies::{TemplateDependencies, dependencies};
pub use error::{ScopeError, TemplateError, TemplateFault, TemplateLocation};
pub use render::render;

/// Names in templates, also accepted in lower case.
const NAMES: [&str; 7] = ["Facts", "Data", "Environ", "Captures", "Manifest", "Item", "Index"];

/// Functions in templates besides those of minijinja.
const FUNCTIONS: [&str; 5] = ["lookup", "file", "readFile", "template", "credential"];

const MAX_TEMPLATE: usize = 1 << 20;

const MAX_OUTPUT: usize = 16 << 20;

/// Maximum length of all texts that the operations of a template build.
const MAX_BUILT_TEXT: u64 = 256 << 20;

/// Maximum number of elements of all lists and maps that the operations of a template build.
const MAX_BUILT_ELEMENTS: u64 = 1 << 24;

/// Names, functions and includes of a template. The methods are called one at a time, on the thread that
/// called [`render()`], and may render the template that `template(path)` names.
pub trait TemplateScope {
    /// Returns the counter of nested renders: a render that calls `template(path)` waits for the inner one. All
    /// scopes of nested renders share the counter.
    fn renders(&self) -> &Cell<usize>;

    /// Returns the value of `Facts`, `Data`, `Environ`, `Captures`, `Manifest`, `Item` or `Index`; called at most once per render.
    fn name(&self, name: &str) -> Option<Value>;

    /// Calls `lookup`, `file` (also `readFile`), `template` or `credential`, with arguments of any number as the template passes them.
    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScopeError>;

    /// Returns the text of a template to include, by its relative, normalized path below the directory of the
    /// manifest; `None` if there is no such file.
    fn include(&self, path: &str) -> Result<Option<String>, ScopeError>;
}

#[cfg(test)]
mod tests;
