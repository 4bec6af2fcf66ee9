//! Warnings about facts that are compared with a text in capitals, although they are always in lower case.

use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span};

use crate::resolve::messages::shown;

/// Facts that are always in lower case. Facter has them with a capital.
const LOWER_CASE: [&str; 3] = ["host.info.platformFamily", "host.info.platform", "host.info.os"];

/// Returns the warnings about comparisons in a text. Comments are left out.
pub(crate) fn warnings(source: SourceId, text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for fact in LOWER_CASE {
        let places = memchr::memmem::find_iter(text.as_bytes(), fact);
        found.extend(places.filter_map(|at| warning(source, text, fact, at)));
    }
    found
}

fn warning(source: SourceId, text: &str, fact: &str, at: usize) -> Option<Diagnostic> {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    if text[line..at].contains('#') {
        return None;
    }
    let rest = text[at + fact.len()..].trim_start_matches(' ');
    let rest = rest.strip_prefix("==").or_else(|| rest.strip_prefix("!="))?.trim_start_matches(' ');
    let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (word, _) = rest[1..].split_once(quote)?;
    if !word.contains(|part: char| part.is_ascii_uppercase()) || word.contains(['\n', '{']) {
        return None;
    }
    let start = text.len() - rest.len() + 1;
    let message = format!("`{fact}` is in lower case, and never `{}`", shown(word));
    let warning =
        Diagnostic::warning(DiagnosticKind::NoEffect, Span::new(source, start, start + word.len()), message);
    Some(warning.with_hint(format!("write `{}`", shown(&word.to_lowercase()))))
}

#[cfg(test)]
mod tests {
    use ccm_model::SourceMap;

    use super::*;

    #[test]
    fn facts_in_lower_case_are_no_text_in_capitals() {
        let source = SourceMap::default().add("m.yaml", "");
        for (text, expected) in [
            ("if: \"Facts.host.info.platformFamily == 'Debian'\"", Some("Debian")),
            ("if: Facts.host.info.os != \"Linux\"", Some("Linux")),
            ("if: \"lookup('facts.host.info.platform') == 'Ubuntu'\"", None),
            ("if: Facts.host.info.platform == 'debian'", None),
            ("if: Facts.host.info.platformVersion == 'A'", None),
            ("# Facts.host.info.os == 'Linux'", None),
            ("if: Facts.host.info.os == 'Linux", None),
        ] {
            let found = warnings(source, text);
            let marked = found.first().and_then(Diagnostic::span).map(|span| &text[span.range()]);
            assert_eq!(marked, expected, "{text}");
        }
    }
}
