//! Values that other users of the machine can read.

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeValue, Span};

use crate::{CheckInput, PropertySpec, find};

/// Readers of a value besides ccm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// No other user.
    None,
    /// Every user, because ccm writes the value to a file that everybody can read. The text is a hint for a secret.
    File(&'static str),
    /// Every user while the command runs, because the value is one of its arguments.
    Arguments,
}

/// Returns an error for each secret that a property would write to a file that everybody can read, and a warning for each
/// one among the arguments of a command. `named` is the property that the name of the resource replaces.
pub(crate) fn exposed_secrets(
    checked: &CheckInput<'_>,
    table: &'static [PropertySpec],
    named: Option<&str>,
) -> Vec<Diagnostic> {
    if checked.secrets.is_empty() {
        return Vec::new();
    }
    let properties = &checked.resource.properties;
    let of_entries = properties.given().filter_map(|entry| {
        let property = table.iter().find(|property| property.is_named(&entry.key.text))?;
        diagnostic(property, secret_in(&entry.value, checked.secrets)?)
    });
    let name = &*checked.resource.id.name;
    let of_name = named
        .filter(|named| properties.get(named).is_none() && holds_secret(name, checked.secrets))
        .and_then(|named| diagnostic(find(table, named)?, checked.resource.span));
    of_entries.chain(of_name).collect()
}

fn diagnostic(property: &PropertySpec, span: Span) -> Option<Diagnostic> {
    let name = property.name;
    match property.exposure {
        Exposure::None => None,
        Exposure::File(instead) => {
            let message = format!(
                "`{name}` holds a sensitive value, and ccm writes it to a file that everybody can read"
            );
            Some(Diagnostic::error(DiagnosticKind::ExposedSecret, span, message).with_hint(instead))
        }
        Exposure::Arguments => {
            let message = format!(
                "`{name}` holds a sensitive value, which every user can read in the list of processes while the command runs"
            );
            let warning = Diagnostic::warning(DiagnosticKind::ExposedSecret, span, message);
            Some(warning.with_hint("pass the value with `environment` or `stdin`"))
        }
    }
}

/// Returns the location of the first text that holds a secret.
fn secret_in(node: &Node, secrets: &[String]) -> Option<Span> {
    match &node.value {
        NodeValue::Scalar(scalar) => holds_secret(&scalar.text, secrets).then_some(node.span),
        NodeValue::List(elements) => elements.iter().find_map(|element| secret_in(element, secrets)),
        NodeValue::Map(map) => map.entries().iter().find_map(|entry| secret_in(&entry.value, secrets)),
    }
}

fn holds_secret(text: &str, secrets: &[String]) -> bool {
    secrets.iter().any(|secret| text.contains(secret))
}
