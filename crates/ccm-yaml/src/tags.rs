//! Tags of the core schema; no others are supported.

use ccm_model::{Diagnostic, DiagnosticKind, Scalar, ScalarKind, ScalarStyle, Span};
use granit_parser::Tag as ParsedTag;

use crate::excerpt::shown;

pub(crate) struct YamlTag<'a> {
    pub(crate) parsed: &'a ParsedTag,
    pub(crate) span: Span,
    pub(crate) text: &'a str,
}

impl YamlTag<'_> {
    /// Returns the style that gives a scalar the type of the tag.
    pub(crate) fn style(&self, text: &str, style: ScalarStyle) -> Result<ScalarStyle, Diagnostic> {
        let fits = match self.parsed.core_suffix() {
            Some("str") if style == ScalarStyle::Block => return Ok(ScalarStyle::Block),
            Some("str") => return Ok(ScalarStyle::Quoted),
            Some("int") => |kind| matches!(kind, ScalarKind::Int(_)),
            Some("float") => |kind| matches!(kind, ScalarKind::Float(_) | ScalarKind::Int(_)),
            Some("bool") => |kind| matches!(kind, ScalarKind::Bool(_)),
            Some("null") => |kind| matches!(kind, ScalarKind::Null),
            Some("seq" | "map") => |_| false,
            _ => return Err(self.unsupported()),
        };
        let plain = Scalar { text: text.into(), style: ScalarStyle::Plain };
        if fits(plain.kind()) {
            Ok(ScalarStyle::Plain)
        } else {
            Err(self.misfit(&format!("`{}`", shown(text))))
        }
    }

    /// Checks the tag of a list or map.
    pub(crate) fn collection(&self, what: &str) -> Result<(), Diagnostic> {
        match (self.parsed.core_suffix(), what) {
            (Some("seq"), "a list") | (Some("map"), "a map") => Ok(()),
            (Some(_), _) => Err(self.misfit(what)),
            (None, _) => Err(self.unsupported()),
        }
    }

    fn misfit(&self, what: &str) -> Diagnostic {
        Diagnostic::error(
            DiagnosticKind::WrongType,
            self.span,
            format!("the tag `{}` does not fit {what}", shown(self.text)),
        )
    }

    fn unsupported(&self) -> Diagnostic {
        unsupported(self.span, self.text)
    }
}

pub(crate) fn unsupported(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error(
        DiagnosticKind::Unsupported,
        span,
        format!("tags such as `{}` are not supported", shown(text)),
    )
    .with_hint("quote the value if its `!` is meant as text")
}
