//! Evaluates a single expression outside of a manifest.

use std::path::PathBuf;
use std::sync::Arc;

use ccm_data::layers::Layers;
use ccm_expr::{Map, Value};
use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, SourceMap, Span};

use crate::read::data::{self, ResolvedData};
use crate::read::data_keys::DataKeys;
use crate::read::foreach::ItemScope;
use crate::read::hiera::{self, DataFile};
use crate::resolve::eval_context::{EvalContext, NAMES};
use crate::resolve::expand::diagnostic;
use crate::resolve::messages::shown;
use crate::resolve::scope::{EvalError, ManagedPaths, ManifestEvaluator, ManifestScope, Phase};
use crate::sources::Sources;
use crate::unchecked::UnknownPaths;

/// Expression with its variables and data.
#[derive(Clone, Debug, Default)]
pub struct EvaluationRequest {
    /// Expression, without braces.
    pub expression: Arc<str>,
    /// Variables in addition to `Facts`, `Data` and `Environ`.
    pub variables: Map,
    /// Data files, lowest first.
    pub hiera: Vec<DataFile>,
    /// `KEY=VALUE` assignments, merged over all data files.
    pub assignments: Vec<String>,
    /// Base of relative paths.
    pub directory: PathBuf,
}

/// Result of evaluating an expression.
#[derive(Debug)]
pub struct EvaluationResult {
    /// Value, unless there are errors.
    pub value: Option<Value>,
    /// Secret texts in the data.
    pub secrets: Vec<String>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Texts that spans refer to.
    pub texts: SourceMap,
}

/// Evaluates an expression as in a manifest before a run.
pub fn evaluate(request: &EvaluationRequest, sources: &dyn Sources) -> EvaluationResult {
    let mut texts = SourceMap::default();
    let source = texts.add("expression", Arc::clone(&request.expression));
    let mut context = EvalContext::new(sources, texts);
    let mut diagnostics = Diagnostics::new();
    for name in request.variables.keys().filter(|name| NAMES.iter().any(|(usual, _)| *usual == &***name)) {
        let error = Diagnostic::without_location(
            DiagnosticKind::ReservedName,
            format!("a variable can't be called `{}`", shown(name)),
        );
        diagnostics.push(error.with_hint("choose another name, because expressions reserve this one"));
    }
    context.variables.clone_from(&request.variables);
    let mut data = ResolvedData { layers: Layers::new(Value::map::<&str>([])), ..ResolvedData::default() };
    for overlay in hiera::overlays(
        &request.hiera,
        &request.assignments,
        &context,
        &mut DataKeys::default(),
        &mut diagnostics,
    ) {
        data.layers.add_deep(overlay.source, overlay.value);
        data.annotations.extend(overlay.annotations);
    }
    data.value = data.layers.merged();
    data.is_incomplete = context.has_errors() || diagnostics.has_errors();
    data::check(&mut data, &context, &mut diagnostics);
    let mut secrets = std::mem::take(&mut data.secrets);
    let manifest = ManifestScope {
        text: Arc::clone(&request.expression),
        directory: request.directory.as_path().into(),
        data: data.value,
        settings: Arc::default(),
        is_incomplete: data.is_incomplete,
        item: ItemScope::None,
        unknown: UnknownPaths::default(),
        declared: None,
    };
    let managed = ManagedPaths::new();
    let evaluator = ManifestEvaluator::new(&context, &manifest, Phase::BeforeRun(&managed));
    let at = |range: std::ops::Range<usize>| Span::new(source, range.start, range.end);
    let evaluated = evaluator.evaluate(&request.expression);
    for doubt in context.take_doubts() {
        let place = at(doubt.range.clone());
        diagnostics.push(doubt.warning(place));
    }
    let value = match evaluated {
        Ok(value) => Some(value),
        Err(EvalError::Invalid(mut error)) => {
            error.hints = hints(&request.expression, error.hints);
            diagnostics.push(diagnostic(error, at));
            None
        }
        Err(EvalError::Deferred(_)) => {
            let whole = Span::new(source, 0, request.expression.len());
            diagnostics.push(Diagnostic::error(
                DiagnosticKind::LateValue,
                whole,
                "captured values are known only during a run",
            ));
            None
        }
        Err(EvalError::Reported | EvalError::Unchecked) => None,
    };
    diagnostics.extend(context.take_errors());
    context.secrets.report(&mut secrets, &mut diagnostics);
    let is_valid = !diagnostics.has_errors();
    let texts = context.texts.take();
    EvaluationResult {
        value: value.filter(|_| is_valid),
        secrets,
        diagnostics: diagnostics.into_vec(),
        texts,
    }
}

