//! Go templates, which Goss expands in its files and ccm does not.

use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span};

/// Finds the first template outside of comments.
pub(super) fn find(source: SourceId, text: &str) -> Option<Diagnostic> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = line.find("{{").filter(|_| !line.trim_start().starts_with('#'));
        if let Some(start) = start {
            let end = line[start..].find("}}").map_or(line.trim_end().len(), |end| start + end + 2);
            let span = Span::new(source, offset + start, offset + end);
            let message = "templates are not supported in Goss files";
            let error = Diagnostic::error(DiagnosticKind::Unsupported, span, message);
            let hint = "move the rules to `goss_rules` of a manifest, with expressions of ccm and `foreach`";
            return Some(error.with_hint(hint));
        }
        offset += line.len();
    }
    None
}
