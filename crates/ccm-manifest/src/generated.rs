//! Resources that a template generates: `resources_template`.

use std::path::Path;
use std::sync::Arc;

use ccm_model::{Diagnostic, Diagnostics, Entry, Node, SourceId, Span};

use crate::expand::{diagnostic, refused_as_late};
use crate::scope::{Evaluator, Trouble};
use crate::wording::expected;

/// What a template wrote.
pub(crate) struct Generated {
    /// Its text.
    pub(crate) text: Arc<str>,
    source: SourceId,
    template: SourceId,
    template_text: Arc<str>,
    /// For each line, the line of the template that wrote it; both count from 1.
    lines: Option<Vec<usize>>,
}

/// Renders the template and reads the list of resources that it writes.
pub(crate) fn generate(
    template: &Entry,
    evaluator: &Evaluator<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Option<(Generated, Vec<Node>)> {
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
    let rendered = evaluator.template_with_lines(name);
    evaluator.world.used_at(span);
    let rendered = match rendered {
        Ok(rendered) => rendered,
        Err(trouble) => {
            diagnostics.extend(refused(trouble, span));
            return None;
        }
    };
    let text: Arc<str> = rendered.text.into();
    let world = evaluator.world;
    let source = world.texts.borrow_mut().add(format!("{name} (rendered)"), Arc::clone(&text));
    let generated = Generated {
        text: Arc::clone(&text),
        source,
        template: rendered.template,
        template_text: rendered.template_text,
        lines: rendered.lines,
    };
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
    Some((generated, nodes))
}

fn refused(trouble: Trouble, span: Span) -> Option<Diagnostic> {
    match trouble {
        Trouble::Reported => None,
        Trouble::Mistake(mistake) => Some(diagnostic(mistake, span)),
        Trouble::Late(on) => on.first().map(|on| refused_as_late(on, span)),
    }
}

/// Adds to each mistake in what a template wrote the line of the template.
pub(crate) fn point_into_templates(all: &[Generated], diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics {
        let Some(span) = diagnostic.span() else { continue };
        let Some(generated) = all.iter().find(|generated| generated.source == span.source) else { continue };
        let before = generated.text.get(..span.start as usize).unwrap_or_default();
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let Some(line) = generated.lines.as_ref().and_then(|lines| lines.get(line)) else { continue };
        let start: usize = generated.template_text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let length = generated.template_text[start..].lines().next().map_or(0, str::len);
        let written = Span::new(generated.template, start, start + length);
        diagnostic.labels.push(ccm_model::Label { span: written, text: "this line wrote it".to_owned() });
    }
}
