//! What later versions bring: refused by name until then, so that nobody takes it for a typing mistake.

use ccm_model::{Diagnostic, Span};

/// Resource types. One that the loader is given is known to it, and what stands here does not matter.
pub(crate) const TYPES: [&str; 2] = ["archive", "scaffold"];

/// Properties of every resource.
pub(crate) const PROPERTIES: [&str; 1] = ["health_checks"];

/// Refuses one of them where it is used.
pub(crate) fn not_supported(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(span, format!("`{name}` is not supported in this version"))
}
