//! Kinds of errors and warnings about a text.

use std::fmt;

/// Declares the kinds with their names.
macro_rules! kinds {
    ($($(#[doc = $line:literal])* $kind:ident = $name:literal,)*) => {
        /// Kind of a diagnostic. Programs filter by the name of a kind, so that no name ever changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum DiagnosticKind {
            $($(#[doc = $line])* $kind,)*
        }

        impl DiagnosticKind {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// The text is not valid YAML, JSON, shell words or another format.
    Syntax = "syntax",
    /// A line is indented wrongly.
    Indentation = "indentation",
    /// A map has a key twice.
    DuplicateKey = "duplicate-key",
    /// This version of ccm does not support a feature.
    Unsupported = "unsupported",
    /// A map has a key that is not allowed.
    UnknownKey = "unknown-key",
    /// A resource has a property that its type does not have.
    UnknownProperty = "unknown-property",
    /// No resource type has this name.
    UnknownType = "unknown-type",
    /// A required key or value is missing or empty.
    Missing = "missing",
    /// A key or value is in the wrong place.
    Misplaced = "misplaced",
    /// A value has the wrong type, such as a list instead of text.
    WrongType = "wrong-type",
    /// A value has the right type but is not allowed.
    InvalidValue = "invalid-value",
    /// Properties or resources exclude each other.
    Conflict = "conflict",
    /// A name is reserved, or already has another meaning.
    ReservedName = "reserved-name",
    /// Several resources have the same name or alias.
    DuplicateResource = "duplicate-resource",
    /// No resource, executor, captured value or anchor has this name.
    UnknownReference = "unknown-reference",
    /// Something depends on itself, directly or not.
    Cycle = "cycle",
    /// The text, or the work that it demands, is too large.
    LimitExceeded = "limit-exceeded",
    /// An expression, a template or a path of `lookup` is not valid.
    ExpressionSyntax = "expression-syntax",
    /// An operator or a function of an expression does not accept its operands.
    InvalidOperand = "invalid-operand",
    /// An expression uses a name, a fact or a key that does not exist.
    UnknownName = "unknown-name",
    /// An expression calls a function that does not exist.
    UnknownFunction = "unknown-function",
    /// A valid expression has no result.
    EvaluationFailed = "evaluation-failed",
    /// A value is needed before it is known.
    LateValue = "late-value",
    /// A file, a variable or a fact can't be read.
    Unreadable = "unreadable",
    /// A value does not pass its `@validate`.
    ValidationFailed = "validation-failed",
    /// A resource can't be written as a manifest without data.
    Unrenderable = "unrenderable",
    /// The policy denies a command.
    Denied = "denied",
    /// A part of the manifest has no effect.
    NoEffect = "no-effect",
    /// A secret may become known.
    ExposedSecret = "exposed-secret",
    /// Others can change a file, or what comes from another machine.
    Unprotected = "unprotected",
    /// A resource is never unchanged.
    AlwaysChanges = "always-changes",
    /// A resource comes before what it needs, and no dependency says otherwise.
    Unordered = "unordered",
    /// An input of the machine was left out, so that what depends on it was not checked.
    NotChecked = "not-checked",
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_unique_and_in_kebab_case() {
        let mut names = std::collections::HashSet::new();
        for kind in DiagnosticKind::ALL {
            let name = kind.as_str();
            assert!(names.insert(name), "{name}");
            assert!(name.split('-').all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())), "{name}");
            assert!(!name.is_empty() && !name.split('-').any(str::is_empty), "{name}");
        }
    }
}
