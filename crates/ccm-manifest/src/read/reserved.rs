//! Names reserved for later versions, with an error of their own instead of "unknown".

use ccm_model::{Diagnostic, DiagnosticKind, Span};

/// Resource types. A type that the loader knows is not reserved, even if it is in this list.
pub(crate) const TYPES: [&str; 1] = ["archive"];

pub(crate) fn not_supported(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(DiagnosticKind::Unsupported, span, format!("`{name}` is not supported in this version"))
}
