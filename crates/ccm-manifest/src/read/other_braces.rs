//! Warnings about names of ccm between the braces of other languages, which stay text: `{Data.port}`, `<%= Data.port %>`.

use ccm_expr::Value;
use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span};

use crate::resolve::messages::shown;

/// Names that begin an expression.
const NAMES: [&str; 8] = ["Data.", "Facts.", "Environ.", "Item.", "data.", "facts.", "lookup(", "hiera("];

/// Beginnings and ends of expressions in other languages, of which each is text in a manifest.
const BRACES: [(&str, &str); 5] = [("{ {", "} }"), ("<%=", "%>"), ("<%", "%>"), ("%{", "}"), ("{", "}")];

/// As `BRACES`, for those that are expressions in a manifest, and text in a template.
const BRACES_OF_MANIFESTS: [(&str, &str); 2] = [("${", "}"), ("$(", ")")];

/// Returns the warnings about the text of a manifest. Comments are left out.
pub(crate) fn warnings(source: SourceId, text: &str) -> Vec<Diagnostic> {
    found(source, text, &[])
}

/// Returns the warnings about the text of a template.
pub(crate) fn warnings_in_template(source: SourceId, text: &str, data: &Value) -> Vec<Diagnostic> {
    let mut found = found(source, text, &BRACES_OF_MANIFESTS);
    let is_plain = !text.contains("{{") && !text.contains("{%");
    if let (Value::Map(data), true, true) = (data, is_plain, found.is_empty()) {
        found.extend(data.keys().find_map(|key| placeholder(source, text, key)));
    }
    found
}

/// Returns the warning about a key of the data between the marks of another language, such as `$port` and `@port@`.
/// In a template without a tag, nothing else can be meant.
fn placeholder(source: SourceId, text: &str, key: &str) -> Option<Diagnostic> {
    let forms = [("${", "}"), ("$", ""), ("@", "@"), ("%", "%"), ("__", "__"), ("{", "}")];
    let span = forms.into_iter().find_map(|(open, close)| {
        let mark = format!("{open}{key}{close}");
        let ends = |at: &usize| {
            let rest = &text[at + mark.len()..];
            !close.is_empty() || !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
        };
        let at = text.match_indices(&mark).map(|(at, _)| at).find(ends)?;
        Some(Span::new(source, at, at + mark.len()))
    })?;
    let written = shown(text.get(span.range())?);
    let message = format!("`{written}` is text: the template has no expression");
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
    Some(warning.with_hint(format!("write `{{{{ Data.{} }}}}`", shown(key))))
}

fn found(source: SourceId, text: &str, further: &[(&str, &str)]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for name in NAMES {
        let places = memchr::memmem::find_iter(text.as_bytes(), name);
        found.extend(places.filter_map(|at| warning(source, text, at, further)));
    }
    found
}

fn warning(source: SourceId, text: &str, at: usize, further: &[(&str, &str)]) -> Option<Diagnostic> {
    let before = text[..at].trim_end_matches(' ');
    let (open, close) = further.iter().chain(&BRACES).find(|(open, _)| before.ends_with(open)).copied()?;
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

    #[test]
    fn expressions_of_manifests_are_text_in_a_template() {
        let source = SourceMap::default().add("t.j2", "");
        for (text, expected) in [
            ("port ${Data.port}", Some("${Data.port}")),
            ("port ${ Data.web.port }", Some("${ Data.web.port }")),
            ("name $(Facts.host.name)", Some("$(Facts.host.name)")),
            ("home ${Environ.HOME}", Some("${Environ.HOME}")),
            ("port {Data.port}", Some("{Data.port}")),
            ("port <%= Data.port %>", Some("<%= Data.port %>")),
            ("port {{ Data.port }} ${port} $port ${data.port}", None),
            ("{% if Data.tls %}{{ {'a': Data.b} }}{% endif %}", None),
            ("# ${Data.port} is written by hand", None),
            ("{# ${Data.port} #}", None),
        ] {
            let found = warnings_in_template(source, text, &Value::Null);
            let marked = found.first().and_then(Diagnostic::span).map(|span| &text[span.range()]);
            assert_eq!(marked, expected, "{text}");
        }
    }

    #[test]
    fn keys_between_other_marks_are_text_in_a_template_without_an_expression() {
        let source = SourceMap::default().add("t.j2", "");
        let data = Value::map([("port", Value::Null), ("name", Value::Null)]);
        for (text, expected) in [
            ("listen $port;", Some("$port")),
            ("listen ${port};", Some("${port}")),
            ("listen @port@", Some("@port@")),
            ("listen %port%", Some("%port%")),
            ("listen __port__", Some("__port__")),
            ("listen {port}", Some("{port}")),
            ("<name>web</name>", None),
            ("listen $ports $host", None),
            ("listen {{ Data.name }} $port", None),
            ("listen 80", None),
        ] {
            let found = warnings_in_template(source, text, &data);
            let marked = found.first().and_then(Diagnostic::span).map(|span| &text[span.range()]);
            assert_eq!(marked, expected, "{text}");
        }
    }
}
