//! Guard classes and their verdicts.

use ccm_model::{Diagnostic, DiagnosticKind, Node, closest, escape_control};
use ccm_properties::{Located, PropertyKind, PropertyValue, TextValue, ValueError, expected};

use crate::guard_class::GuardClass;
use crate::verdict::PolicyVerdict;

impl TextValue for GuardClass {
    const KIND: PropertyKind = PropertyKind::Words(Self::NAMES);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        Self::parse(text).ok_or_else(|| {
            let error = ValueError::new(format!("unknown guard class `{}`", escape_control(text)));
            match closest(text, Self::NAMES.iter().copied()) {
                None => error.with_hint("`ccm policy show --classes` lists the guard classes"),
                nearest => error.with_suggestion(nearest),
            }
        })
    }
}

/// Verdicts of guard classes.
#[derive(Debug)]
pub(crate) struct GuardVerdicts(pub Vec<(GuardClass, Located<PolicyVerdict>)>);

impl PropertyValue for GuardVerdicts {
    const KIND: PropertyKind = PropertyKind::Record { properties: GuardClass::FIELDS, min: 0 };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            let mode = node.as_text().filter(|text| matches!(*text, "standard" | "audit" | "off"));
            let hint = match mode {
                Some(mode) => {
                    format!("write the mode below a caller: `callers: {{apply: {{guard: {mode}}}}}`")
                }
                None => "write classes and verdicts: `guard: {package: ask}`".to_owned(),
            };
            errors.push(expected("guard classes with their verdicts", node).with_hint(hint));
            return None;
        };
        let mut classes = Vec::new();
        for entry in map.entries().iter().filter(|entry| !entry.value.is_null()) {
            let class = GuardClass::from_text(&entry.key.text).map_err(|error| error.at(entry.key.span));
            let verdict = Located::<PolicyVerdict>::decode(&entry.value, errors);
            match (class, verdict) {
                (Err(error), _) => errors.push(error),
                (Ok(class), Some(verdict)) => {
                    if class.is_unreadable() && verdict.value != PolicyVerdict::Deny {
                        let message =
                            format!("`{class}` can't be changed: nobody can judge text that can't be read");
                        let error = Diagnostic::error(DiagnosticKind::InvalidValue, verdict.span, message);
                        errors.push(error.with_hint("remove the line"));
                    }
                    classes.push((class, verdict));
                }
                (Ok(_), None) => {}
            }
        }
        Some(Self(classes))
    }
}
