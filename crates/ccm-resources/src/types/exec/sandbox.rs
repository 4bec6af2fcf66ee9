//! The sandbox of a command as it is written in a manifest.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{
    BaseEnvironment, Enforced, Means, SandboxLimit, SandboxLimits, SandboxRequest, Workdir, never_opened,
};
use ccm_model::{Diagnostic, DiagnosticKind, Node, closest, escape_control};
use ccm_properties::{PropertyKind, PropertyValue, TextKind, TextValue, ValueError, properties};
use serde_json::{Value, json};

use super::profile::SandboxProfile;
use super::programs::SandboxPrograms;
use crate::support::values::byte_count::{ByteCount, wrong_bytes};

/// Files of a working directory through which Git runs programs later, outside of the sandbox.
const GIT: [&str; 2] = [".git/hooks", ".git/config"];

properties! {
    /// Sandbox of a command. The command has no access except for what is opened here.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub(crate) struct SandboxProperties {
        /// Means of confinement: `process`, the kernel of this host.
        mode: SandboxMode,
        /// Name for what the sandbox opens: `no_network_compute` writes only its working directory, in which the
        /// hooks and the configuration of Git stay as they are; `read_only_local` reads the directory of the
        /// manifest and writes only a private one. Other properties can't open more of the network.
        profile: SandboxProfile { default: Some("none") },
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
        /// Programs that may be executed: `any`; a list of names and absolute paths; or `analysed`, those that
        /// the text of the command names. The program of the command itself is always one of them.
        programs: SandboxPrograms { default: Some("`any`") },
        /// Allow Unix sockets that it can see.
        unix_sockets: bool { default: Some("`false`") },
        /// Largest number of processes and threads at one time.
        processes: ProcessCount { default: Some("`512`") },
        /// Largest amount of memory, such as `512MiB`: of all processes together if ccm runs as root, else
        /// of each process.
        memory: MemorySize { default: Some("`2GiB`") },
        /// Largest size of a file that it writes, such as `100MiB`.
        file_size: ByteCount { default: Some("none") },
        /// Largest processor time of each process, in whole seconds.
        cpu: CpuTime { default: Some("none") },
        /// Run the command even if this kernel can't enforce all of the sandbox, and report the missing
        /// parts.
        advisory: bool { default: Some("`false`") },
    }
}

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

/// Path like [`OpenedPath`] that is opened for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenPath(pub PathBuf);

impl SandboxProperties {
    pub(crate) fn is_private(&self) -> bool {
        self.workdir.as_ref().is_none_or(|workdir| workdir.0 == Workdir::Private)
    }

    pub(crate) fn request(&self) -> SandboxRequest {
        let is_read_only = self.profile == Some(SandboxProfile::ReadOnlyLocal);
        let of_profile = is_read_only.then(|| PathBuf::from("."));
        SandboxRequest {
            workdir: self.workdir.clone().unwrap_or_default().0,
            read: self.read.iter().flatten().map(|path| path.0.clone()).chain(of_profile).collect(),
            fixed: if self.profile == Some(SandboxProfile::NoNetworkCompute) {
                GIT.map(PathBuf::from).into()
            } else {
                Vec::new()
            },
            write: self.write.iter().flatten().map(|path| path.0.clone()).collect(),
            network: self.network.unwrap_or_default(),
            unix_sockets: self.unix_sockets.unwrap_or_default(),
            limits: self.limits(),
            advisory: self.advisory.unwrap_or_default(),
        }
    }

    fn limits(&self) -> SandboxLimits {
        let default = SandboxLimits::default();
        SandboxLimits {
            processes: self.processes.map_or(default.processes, |count| SandboxLimit::requested(count.0)),
            memory: self.memory.map_or(default.memory, |bytes| SandboxLimit::requested(bytes.0)),
            file_size: self.file_size.map(|bytes| bytes.0),
            cpu: self.cpu.map(|cpu| cpu.0),
        }
    }

    /// Returns the variables that the environment of the command begins with.
    pub(crate) fn base_environment(&self) -> BaseEnvironment {
        self.env.map_or(BaseEnvironment::Minimal, |base| base.0)
    }
}

/// Number of processes; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessCount(pub u64);

/// Number of bytes that a program can start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemorySize(pub u64);

/// Processor time of at least a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CpuTime(pub Duration);

impl PropertyValue for ProcessCount {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(1), max: None };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let count = i64::decode(node, errors)?;
        let number = u64::try_from(count).ok().filter(|count| *count > 0);
        if number.is_none() {
            errors.push(Diagnostic::error(
                DiagnosticKind::InvalidValue,
                node.span,
                format!("`processes` must be at least 1, found {count}"),
            ));
        }
        number.map(Self)
    }
}

impl TextValue for MemorySize {
    const KIND: PropertyKind = <ByteCount as TextValue>::KIND;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        /// A smaller number probably lacks its unit.
        const MIN: u64 = 1 << 20;
        let ByteCount(bytes) = ByteCount::from_text(text)?;
        if bytes < MIN { Err(wrong_bytes(text, "is less than 1MiB")) } else { Ok(Self(bytes)) }
    }
}

impl TextValue for CpuTime {
    const KIND: PropertyKind = PropertyKind::Duration;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let time = Duration::from_text(text)?;
        if time < Duration::from_secs(1) || time.subsec_nanos() > 0 {
            let message = format!("expected whole seconds, at least `1s`, found `{}`", escape_control(text));
            return Err(ValueError::new(message).with_hint("write for example `30s`"));
        }
        Ok(Self(time))
    }
}

/// Returns the error of an unexpected word.
pub(crate) fn word(property: &str, text: &str, words: &[&'static str]) -> ValueError {
    let error = ValueError::new(format!("`{property}` can't be `{}`", escape_control(text)));
    match closest(text, words.iter().copied()) {
        None => error.with_hint(format!("use `{}`", words.join("` or `"))),
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
            "docker" => Err(ValueError::unsupported("`docker` is reserved, and no mode of a sandbox")
                .with_hint("name an executor of the kind `docker` with `executor` in place of `sandbox`")),
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
            // Words of other specifications of a sandbox.
            "scenario" => Err(foreign_workdir(text, "private")),
            "project" => Err(foreign_workdir(text, "manifest")),
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

fn foreign_workdir(written: &str, ours: &str) -> ValueError {
    ValueError::new(format!("`workdir` can't be `{written}`")).with_hint(format!("write `{ours}`"))
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

pub(crate) fn describe(enforced: &Enforced) -> Value {
    let names = |means: &[Means]| means.iter().map(ToString::to_string).collect::<Vec<_>>();
    let not_enforced = [&enforced.missing[..], &enforced.not_required].concat();
    json!({
        "filesystem": names(&enforced.filesystem),
        "network": names(&enforced.network),
        "shared_memory": names(&enforced.shared_memory),
        "signals": names(&enforced.signals),
        "processes": names(&enforced.processes),
        "memory": names(&enforced.memory),
        "programs": names(&enforced.programs),
        "not_enforced": not_enforced,
    })
}
