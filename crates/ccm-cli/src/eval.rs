//! `ccm eval`: one expression by itself.

use std::path::Path;

use ccm_data::facts;
use ccm_expr::{Map, Value};
use ccm_host::absolute;
use ccm_manifest::{Named, Sources as _, ToEvaluate, evaluate, named};
use ccm_model::{Diagnostic, SourceMap, escape_control};

use crate::arguments::Eval;
use crate::exit::Code;
use crate::sources::{MachineSources, format_of};
use crate::{diagnostics, manifest, printed, show};

/// Prints what an expression comes to, or what it names.
pub(crate) fn run(arguments: &Eval) -> Code {
    let sources = MachineSources::new(&arguments.facts, None);
    if arguments.explain {
        return match named(&arguments.expression, &sources) {
            Ok(named) => show::print(&explanation(&named)),
            Err((mistake, texts)) => refused(&[mistake], &texts),
        };
    }
    let variables = match arguments.vars.as_deref().map(|path| variables(path, &sources)).transpose() {
        Ok(variables) => variables.unwrap_or_default(),
        Err((mistakes, texts)) => return refused(&mistakes, &texts),
    };
    let hiera = match manifest::hiera(&arguments.data, &sources) {
        Ok(hiera) => hiera,
        Err(code) => return code,
    };
    let directory = match absolute(Path::new(".")) {
        Ok(directory) => directory,
        Err(error) => return crate::apply::cannot_start(&error),
    };
    let request = ToEvaluate {
        expression: arguments.expression.as_str().into(),
        variables,
        hiera,
        assignments: arguments.data.data.clone(),
        directory,
    };
    let mut evaluated = evaluate(&request, &sources);
    let unnoticed = sources.unnoticed(&mut evaluated.texts);
    if !unnoticed.is_empty() {
        evaluated.value = None;
        evaluated.diagnostics.extend(unnoticed);
    }
    diagnostics::print(&evaluated.diagnostics, &evaluated.texts);
    match evaluated.value {
        Some(value) => show::print(&printed::json(&value)),
        None => Code::NothingRun,
    }
}

fn refused(mistakes: &[Diagnostic], texts: &SourceMap) -> Code {
    diagnostics::print(mistakes, texts);
    Code::NothingRun
}

/// Reads the file of variables: a map.
fn variables(path: &Path, sources: &MachineSources) -> Result<Map, (Vec<Diagnostic>, SourceMap)> {
    let name = path.display().to_string();
    let mut texts = SourceMap::default();
    let text = match sources.read(path) {
        Ok(text) => text,
        Err(error) => {
            return Err((
                vec![Diagnostic::without_place(format!("--vars {name} can't be read: {error}"))],
                texts,
            ));
        }
    };
    let source = texts.add(name.clone(), text.as_str());
    match facts::read(&facts::File { source, text: &text, format: format_of(&name) }) {
        Ok(Value::Map(map)) => Ok((*map).clone()),
        // What is read is a map or a mistake.
        Ok(_) => Ok(Map::new()),
        Err(mistakes) => Err((mistakes, texts)),
    }
}

/// What an expression names and when it can be evaluated, a line each.
fn explanation(named: &Named) -> String {
    let anything = |names: &[String], all: &str| -> Vec<String> {
        let shown =
            |name: &String| if name.is_empty() { all.to_owned() } else { escape_control(name).into_owned() };
        names.iter().map(shown).collect()
    };
    let files = |names: &[Option<String>]| -> Vec<String> {
        let shown = |name: &Option<String>| match name {
            Some(name) => escape_control(name).into_owned(),
            None => "any, for its path is worked out".to_owned(),
        };
        names.iter().map(shown).collect()
    };
    let lines = [
        ("facts", anything(&named.facts, "any of them")),
        ("data", anything(&named.data, "any value")),
        ("environment", anything(&named.environment, "any variable")),
        ("captures", anything(&named.captures, "any of them")),
        ("files", files(&named.files)),
        ("templates", files(&named.templates)),
        ("other names", anything(&named.others, "")),
    ];
    let mut text = String::new();
    for (what, names) in lines.iter().filter(|(_, names)| !names.is_empty()) {
        text += &format!("{what}: {}\n", names.join(", "));
    }
    text + &when(named)
}

fn when(named: &Named) -> String {
    let first = |path: &String| path.split('.').next().unwrap_or_default().to_owned();
    let mut after: Vec<String> = named.captures.iter().map(first).collect();
    after.dedup();
    if !named.is_early() {
        let of: Vec<String> = after
            .iter()
            .map(|name| match &**name {
                "" => "every resource that captures something".to_owned(),
                name => format!("`exec#{}`", escape_control(name)),
            })
            .collect();
        return format!("evaluated: during a run, after {}\n", of.join(" and "));
    }
    let files: Vec<String> = named
        .files
        .iter()
        .map(|file| match file {
            Some(path) => format!("`{}`", escape_control(path)),
            None => "the file".to_owned(),
        })
        .collect();
    match (files.is_empty(), named.templates.is_empty()) {
        (true, true) => "evaluated: when the manifest is loaded\n".to_owned(),
        (true, false) => {
            "evaluated: when the manifest is loaded, unless a template names what is known only during a run\n"
                .to_owned()
        }
        (false, _) => format!(
            "evaluated: when the manifest is loaded; where the manifest manages {}, during the run, after that \
             resource\n",
            files.join(" or ")
        ),
    }
}