/// Names that an expression uses. A computed path is reported as the empty path, because its value is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpressionNames {
    /// Paths of facts.
    pub facts: Vec<String>,
    /// Paths of data.
    pub data: Vec<String>,
    /// Names of environment variables.
    pub environment: Vec<String>,
    /// Paths of captured values.
    pub captures: Vec<String>,
    /// Files that the expression reads. `None` for a computed path.
    pub files: Vec<Option<String>>,
    /// Templates that the expression renders. `None` for a computed path.
    pub templates: Vec<Option<String>>,
    /// Credentials that the expression reads. `None` for a computed name.
    pub credentials: Vec<Option<String>>,
    /// Other names.
    pub others: Vec<String>,
}

/// Returns the names that an expression uses, without evaluating it.
pub fn expression_names(
    text: &str,
    sources: &dyn Sources,
) -> Result<ExpressionNames, Box<(Diagnostic, SourceMap)>> {
    let mut texts = SourceMap::default();
    let source = texts.add("expression", text);
    let context = EvalContext::new(sources, SourceMap::default());
    let read = context.expression(text);
    let expression = match &read.expression {
        Ok(expression) => expression,
        Err(error) => {
            let place = Span::new(source, error.range.start, error.range.end);
            let diagnostic = Diagnostic::error(error.cause.kind(), place, error.message.clone());
            let hints = hints(text, error.hints.clone());
            return Err(Box::new((hints.into_iter().fold(diagnostic, Diagnostic::with_hint), texts)));
        }
    };
    let mut named = ExpressionNames::default();
    let mentions = expression.mentions();
    if !mentions.environment.is_empty() {
        named.add_all();
    }
    for mention in &mentions.names {
        let (first, rest) =
            mention.path.split_first().map_or(("", &[][..]), |(first, rest)| (&**first, rest));
        let rest = joined(rest);
        match first {
            "Facts" => add(&mut named.facts, rest),
            "Data" => add(&mut named.data, rest),
            "Environ" => add(&mut named.environment, rest),
            "Captures" => add(&mut named.captures, rest),
            "Manifest" => {}
            other => add(&mut named.others, other.to_owned()),
        }
    }
    for call in mentions.calls {
        match &*call.name {
            "file" | "readFile" => add(&mut named.files, call.argument),
            "template" => add(&mut named.templates, call.argument),
            "credential" => add(&mut named.credentials, call.argument),
            _ => named.lookup(call.argument.as_deref()),
        }
    }
    Ok(named)
}

/// Returns the hints for an error in an expression. A hint about braces around it replaces all others.
fn hints(expression: &str, hints: Vec<String>) -> Vec<String> {
    let expression = expression.trim_start();
    if expression.starts_with("{{") || expression.starts_with("${") {
        return vec!["write the expression without braces".to_owned()];
    }
    hints
}

impl ExpressionNames {
    /// Returns `true` if the value is known at load time, unless it depends on managed files.
    pub fn is_early(&self) -> bool {
        self.captures.is_empty()
    }

    /// Adds the target of a `lookup`. `None` is a computed path.
    fn lookup(&mut self, path: Option<&str>) {
        let prefix = path.and_then(|path| ccm_expr::path::Path::parse(path).ok());
        let prefix = prefix.map(|path| path.constant_prefix()).unwrap_or_default();
        let rest = joined(prefix.get(1..).unwrap_or_default());
        match prefix.first().map(String::as_str) {
            Some("facts") => add(&mut self.facts, rest),
            Some("data") => add(&mut self.data, rest),
            Some("environ") => add(&mut self.environment, rest),
            Some("captures") => add(&mut self.captures, rest),
            // Evaluation reports an unknown root.
            Some(_) => {}
            None => self.add_all(),
        }
    }

