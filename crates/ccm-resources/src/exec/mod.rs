//! The exec resource: a command, run when it has to be.

mod command;
mod decide;
mod guards;
mod output;
mod posix;
mod properties;
mod provider;
mod shell;
mod state;
mod values;

use ccm_engine::{Managed, Provider, ResourceType, bind};
use ccm_host::Host;
use ccm_model::{Checked, Diagnostic, Failure, Properties, Resource, Span, TypeSpec, decode};
use schemars::{Schema, SchemaGenerator};

use crate::mistakes::{COMMON, as_failure};
use command::{Exec, Interpreter, Mistake};
use decide::ExecKind;
use posix::Posix;
use properties::ExecProperties;
use shell::Shell;

/// The type `exec`.
#[derive(Debug)]
pub(crate) struct ExecType;

static PROVIDERS: [&'static dyn Provider<ExecKind>; 2] = [&Posix, &Shell];

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
        &[
            "user",
            "group",
            "umask",
            "tries",
            "try_sleep",
            "expect",
            "capture",
            "sandbox",
            "executor",
            "sensitive",
            "docker",
        ]
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix", "shell"]
    }

    fn is_shell_text(&self, property: &str, provider: Option<&str>, properties: &Properties) -> bool {
        provider == Some("shell")
            && match property {
                "command" | "onlyif" | "unless" => true,
                // Without a command the name is the command.
                "name" => properties.get("command").is_none(),
                _ => false,
            }
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let properties = match decode::<ExecProperties>(&resource.properties, COMMON) {
            Ok(properties) => properties,
            Err(diagnostics) => return diagnostics,
        };
        let mut diagnostics: Vec<Diagnostic> =
            match Exec::build(&resource.id.name, interpreter(resource), properties) {
                Ok(exec) => never_runs(&exec, resource).into_iter().collect(),
                Err(mistakes) => mistakes.into_iter().map(|mistake| mistake.at(checked)).collect(),
            };
        diagnostics.sort_by_key(Diagnostic::span);
        diagnostics
    }

    fn schema(&self) -> Schema {
        SchemaGenerator::default().into_root_schema_for::<ExecProperties>()
    }
}

impl ResourceType for ExecType {
    fn bind(&self, resource: &Resource, host: Host<'_>) -> Result<Box<dyn Managed>, Failure> {
        let properties = decode::<ExecProperties>(&resource.properties, COMMON).map_err(as_failure)?;
        let exec = Exec::build(&resource.id.name, interpreter(resource), properties)
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

fn never_runs(exec: &Exec, resource: &Resource) -> Option<Diagnostic> {
    let span = resource.properties.entry("refresh_only").map_or(Span::default(), |entry| entry.key.span);
    (exec.refresh_only && resource.subscribe.is_empty()).then(|| {
        Diagnostic::warning(span, format!("{} will never run", resource.id))
            .labelled("only a change of a resource in `subscribe` triggers it, and there is none")
    })
}
