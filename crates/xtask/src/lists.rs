//! Tables of operators, functions, validators and facts.

use ccm_data::validators::VALIDATORS;
use ccm_expr::FunctionDoc;
use ccm_runtime::policy::policy_schema;
use serde_json::Value;

use crate::cell;

pub(crate) fn of(name: &str) -> Result<String, String> {
    match name {
        "operators" => Ok(operators()),
        "functions" => Ok(functions()),
        "validators" => Ok(validators()),
        "facts" => Ok(facts()),
        _ => match name.strip_prefix("keys of ") {
            Some(section) => keys_of_policy(section),
            None => Err(format!("there is no list of `{name}`")),
        },
    }
}

fn operators() -> String {
    let mut table = "| Written | Means | Example |\n|---|---|---|\n".to_owned();
    for operator in ccm_expr::operators() {
        let signs: Vec<String> = operator.signs.split("  ").map(code).collect();
        table += &row(&[&signs.join(" "), &cell(operator.description), &examples(operator.examples)]);
    }
    table
}

/// Returns a table with a heading for each group of functions.
fn functions() -> String {
    let mut text = String::new();
    let all = ccm_expr::reference();
    for group in all.chunk_by(|one, next| one.group == next.group) {
        let heading = group.first().map_or("", |function| function.group);
        text += &format!("\n### {heading}\n\n| Function | Means | Example |\n|---|---|---|\n");
        for FunctionDoc { signature, description, examples: shown, .. } in group {
            text += &row(&[&code(signature), &cell(description), &examples(shown)]);
        }
    }
    text + "\n"
}

fn validators() -> String {
    let mut table = "| Function | Holds for | Such as | Not |\n|---|---|---|---|\n".to_owned();
    for validator in VALIDATORS {
        let names: Vec<String> = validator.names.iter().map(|name| code(name)).collect();
        table += &row(&[
            &names.join(" "),
            &cell(validator.summary),
            &texts(validator.holds),
            &texts(validator.fails),
        ]);
    }
    table
}

fn facts() -> String {
    let mut table = "| Fact | Type | Meaning | Example |\n|---|---|---|---|\n".to_owned();
    for fact in ccm_facts::reference() {
        table += &row(&[&code(fact.path), fact.kind.name(), &cell(fact.description), &code(fact.example)]);
    }
    table
}

/// Returns the keys of a section of the policy: those of the schema, whose descriptions end with the default.
fn keys_of_policy(section: &str) -> Result<String, String> {
    let schema = policy_schema();
    let unknown = || format!("the policy has no section `{section}`");
    let found = section.split('.').try_fold(&schema, |schema, key| schema["properties"].get(key));
    let found = found.ok_or_else(unknown)?;
    // The values of a map with names of its own.
    let found = match &found["additionalProperties"]["anyOf"][0] {
        Value::Object(_) => &found["additionalProperties"]["anyOf"][0],
        _ => found,
    };
    let mut table = "| Key | Default | Meaning |\n|---|---|---|\n".to_owned();
    for (key, schema) in found["properties"].as_object().ok_or_else(unknown)? {
        let description = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
        let (meaning, default) = match description.split_once(" Default: ") {
            Some((meaning, default)) => (meaning, default.trim_end_matches('.')),
            None => (&*description, "—"),
        };
        table += &row(&[&code(key), &cell(default), &cell(meaning)]);
    }
    Ok(table)
}

fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn examples(examples: &[(&str, &str)]) -> String {
    let each = examples.iter().map(|(written, result)| format!("{} → {}", code(written), code(result)));
    each.collect::<Vec<_>>().join("<br>")
}

/// Returns the first three printable texts of a list; more would not fit a cell.
fn texts(texts: &[&str]) -> String {
    let shown = texts.iter().filter(|text| !text.is_empty() && !text.contains(char::is_control)).take(3);
    shown.map(|text| code(text)).collect::<Vec<_>>().join(" ")
}

/// Quotes text as code; a backtick in it needs two around it.
fn code(text: &str) -> String {
    let text = cell(text);
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
