//! One expression by itself, for trying things out.

use std::path::PathBuf;
use std::sync::Arc;

use ccm_data::layers::Layers;
use ccm_expr::{Map, Value};
use ccm_model::{Diagnostic, Diagnostics, SourceMap, Span};

use crate::data::{self, ResolvedData};
use crate::expand::diagnostic;
use crate::hiera::{self, DataFile};
use crate::scope::{Evaluator, Managed, ManifestScope, Mistake, Moment, Trouble};
use crate::sources::Sources;
use crate::wording::shown;
use crate::world::{NAMES, World};

/// An expression, and what it can name beside facts and environment.
#[derive(Clone, Debug, Default)]
pub struct ToEvaluate {
    /// The expression, without braces.
    pub expression: Arc<str>,
    /// Names of its own.
    pub variables: Map,
    /// Files of values, the lowest first.
    pub hiera: Vec<DataFile>,
    /// What is laid over all of them, each as `KEY=VALUE`.
    pub assignments: Vec<String>,
    /// What relative paths start from.
    pub directory: PathBuf,
}

/// What came of an expression.
#[derive(Debug)]
pub struct Evaluated {
    /// Its value, if there is no mistake.
    pub value: Option<Value>,
    /// Every text in the values around it that must not be shown.
    pub secrets: Vec<String>,
    /// Mistakes and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that places point into.
    pub texts: SourceMap,
}

/// Evaluates an expression as one of a manifest is before a run.
pub fn evaluate(request: &ToEvaluate, sources: &dyn Sources) -> Evaluated {
    let mut texts = SourceMap::default();
    let source = texts.add("expression", Arc::clone(&request.expression));
    let mut world = World::new(sources, texts);
    let mut diagnostics = Diagnostics::new();
    for name in request.variables.keys().filter(|name| NAMES.iter().any(|(usual, _)| *usual == &***name)) {
        let mistake = Diagnostic::without_place(format!("a variable can't be called `{}`", shown(name)));
        diagnostics.push(mistake.with_hint("expressions have a meaning for that name"));
    }
    world.variables.clone_from(&request.variables);
    let mut data = ResolvedData { layers: Layers::new(Value::map::<&str>([])), ..ResolvedData::default() };
    for overlay in hiera::overlays(&request.hiera, &request.assignments, &world, &mut diagnostics) {
        data.layers.add_deep(overlay.source, overlay.value);
        data.annotations.extend(overlay.annotations);
    }
    data.value = data.layers.merged();
    data.is_incomplete = world.has_mistakes() || diagnostics.has_errors();
    data::check(&mut data, &world, &mut diagnostics);
    let secrets = std::mem::take(&mut data.secrets);
    let manifest = ManifestScope {
        text: Arc::clone(&request.expression),
        directory: request.directory.clone(),
        data: data.value,
        settings: Vec::new(),
        is_incomplete: data.is_incomplete,
    };
    let managed = Managed::new();
    let evaluator = Evaluator { world: &world, manifest: &manifest, moment: Moment::Early(&managed) };
    let at = |mistake: &Mistake| Span::new(source, mistake.range.start, mistake.range.end);
    let value = match evaluator.evaluate(&request.expression) {
        Ok(value) => Some(value),
        Err(Trouble::Mistake(mut mistake)) => {
            mistake.hints = hints(&request.expression, mistake.hints);
            let place = at(&mistake);
            diagnostics.push(diagnostic(mistake, place));
            None
        }
        Err(Trouble::Late(_)) => {
            let whole = Span::new(source, 0, request.expression.len());
            let mistake = Diagnostic::error(whole, "this is known only during a run");
            diagnostics.push(mistake.with_hint("`Captures` holds what commands of a run printed"));
            None
        }
        Err(Trouble::Reported) => None,
    };
    diagnostics.extend(world.take_mistakes());
    let is_faultless = !diagnostics.has_errors();
    let texts = world.texts.take();
    Evaluated { value: value.filter(|_| is_faultless), secrets, diagnostics: diagnostics.into_vec(), texts }
}

/// What an expression names. A path that is worked out is not among them, but the empty path is then: anything
/// may be meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Paths into the facts.
    pub facts: Vec<String>,
    /// Paths into the values of the manifest.
    pub data: Vec<String>,
    /// Variables of the environment.
    pub environment: Vec<String>,
    /// Paths into what commands captured.
    pub captures: Vec<String>,
    /// Files that it reads; none for a path that is worked out.
    pub files: Vec<Option<String>>,
    /// Templates that it renders; none for a path that is worked out.
    pub templates: Vec<Option<String>>,
    /// Other names.
    pub others: Vec<String>,
}

