//! Executors that start commands in containers: their settings, and what they ask of an exec.

use std::sync::Arc;

use ccm_host::{ContainerSettings, EngineAddress};
use ccm_model::{Diagnostic, DiagnosticKind, NodeEntry, NodeMap, escape_control};
use ccm_properties::{PropertyError, PropertySet as _, find};
use ccm_redaction::Redactor;

use super::super::properties::ExecProperties;
use super::super::values::Environment;
use super::values::EngineHost;
use super::{DockerProperties, ExecutorSettings, NativeProperties};

/// Returns an error for each property that an executor of the kind `native` does not have.
pub(super) fn errors_of_native(map: &NodeMap) -> Vec<Diagnostic> {
    let given = map.entries().iter().filter(|entry| !entry.value.is_null());
    let has = |table, entry: &&NodeEntry| find(table, &entry.key.text).is_some();
    let foreign = given.filter(|entry| {
        has(DockerProperties::PROPERTIES, entry) && !has(NativeProperties::PROPERTIES, entry)
    });
    let error = |name: &str, span| {
        let message = format!("`{name}` has a meaning for the kind `docker` only");
        Diagnostic::error(DiagnosticKind::Conflict, span, message)
            .with_hint(format!("write `kind: docker`, or leave `{name}` out"))
    };
    foreign.map(|entry| error(&entry.key.text, entry.key.span)).collect()
}

/// Returns errors and warnings about the settings of a container, each of which is valid by itself.
pub(super) fn findings(map: &NodeMap, written: &DockerProperties) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let span = |name: &str| map.entry(name).map_or(ccm_model::Span::default(), |entry| entry.value.span);
    if !cfg!(feature = "docker") {
        let message = "this ccm was built without support for containers";
        let error = Diagnostic::error(DiagnosticKind::Unsupported, span("kind"), message);
        found.push(error.with_hint("build ccm with the feature `docker`"));
    }
    let mut targets: Vec<&str> = Vec::new();
    let volumes = written.volumes.iter().flatten().map(|volume| (&*volume.0.target, "volumes"));
    let tmpfs = written.tmpfs.iter().flat_map(|tmpfs| &tmpfs.0).map(|(path, _)| (&**path, "tmpfs"));
    for (target, property) in volumes.chain(tmpfs) {
        if targets.contains(&target) {
            let message = format!("`{}` is mounted twice", escape_control(target));
            found.push(Diagnostic::error(DiagnosticKind::Conflict, span(property), message));
        }
        targets.push(target);
    }
    let dropped = written.cap_drop.iter().flatten();
    for capability in
        dropped.filter(|dropped| written.cap_add.iter().flatten().any(|added| added == *dropped))
    {
        let message = format!("the capability `{}` is both dropped and added", capability.0);
        found.push(Diagnostic::error(DiagnosticKind::Conflict, span("cap_add"), message));
    }
    if let Some(EngineHost(EngineAddress::Tcp(_))) = &written.host {
        let message = "the connection to the Engine is not encrypted: others on the network can read it, and use the Engine";
        let warning = Diagnostic::warning(DiagnosticKind::ExposedSecret, span("host"), message);
        found.push(
            warning
                .with_hint("use `unix://`, and forward the socket with `ssh -L` if the Engine is elsewhere"),
        );
    }
    found
}

/// Builds the settings of a container; `None` without an image, which [`super::read`] reports.
pub(super) fn settings(name: &str, written: DockerProperties) -> Option<Arc<ContainerSettings>> {
    let host = written.host.map(|host| host.0);
    let capabilities = |list: Option<Vec<super::values::Capability>>| {
        list.into_iter().flatten().map(|name| name.0).collect()
    };
    Some(Arc::new(ContainerSettings {
        executor: name.to_owned(),
        engine: host.unwrap_or_else(|| EngineAddress::Unix(EngineHost::DEFAULT.into())),
        image: written.image?.0,
        reuse: written.container.map(|reuse| reuse.0).unwrap_or_default(),
        pull: written.pull.map(|pull| pull.0).unwrap_or_default(),
        platform: written.platform.map(|platform| platform.0),
        labels: written.labels.unwrap_or_default().0,
        network: written.network_mode.map(|network| network.0).unwrap_or_default(),
        volumes: written.volumes.into_iter().flatten().map(|volume| volume.0).collect(),
        tmpfs: written.tmpfs.unwrap_or_default().0,
        user: written.user.map(|user| user.0),
        memory: written.memory_limit.and_then(|limit| limit.0),
        cpu_quota: written.cpu_quota.and_then(|limit| limit.0),
        pids: written.pids_limit.and_then(|limit| limit.0),
        auto_remove: written.auto_remove.unwrap_or_default(),
        read_only_root: written.read_only_rootfs.unwrap_or_default(),
        no_new_privileges: written.no_new_privileges.unwrap_or_default(),
        cap_drop: capabilities(written.cap_drop),
        cap_add: capabilities(written.cap_add),
    }))
}

/// Returns an error for each property of an exec that its container does not allow.
pub(crate) fn conflicts(executor: &ExecutorSettings, written: &ExecProperties) -> Vec<PropertyError> {
    let Some(container) = executor.container() else { return Vec::new() };
    let name = escape_control(&executor.name).into_owned();
    let mut errors = Vec::new();
    if written.sandbox.is_some() {
        let message = format!("`sandbox` has no effect in the container of the executor `{name}`");
        let hint =
            "confine the container with the settings of the executor, such as `network_mode` and `cap_drop`";
        errors.push(PropertyError::conflict("sandbox", message, hint));
    }
    if written.umask.is_some() {
        let message = format!("`umask` can't be set in the container of the executor `{name}`");
        errors.push(PropertyError::conflict(
            "umask",
            message,
            "call `umask` in the command, with `provider: shell`",
        ));
    }
    let is_sensitive = written.sensitive == Some(true);
    let has_environment = written.environment.as_ref().is_some_and(|Environment(all)| !all.is_empty());
    if is_sensitive && has_environment && !container.auto_remove {
        let (message, hint) = exposed(&name, "the environment of a sensitive exec");
        errors
            .push(PropertyError::new(DiagnosticKind::ExposedSecret, "environment", message).with_hint(hint));
    }
    errors
}

/// Returns the error of a secret that a kept container would show to everyone who can use its Engine.
pub(crate) fn exposed_secret(
    executor: &ExecutorSettings,
    environment: &[(String, String)],
    secrets: &[String],
) -> Option<(&'static str, String, String)> {
    let container = executor.container().filter(|container| !container.auto_remove)?;
    let redactor = Redactor::new(secrets.iter().map(String::as_str));
    let holds_secret =
        |all: &[(String, String)]| all.iter().any(|(_, value)| redactor.finds(value.as_bytes()));
    let property = match () {
        () if holds_secret(environment) => "environment",
        () if holds_secret(&executor.environment) => "executor",
        () => return None,
    };
    let (message, hint) =
        exposed(&escape_control(&container.executor), "a sensitive value in the environment");
    Some((property, message, hint))
}

fn exposed(executor: &str, what: &str) -> (String, String) {
    let message =
        format!("{what} would stay readable in the container, which the executor `{executor}` keeps");
    (message, "set `auto_remove: true` in the executor, or pass the value with `stdin`".to_owned())
}
