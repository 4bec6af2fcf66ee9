//! Errors and warnings in texts.

use std::fmt;
use std::ops::Deref;

use ccm_model::{Diagnostic, Severity, SourceMap};

/// Errors and warnings, with the texts that they point into.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Errors and warnings, in the order of the texts and each once.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub texts: SourceMap,
}

impl Findings {
    /// Returns the number of errors in words. Warnings do not count.
    pub fn count(&self) -> String {
        match self.diagnostics.iter().filter(|found| found.severity == Severity::Error).count() {
            1 => "1 error".to_owned(),
            count => format!("{count} errors"),
        }
    }
}

/// Errors in a manifest, in values, in facts or in an expression. Warnings may stand among them.
#[derive(Clone, Debug)]
pub struct ManifestErrors(Findings);

impl ManifestErrors {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, texts: SourceMap) -> Self {
        Self(Findings { diagnostics, texts })
    }
}

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
