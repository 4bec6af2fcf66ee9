//! Warnings about names of ccm between the braces of other languages, which stay text: `{Data.port}`, `<%= Data.port %>`.

use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span};

use crate::resolve::messages::shown;

/// Names that begin an expression.
const NAMES: [&str; 8] = ["Data.", "Facts.", "Environ.", "Item.", "data.", "facts.", "lookup(", "hiera("];

/// Beginnings and ends of expressions in other languages.
const BRACES: [(&str, &str); 5] = [("{ {", "} }"), ("<%=", "%>"), ("<%", "%>"), ("%{", "}"), ("{", "}")];

/// Returns the warnings about a text. Comments are left out.
pub(crate) fn warnings(source: SourceId, text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for name in NAMES {
        let places = memchr::memmem::find_iter(text.as_bytes(), name);
        found.extend(places.filter_map(|at| warning(source, text, at)));
    }
    found
}

fn warning(source: SourceId, text: &str, at: usize) -> Option<Diagnostic> {
    let before = text[..at].trim_end_matches(' ');
    let (open, close) = BRACES.into_iter().find(|(open, _)| before.ends_with(open))?;
    let start = before.len() - open.len();
    // Only Hiera has these names, and its braces.
    let is_of_hiera = text[at..].starts_with(|first: char| first.is_ascii_lowercase());
    if is_of_hiera && open != "%{" {
        return None;
    }
    // `{{ … }}` and `${ … }` are expressions, and `\{` is meant.
    if open == "{" && text[..start].ends_with(['{', '$', '\\', '#']) {
        return None;
    }
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let rest = &text[at..];
    let end = rest.find(close).filter(|end| !rest[..*end].contains('\n'))?;
    let inner = rest[..end].trim();
    let is_path = inner.chars().all(|part| part.is_alphanumeric() || matches!(part, '.' | '_' | '[' | ']'));
    if !is_path && !is_of_hiera || text[line..start].contains('#') {
        return None;
    }
    let span = Span::new(source, start, at + end + close.len());
    let written = shown(text.get(span.range())?);
    let message = format!("`{written}` is text, and no expression");
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
    let inner = match inner.split_once(['.', '(']) {
        Some(("data", key)) => format!("Data.{key}"),
        Some(("facts", key)) => format!("Facts.{key}"),
        Some((function @ ("lookup" | "hiera"), _)) => {
            return Some(warning.with_hint(format!("write `{{{{ Data.KEY }}}}` in place of `{function}`")));
        }
        _ => inner.to_owned(),
    };
    Some(warning.with_hint(format!("write `{{{{ {} }}}}`", shown(&inner))))
}

#[cfg(test)]
mod tests {
    use ccm_model::SourceMap;

    use super::*;

    #[test]
    fn names_between_other_braces_are_text() {
        let source = SourceMap::default().add("m.yaml", "");
        for (text, expected) in [
            ("content: \"{Data.a}\"", Some("{Data.a}")),
            ("content: \"{ { Data.a } }\"", Some("{ { Data.a } }")),
            ("content: \"<%= Data.a.b %>\"", Some("<%= Data.a.b %>")),
            ("content: \"%{Facts.role}\"", Some("%{Facts.role}")),
            ("content: \"%{data.a}\"", Some("%{data.a}")),
            ("content: \"%{facts.os.name}\"", Some("%{facts.os.name}")),
            ("content: \"%{lookup('a')}\"", Some("%{lookup('a')}")),
            ("content: \"{data.a} {{ lookup('data.a') }} %{data_dir}\"", None),
            ("content: \"{{ Data.a }} ${ Data.a }\"", None),
            ("content: \"{{Data.a}}\"", None),
            ("content: \"{{ {a: Data.a} }}\"", None),
            ("# {Data.a}", None),
            ("control: {if: Data.a}", None),
            ("content: 'f\"{Data.a + 1}\"'", None),
        ] {
            let found = warnings(source, text);
            let marked = found.first().and_then(Diagnostic::span).map(|span| &text[span.range()]);
            assert_eq!(marked, expected, "{text}");
        }
    }
}
