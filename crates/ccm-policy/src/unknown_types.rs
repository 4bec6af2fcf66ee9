//! Rules about resources of a type that does not exist.

use ccm_model::{Diagnostic, DiagnosticKind, Glob, GlobKind, closest, escape_control};

use crate::policy::Policy;

impl Policy {
    /// Returns a warning for each rule about resources of none of these types.
    pub fn unknown_types(&self, types: &[&str]) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for rule in &self.rules {
            let written = rule.condition.resource.as_ref().and_then(|glob| glob.as_str().split_once('#'));
            let Some((written, _)) = written else { continue };
            // In `{service#a,file#b}` the first part is no glob.
            let Ok(glob) = Glob::parse(written, GlobKind::Text) else { continue };
            if types.iter().any(|known| glob.matches(known)) {
                continue;
            }
            let shown = escape_control(written);
            let message = format!("there is no resource type `{shown}`, so this rule never matches");
            let warning = Diagnostic::warning(DiagnosticKind::UnknownReference, rule.span, message);
            found.push(match closest(written, types.iter().copied()) {
                Some(nearest) => warning.with_suggestion(Some(nearest)),
                None => warning.with_hint("run `ccm explain` for the resource types"),
            });
        }
        found
    }
}
