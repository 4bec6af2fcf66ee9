//! Names of levels: the entries of `order` with the values of their expressions.

use ccm_data::hierarchy::{ExpandedEntry, Hierarchy, OrderEntry};
use ccm_data::interpolation::{SplitText, TextPart, split};
use ccm_expr::Value;
use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics};

use crate::resolve::expand::Expander;
use crate::resolve::hint_literals::HintLiterals;
use crate::resolve::messages::shown;

/// Expands the entries of `order`.
pub(crate) fn expand(
    hierarchy: &Hierarchy,
    expander: &mut Expander<'_, '_>,
    source_text: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<ExpandedEntry> {
    let mut name_of = |entry: &OrderEntry| {
        let Some((name, yielded)) = expander.hierarchy_entry(&entry.text, entry.span) else {
            return ExpandedEntry::Empty;
        };
        diagnostics.extend(warning(entry, &yielded, source_text));
        ExpandedEntry::new(name, &yielded)
    };
    hierarchy.order.iter().map(&mut name_of).collect()
}

/// Returns the warning about an entry with a list or a map, which names one level and no several.
fn warning<'v>(
    entry: &OrderEntry,
    yielded: impl IntoIterator<Item = &'v Value>,
    source_text: &str,
) -> Option<Diagnostic> {
    let value = yielded.into_iter().find(|value| matches!(value, Value::List(_) | Value::Map(_)))?;
    let message = format!("an entry of `order` is the name of one level, and this one has {}", value.kind());
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, entry.span, message);
    let literals = HintLiterals::PLAIN.within(source_text.get(entry.span.range()).unwrap_or_default());
    let hint = match (value, with_element(&entry.text, literals)) {
        (Value::Map(_), _) => "write an expression that yields text".to_owned(),
        (_, Some(element)) => {
            format!("write an entry for each element: `{}`, and so on with 1", shown(&element))
        }
        (_, None) => "write an entry for each element".to_owned(),
    };
    Some(warning.with_hint(hint))
}

/// Returns an entry with one expression that yields the first element of its list, or nothing.
fn with_element(entry: &str, literals: HintLiterals) -> Option<String> {
    let SplitText::Parts(parts) = split(entry, false) else { return None };
    let mut written = String::new();
    let mut expressions = 0;
    for part in parts {
        match part {
            TextPart::Literal(literal) => written += &literal,
            TextPart::Expression { inner, .. } => {
                expressions += 1;
                written += &format!("{{{{ get({}, 0) ?? {} }}}}", entry[inner].trim(), literals.text(""));
            }
        }
    }
    (expressions == 1).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_becomes_its_first_element() {
        for (entry, expected) in [
            (
                "group:{{ lookup('facts.groups', []) }}",
                Some("group:{{ get(lookup('facts.groups', []), 0) ?? '' }}"),
            ),
            ("{{Facts.groups}}", Some("{{ get(Facts.groups, 0) ?? '' }}")),
            ("{{ a }}:{{ b }}", None),
            ("group", None),
        ] {
            assert_eq!(with_element(entry, HintLiterals::PLAIN).as_deref(), expected, "{entry}");
        }
    }
}
