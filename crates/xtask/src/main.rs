//! Chores of the workspace: `cargo xtask docs [--check]` writes the property tables of the documentation.
//!
//! The tables stand in docs/*.md between `<!-- properties of TYPE -->` and `<!-- end -->`, and come from the
//! schemas of the types, which come from the documentation of their property structs.
#![expect(clippy::disallowed_methods, reason = "a chore reads and writes the documentation of this checkout")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to a developer")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ccm_manifest::CommonProperties;
use ccm_model::TypeSpec;
use schemars::schema_for;
use serde_json::Value;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["docs"] => false,
        ["docs", "--check"] => true,
        _ => {
            eprintln!("usage: cargo xtask docs [--check]");
            return ExitCode::from(64);
        }
    };
    match docs(check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes every generated table, or finds one that is out of date.
fn docs(check: bool) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut pages: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    for page in pages {
        let failed = |error: std::io::Error| format!("{}: {error}", page.display());
        let written = std::fs::read_to_string(&page).map_err(failed)?;
        let wanted = with_tables(&written).map_err(|error| format!("{}: {error}", page.display()))?;
        if wanted == written {
            continue;
        }
        if check {
            return Err(format!("{} is out of date: run `cargo xtask docs`", page.display()));
        }
        std::fs::write(&page, wanted).map_err(failed)?;
        println!("wrote {}", page.display());
    }
    Ok(())
}

/// Puts the current table between each pair of markers.
fn with_tables(page: &str) -> Result<String, String> {
    const BEGIN: &str = "<!-- properties of ";
    const END: &str = "<!-- end -->";
    let mut result = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(BEGIN) {
        let behind = &rest[at + BEGIN.len()..];
        let name = behind.split(" -->").next().unwrap_or_default();
        let end = behind.find(END).ok_or_else(|| format!("no `{END}` behind the marker of `{name}`"))?;
        result += &rest[..at];
        result += &format!("{BEGIN}{name} -->\n{}{END}", table(&properties(name)?));
        rest = &behind[end + END.len()..];
    }
    Ok(result + rest)
}

/// The schema of the properties of a type, or of those that every type has.
fn properties(name: &str) -> Result<Value, String> {
    if name == "every resource" {
        return Ok(schema_for!(CommonProperties).to_value());
    }
    let types = ccm_resources::types();
    let found = types.iter().find(|found| found.name() == name);
    let spec: &dyn TypeSpec = *found.ok_or_else(|| format!("there is no type `{name}`"))?;
    Ok(spec.schema().to_value())
}

fn table(schema: &Value) -> String {
    let mut table = "| Property | Type | Default | Meaning |\n|---|---|---|---|\n".to_owned();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let description = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        let (meaning, default) = match description.split_once(" Default: ") {
            Some((meaning, default)) => (meaning, default.trim_end_matches('.')),
            None => (&*description, "—"),
        };
        table += &format!("| `{name}` | {} | {} | {} |\n", kind(property), cell(default), cell(meaning));
    }
    table
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// What a value may be, in words.
fn kind(schema: &Value) -> String {
    if let Some(choices) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = choices.iter().map(kind).filter(|kind| kind != "null").collect();
        return kinds.join(" or ");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values
            .iter()
            .filter(|value| !value.is_null())
            .map(|value| format!("`{}`", plain(value)))
            .collect();
        return values.join(", ");
    }
    if !schema["const"].is_null() {
        return format!("`{}`", plain(&schema["const"]));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).filter(|one| *one != "null").collect()
        }
        _ => Vec::new(),
    };
    match types[..] {
        ["array"] => format!("list of {}", several(&kind(&schema["items"]))),
        ["object"] => "map".to_owned(),
        ["integer"] => "number".to_owned(),
        ["string"] if schema["pattern"] == "^/" => "absolute path".to_owned(),
        ["string" | "number" | "boolean", _, ..] | ["string"] => "text".to_owned(),
        [one] => one.to_owned(),
        _ => "null".to_owned(),
    }
}

fn several(kind: &str) -> String {
    if kind == "text" { kind.to_owned() } else { format!("{kind}s") }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
