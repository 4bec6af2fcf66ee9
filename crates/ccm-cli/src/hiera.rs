//! `ccm hiera`: data that depends on facts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ccm_runtime::model::{Diagnostic, DiagnosticKind, escape_control, quote_words};
use ccm_runtime::{DataDocument, DataOptions, Findings, GivenFacts, InputError, Value, printed, url_hint};

use crate::arguments::{ExplainedFormat, HieraParseArguments};
use crate::console::Console;
use crate::data_explanation::explanation;
use crate::error::{CommandError, CommandResult};
use crate::{manifest, session};

/// Prints the values of a file for some facts.
pub(crate) fn run(arguments: &HieraParseArguments, console: &Console) -> CommandResult {
    let format = arguments.output.output.format;
    format.check(arguments.explain).map_err(CommandError::usage)?;
    let session = session::open_as(console, None, &arguments.identity);
    let (file, given) = file_and_facts(arguments, session::hiera_of_environment());
    let Some(file) = file else {
        let hint = format!("give a FILE, or name one in {}", session::HIERA_VARIABLE);
        return Err(CommandError::usage("no file of values is given").hint(hint));
    };
    let path = (file != Path::new("-")).then_some(&*file);
    let file = session.read_data(path).map_err(|error| match error {
        InputError::Text(error) => error.into(),
        error => CommandError::of(&error).hints(url_hint(&file)),
    })?;
    let options = DataOptions {
        facts: GivenFacts { files: arguments.facts.clone(), assignments: given },
        assignments: arguments.data.clone(),
        allows_new_keys: arguments.data_any,
        system_facts: arguments.system_facts,
        environment_facts: arguments.env_facts,
    };
    let data = session.data(&file, &options).map_err(|errors| {
        CommandError::located(&errors).with_message(manifest::count_of_errors(&errors, &file.name))
    })?;
    console.findings(&data.warnings);
    if arguments.explain {
        return console.print(&match format {
            ExplainedFormat::Json => {
                printed::document(&DataDocument::new(&data, arguments.show_sensitive).json())
            }
            _ => explanation(&data, arguments.show_sensitive),
        });
    }
    let value = match &arguments.query {
        None => data.value().clone(),
        Some(path) => session.at(path, data.value())?,
    };
    let value = if arguments.show_sensitive { value } else { data.redact(&value) };
    if arguments.env {
        return console.print(&variables(&value, &arguments.env_prefix).map_err(|diagnostics| {
            CommandError::located(&Findings { diagnostics, ..Findings::default() })
        })?);
    }
    console.print(&match format {
        ExplainedFormat::Yaml => printed::yaml(&value),
        _ => printed::json(&value),
    })
}

/// Returns the file of values and the facts. With a file from the environment, the first argument may be a fact.
fn file_and_facts(
    arguments: &HieraParseArguments,
    of_environment: Option<PathBuf>,
) -> (Option<PathBuf>, Vec<String>) {
    let given = arguments.given.iter().cloned();
    let first = arguments.file.as_ref().and_then(|file| file.to_str());
    match (first, of_environment) {
        (Some(fact), Some(file)) if fact.contains('=') && !fact.contains('/') => {
            (Some(file), std::iter::once(fact.to_owned()).chain(given).collect())
        }
        (_, of_environment) => (arguments.file.clone().or(of_environment), given.collect()),
    }
}

/// Writes values as assignments that a shell reads.
fn variables(value: &Value, prefix: &str) -> Result<String, Vec<Diagnostic>> {
    let mut found = Vec::new();
    leaves(value, &mut Vec::new(), &mut found);
    let mut text = String::new();
    let mut errors = Vec::new();
    let mut taken: HashMap<String, String> = HashMap::new();
    for (path, value) in found {
        let name = std::iter::once(prefix)
            .chain(path.iter().copied())
            .map(variable_name_part)
            .collect::<Vec<_>>()
            .join("_");
        let path = path.join(".");
        if let Some(earlier) = taken.get(&name) {
            let message = format!("`{earlier}` and `{path}` are both called {name}");
            let error =
                Diagnostic::without_location(DiagnosticKind::Conflict, escape_control(&message).into_owned());
            errors.push(error.with_hint("print one of them with `--query`, or all of them with `--yaml`"));
            continue;
        }
        let shown = printed::word(value);
        if shown.contains('\0') {
            let message = format!("`{path}` contains a NUL byte, which is not allowed in a variable");
            errors.push(Diagnostic::without_location(
                DiagnosticKind::InvalidValue,
                escape_control(&message).into_owned(),
            ));
            continue;
        }
        text += &format!("{name}={}\n", quote_words([&*shown]));
        taken.insert(name, path);
    }
    if errors.is_empty() { Ok(text) } else { Err(errors) }
}

/// Collects the values that are not maps, each with the keys that lead to it.
fn leaves<'v>(value: &'v Value, path: &mut Vec<&'v str>, found: &mut Vec<(Vec<&'v str>, &'v Value)>) {
    let Value::Map(map) = value else { return found.push((path.clone(), value)) };
    for (key, value) in &**map {
        path.push(key);
        leaves(value, path, found);
        path.pop();
    }
}

/// Returns a key as a part of the name of a variable.
fn variable_name_part(key: &str) -> String {
    let part = |character: char| {
        if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' }
    };
    key.chars().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_variables_that_a_shell_reads() {
        let value = Value::map([
            ("log_level", Value::text("WARN")),
            ("web", Value::map([("listen-port", Value::Int(443)), ("tls", Value::Bool(true))])),
            ("motd", Value::text("it's $HOME\n")),
            ("packages", Value::list([Value::text("a b"), Value::Int(1)])),
            ("none", Value::Null),
            ("9lives", Value::text("")),
            ("nothing", Value::map::<&str>([])),
        ]);
        let expected = "\
HIERA_LOG_LEVEL=WARN
HIERA_WEB_LISTEN_PORT=443
HIERA_WEB_TLS=true
HIERA_MOTD='it'\\''s $HOME
'
HIERA_PACKAGES='[\"a b\",1]'
HIERA_NONE=''
HIERA_9LIVES=''
";
        assert_eq!(variables(&value, "HIERA"), Ok(expected.to_owned()));
        assert_eq!(variables(&Value::Int(1), "port"), Ok("PORT=1\n".to_owned()));
    }

    #[test]
    fn two_values_of_one_name_are_refused() {
        let value = Value::map([
            ("a-b", Value::Int(1)),
            ("a", Value::map([("b", Value::Int(2))])),
            ("c", Value::text("\0")),
        ]);
        let errors = variables(&value, "X").expect_err("two errors");
        let messages: Vec<_> = errors.iter().map(|error| &*error.message).collect();
        assert_eq!(
            messages,
            [
                "`a-b` and `a.b` are both called X_A_B",
                "`c` contains a NUL byte, which is not allowed in a variable"
            ]
        );
    }
}
