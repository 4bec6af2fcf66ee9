//! Evaluation of facts, values and expressions without a run.

use std::path::Path;
use std::sync::Arc;

use ccm_data::facts::{self, FactFile};
use ccm_data::hierarchy::EntryOutcome;
use ccm_data::layers::ValueOrigin;
use ccm_expr::{Map, Value, path};
use ccm_governance::signed::ReadRecord;
use ccm_host::absolute;
use ccm_manifest::{
    DataFile, EvaluationRequest, ExpressionNames, Redaction, ResolvedData, Sources as _, is_of_system_fact,
};
use ccm_model::{Diagnostic, DiagnosticKind, Findings, ManifestErrors, SourceMap, escape_control};

use crate::findings::redacted;
use crate::input::{GivenData, GivenFacts, InputError, data_files};
use crate::machine::{MachineSources, format_of, url_hint};
use crate::session::Session;

/// Maximum size of a file of values, in bytes.
const MAX_DATA_SIZE: u64 = 64 << 20;

/// Error of evaluating an expression.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionError {
    /// A file can't be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Errors in the expression, the variables, the values or the facts.
    #[error(transparent)]
    Errors(#[from] ManifestErrors),
}

/// Value of an expression.
#[derive(Clone, Debug)]
pub struct EvaluatedExpression {
    /// The value, secrets included.
    pub value: Value,
    /// Value without the secrets of the data.
    pub redacted: Value,
    /// Warnings.
    pub warnings: Findings,
}

/// Settings for evaluating a file of values.
#[derive(Clone, Debug, Default)]
pub struct DataOptions {
    /// Facts over those of this machine.
    pub facts: GivenFacts,
    /// Values over those of the file, each as `KEY=VALUE`.
    pub assignments: Vec<String>,
    /// Assignments may have keys that the data does not have.
    pub allows_new_keys: bool,
    /// Takes the facts of this machine as well.
    pub system_facts: bool,
    /// Takes the variables of the environment as facts as well.
    pub environment_facts: bool,
}

/// Values of a file.
#[derive(Debug)]
pub struct EvaluatedData {
    /// Warnings.
    pub warnings: Findings,
    data: ResolvedData,
    redaction: Redaction,
}

impl EvaluatedData {
    /// Builds the data of a manifest, whose warnings are those of the manifest.
    pub(crate) fn of_manifest(data: ResolvedData) -> Self {
        let redaction = Redaction::new(&data.secrets);
        Self { warnings: Findings::default(), data, redaction }
    }

    /// Returns the values as they are, secrets included.
    pub fn value(&self) -> &Value {
        &self.data.value
    }

    /// Returns a value without the secrets of the file.
    pub fn redact(&self, value: &Value) -> Value {
        self.redaction.value(value)
    }

    /// Returns the entries of the hierarchy as they were written, each with its outcome.
    pub fn entries(&self) -> &[(String, EntryOutcome)] {
        &self.data.entries
    }

    /// Returns the sources of each value, secrets included.
    pub fn origins(&self) -> Vec<ValueOrigin> {
        self.data.layers.origins()
    }

    /// Returns the word of `# @merge` for the first key of a path, if it has one.
    pub fn merge_of(&self, path: &[Arc<str>]) -> Option<&'static str> {
        self.data.merges.by_key.get(path.first()?).map(|merge| merge.as_str())
    }
}

impl Session {
    /// Returns the facts of this machine, or those at a path.
    pub fn facts(&self, given: &GivenFacts, path: Option<&str>) -> Result<Value, ManifestErrors> {
        let machine = MachineSources::new(&self.shared, given.clone(), None, ReadRecord::default());
        let mut texts = SourceMap::default();
        find(path, &machine, &mut texts).map_err(|diagnostics| self.errors(diagnostics, &texts))
    }

    /// Evaluates an expression as in a manifest before a run. `variables` is a file with further names.
    pub fn evaluate(
        &self,
        expression: &str,
        variables: Option<&Path>,
        given: &GivenFacts,
        data: &GivenData,
    ) -> Result<EvaluatedExpression, ExpressionError> {
        let machine = MachineSources::new(&self.shared, given.clone(), None, ReadRecord::default());
        let variables = match variables {
            Some(path) => self.read_variables(path, &machine)?,
            None => Map::new(),
        };
        let request = EvaluationRequest {
            expression: expression.into(),
            variables,
            hiera: data_files(&data.files, &machine)?,
            assignments: data.assignments.clone(),
            directory: absolute(Path::new(".")).map_err(InputError::Directory)?,
        };
        let mut evaluated = ccm_manifest::evaluate(&request, &machine);
        let redaction = Redaction::new(&evaluated.secrets);
        self.secrets.add(evaluated.secrets);
        let unread = machine.errors_of_unread(&mut evaluated.texts);
        let value = evaluated.value.filter(|_| unread.is_empty());
        evaluated.diagnostics.extend(unread);
        let findings = redacted(evaluated.diagnostics, &evaluated.texts, &self.secrets);
        match value {
            Some(value) => {
                Ok(EvaluatedExpression { redacted: redaction.value(&value), value, warnings: findings })
            }
            None => Err(ManifestErrors(findings).into()),
        }
    }

