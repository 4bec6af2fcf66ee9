//! The sandbox of a command as it is written in a manifest.

use std::path::{Path, PathBuf};

use ccm_host::{BaseEnvironment, Enforced, Means, SandboxRequest, Workdir, never_opened};
use ccm_model::{closest, escape_control};
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError, properties};
use serde_json::{Value, json};

properties! {
    /// Sandbox of a command. The command has no access except for what is opened here.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub(crate) struct SandboxProperties {
        /// Means of confinement: `process`, the kernel of this host.
        mode: SandboxMode,
        /// Working directory, which the command may write: `private`, a fresh directory that is removed
        /// afterwards; `manifest`, the directory of the manifest; or a path.
        workdir: WorkdirText { default: Some("`private`") },
        /// Variables that its environment begins with: `minimal` is PATH, `inherit` all variables of ccm.
        env: BaseText { default: Some("`minimal`") },
        /// Allow the network.
        network: bool { default: Some("`false`") },
        /// Paths that it may read besides those of the system, with everything below them.
        read: Vec<OpenedPath> { default: Some("none") },
        /// Paths that it may write, with everything below them.
        write: Vec<WrittenPath> { default: Some("none") },
        /// Allow Unix sockets that it can see.
        unix_sockets: bool { default: Some("`false`") },
        /// Run the command even if this kernel can't enforce all of the sandbox, and report the missing
        /// parts.
        advisory: bool { default: Some("`false`") },
    }
}

/// Mode of a sandbox, which is always `process`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SandboxMode;

/// Directory that a command works in; a relative path starts in the directory of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkdirText(pub Workdir);

/// Variables that the environment begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BaseText(pub BaseEnvironment);

/// Path that is opened for reading; a relative one starts in the directory of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenedPath(pub PathBuf);

/// Path that is opened for writing; a relative one starts in the directory of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenPath(pub PathBuf);

impl SandboxProperties {
    /// Returns `true` if the command works in a directory of its own.
    pub(crate) fn is_private(&self) -> bool {
        self.workdir.as_ref().is_none_or(|workdir| workdir.0 == Workdir::Private)
    }

    /// Returns the request to the executor.
    pub(crate) fn request(&self) -> SandboxRequest {
        SandboxRequest {
            workdir: self.workdir.clone().unwrap_or_default().0,
            read: self.read.iter().flatten().map(|path| path.0.clone()).collect(),
            write: self.write.iter().flatten().map(|path| path.0.clone()).collect(),
            network: self.network.unwrap_or_default(),
            unix_sockets: self.unix_sockets.unwrap_or_default(),
            advisory: self.advisory.unwrap_or_default(),
        }
    }

    /// Returns the variables that the environment of the command begins with.
    pub(crate) fn base_environment(&self) -> BaseEnvironment {
        self.env.map_or(BaseEnvironment::Minimal, |base| base.0)
    }
}

/// Returns the error of an unexpected word.
fn word(property: &str, text: &str, words: &[&'static str]) -> ValueError {
    let error = ValueError::new(format!("`{property}` can't be `{}`", escape_control(text)));
    match closest(text, words.iter().copied()) {
        None => error.with_hint(format!("it is `{}`", words.join("` or `"))),
        near => error.with_suggestion(near),
    }
}

fn path(text: &str, to_write: bool) -> Result<PathBuf, ValueError> {
    // A relative path is checked by the launcher, because the directory of the manifest is not known here.
    if let Some(reason) = never_opened(Path::new(text), to_write).filter(|_| text.starts_with('/')) {
        let shown = escape_control(text);
        return Err(ValueError::new(format!("`{shown}` can't be opened in a sandbox: {reason}")));
    }
    match text {
        "" => Err(ValueError::new("the path is empty")),
        text if text.contains('\0') => Err(ValueError::new("the text holds a NUL character")),
        text if text.starts_with('~') => {
            Err(ValueError::new("`~` is not expanded").with_hint("write the whole path"))
        }
        text => Ok(PathBuf::from(text)),
    }
}

impl TextValue for SandboxMode {
    const KIND: PropertyKind = PropertyKind::Words(&["process"]);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "process" => Ok(Self),
            "docker" => Err(ValueError::new("`docker` is not supported in this version")),
            other => Err(word("mode", other, &["process"])),
        }
    }
}

impl TextValue for BaseText {
    const KIND: PropertyKind = PropertyKind::Words(&["minimal", "inherit"]);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "minimal" => Ok(Self(BaseEnvironment::Minimal)),
            "inherit" => Ok(Self(BaseEnvironment::Inherited)),
            other => Err(word("env", other, &["minimal", "inherit"])),
        }
    }
}

impl TextValue for WorkdirText {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::STRICT.matching("^(private|manifest|[^~/]*/.*)$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "private" => Ok(Self(Workdir::Private)),
            "manifest" => Ok(Self(Workdir::Manifest)),
            text if text.contains('/') || text.starts_with('~') || text.is_empty() => {
                path(text, true).map(|path| Self(Workdir::At(path)))
            }
            text if closest(text, ["private", "manifest"]).is_some() => {
                Err(word("workdir", text, &["private", "manifest"]))
            }
            text => {
                let shown = escape_control(text);
                let message =
                    format!("`{shown}` is neither `private`, `manifest` nor a path with a `/` in it");
                Err(ValueError::new(message)
                    .with_hint(format!("write `./{shown}` for a directory beside the manifest")))
            }
        }
    }
}

/// Schema of a path that does not begin with `~`.
const NO_HOME: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^[^~]"));

impl TextValue for OpenedPath {
    const KIND: PropertyKind = NO_HOME;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        path(text, false).map(Self)
    }
}

impl TextValue for WrittenPath {
    const KIND: PropertyKind = NO_HOME;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        path(text, true).map(Self)
    }
}

/// Returns the enforced parts for events.
pub(crate) fn describe(enforced: &Enforced) -> Value {
    let names = |means: &[Means]| means.iter().map(ToString::to_string).collect::<Vec<_>>();
    let not_enforced = [&enforced.missing[..], &enforced.not_hidden].concat();
    json!({
        "filesystem": names(&enforced.filesystem),
        "network": names(&enforced.network),
        "shared_memory": names(&enforced.shared_memory),
        "signals": names(&enforced.signals),
        "not_enforced": not_enforced,
    })
}
