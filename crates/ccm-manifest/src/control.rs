//! Whether a resource is managed: `control` with `if` and `unless`.

use ccm_expr::Value;
use ccm_model::{Control, Diagnostic, Diagnostics, Node, ResourceId, Span, closest};
use ccm_properties::{IF, UNLESS};

use crate::expand::diagnostic;
use crate::scope::{Evaluator, LateOn, Trouble};
use crate::wording::{expected, shown};

/// The conditions of a resource, and of the manifests around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    conditions: Vec<Condition>,
}

/// One condition: an expression without braces.
#[derive(Clone, Debug)]
struct Condition {
    /// `if`, or `unless`.
    wanted: bool,
    node: Node,
    /// The manifest whose expression it is.
    manifest: usize,
    /// The `apply` around the resource that it is one of.
    of: Option<String>,
}

/// What conditions came to.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) control: Control,
    /// What it waits for, if it does.
    pub(crate) late_on: Vec<(LateOn, Span)>,
    /// It depends on a file that may turn out to be managed, so it has to be judged again.
    pub(crate) is_unsettled: bool,
}

/// Reads `control`.
pub(crate) fn read(node: &Node, manifest: usize, diagnostics: &mut Diagnostics) -> Conditions {
    let mut conditions = Conditions::default();
    let Some(map) = node.as_map() else {
        diagnostics.push(expected("a map with `if` or `unless`", node));
        return conditions;
    };
    for entry in map.entries().iter().filter(|entry| !entry.value.is_null()) {
        let key = &*entry.key.text;
        if ![IF, UNLESS].contains(&key) {
            let mistake = Diagnostic::error(entry.key.span, format!("unknown key `{}`", shown(key)));
            diagnostics.push(match closest(key, [IF, UNLESS]) {
                None => mistake.with_hint(format!("known here: `{IF}` and `{UNLESS}`")),
                suggestion => mistake.with_suggestion(suggestion),
            });
            continue;
        }
        let Some(text) = entry.value.as_text() else {
            diagnostics.push(expected("an expression", &entry.value));
            continue;
        };
        let trimmed = text.trim();
        if trimmed.starts_with("{{") || trimmed.starts_with("${") {
            let mistake = Diagnostic::error(entry.value.span, "a condition is an expression without braces");
            let inner = trimmed.trim_start_matches(['{', '$']).trim_end_matches('}').trim();
            diagnostics.push(mistake.with_hint(format!("write `{key}: {}`", shown(inner))));
            continue;
        }
        let wanted = key == IF;
        conditions.conditions.push(Condition { wanted, node: entry.value.clone(), manifest, of: None });
    }
    conditions
}

impl Conditions {
    /// Adds the conditions of what is around it.
    pub(crate) fn within(mut self, outer: &Self) -> Self {
        self.conditions.splice(0..0, outer.conditions.iter().cloned());
        self
    }

    /// The same for what is within that resource.
    pub(crate) fn of(mut self, resource: &ResourceId) -> Self {
        for condition in self.conditions.iter_mut().filter(|condition| condition.of.is_none()) {
            condition.of = Some(resource.to_string());
        }
        self
    }

    /// Judges them with what is known now. `evaluator` gives what belongs to a manifest.
    pub(crate) fn judge<'a, 's: 'a>(
        &self,
        evaluator: impl Fn(usize) -> Evaluator<'a, 's>,
        diagnostics: &mut Diagnostics,
    ) -> Judged {
        let mut late_on = Vec::new();
        let mut is_unsettled = false;
        for condition in &self.conditions {
            let evaluator = evaluator(condition.manifest);
            let held = condition.holds(&evaluator);
            if evaluator.world.forget_read() {
                is_unsettled = true;
                continue;
            }
            match held {
                // Of what was reported, whatever else is wrong with the resource is reported as well.
                Ok(true) | Err(Refused::Reported) => {}
                Ok(false) => {
                    let (word, answer) = if condition.wanted { (IF, false) } else { (UNLESS, true) };
                    let of = condition.of.as_ref().map_or_else(String::new, |of| format!(" of {of}"));
                    let reason = format!("`{word}`{of} is {answer}");
                    let control = Control::NotManaged { reason };
                    return Judged { control, late_on: Vec::new(), is_unsettled: false };
                }
                Err(Refused::Late(late)) => {
                    late_on.extend(late.into_iter().map(|on| (on, condition.node.span)));
                }
                Err(Refused::Mistake(mistake)) => diagnostics.push(mistake),
            }
        }
        let is_late = is_unsettled || !late_on.is_empty();
        let control = if is_late { Control::Late } else { Control::Managed };
        Judged { control, late_on, is_unsettled }
    }

    /// All of them: what each wants, its expression and the manifest that it stands in.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = (bool, &str, usize)> {
        self.conditions.iter().map(|condition| {
            (condition.wanted, condition.node.as_text().unwrap_or_default(), condition.manifest)
        })
    }
}

/// Why a condition neither holds nor does not.
enum Refused {
    /// It waits for these.
    Late(Vec<LateOn>),
    /// What it needs could not be had, which was reported.
    Reported,
    /// There is a mistake in it.
    Mistake(Diagnostic),
}

impl Condition {
    /// Tells whether it lets the resource be managed.
    fn holds(&self, evaluator: &Evaluator<'_, '_>) -> Result<bool, Refused> {
        let text = self.node.as_text().unwrap_or_default();
        match evaluator.evaluate(text) {
            Ok(Value::Bool(value)) => Ok(value == self.wanted),
            Ok(other) => {
                let message = format!("a condition is true or false, found {}", other.kind());
                Err(Refused::Mistake(Diagnostic::error(self.node.span, message)))
            }
            Err(Trouble::Late(on)) => Err(Refused::Late(on)),
            Err(Trouble::Reported) => Err(Refused::Reported),
            Err(Trouble::Mistake(mistake)) => {
                let range = mistake.range.clone();
                let place = self.node.locate(&evaluator.manifest.text, range.start, range.end);
                Err(Refused::Mistake(diagnostic(mistake, place)))
            }
        }
    }
}
