//! Resources that a template generates: `resources_template`.

use std::path::Path;
use std::sync::Arc;

use ccm_model::{Diagnostic, Diagnostics, Entry, Node, Span};

use crate::expand::{diagnostic, refused_as_late};
use crate::paths::normal;
use crate::scope::{Evaluator, Trouble};
use crate::wording::expected;

/// Renders the template and reads the list of resources that it writes. Errors in the list show the text that the
/// template wrote.
pub(crate) fn generate(
    template: &Entry,
    evaluator: &Evaluator<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Option<(Arc<str>, Vec<Node>)> {
    let span = template.value.span;
    let Some(name) = template.value.as_text() else {
        diagnostics.push(expected("the name of a template", &template.value));
        return None;
    };
    let is_beside = !name.is_empty() && Path::new(name).file_name() == Some(name.as_ref());
    if !is_beside {
        let mistake = Diagnostic::error(span, "the template has to be in the directory of the manifest");
        diagnostics.push(mistake.with_hint("give its name without a directory"));
        return None;
    }
    let rendered = evaluator.template(name);
    evaluator.world.used_at(span);
    let text: Arc<str> = match rendered {
        Ok(text) => text.into(),
        Err(trouble) => {
            diagnostics.extend(refused(trouble, span));
            return None;
        }
    };
    let path = normal(&evaluator.manifest.directory.join(name));
    let shown = format!("{} (rendered)", path.display());
    let source = evaluator.world.texts.borrow_mut().add(shown, Arc::clone(&text));
    let nodes = match ccm_yaml::parse(source, &text, &ccm_yaml::Limits::default()) {
        Ok(None) => Vec::new(),
        Ok(Some(Node { value: ccm_model::Value::List(items), .. })) => items,
        Ok(Some(other)) => {
            let mistake = expected("a list of resources", &other);
            let is_manifest = other.as_map().is_some_and(|map| map.entry("ccm").is_some());
            diagnostics.push(if is_manifest {
                mistake.with_hint("write the list alone, without `ccm:` and `resources:`")
            } else {
                mistake
            });
            Vec::new()
        }
        Err(mistakes) => {
            diagnostics.extend(mistakes);
            Vec::new()
        }
    };
    Some((text, nodes))
}

fn refused(trouble: Trouble, span: Span) -> Option<Diagnostic> {
    match trouble {
        Trouble::Reported => None,
        Trouble::Mistake(mistake) => Some(diagnostic(mistake, span)),
        Trouble::Late(on) => on.first().map(|on| refused_as_late(on, span)),
    }
}
