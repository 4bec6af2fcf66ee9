//! The exec resource: a command, run when it has to be.

mod capture;
mod command;
mod decide;
mod executor;
mod expect;
mod guards;
mod judge;
mod output;
mod posix;
mod properties;
mod provider;
mod record;
mod rules;
mod sandbox;
mod shell;
mod start;
mod state;
mod tries;
mod values;

use ccm_engine::{Managed, Provider, ResourceType, bind};
use ccm_host::Host;
use ccm_model::{
    Checked, Diagnostic, Entry, Failure, Map, Node, Properties, Reader, Resource, TypeSpec, decode,
    decode_partly, shell_operator,
};
use schemars::{Schema, SchemaGenerator};

use crate::mistakes::{COMMON, as_failure, computed_octal};
use command::{Exec, Interpreter, Mistake};
use decide::ExecKind;
use posix::POSIX;
use properties::ExecProperties;
use shell::SHELL;

/// The type `exec`.
#[derive(Debug)]
pub(crate) struct ExecType;

static PROVIDERS: [&'static dyn Provider<ExecKind>; 2] = [&POSIX, &SHELL];

impl TypeSpec for ExecType {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn summary(&self) -> &'static str {
        "Runs a command when it has to be run."
    }

    fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        &[("refreshonly", "refresh_only")]
    }

    fn not_yet(&self) -> &'static [&'static str] {
        &["docker"]
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix", "shell"]
    }

    fn reader(&self, property: &str, provider: Option<&str>, properties: &Properties) -> Reader {
        const EXPECTED: Reader = Reader::Call(&expect::FORMS);
        let is_read = match property {
            "expect" => return Reader::Entries(&[("stdout", EXPECTED), ("stderr", EXPECTED)]),
            "onlyif" | "unless" => true,
            // With arguments it is the program alone, which is not split.
            "command" => properties.get("args").is_none(),
            // Without a command the name is the command.
            "name" => properties.get("command").is_none(),
            _ => false,
        };
        match provider {
            Some("shell") if is_read || property == "command" => Reader::Shell,
            None | Some("posix") if is_read => Reader::Words,
            _ => Reader::Nobody,
        }
    }

    fn named_property(&self) -> Option<&'static str> {
        Some("command")
    }

    fn captures<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let map = resource.properties.get("capture").and_then(Node::as_map);
        map.map(|map| map.entries().iter().map(|entry| &*entry.key.text).collect()).unwrap_or_default()
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let (properties, mut diagnostics) = decode_partly::<ExecProperties>(&resource.properties, COMMON);
        if let Some(mistake) = computed_octal(resource, "umask", "0027") {
            // What else there is to say of it comes from the wrong base.
            diagnostics.retain(|other| other.span() != mistake.span());
            diagnostics.push(mistake);
        }
        let Some(properties) = properties else { return diagnostics };
        let wrong: Vec<&str> = diagnostics.iter().filter_map(|found| property_of(found, resource)).collect();
        match Exec::build(&resource.id.name, interpreter(resource), properties, &resource.settings) {
            Ok(exec) if wrong.is_empty() => {
                diagnostics.extend(never_runs(&exec, resource));
                diagnostics.extend(misses_its_shell(checked));
            }
            Ok(_) => {}
            Err(mistakes) => {
                let certain = mistakes.into_iter().filter(|mistake| !mistake.may_follow_from(&wrong));
                diagnostics.extend(certain.map(|mistake| mistake.at(checked)));
            }
        }
        diagnostics.sort_by_key(Diagnostic::span);
        diagnostics
    }

    fn settings(&self) -> &'static [&'static str] {
        &[executor::SETTING]
    }

    fn check_settings(&self, settings: &Map) -> Vec<Diagnostic> {
        executor::check(settings)
    }

    fn settings_schema(&self) -> Option<Schema> {
        Some(executor::schema())
    }

    fn schema(&self) -> Schema {
        SchemaGenerator::default().into_root_schema_for::<ExecProperties>()
    }
}

impl ResourceType for ExecType {
    fn bind(&self, resource: &Resource, host: Host<'_>) -> Result<Box<dyn Managed>, Failure> {
        if let Some(mistake) = computed_octal(resource, "umask", "0027") {
            return Err(as_failure(vec![mistake]));
        }
        let properties = decode::<ExecProperties>(&resource.properties, COMMON).map_err(as_failure)?;
        let exec = Exec::build(&resource.id.name, interpreter(resource), properties, &resource.settings)
            .map_err(|mistakes| as_failure(mistakes.into_iter().map(Mistake::without_place).collect()))?;
        let named = resource.provider.as_ref().map(|provider| &*provider.value);
        bind(exec, named, &PROVIDERS, host)
    }
}

fn interpreter(resource: &Resource) -> Interpreter {
    match &resource.provider {
        Some(provider) if provider.value == "shell" => Interpreter::Shell,
        _ => Interpreter::None,
    }
}

/// The property whose text a mistake points at.
fn property_of<'a>(diagnostic: &Diagnostic, resource: &'a Resource) -> Option<&'a str> {
    let span = diagnostic.span()?;
    let holds = |entry: &&Entry| entry.key.span.contains(span) || entry.value.span.contains(span);
    resource.properties.given().find(holds).map(|entry| &*entry.key.text)
}

/// Warns of text that only a shell acts on, in a command that no shell reads.
fn misses_its_shell(checked: &Checked<'_>) -> Option<Diagnostic> {
    let resource = checked.resource;
    if interpreter(resource) == Interpreter::Shell || resource.properties.get("args").is_some() {
        return None;
    }
    let node = resource.properties.get("command");
    let text = node.map_or(Some(&*resource.id.name), |node| node.as_text())?;
    let place = shell_operator(text)?;
    let span = node.map_or(resource.span, |node| node.locate(checked.source_text, place.start, place.end));
    let what = match text.get(place).unwrap_or_default() {
        operator @ ("|" | "||" | "&" | "&&" | ";" | ">" | ">>" | "<" | "<<" | "2>" | "2>>" | "2>&1"
        | "&>") => {
            format!("`{operator}` is plain text to the posix provider")
        }
        word if word.ends_with(';') => "`;` is plain text to the posix provider".to_owned(),
        _ => "these lines are one command to the posix provider".to_owned(),
    };
    let hint = "add `provider: shell` if a shell is to read it, or quote it if it is meant as it is";
    Some(Diagnostic::warning(span, what).with_hint(hint))
}

fn never_runs(exec: &Exec, resource: &Resource) -> Option<Diagnostic> {
    let span = resource.properties.entry("refresh_only").map_or(resource.span, |entry| entry.key.span);
    (exec.refresh_only && resource.subscribe.is_empty()).then(|| {
        Diagnostic::warning(span, format!("{} will never run", resource.id))
            .labelled("only a change of a resource in `subscribe` triggers it, and there is none")
    })
}
