//! The exec resource: a command and the conditions to run it.

mod capture;
mod command;
mod commands;
mod decide;
mod docker;
mod executor;
mod expect;
mod guards;
mod health;
mod launch;
mod not_found;
mod output;
mod profile;
mod programs;
mod properties;
mod provider;
mod record;
mod result;
mod rules;
mod sandbox;
mod shell;
mod shell_syntax;
mod state;
mod tries;
mod unattended;
mod values;

use ccm_engine::{DynProvider, Suitability};
use ccm_model::{
    ClaimKind, Diagnostic, DiagnosticKind, Node, NodeMap, Properties, Resource, Scalar, ScalarKind,
    ScalarStyle, Verb, escape_control,
};
use ccm_properties::{
    CheckInput, CommandsView, FilledExtent, FilledPath, MayProvide, Need, PropertyError, PropertySpec,
    Providers, SettingsView, ShellText, TextSyntax, TypeDeclaration, TypeSpec, TypedResource, WrittenCommand,
    is_empty_text,
};

pub use executor::names as executor_names;

use command::{CommandSyntax, Exec};
use decide::ExecKind;
use executor::ExecutorSettings;
use properties::ExecProperties;
use provider::ExecProvider;

use crate::support::export::without_state;
use crate::support::needs::needed_program;

#[derive(Debug)]
pub(crate) struct ExecType;

without_state!(
    ExecType,
    "an `exec` is a command, and leaves no state that could be read",
    "name the files, packages or services that the command changes"
);

impl TypedResource for ExecType {
    type Written = ExecProperties;
    type Desired = Exec;
    type Provider = dyn DynProvider<ExecKind>;

    const NAME: &'static str = "exec";
    const SUMMARY: &'static str = "Runs a command if it is needed.";
    const ENSURES: &'static [&'static str] = &["present"];
    const NAMED_PROPERTY: Option<&'static str> = Some("command");
    const PROVIDERS: Providers<Self::Provider> = &[
        ("posix", &ExecProvider(|_| Suitability::Suits(1))),
        (shell::NAME, &ExecProvider(shell::suitability)),
        (docker::NAME, &ExecProvider(|_| Suitability::Suits(100))),
    ];
    const INTERDEPENDENT: &'static [&'static [&'static str]] =
        &[&["command", "args"], &["returns", "unchanged_returns", "expect"], &["path", "environment"]];

    fn build(resource: &Resource, mut written: ExecProperties) -> Result<Exec, Vec<PropertyError>> {
        if resource.properties.get("command").is_some_and(is_empty_text) {
            written.command = None;
        }
        let provider = resource.provider.as_ref().map(|provider| &*provider.value);
        docker::executor_error(provider, &written, &resource.settings)
            .map_or(Ok(()), |error| Err(vec![error]))?;
        let mut misread = boolean_guards(resource);
        misread.extend(guards_in_brackets(resource));
        let built = Exec::build(&resource.id.name, syntax_of(resource), written, &resource.settings);
        if misread.is_empty() {
            return built;
        }
        Err(misread.into_iter().chain(built.err().unwrap_or_default()).collect())
    }

    fn errors_in_context(exec: &Exec, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let exposed = exec.executor.as_ref().and_then(|executor| {
            executor::container::exposed_secret(executor, &exec.environment, checked.secrets)
        });
        let error = |(property, message, hint): (_, String, String)| {
            PropertyError::new(DiagnosticKind::ExposedSecret, property, message).with_hint(hint).at(checked)
        };
        let mut errors: Vec<Diagnostic> = exposed.map(error).into_iter().collect();
        errors.extend(health::errors(exec, checked.resource));
        errors
    }

    fn warnings(exec: &Exec, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let mut warnings: Vec<Diagnostic> = never_runs_warning(exec, checked).into_iter().collect();
        if exec.syntax == CommandSyntax::Words {
            warnings.extend(shell_syntax::warnings(checked));
            warnings.extend(unattended::warning(exec, checked));
        } else {
            warnings.extend(values::names_not_for_a_shell(checked));
        }
        warnings
    }
}

impl TypeSpec for ExecType {
    fn refreshes(&self) -> bool {
        true
    }

    fn merges(&self) -> bool {
        false
    }

    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "sh" | "dash" => Some("write `provider: shell`"),
            "bash" | "zsh" | "ksh" | "fish" => Some(
                "write `provider: shell`, which is /bin/sh, or start the other shell: `command: bash -c 'LINE'`",
            ),
            _ => None,
        }
    }

    fn syntax(&self, property: &str, provider: Option<&str>, properties: &Properties) -> TextSyntax {
        // With `args` the command is the program alone, which is not split.
        let is_program = matches!(property, "command" | "name") && properties.get("args").is_some();
        let is_known = |name| self.providers().contains(&name);
        match (self.declared_syntax(property, properties), provider) {
            (TextSyntax::Argv, Some(shell::NAME)) => TextSyntax::Shell,
            (TextSyntax::Argv, provider) if !is_program && provider.is_none_or(is_known) => TextSyntax::Argv,
            (TextSyntax::Argv, _) => TextSyntax::Plain,
            (declared, _) => declared,
        }
    }

    fn fills<'r>(&self, resource: &'r Resource) -> Vec<FilledPath<'r>> {
        let Some(creates) = resource.properties.get("creates") else { return Vec::new() };
        let nodes = creates.as_list().unwrap_or(std::slice::from_ref(creates));
        let paths = nodes.iter().filter_map(Node::as_text);
        paths.map(|path| FilledPath { path, extent: FilledExtent::Entry }).collect()
    }

    fn uses<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        if runs_in_container(resource) {
            return Vec::new();
        }
        let text = |property| resource.properties.get(property).and_then(Node::as_text);
        let user = text("user").map(|user| (ClaimKind::User, user.into()));
        let group = text("group").map(|group| (ClaimKind::Group, group.into()));
        let directory = text("cwd").map(|cwd| (ClaimKind::Path, cwd.into()));
        let is_words = syntax_of(resource) == CommandSyntax::Words;
        let command = text("command").filter(|text| !text.is_empty()).unwrap_or(&resource.id.name);
        let program = needed_program(Some(command)).filter(|_| is_words);
        user.into_iter().chain(group).chain(directory).chain(program).collect()
    }

    fn may_write_files(&self) -> bool {
        true
    }

    fn may_provide(&self, _: &Resource) -> MayProvide {
        MayProvide::Anything
    }

    fn only_verb(&self) -> Option<Verb> {
        Some(Verb::Run)
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(self)
    }

    fn settings(&self) -> Option<&dyn SettingsView> {
        Some(self)
    }
}

