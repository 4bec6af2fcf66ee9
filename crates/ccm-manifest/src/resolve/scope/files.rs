//! Files and templates that an expression reads.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_data::templates::{self, TemplateError, TemplateFault};
use ccm_expr::{FunctionError, Value};
use ccm_model::{DiagnosticKind, SourceId, Span, normalize};

use super::expression::ExpressionScope;
use super::rendering::Rendering;
use super::text_template::{TEXT_WITH_EXPRESSIONS, has_extension};
use super::{DeferredOn, Phase};
use crate::resolve::copied_sources::{OF_OTHER_TOOLS, as_jinja};
use crate::resolve::expand::is_encrypted_file;
use crate::resolve::messages::{shown, unreadable};
use crate::unchecked::LeftOut;

impl ExpressionScope<'_, '_, '_> {
    pub(super) fn file(&self, written: &str) -> Result<Value, FunctionError> {
        self.content(written).map(Value::Text)
    }

    /// Returns the content of a file, opened if the name of the file says that it is encrypted.
    pub(super) fn content(&self, written: &str) -> Result<Arc<str>, FunctionError> {
        let path = self.resolved_path(written)?;
        let content = self.read(written, &path)?;
        if is_encrypted_file(written) { self.opened(&content, &path) } else { Ok(content) }
    }

    /// Resolves a path, and records why the value is late if a resource will still change the file.
    pub(super) fn resolved_path(&self, written: &str) -> Result<PathBuf, FunctionError> {
        let path = normalize(&self.evaluator.manifest.directory.join(written));
        let context = self.evaluator.context;
        let waits_for = match self.evaluator.phase {
            Phase::BeforeRun(managed) => managed.get(&*context.spelling(&path)).cloned().unwrap_or_default(),
            Phase::Runtime(runtime) => {
                runtime.pending_manager(&context.spelling(&path)).into_iter().collect()
            }
            Phase::Data | Phase::Drafts => {
                context.record_early_read(&path);
                Vec::new()
            }
        };
        let mut resolved = Ok(path);
        for index in waits_for {
            resolved = Err(self.defer(DeferredOn::File(index)));
        }
        resolved
    }

    fn read(&self, written: &str, path: &Path) -> Result<Arc<str>, FunctionError> {
        let context = self.evaluator.context;
        let leave_out = || {
            context.leave_out(LeftOut::File(path.to_owned()));
            self.leave_unchecked()
        };
        if context.omitted.files && written.starts_with('/') {
            return Err(leave_out());
        }
        context.read(path).map_err(|source| {
            if context.omitted.files {
                return leave_out();
            }
            let mut error = FunctionError::new(DiagnosticKind::Unreadable, unreadable("", path, &source));
            if source.kind() == std::io::ErrorKind::NotFound {
                error
                    .hints
                    .extend(context.near_name(path).map(|name| format!("did you mean `{}`?", shown(&name))));
            }
            error
        })
    }

    pub(super) fn template(&self, written: &str) -> Result<String, FunctionError> {
        if has_extension(written, "jet") {
            let message = format!("`{written}`: Jet templates are not supported");
            let mut error = FunctionError::new(DiagnosticKind::Unsupported, message);
            error.hints.push(
                "write it as a Jinja template, or as a text with expressions named `.templ`".to_owned(),
            );
            return Err(error);
        }
        let path = self.resolved_path(written)?;
        if self.rendering.borrow().contains(&path) {
            // Templates have no parameters, so that the recursion would never end.
            let message = format!("the template `{written}` renders itself");
            self.last_template_error.replace(Some(message.clone()));
            return Err(FunctionError::new(DiagnosticKind::Cycle, message));
        }
        let text = self.read(written, &path).map_err(|mut error| {
            if !has_extension(written, "j2") && !has_extension(written, TEXT_WITH_EXPRESSIONS) {
                let hint = "`template` takes the path of a file; a text is not expanded again";
                error.hints.push(hint.to_owned());
            }
            error
        })?;
        if OF_OTHER_TOOLS.iter().any(|ending| has_extension(written, ending)) && text.contains("<%") {
            let message =
                format!("`{}`: templates of Puppet and Chef are not supported", written.escape_debug());
            let mut error = FunctionError::new(DiagnosticKind::Unsupported, message);
            error.hints.push(as_jinja(written));
            return Err(error);
        }
        if has_extension(written, TEXT_WITH_EXPRESSIONS) {
            return self.expanded(written, path, &text);
        }
        self.defer_on_template(written, &mut HashSet::new())?;
        if !self.deferred.borrow().is_empty() {
            return Err(FunctionError::new(
                DiagnosticKind::LateValue,
                "this value is known only during a run",
            ));
        }
        let source = self.evaluator.context.template_source(&path, &path.display().to_string(), &text);
        let is_first = self.evaluator.context.warn_of_text(&path, &text, &self.evaluator.manifest.data);
        let rendering = Rendering { scope: self, mentions: RefCell::default() };
        if rendering.mention(&text, &mut HashSet::new()) {
            return Err(self.leave_unchecked());
        }
        if self.evaluator.is_over() {
            return Err(FunctionError::new(
                DiagnosticKind::LimitExceeded,
                "loading the manifest takes too long",
            ));
        }
        self.rendering.borrow_mut().push(path);
        let rendered = templates::render(written, &text, &rendering);
        self.rendering.borrow_mut().pop();
        if is_first && rendered.is_ok() {
            self.doubt_comparisons(&text, source);
            self.doubt_defaults(&text, source);
        }
        rendered.map_err(|error| self.refuse(written, source, &error))
    }

    /// Converts a template error, and records its locations.
    pub(super) fn refuse(&self, written: &str, source: SourceId, error: &TemplateError) -> FunctionError {
        let mut locations = self.locations.borrow_mut();
        for location in &error.locations {
            let source = if location.template == written {
                source
            } else {
                let path = self.evaluator.manifest.directory.join(&location.template);
                let Ok(text) = self.evaluator.context.read(&path) else { continue };
                self.evaluator.context.template_source(&path, &path.display().to_string(), &text)
            };
            locations.push((Span::new(source, location.range.start, location.range.end), String::new()));
        }
        // Of nested templates, the message names only the outermost and the innermost.
        let passed_on = match (&error.fault, &*self.last_template_error.borrow()) {
            (TemplateFault::Refused(_, message), Some(last)) if message == last => Some(last.clone()),
            _ => None,
        };
        let message = match passed_on {
            Some(message) if !self.rendering.borrow().is_empty() => message,
            _ => format!("the template `{written}` can't be rendered: {error}"),
        };
        self.last_template_error.replace(Some(message.clone()));
        if let TemplateFault::Undefined { expression: Some(_), path } = &error.fault {
            self.missing.borrow_mut().get_or_insert_with(|| path.as_slice().into());
        }
        FunctionError { hints: error.hints.clone(), ..FunctionError::new(error.fault.kind(), message) }
    }
}
