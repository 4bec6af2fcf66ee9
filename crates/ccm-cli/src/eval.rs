//! `ccm eval`: the value of an expression.

use ccm_runtime::model::escape_control;
use ccm_runtime::{ExpressionError, ExpressionNames, printed};
use serde_json::{Value, json};

use crate::arguments::{EvalArguments, ExplainedFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

/// Prints the value of an expression, or the names in it.
pub(crate) fn run(arguments: &EvalArguments, console: &Console) -> CommandResult {
    let session = session::open_as(console, None, &arguments.identity);
    let format = arguments.output.output.format;
    format.check(arguments.explain).map_err(CommandError::usage)?;
    if arguments.explain {
        let names = session.explain_expression(&arguments.expression)?;
        return console.print(&match format {
            ExplainedFormat::Json => printed::document(&document(&names)),
            _ => explanation(&names),
        });
    }
    let facts = session::facts(&arguments.facts);
    let data = session::data(&arguments.data);
    let evaluated = session.evaluate(&arguments.expression, arguments.vars.as_deref(), &facts, &data);
    let evaluated = evaluated.map_err(|error| {
        let has_no_data = data.files.is_empty() && data.assignments.is_empty();
        let names_data =
            || session.explain_expression(&arguments.expression).is_ok_and(|names| !names.data.is_empty());
        let is_without = has_no_data && matches!(error, ExpressionError::Errors(_)) && names_data();
        let hint = is_without.then_some("give data with `--data KEY=VALUE` or `--hiera FILE`");
        CommandError::from(error).hints(hint)
    })?;
    console.findings(&evaluated.warnings);
    let value = if arguments.show_sensitive { evaluated.value } else { evaluated.redacted };
    console.print(&match format {
        ExplainedFormat::Yaml => printed::yaml(&value),
        _ => printed::json(&value),
    })
}

impl From<ExpressionError> for CommandError {
    fn from(error: ExpressionError) -> Self {
        match error {
            ExpressionError::Input(error) => error.into(),
            ExpressionError::Errors(errors) => errors.into(),
            error => Self::setup(&error),
        }
    }
}

/// Returns the names in an expression as JSON. A computed name is null, or empty for what has paths.
fn document(names: &ExpressionNames) -> Value {
    json!({
        "facts": names.facts,
        "data": names.data,
        "environment": names.environment,
        "captures": names.captures,
        "files": names.files,
        "templates": names.templates,
        "credentials": names.credentials,
        "others": names.others,
        "early": names.is_early(),
    })
}

/// Returns the names in an expression and the earliest time of its evaluation, a line for each kind.
fn explanation(names_used: &ExpressionNames) -> String {
    let names_or_all = |names: &[String], all: &str| -> Vec<String> {
        let shown =
            |name: &String| if name.is_empty() { all.to_owned() } else { escape_control(name).into_owned() };
        names.iter().map(shown).collect()
    };
    let names_or_any = |names: &[Option<String>], what: &str| -> Vec<String> {
        let shown = |name: &Option<String>| match name {
            Some(name) => escape_control(name).into_owned(),
            None => format!("any, because the {what} is an expression"),
        };
        names.iter().map(shown).collect()
    };
    let lines = [
        ("facts", names_or_all(&names_used.facts, "any of them")),
        ("data", names_or_all(&names_used.data, "any value")),
        ("environment", names_or_all(&names_used.environment, "any variable")),
        ("captures", names_or_all(&names_used.captures, "any of them")),
        ("files", names_or_any(&names_used.files, "path")),
        ("templates", names_or_any(&names_used.templates, "path")),
        ("credentials", names_or_any(&names_used.credentials, "name")),
        ("other names", names_or_all(&names_used.others, "")),
    ];
    let mut text = String::new();
    for (what, names) in lines.iter().filter(|(_, names)| !names.is_empty()) {
        text += &format!("{what}: {}\n", names.join(", "));
    }
    text + &evaluation_time(names_used)
}

fn evaluation_time(names_used: &ExpressionNames) -> String {
    let first = |path: &String| path.split('.').next().unwrap_or_default().to_owned();
    let mut exec_names: Vec<String> = names_used.captures.iter().map(first).collect();
    exec_names.dedup();
    if !names_used.is_early() {
        let sources: Vec<String> = exec_names
            .iter()
            .map(|name| match &**name {
                "" => "every resource that captures something".to_owned(),
                name => format!("`exec#{}`", escape_control(name)),
            })
            .collect();
        return format!("evaluated: during a run, after {}\n", sources.join(" and "));
    }
    let files: Vec<String> = names_used
        .files
        .iter()
        .map(|file| match file {
            Some(path) => format!("`{}`", escape_control(path)),
            None => "the file".to_owned(),
        })
        .collect();
    match (files.is_empty(), names_used.templates.is_empty()) {
        (true, true) => "evaluated: when the manifest is loaded\n".to_owned(),
        (true, false) => {
            "evaluated: when the manifest is loaded, unless a template uses a value that is known only during a run\n"
                .to_owned()
        }
        (false, _) => format!(
            "evaluated: when the manifest is loaded; if the manifest manages {}, during the run, after that \
             resource\n",
            files.join(" or ")
        ),
    }
}