impl SettingsView for ExecType {
    fn keys(&self) -> &'static [PropertySpec] {
        executor::SETTINGS
    }

    fn errors(&self, settings: &NodeMap) -> Vec<Diagnostic> {
        executor::check(settings)
    }
}

impl CommandsView for ExecType {
    fn commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        commands::written(resource)
    }

    fn shell_texts<'r>(&self, resource: &'r Resource) -> Vec<ShellText<'r>> {
        // The shell of an image may be another one.
        let is_here = syntax_of(resource) == CommandSyntax::Shell && !runs_in_container(resource);
        if is_here { shell_texts(resource) } else { Vec::new() }
    }

    fn captures<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let map = resource.properties.get("capture").and_then(Node::as_map);
        map.map(|map| map.entries().iter().map(|entry| &*entry.key.text).collect()).unwrap_or_default()
    }

    fn idempotence_advice(&self) -> Option<&'static str> {
        Some(
            "use `creates`, `onlyif` or `unless` to skip an exec that is not needed, or `unchanged_returns` if its \
             exit code shows that nothing changed",
        )
    }
}

fn syntax_of(resource: &Resource) -> CommandSyntax {
    match &resource.provider {
        Some(provider) if provider.value == shell::NAME => CommandSyntax::Shell,
        _ => CommandSyntax::Words,
    }
}

fn runs_in_container(resource: &Resource) -> bool {
    let name = resource.properties.get("executor").and_then(Node::as_text);
    let settings = name.map(|name| ExecutorSettings::find(&resource.settings, name));
    matches!(settings, Some(Ok(settings)) if settings.container().is_some())
}

/// Returns the command and the guards of an exec whose provider is the shell.
fn shell_texts(resource: &Resource) -> Vec<ShellText<'_>> {
    let properties = &resource.properties;
    let given = properties.get("command").filter(|node| !is_empty_text(node));
    let command = given.map_or(Some(&*resource.id.name), Node::as_text);
    let command = command.map(|text| ShellText { property: "command", element: None, text });
    let guards = ["onlyif", "unless"].into_iter().flat_map(|property| {
        let elements = properties.get(property).map(|node| match node.as_list() {
            Some(list) => list,
            None => std::slice::from_ref(node),
        });
        let texts = elements.unwrap_or_default().iter().enumerate();
        texts.filter_map(move |(element, node)| {
            Some(ShellText { property, element: Some(element), text: node.as_text()? })
        })
    });
    command.into_iter().chain(guards).collect()
}

/// Returns the errors of guards that are the booleans `true` or `false`: these would run the programs of that name.
fn boolean_guards(resource: &Resource) -> Vec<PropertyError> {
    let is_boolean = |property: &&'static str| {
        let scalar = resource.properties.get(property).and_then(Node::as_scalar);
        let scalar = scalar.filter(|scalar| scalar.style == ScalarStyle::Plain);
        matches!(scalar.map(Scalar::kind), Some(ScalarKind::Bool(_)))
    };
    let error = |property| {
        let message = "expected a command, found a boolean";
        let hint = format!(
            "write a command such as `{property}: test -e /path`, or `control` for a condition of the manifest"
        );
        PropertyError::invalid(property, message, hint)
    };
    ["onlyif", "unless"].into_iter().filter(is_boolean).map(error).collect()
}

/// Returns the errors of guards such as `onlyif: [ -f /x ]`, whose brackets are a list to YAML.
fn guards_in_brackets(resource: &Resource) -> Vec<PropertyError> {
    let error = |property: &'static str| {
        let elements = resource.properties.get(property)?.as_list()?;
        let test = elements.iter().filter_map(Node::as_text).find(|text| text.starts_with('-'))?;
        let test = escape_control(test);
        let message = format!("`{test}` is no command: the brackets around it are a list to YAML");
        Some(PropertyError::invalid(
            property,
            message,
            format!("write it in quotes: `{property}: \"[ {test} ]\"`"),
        ))
    };
    ["onlyif", "unless"].into_iter().filter_map(error).collect()
}

/// Returns a warning about an exec that no trigger can run.
fn never_runs_warning(exec: &Exec, checked: &CheckInput<'_>) -> Option<Diagnostic> {
    let CheckInput { resource, subscribes, .. } = *checked;
    let span = resource.properties.entry("refresh_only").map_or(resource.span, |entry| entry.key.span);
    (exec.refresh_only && resource.subscribe.is_empty() && !subscribes).then(|| {
        Diagnostic::warning(DiagnosticKind::NoEffect, span, format!("{} will never run", resource.id))
            .labelled("without `subscribe`, nothing triggers it")
    })
}
