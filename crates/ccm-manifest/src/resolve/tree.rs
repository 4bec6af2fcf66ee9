//! Templates in the directories that resources copy.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ccm_data::nodes;
use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Properties, Span};
use ccm_properties::{TreeSource, TreeTemplates, TypeSpec, is_any_url};

use crate::resolve::expand::{Expander, is_template};
use crate::resolve::messages::{shown, unreadable};
use crate::resolve::scope::{DeferredOn, EvalError, ManifestEvaluator, ManifestScope, Phase};
use crate::unchecked::LeftOut;

/// Templates of a directory, rendered.
type RenderedTree = Result<Vec<NodeEntry>, EvalError>;

impl Expander<'_, '_> {
    /// Renders the templates of the directory that a resource copies, by their paths in it. `None` if the resource
    /// copies no directory, or if the texts are unknown or known already.
    pub(crate) fn tree(
        &mut self,
        properties: &Properties,
        spec: &dyn TypeSpec,
        ensure: Option<&str>,
    ) -> Option<Arc<NodeMap>> {
        let source = spec.sources()?.tree(ensure)?;
        let entry = properties.entry(source.property)?;
        let span = entry.value.span;
        // A type that copies a directory refuses a URL itself.
        let written = entry.value.as_text().filter(|written| !is_any_url(written))?;
        if self.idle || self.found.is_unknown(span) || self.is_known(span) {
            return None;
        }
        let data = source.data.and_then(|name| properties.get(name));
        if data.is_some_and(|data| self.holds_unknown(data)) {
            // The templates wait for what the data waits for.
            self.found.late.insert(span);
            return None;
        }
        self.invalidate_missing_file();
        let scope =
            data.map(|data| ManifestScope { data: nodes::to_value(data), ..self.evaluator.manifest.clone() });
        let rendered = {
            let manifest = scope.as_ref().unwrap_or(self.evaluator.manifest);
            let evaluator = ManifestEvaluator { manifest, ..self.evaluator };
            render(&evaluator, written, source, span)
        };
        self.evaluator.context.record_early_uses(span);
        match rendered {
            Ok(Ok(entries)) => {
                let bytes = entries.iter().map(|entry| entry.value.as_text().map_or(0, str::len)).sum();
                self.count_bytes(bytes, span).then(|| NodeMap::new(entries).into())
            }
            Ok(Err(error)) => {
                self.record_error(error, span, |_| span);
                None
            }
            Err(error) => {
                self.record_unreadable(written, &error, span);
                None
            }
        }
    }

    fn holds_unknown(&self, node: &Node) -> bool {
        match &node.value {
            NodeValue::Scalar(_) => self.found.is_unknown(node.span),
            NodeValue::List(elements) => elements.iter().any(|element| self.holds_unknown(element)),
            NodeValue::Map(map) => map.entries().iter().any(|entry| self.holds_unknown(&entry.value)),
        }
    }

    /// Records that a directory can't be read. An earlier resource may still make one that does not exist.
    fn record_unreadable(&mut self, written: &str, error: &io::Error, span: Span) {
        let path = self.evaluator.manifest.resolve(written);
        let message = unreadable("", &path, error);
        let mut error_of = Diagnostic::error(DiagnosticKind::Unreadable, span, message);
        if error.kind() == io::ErrorKind::NotFound {
            error_of = error_of.with_hint(match self.evaluator.context.near_name(&path) {
                Some(name) => format!("did you mean `{}`?", shown(&name)),
                None => "check the path, or create the directory with an earlier resource".to_owned(),
            });
        }
        if error.kind() == io::ErrorKind::NotFound && matches!(self.evaluator.phase, Phase::BeforeRun(_)) {
            self.evaluator.context.take_missing_file();
            self.found.late.insert(span);
            self.found.missing_files.push(error_of);
        } else {
            self.found.refused.insert(span);
            self.found.diagnostics.push(error_of);
        }
    }
}

fn render(
    evaluator: &ManifestEvaluator<'_, '_>,
    written: &str,
    source: TreeSource,
    span: Span,
) -> io::Result<RenderedTree> {
    let context = evaluator.context;
    let directory = evaluator.manifest.resolve(written);
    if context.omitted.files && written.starts_with('/') {
        context.leave_out(LeftOut::File(directory));
        return Ok(Err(EvalError::Unchecked));
    }
    if let Phase::BeforeRun(managed) = evaluator.phase
        && let Some(by) = managed.get(&*context.spelling(&directory))
    {
        return Ok(Err(EvalError::Deferred(by.iter().copied().map(DeferredOn::File).collect())));
    }
    let mut entries = Vec::new();
    for path in context.files_below(&directory)? {
        let Some(name) = path.to_str().filter(|name| is_rendered(name, source.templates)) else { continue };
        let template = Path::new(written).join(&path);
        let is_named = is_template(name);
        let is_text = is_named
            || match context.read(&evaluator.manifest.resolve(&template.to_string_lossy())) {
                Err(error) if error.kind() == io::ErrorKind::InvalidData => false,
                // The rendering reports other errors.
                _ => true,
            };
        if !is_text {
            continue;
        }
        match evaluator.template(&template.to_string_lossy()) {
            Ok(text) => entries
                .push(NodeEntry { key: NodeKey { text: name.into(), span }, value: Node::text(text, span) }),
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(entries))
}

fn is_rendered(name: &str, templates: TreeTemplates) -> bool {
    match templates {
        TreeTemplates::Named => is_template(name),
        TreeTemplates::AllBut(left_out) => {
            let above = Path::new(name).parent();
            !above.is_some_and(|above| above.iter().any(|part| part == left_out))
        }
    }
}
