//! Names, functions and includes of a template.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use ccm_data::templates::{self, ScopeError, TemplateScope};
use ccm_expr::{Scope, Value};
use ccm_model::DiagnosticKind;

use super::expression::ExpressionScope;
use super::{DeferredOn, MAX_INCLUDES, Phase};
use crate::resolve::messages::shown_path;
use crate::unchecked::LeftOut;

pub(super) struct Rendering<'a, 'c, 'e, 's> {
    pub(super) scope: &'a ExpressionScope<'c, 'e, 's>,
    /// Paths of facts that the template uses.
    pub(super) mentions: RefCell<Vec<Vec<String>>>,
}

impl Rendering<'_, '_, '_, '_> {
    /// Records the facts that a template and its includes use. Returns `true` if they use data that is unknown,
    /// because an input was left out.
    pub(super) fn mention(&self, text: &str, seen: &mut HashSet<String>) -> bool {
        let found = templates::dependencies(text);
        let unknown = &self.scope.evaluator.manifest.unknown;
        let mut of_data = found.paths.iter().filter(|path| path.first().is_some_and(|first| first == "data"));
        let mut uses_unknown =
            !unknown.is_empty() && (found.dynamic || of_data.any(|path| unknown.touches(&path[1..])));
        {
            let mut mentions = self.mentions.borrow_mut();
            if found.dynamic {
                mentions.push(Vec::new());
            }
            let facts = found.paths.iter().filter(|path| path.first().is_some_and(|first| first == "facts"));
            mentions.extend(facts.map(|path| path[1..].to_vec()));
        }
        for include in found.includes {
            let path = self.scope.evaluator.manifest.directory.join(&include);
            if !seen.insert(include) {
                continue;
            }
            // Rendering refuses this many includes.
            if seen.len() > MAX_INCLUDES {
                self.mentions.borrow_mut().push(Vec::new());
                break;
            }
            if let Ok(text) = self.scope.evaluator.context.read(&path) {
                uses_unknown |= self.mention(&text, seen);
            }
        }
        uses_unknown
    }
}

impl TemplateScope for Rendering<'_, '_, '_, '_> {
    fn renders(&self) -> &Cell<usize> {
        &self.scope.evaluator.context.renders
    }

    fn name(&self, name: &str) -> Option<Value> {
        let evaluator = self.scope.evaluator;
        match name {
            "Facts" => self.scope.facts(&self.mentions.borrow()),
            "Captures" if matches!(evaluator.phase, Phase::Drafts | Phase::BeforeRun(_)) => {
                let _ = self.scope.defer(DeferredOn::Capture { name: None, key: None, range: None });
                None
            }
            "Data" if matches!(evaluator.phase, Phase::Data) => None,
            _ => self.scope.name(name),
        }
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScopeError> {
        let most = if function == "lookup" { 2 } else { 1 };
        if arguments.is_empty() || arguments.len() > most {
            let takes = if most == 2 { "one or two arguments" } else { "one argument" };
            return Err(ScopeError::new(
                DiagnosticKind::InvalidOperand,
                format!("`{function}` takes {takes}, found {}", arguments.len()),
            ));
        }
        Scope::call(self.scope, function, arguments).map_err(|error| {
            let mut refused = ScopeError::new(error.kind, error.message);
            refused.hints = error.hints;
            refused
        })
    }

    fn include(&self, path: &str) -> Result<Option<String>, ScopeError> {
        let path =
            self.scope.resolved_path(path).map_err(|error| ScopeError::new(error.kind, error.message))?;
        match self.scope.evaluator.context.read(&path) {
            Ok(text) => {
                self.scope.evaluator.context.warn_of_text(&path, &text, &self.scope.evaluator.manifest.data);
                Ok(Some(text.to_string()))
            }
            Err(_) if self.scope.evaluator.context.omitted.files => {
                self.scope.evaluator.context.leave_out(LeftOut::File(path));
                let error = self.scope.leave_unchecked();
                Err(ScopeError::new(error.kind, error.message))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ScopeError::new(
                DiagnosticKind::Unreadable,
                format!("`{}` can't be read: {error}", shown_path(&path)),
            )),
        }
    }
}