    fn add_all(&mut self) {
        for names in [&mut self.facts, &mut self.data, &mut self.environment] {
            add(names, String::new());
        }
    }
}

fn joined(path: &[String]) -> String {
    path.iter().map(|part| ccm_expr::path::escape(part)).collect::<Vec<_>>().join(".")
}

fn add<T: PartialEq>(names: &mut Vec<T>, name: T) {
    if !names.contains(&name) {
        names.push(name);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use ccm_expr::Timestamp;

    use super::*;
    use crate::sources::FactPath;

    struct Nothing;

    impl Sources for Nothing {
        fn read(&self, _: &Path) -> io::Result<String> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn facts(&self, _: &[FactPath], _: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
            Ok(Value::map([("role", Value::text("web"))]))
        }

        fn environment(&self, _: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
            Ok(vec![("HOME".to_owned(), "/root".to_owned())])
        }

        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
    }

    fn value(expression: &str) -> Result<String, Vec<DiagnosticKind>> {
        let request = EvaluationRequest {
            expression: expression.into(),
            variables: [("port".into(), Value::Int(80))].into_iter().collect(),
            assignments: vec!["web.name=x".to_owned()],
            ..EvaluationRequest::default()
        };
        let evaluated = evaluate(&request, &Nothing);
        let kinds = evaluated.diagnostics.iter().map(|found| found.kind).collect();
        evaluated.value.map(|value| value.to_string()).ok_or(kinds)
    }

    #[test]
    fn standard_names_and_variables_have_values() {
        assert_eq!(value("port + 1"), Ok("81".to_owned()));
        assert_eq!(value("Data.web.name + Facts.role + Environ.HOME"), Ok("xweb/root".to_owned()));
        assert_eq!(value("Captures.x.y"), Err(vec![DiagnosticKind::LateValue]));
        assert_eq!(value("prot"), Err(vec![DiagnosticKind::UnknownName]));
    }

    #[test]
    fn braces_around_an_expression_are_pointed_out() {
        for text in ["{{ Facts.role }}", " ${ Facts.role }"] {
            let request = EvaluationRequest { expression: text.into(), ..EvaluationRequest::default() };
            let found = evaluate(&request, &Nothing).diagnostics;
            assert_eq!(found[0].hints, ["write the expression without braces"], "{text}");
            let (found, _) = *expression_names(text, &Nothing).expect_err(text);
            assert_eq!(found.hints, ["write the expression without braces"], "{text}");
        }
    }

    #[test]
    fn variables_can_not_shadow_standard_names() {
        let variables: Map = [("Data".into(), Value::Int(1))].into_iter().collect();
        let request = EvaluationRequest { expression: "1".into(), variables, ..EvaluationRequest::default() };
        let evaluated = evaluate(&request, &Nothing);
        assert!(evaluated.value.is_none());
        assert_eq!(evaluated.diagnostics[0].kind, DiagnosticKind::ReservedName);
    }

    #[test]
    fn the_names_of_an_expression_are_found() {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expression = "Facts.host.info.os + lookup('data.a.b') + Environ.HOME + file('/x') + file(port) \
                          + lookup('captures.v.root') + template('t.j2') + credential('db') + credential(port) + Facts.host.info.os";
        let found = expression_names(expression, &Nothing).expect("an expression");
        let expected = ExpressionNames {
            facts: texts(&["host.info.os"]),
            data: texts(&["a.b"]),
            environment: texts(&["HOME"]),
            captures: texts(&["v.root"]),
            files: vec![Some("/x".to_owned()), None],
            templates: vec![Some("t.j2".to_owned())],
            credentials: vec![Some("db".to_owned()), None],
            others: texts(&["port"]),
        };
        assert_eq!(found, expected);
        assert!(!found.is_early());
        let anything = expression_names("lookup(port)", &Nothing).expect("an expression");
        assert_eq!(anything.facts, [""]);
        assert!(anything.is_early());
        assert!(expression_names("1 +", &Nothing).is_err());
    }
}