    /// Finds the names in an expression and the earliest time of its evaluation, without evaluating it.
    pub fn explain_expression(&self, expression: &str) -> Result<ExpressionNames, ManifestErrors> {
        let machine = MachineSources::new(&self.shared, GivenFacts::default(), None, ReadRecord::default());
        ccm_manifest::expression_names(expression, &machine).map_err(|found| {
            let (error, texts) = *found;
            self.errors(vec![error], &texts)
        })
    }

    /// Reads a file of values; standard input without a path.
    pub fn read_data(&self, path: Option<&Path>) -> Result<DataFile, InputError> {
        if let Some(path) = path.filter(|path| url_hint(path).is_some()) {
            return Err(InputError::DataUrl(path.to_owned()));
        }
        let (name, text) = self.read_text(path, MAX_DATA_SIZE, "file")?;
        Ok(DataFile { name, text: text.into() })
    }

    /// Evaluates the values of a file. Values that are marked as sensitive become secrets of the session.
    pub fn data(&self, file: &DataFile, options: &DataOptions) -> Result<EvaluatedData, ManifestErrors> {
        let mut machine =
            MachineSources::new(&self.shared, options.facts.clone(), None, ReadRecord::default());
        if !options.system_facts {
            machine = machine.for_other_machine();
        }
        if options.environment_facts {
            machine = machine.with_environment();
        }
        let mut parsed =
            ccm_manifest::parse_data(file, &options.assignments, options.allows_new_keys, &machine);
        let redaction = Redaction::new(&parsed.secrets);
        self.secrets.add(parsed.secrets);
        let unread = machine.errors_of_unread(&mut parsed.texts);
        let data = parsed.data.filter(|_| unread.is_empty());
        parsed.diagnostics.extend(unread);
        if !options.system_facts {
            for found in parsed.diagnostics.iter_mut().filter(|found| lacks_system_fact(found)) {
                found.hints.push("add `--system-facts` to use the facts of this machine as well".to_owned());
            }
        }
        let findings = redacted(parsed.diagnostics, &parsed.texts, &self.secrets);
        match data {
            Some(data) => Ok(EvaluatedData { warnings: findings, data, redaction }),
            None => Err(ManifestErrors(findings)),
        }
    }

    /// Returns the part of a value at a path.
    pub fn at(&self, path: &str, whole: &Value) -> Result<Value, ManifestErrors> {
        at(path, whole).map_err(|error| self.errors(vec![error], &SourceMap::default()))
    }

    /// Reads a file of variables: a map.
    fn read_variables(&self, path: &Path, machine: &MachineSources) -> Result<Map, ManifestErrors> {
        let name = path.display().to_string();
        let mut texts = SourceMap::default();
        let text = machine.read(path).map_err(|error| {
            let error = Diagnostic::without_location(
                DiagnosticKind::Unreadable,
                format!("--vars {name} can't be read: {error}"),
            );
            self.errors(vec![error], &texts)
        })?;
        let source = texts.add(name.clone(), text.as_str());
        match facts::read(&FactFile { source, text: &text, format: format_of(&name) }) {
            Ok(Value::Map(map)) => Ok((*map).clone()),
            // A file of facts is a map.
            Ok(_) => Ok(Map::new()),
            Err(diagnostics) => Err(self.errors(diagnostics, &texts)),
        }
    }
}

/// Returns `true` if an error is about a fact that every machine has.
fn lacks_system_fact(error: &Diagnostic) -> bool {
    error.missing.as_deref().is_some_and(is_of_system_fact)
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
    // Suggestions may come from any fact.
    at(path, &machine.facts(&[Vec::new()], texts)?).map_err(|error| vec![error])
}

fn at(text: &str, whole: &Value) -> Result<Value, Diagnostic> {
    let shown = escape_control(text);
    let path = path::Path::parse(text).map_err(|error| {
        Diagnostic::without_location(
            DiagnosticKind::ExpressionSyntax,
            format!("the path `{shown}` can't be read: {}", error.message),
        )
    })?;
    match path.find(whole) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => {
            let error = Diagnostic::without_location(
                DiagnosticKind::UnknownName,
                format!("there is nothing at `{shown}`"),
            );
            let begins =
                |first: &&str| text.starts_with(first) && whole.get(first.trim_end_matches('.')).is_none();
            // As an expression and a path of `lookup` write it.
            Err(if ["Facts.", "facts.", "Data.", "data."].iter().any(begins) {
                let (_, rest) = shown.split_once('.').unwrap_or_default();
                error.with_hint(format!("leave out the first part: write `{rest}`"))
            } else {
                error.with_suggestion(path.closest(whole).as_deref())
            })
        }
        Err(limit) => Err(Diagnostic::without_location(
            DiagnosticKind::LimitExceeded,
            format!("nothing was found at `{shown}`: {limit}"),
        )),
    }
}
