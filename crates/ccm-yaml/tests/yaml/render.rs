//! Trees and errors as one line each.

use ccm_model::{Diagnostic, Node, NodeValue, ScalarStyle, SourceId, SourceMap};
use ccm_yaml::{Limits, parse};

/// Parses with the default limits.
pub(crate) fn read(text: &str) -> Result<Option<Node>, Vec<Diagnostic>> {
    parse(SourceId(0), text, &Limits::default())
}

/// Formats the tree of a valid text; `-` for no document.
pub(crate) fn tree(text: &str) -> String {
    match read(text) {
        Ok(Some(node)) => show(&node),
        Ok(None) => "-".to_owned(),
        Err(diagnostics) => panic!("{text:?}: {}", errors(text, &diagnostics)),
    }
}

/// Formats a node: plain scalars bare, missing ones `_`, quoted ones in quotes, blocks with `|`.
pub(crate) fn show(node: &Node) -> String {
    match &node.value {
        NodeValue::Scalar(scalar) => match scalar.style {
            ScalarStyle::Plain if scalar.text.is_empty() => "_".to_owned(),
            ScalarStyle::Plain => scalar.text.to_string(),
            ScalarStyle::Quoted => format!("{:?}", scalar.text),
            ScalarStyle::Block => format!("|{:?}", scalar.text),
            ScalarStyle::Computed | ScalarStyle::Redacted => panic!("no text holds such a scalar"),
        },
        NodeValue::List(list) => format!("[{}]", list.iter().map(show).collect::<Vec<_>>().join(", ")),
        NodeValue::Map(map) => {
            let entries = map.entries().iter();
            let entries: Vec<String> =
                entries.map(|entry| format!("{}: {}", entry.key.text, show(&entry.value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Returns the text of every node and key, from the outside in, in the order of the text.
pub(crate) fn written<'t>(node: &Node, text: &'t str) -> Vec<&'t str> {
    let mut all = vec![&text[node.span.range()]];
    match &node.value {
        NodeValue::Scalar(_) => {}
        NodeValue::List(list) => all.extend(list.iter().flat_map(|node| written(node, text))),
        NodeValue::Map(map) => {
            for entry in map.entries() {
                all.push(&text[entry.key.span.range()]);
                all.extend(written(&entry.value, text));
            }
        }
    }
    all
}

/// Formats each error on a line: position, marked text, kind, positions of further labels, code in the hints.
/// `…` is a hint without code.
pub(crate) fn errors(text: &str, diagnostics: &[Diagnostic]) -> String {
    let mut sources = SourceMap::default();
    sources.add("m.yaml", text);
    let place = |span| sources.locate(span).map_or("?".to_owned(), |(_, position)| position.display());
    let lines = diagnostics.iter().map(|diagnostic| {
        let span = diagnostic.span().expect("every error has a place");
        let mut line = format!("{} {:?} {}", place(span), &text[span.range()], diagnostic.kind);
        for label in &diagnostic.labels[1..] {
            line.push_str(&format!(" ({})", place(label.span)));
        }
        for hint in &diagnostic.hints {
            let code: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
            line.push_str(" | ");
            line.push_str(&if code.is_empty() { "…".to_owned() } else { code.join(", ") });
        }
        line
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Checks the errors of each text.
pub(crate) fn check(table: &[(&str, &[&str])]) {
    for (text, expected) in table {
        let diagnostics = read(text).expect_err(text);
        assert_eq!(errors(text, &diagnostics), expected.join("\n"), "{text:?}");
    }
}

/// Checks that each text has the same error at its position.
pub(crate) fn check_same(error: &str, table: &[(&str, &str)]) {
    for (text, place) in table {
        check(&[(text, &[&format!("{place} {error}")])]);
    }
}
