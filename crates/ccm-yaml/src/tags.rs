//! The tags of the core schema; no other tag is supported.

use ccm_model::{Diagnostic, Kind, Scalar, ScalarStyle, Span};
use granit_parser::Tag;

use crate::excerpt::shown;

/// A tag and where it was written.
pub(crate) struct Written<'a> {
    pub(crate) tag: &'a Tag,
    pub(crate) span: Span,
    pub(crate) text: &'a str,
}

impl Written<'_> {
    /// Gives a scalar the style that makes it what its tag says.
    pub(crate) fn style(&self, text: &str, style: ScalarStyle) -> Result<ScalarStyle, Diagnostic> {
        let fits = match self.tag.core_suffix() {
            Some("str") if style == ScalarStyle::Block => return Ok(ScalarStyle::Block),
            Some("str") => return Ok(ScalarStyle::Quoted),
            Some("int") => |kind| matches!(kind, Kind::Int(_)),
            Some("float") => |kind| matches!(kind, Kind::Float(_) | Kind::Int(_)),
            Some("bool") => |kind| matches!(kind, Kind::Bool(_)),
            Some("null") => |kind| matches!(kind, Kind::Null),
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
        match (self.tag.core_suffix(), what) {
            (Some("seq"), "a list") | (Some("map"), "a map") => Ok(()),
            (Some(_), _) => Err(self.misfit(what)),
            (None, _) => Err(self.unsupported()),
        }
    }

    fn misfit(&self, what: &str) -> Diagnostic {
        Diagnostic::error(self.span, format!("the tag `{}` does not fit {what}", shown(self.text)))
    }

    fn unsupported(&self) -> Diagnostic {
        unsupported(self.span, self.text)
    }
}

/// Says that a tag is none of those that are supported.
pub(crate) fn unsupported(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error(span, format!("tags such as `{}` are not supported", shown(text)))
        .with_hint("quote the value if its `!` is meant as text")
}