/// Finds what an expression names, without evaluating it.
pub fn named(text: &str, sources: &dyn Sources) -> Result<Named, Box<(Diagnostic, SourceMap)>> {
    let mut texts = SourceMap::default();
    let source = texts.add("expression", text);
    let world = World::new(sources, SourceMap::default());
    let read = world.expression(text);
    let expression = match &read.expression {
        Ok(expression) => expression,
        Err(error) => {
            let place = Span::new(source, error.range.start, error.range.end);
            let mistake = Diagnostic::error(place, error.message.clone());
            let hints = hints(text, error.hints.clone());
            return Err(Box::new((hints.into_iter().fold(mistake, Diagnostic::with_hint), texts)));
        }
    };
    let mut named = Named::default();
    let mentions = expression.mentions();
    if !mentions.environment.is_empty() {
        named.all();
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
            other => add(&mut named.others, other.to_owned()),
        }
    }
    for call in mentions.calls {
        match &*call.name {
            "file" => add(&mut named.files, call.argument),
            "template" => add(&mut named.templates, call.argument),
            _ => named.lookup(call.argument.as_deref()),
        }
    }
    Ok(named)
}

/// What to do about a mistake in an expression; braces around it explain every other.
fn hints(expression: &str, hints: Vec<String>) -> Vec<String> {
    let expression = expression.trim_start();
    if expression.starts_with("{{") || expression.starts_with("${") {
        return vec!["an expression by itself stands without braces".to_owned()];
    }
    hints
}

impl Named {
    /// Whether all of it is known when a manifest is loaded, but for files that the manifest itself manages.
    pub fn is_early(&self) -> bool {
        self.captures.is_empty()
    }

    /// Adds what a path of `lookup` leads to; none is a path that is worked out.
    fn lookup(&mut self, path: Option<&str>) {
        let prefix = path.and_then(|path| ccm_expr::path::Path::parse(path).ok());
        let prefix = prefix.map(|path| path.constant_prefix()).unwrap_or_default();
        let rest = joined(prefix.get(1..).unwrap_or_default());
        match prefix.first().map(String::as_str) {
            Some("facts") => add(&mut self.facts, rest),
            Some("data") => add(&mut self.data, rest),
            Some("environ") => add(&mut self.environment, rest),
            Some("captures") => add(&mut self.captures, rest),
            // It leads nowhere, which evaluating it tells.
            Some(_) => {}
            None => self.all(),
        }
    }

    /// Anything may be meant.
    fn all(&mut self) {
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

    fn value(expression: &str) -> Result<String, Vec<String>> {
        let request = ToEvaluate {
            expression: expression.into(),
            variables: [("port".into(), Value::Int(80))].into_iter().collect(),
            assignments: vec!["web.name=x".to_owned()],
            ..ToEvaluate::default()
        };
        let evaluated = evaluate(&request, &Nothing);
        let messages = evaluated.diagnostics.iter().map(|found| found.message.clone()).collect();
        evaluated.value.map(|value| value.to_string()).ok_or(messages)
    }

    #[test]
    fn usual_names_and_variables_have_values() {
        assert_eq!(value("port + 1"), Ok("81".to_owned()));
        assert_eq!(value("Data.web.name + Facts.role + Environ.HOME"), Ok("xweb/root".to_owned()));
        assert_eq!(value("Captures.x.y"), Err(vec!["this is known only during a run".to_owned()]));
        assert!(value("prot").is_err_and(|messages| messages.len() == 1));
    }

    #[test]
    fn braces_around_an_expression_are_pointed_out() {
        for text in ["{{ Facts.role }}", " ${ Facts.role }"] {
            let request = ToEvaluate { expression: text.into(), ..ToEvaluate::default() };
            let found = evaluate(&request, &Nothing).diagnostics;
            assert_eq!(found[0].hints, ["an expression by itself stands without braces"], "{text}");
            let (found, _) = *named(text, &Nothing).expect_err(text);
            assert_eq!(found.hints, ["an expression by itself stands without braces"], "{text}");
        }
    }

    #[test]
    fn a_variable_can_not_take_a_usual_name() {
        let variables: Map = [("Data".into(), Value::Int(1))].into_iter().collect();
        let request = ToEvaluate { expression: "1".into(), variables, ..ToEvaluate::default() };
        let evaluated = evaluate(&request, &Nothing);
        assert!(evaluated.value.is_none());
        assert_eq!(evaluated.diagnostics[0].message, "a variable can't be called `Data`");
    }

    #[test]
    fn what_is_named_is_told() {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expression = "Facts.host.info.os + lookup('data.a.b') + Environ.HOME + file('/x') + file(port) \
                          + lookup('captures.v.root') + template('t.j2') + Facts.host.info.os";
        let found = named(expression, &Nothing).expect("an expression");
        let expected = Named {
            facts: texts(&["host.info.os"]),
            data: texts(&["a.b"]),
            environment: texts(&["HOME"]),
            captures: texts(&["v.root"]),
            files: vec![Some("/x".to_owned()), None],
            templates: vec![Some("t.j2".to_owned())],
            others: texts(&["port"]),
        };
        assert_eq!(found, expected);
        assert!(!found.is_early());
        let anything = named("lookup(port)", &Nothing).expect("an expression");
        assert_eq!(anything.facts, [""]);
        assert!(anything.is_early());
        assert!(named("1 +", &Nothing).is_err());
    }
}
