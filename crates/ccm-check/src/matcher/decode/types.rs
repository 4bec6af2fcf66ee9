//! Types of values, and the matchers that can judge them.

use crate::kinds::ValueType;

impl ValueType {
    /// Returns the noun phrase of the type.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Number | Self::PlainNumber => "a number",
            Self::Text | Self::Lines => "text",
            Self::Mode => "a mode in quotes",
            Self::Texts => "a list of texts",
            Self::Any => "a value",
        }
    }

    /// Returns the type of the elements: the lines of a text.
    pub(super) fn element(self) -> Self {
        if self == Self::Any { Self::Any } else { Self::Text }
    }

    /// Returns `true` for values that are one text.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Mode | Self::Lines)
    }

    /// Returns `true` if a matcher can judge values of this type. Every value has a text.
    pub(super) fn accepts(self, matcher: &str) -> bool {
        match matcher {
            "gt" | "ge" | "lt" | "le" => self != Self::Boolean,
            "have-len" | "contain-element" | "contain-elements" | "semver-constraint" => {
                self.is_text() || matches!(self, Self::Texts | Self::Any)
            }
            "consist-of" => matches!(self, Self::Texts | Self::Any),
            "gjson" | "xml" => self.is_text() || self == Self::Any,
            "have-key" => self == Self::Any,
            _ => true,
        }
    }
}
