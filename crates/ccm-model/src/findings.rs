//! Errors and warnings in texts, without secrets.

use std::fmt;
use std::ops::Deref;

use crate::{Diagnostic, Severity, SourceMap, escape_control};

/// Errors and warnings, with the texts that they point into. They hold no secret and can be shown.
///
/// Sensitive values are replaced by `[redacted]` in messages and in texts, and spans refer to the redacted
/// texts. Line numbers are those of the file. Only texts with a span are kept; the others are empty.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Errors and warnings, in the order of the texts and each once.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub texts: SourceMap,
}

impl Findings {
    /// Returns a line for each error, warning and hint: `error: site.yaml:4:11: unknown property`.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for found in &self.diagnostics {
            let location = found.span().and_then(|span| self.texts.location(span));
            let location = location.map(|location| format!("{location}: ")).unwrap_or_default();
            let severity = match found.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            };
            text += &format!("{severity}: {}\n", escape_control(&format!("{location}{}", found.message)));
            text.extend(found.hints.iter().map(|hint| format!("hint: {}\n", escape_control(hint))));
        }
        text
    }

    /// Returns the names of the texts with errors, in the order of the errors and each once, and `true` if an error
    /// has no location.
    pub fn texts_with_errors(&self) -> (Vec<&str>, bool) {
        let mut names: Vec<&str> = Vec::new();
        let mut has_unlocated = false;
        for error in self.diagnostics.iter().filter(|found| found.severity == Severity::Error) {
            match error.span().and_then(|span| self.texts.get(span.source)) {
                Some(text) if !names.contains(&&*text.name) => names.push(&text.name),
                Some(_) => {}
                None => has_unlocated = true,
            }
        }
        (names, has_unlocated)
    }

    /// Returns the number of errors in words. Warnings do not count.
    pub fn count(&self) -> String {
        match self.diagnostics.iter().filter(|found| found.severity == Severity::Error).count() {
            1 => "1 error".to_owned(),
            count => format!("{count} errors"),
        }
    }
}

/// Errors in a manifest, in values, in facts or in an expression, displayed as their number. Warnings may be
/// among them. [`Findings::text`] lists them.
#[derive(Clone, Debug)]
pub struct ManifestErrors(pub Findings);

impl Deref for ManifestErrors {
    type Target = Findings;

    fn deref(&self) -> &Findings {
        &self.0
    }
}

/// `1 error`, `3 errors`. Warnings do not count.
impl fmt::Display for ManifestErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.count())
    }
}

impl std::error::Error for ManifestErrors {}
