//! Names reserved for later versions, with an error of their own instead of "unknown".

use ccm_model::{Diagnostic, Span};

/// Resource types. A type that the loader knows is not reserved, even if it is in this list.
pub(crate) const TYPES: [&str; 2] = ["archive", "scaffold"];

/// Common properties.
pub(crate) const PROPERTIES: [&str; 1] = ["health_checks"];

/// Returns the error for a reserved name.
pub(crate) fn not_supported(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(span, format!("`{name}` is not supported in this version"))
}
