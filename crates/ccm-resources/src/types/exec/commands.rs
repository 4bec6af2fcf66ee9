//! The commands of an exec before a run, for a policy.

use std::path::Path;

use ccm_host::Workdir;
use ccm_model::{Resource, Span};
use ccm_properties::{
    CommandPlace, CommandSubject, TypedResource as _, WrittenCommand, WrittenLine, decode, is_empty_text,
};

use super::ExecType;
use super::command::{CommandLine, CommandSyntax, Exec};
use super::properties::ExecProperties;
use super::sandbox::SandboxProperties;

/// Properties that a command or guard depends on, its own first.
const COMMAND: &[&str] = &["command", "args", "stdin", "cwd", "environment", "path", "executor", "sandbox"];
const ONLYIF: &[&str] = &["onlyif", "cwd", "environment", "path", "executor", "sandbox"];
const UNLESS: &[&str] = &["unless", "cwd", "environment", "path", "executor", "sandbox"];
/// Directory like the private ones of sandboxes.
const ANY_PRIVATE_DIRECTORY: &str = "/tmp/ccm-private";

/// Returns the command and the guards. None of them is known if a sandbox works in the
/// directory of the manifest.
pub(super) fn written(resource: &Resource) -> Vec<WrittenCommand> {
    let (properties, errors) = decode::<ExecProperties>(&resource.properties);
    let Some(exec) = ExecType::build(resource, properties).ok().filter(|_| errors.is_empty()) else {
        return Vec::new();
    };
    let launch = exec.launch(Path::new("/"));
    let directory = match (&exec.sandbox, &launch.cwd) {
        (Some(sandbox), _) => workdir(sandbox),
        (None, Some(cwd)) => cwd.to_str(),
        (None, None) => Some("/"),
    };
    let Some(directory) = directory else { return Vec::new() };
    let place = if launch.container.is_some() {
        CommandPlace::Container
    } else if launch.user.is_some() || exec.sandbox.is_some() || exec.executor.is_some() {
        CommandPlace::OtherHome
    } else {
        CommandPlace::Host
    };
    let command = |line: &CommandLine, span: Span, input: Option<String>, properties| WrittenCommand {
        span,
        subject: CommandSubject {
            line: written_line(&exec, line),
            directory: directory.to_owned(),
            environment: launch.environment.clone(),
            input,
            place,
        },
        properties,
    };
    let span = resource.properties.get("command").filter(|node| !is_empty_text(node));
    let span = span.map_or(resource.span, |node| node.span);
    let mut commands = vec![command(&exec.line, span, exec.stdin.clone(), COMMAND)];
    for (guards, properties) in [(&exec.onlyif, ONLYIF), (&exec.unless, UNLESS)] {
        let Some(node) = properties.first().and_then(|property| resource.properties.get(property)) else {
            continue;
        };
        let nodes = node.as_list().unwrap_or(std::slice::from_ref(node));
        for (guard, node) in guards.iter().zip(nodes) {
            commands.push(command(&guard.line, node.span, None, properties));
        }
    }
    commands
}

fn written_line(exec: &Exec, line: &CommandLine) -> WrittenLine {
    match (exec.syntax, line.args.last()) {
        (CommandSyntax::Shell, Some(text)) => WrittenLine::Shell(text.clone()),
        _ => WrittenLine::Words(std::iter::once(&line.program).chain(&line.args).cloned().collect()),
    }
}

fn workdir(sandbox: &SandboxProperties) -> Option<&str> {
    match sandbox.workdir.as_ref().map(|workdir| &workdir.0) {
        None | Some(Workdir::Private) => Some(ANY_PRIVATE_DIRECTORY),
        Some(Workdir::At(path)) if path.is_absolute() => path.to_str(),
        Some(Workdir::Manifest | Workdir::At(_)) => None,
    }
}
