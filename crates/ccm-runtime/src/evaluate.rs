//! Facts, values and expressions by themselves.

use std::path::Path;

use ccm_data::facts::{self, File};
use ccm_expr::{Map, Value, path};
use ccm_host::absolute;
use ccm_manifest::{DataFile, Evaluated, Named, ParsedData, Sources as _, ToEvaluate};
use ccm_model::{Diagnostic, SourceMap, escape_control};

use crate::findings::ManifestErrors;
use crate::input::{Data, Facts, InputError, data_files};
use crate::machine::{MachineSources, format_of};
use crate::session::Session;

/// Error of evaluating something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// A file can't be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Errors in the variables.
    #[error(transparent)]
    Variables(#[from] ManifestErrors),
}

/// Values of a file for some facts.
#[derive(Clone, Debug, Default)]
pub struct DataOptions {
    /// Facts that are given.
    pub facts: Facts,
    /// Values over those of the file, each as `KEY=VALUE`.
    pub assignments: Vec<String>,
    /// Takes the facts of this machine as well.
    pub system_facts: bool,
    /// Takes the variables of the environment as facts as well.
    pub environment_facts: bool,
}

impl Session {
    /// Returns the facts of this machine, or those at a path.
    pub fn facts(&self, given: &Facts, path: Option<&str>) -> Result<Value, ManifestErrors> {
        let machine = MachineSources::new(self, given.clone(), None);
        let mut texts = SourceMap::default();
        find(path, &machine, &mut texts).map_err(|diagnostics| ManifestErrors::new(diagnostics, texts))
    }

    /// Evaluates an expression as one of a manifest is before a run. `variables` is a file with names of its own.
    pub fn evaluate(
        &self,
        expression: &str,
        variables: Option<&Path>,
        given: &Facts,
        data: &Data,
    ) -> Result<Evaluated, EvaluationError> {
        let machine = MachineSources::new(self, given.clone(), None);
        let variables = match variables {
            Some(path) => read_variables(path, &machine)?,
            None => Map::new(),
        };
        let request = ToEvaluate {
            expression: expression.into(),
            variables,
            hiera: data_files(&data.files, &machine)?,
            assignments: data.assignments.clone(),
            directory: absolute(Path::new(".")).map_err(InputError::Directory)?,
        };
        let mut evaluated = ccm_manifest::evaluate(&request, &machine);
        let unnoticed = machine.unnoticed(&mut evaluated.texts);
        if !unnoticed.is_empty() {
            evaluated.value = None;
            evaluated.diagnostics.extend(unnoticed);
        }
        Ok(evaluated)
    }

    /// Finds what an expression names and when it can be evaluated, without evaluating it.
    pub fn explain_expression(&self, expression: &str) -> Result<Named, ManifestErrors> {
        let machine = MachineSources::new(self, Facts::default(), None);
        ccm_manifest::named(expression, &machine)
            .map_err(|(mistake, texts)| ManifestErrors::new(vec![mistake], texts))
    }

    /// Evaluates the values of a file.
    pub fn data(&self, file: &DataFile, options: &DataOptions) -> ParsedData {
        let mut machine = MachineSources::new(self, options.facts.clone(), None);
        if !options.system_facts {
            machine = machine.of_another();
        }
        if options.environment_facts {
            machine = machine.with_environment();
        }
        let mut parsed = ccm_manifest::parse_data(file, &options.assignments, &machine);
        let unnoticed = machine.unnoticed(&mut parsed.texts);
        if !unnoticed.is_empty() {
            parsed.data = None;
            parsed.diagnostics.extend(unnoticed);
        }
        parsed
    }
}

fn find(
    path: Option<&str>,
    machine: &MachineSources,
    texts: &mut SourceMap,
) -> Result<Value, Vec<Diagnostic>> {
    let Some(path) = path else { return machine.facts(&[Vec::new()], texts) };
    let needed = path::Path::parse(path).map(|path| path.constant_prefix()).unwrap_or_default();
    let facts = machine.facts(&[needed], texts)?;
    if let Ok(value) = at(path, &facts) {
        return Ok(value);
    }
    // What was meant may be anywhere.
    at(path, &machine.facts(&[Vec::new()], texts)?).map_err(|mistake| vec![mistake])
}

/// Returns the part of a value at a path.
pub fn at(text: &str, whole: &Value) -> Result<Value, Diagnostic> {
    let shown = escape_control(text);
    let path = path::Path::parse(text).map_err(|error| {
        Diagnostic::without_place(format!("the path `{shown}` can't be read: {}", error.message))
    })?;
    match path.find(whole) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => {
            let mistake = Diagnostic::without_place(format!("there is nothing at `{shown}`"));
            let begins =
                |first: &str| text.starts_with(first) && whole.get(first.trim_end_matches('.')).is_none();
            Err(if begins("facts.") || begins("data.") {
                let (_, rest) = shown.split_once('.').unwrap_or_default();
                mistake.with_hint(format!("the path begins within: write `{rest}`"))
            } else {
                mistake.with_suggestion(path.closest(whole).as_deref())
            })
        }
        Err(limit) => Err(Diagnostic::without_place(format!("nothing was found at `{shown}`: {limit}"))),
    }
}

/// Reads a file of variables: a map.
fn read_variables(path: &Path, machine: &MachineSources) -> Result<Map, ManifestErrors> {
    let name = path.display().to_string();
    let mut texts = SourceMap::default();
    let text = match machine.read(path) {
        Ok(text) => text,
        Err(error) => {
            let mistake = Diagnostic::without_place(format!("--vars {name} can't be read: {error}"));
            return Err(ManifestErrors::new(vec![mistake], texts));
        }
    };
    let source = texts.add(name.clone(), text.as_str());
    match facts::read(&File { source, text: &text, format: format_of(&name) }) {
        Ok(Value::Map(map)) => Ok((*map).clone()),
        // What is read is a map or a mistake.
        Ok(_) => Ok(Map::new()),
        Err(diagnostics) => Err(ManifestErrors::new(diagnostics, texts)),
    }
}
