//! Values of the settings of a container, checked when they are decoded.

use std::path::PathBuf;

use ccm_host::{ContainerNetwork, ContainerReuse, EngineAddress, PullPolicy, Volume};
use ccm_model::{Diagnostic, DiagnosticKind, Node, escape_control};
use ccm_properties::{PropertyKind, PropertyValue, Text, TextKind, TextValue, ValueError, expected};

/// Image: a name with a tag or a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image(pub String);

impl TextValue for Image {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^[A-Za-z0-9][^\\s?#%]*$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        let is_part = |part: char| part.is_ascii_graphic() && !"?#%\"'\\".contains(part);
        if begins_well && text.chars().all(is_part) {
            return Ok(Self(text.to_owned()));
        }
        let error = ValueError::new(match text {
            "" => "the name of the image is empty".to_owned(),
            text => format!("`{}` is not the name of an image", escape_control(text)),
        });
        Err(error.with_hint("write for example `debian:12`"))
    }
}

/// Address of an Engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EngineHost(pub EngineAddress);

impl EngineHost {
    pub(crate) const DEFAULT: &str = "/var/run/docker.sock";
}

impl TextValue for EngineHost {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::STRICT.matching("^(unix:///.+|tcp://[^/@]+:[0-9]+)$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let shown = escape_control(text);
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        match scheme {
            "unix" if rest.starts_with('/') && !rest.contains('\0') => {
                Ok(Self(EngineAddress::Unix(PathBuf::from(rest))))
            }
            "unix" => Err(ValueError::new(format!("`{shown}` does not name a socket by an absolute path"))
                .with_hint("write for example `unix:///run/podman/podman.sock`")),
            "tcp" | "http" => tcp_address(rest)
                .map(|address| Self(EngineAddress::Tcp(address)))
                .ok_or_else(|| ValueError::new(format!("`{shown}` does not name a host and a port")))
                .map_err(|error| error.with_hint("write for example `tcp://engine.example:2375`")),
            "https" | "tls" => Err(ValueError::unsupported(format!("`{shown}`: TLS is not supported"))
                .with_hint("forward the socket of the Engine with `ssh -L`, and name it with `unix://`")),
            "ssh" | "npipe" | "fd" => Err(ValueError::unsupported(format!("`{scheme}://` is not supported"))
                .with_hint("use `unix://` with the path of a socket")),
            _ => Err(ValueError::new(format!("`{shown}` is not the address of an Engine"))
                .with_hint("write for example `unix:///var/run/docker.sock`")),
        }
    }
}

fn tcp_address(text: &str) -> Option<String> {
    let address = text.trim_end_matches('/');
    let (host, port) = address.rsplit_once(':')?;
    let is_part = |part: char| part.is_ascii_alphanumeric() || ".-_:[]".contains(part);
    let is_valid =
        !host.is_empty() && host.chars().all(is_part) && port.parse::<u16>().is_ok_and(|port| port > 0);
    is_valid.then(|| address.to_owned())
}

/// Declares a value that is one of a few words.
macro_rules! words {
    ($(#[doc = $line:literal])* $name:ident($value:ty): $($word:literal = $variant:expr,)*) => {
        $(#[doc = $line])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(pub $value);

        impl TextValue for $name {
            const KIND: PropertyKind = PropertyKind::Words(&[$($word),*]);

            fn from_text(text: &str) -> Result<Self, ValueError> {
                match text {
                    $($word => Ok(Self($variant)),)*
                    other => Err(ValueError::not_one_of(other, &[$($word),*])),
                }
            }
        }
    };
}

words! {
    /// Commands that share a container.
    Reuse(ContainerReuse):
    "per_command" = ContainerReuse::PerCommand,
    "per_run" = ContainerReuse::PerRun,
}

words! {
    /// Moment at which an image is fetched.
    Pull(PullPolicy):
    "never" = PullPolicy::Never,
    "missing" = PullPolicy::Missing,
    "always" = PullPolicy::Always,
}

words! {
    /// Network of a container.
    Network(ContainerNetwork):
    "bridge" = ContainerNetwork::Bridge,
    "host" = ContainerNetwork::Host,
    "none" = ContainerNetwork::None,
}

/// Platform of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlatformName(pub String);

impl TextValue for PlatformName {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::STRICT.matching("^[a-z0-9_]+(/[a-z0-9_]+(/[a-z0-9_]+)?)?$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let is_word = |word: &str| {
            let is_part = |part: u8| part.is_ascii_lowercase() || part.is_ascii_digit() || part == b'_';
            !word.is_empty() && word.bytes().all(is_part)
        };
        if text.split('/').all(is_word) && text.split('/').count() <= 3 {
            return Ok(Self(text.to_owned()));
        }
        let error = ValueError::new(format!("`{}` is not a platform", escape_control(text)));
        Err(error.with_hint("write for example `linux/arm64`"))
    }
}

/// User inside a container, with or without a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContainerUser(pub String);

impl TextValue for ContainerUser {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::DIGITS.matching("^[^:\\s]+(:[^:\\s]+)?$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let is_name = |name: &str| {
            !name.is_empty() && !name.contains(|part: char| part.is_whitespace() || part.is_control())
        };
        if text.split(':').all(is_name) && text.split(':').count() <= 2 {
            return Ok(Self(text.to_owned()));
        }
        let error = ValueError::new(format!("`{}` is not a user", escape_control(text)));
        Err(error.with_hint("write `USER` or `USER:GROUP`, each as a name of the image or as a number"))
    }
}

/// Declares a number that `0` turns off.
macro_rules! limits {
    ($(#[doc = $line:literal])* $name:ident, $property:literal, $min:literal, $unit:literal) => {
        $(#[doc = $line])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(pub Option<u64>);

        impl PropertyValue for $name {
            const KIND: PropertyKind = PropertyKind::Integer { min: Some(0), max: None };

            fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
                let written = i64::decode(node, errors)?;
                match u64::try_from(written) {
                    Ok(0) => Some(Self(None)),
                    Ok(number) if number >= $min => Some(Self(Some(number))),
                    _ => {
                        let message = format!(
                            concat!("`", $property, "` must be 0 or at least ", $min, $unit, ", found {}"),
                            written
                        );
                        let error = Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message);
                        errors.push(error.with_hint("use `0` for no limit"));
                        None
                    }
                }
            }
        }
    };
}

limits! {
    /// Bytes of memory. Engines refuse less.
    MemoryLimit, "memory_limit", 6_291_456, " bytes"
}

limits! {
    /// Microseconds of processor time in a tenth of a second. Engines refuse less.
    CpuQuota, "cpu_quota", 1000, " microseconds"
}

limits! {
    /// Number of processes.
    PidsLimit, "pids_limit", 1, ""
}

/// Capability such as `NET_ADMIN`, without `CAP_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capability(pub String);

impl TextValue for Capability {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^(CAP_)?[A-Z][A-Z0-9_]*$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let name = text.strip_prefix("CAP_").unwrap_or(text);
        let is_part = |part: u8| part.is_ascii_uppercase() || part.is_ascii_digit() || part == b'_';
        if name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(is_part) {
            return Ok(Self(name.to_owned()));
        }
        let error = ValueError::new(format!("`{}` is not the name of a capability", escape_control(text)));
        Err(error.with_hint("write for example `NET_ADMIN`, or `ALL`"))
    }
}

/// Directory or file of the host that is visible inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VolumeText(pub Volume);

impl TextValue for VolumeText {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^/[^:]*:/[^:]+(:(ro|rw))?$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        const HINT: &str =
            "write `/PATH/ON/THE/HOST:/PATH/INSIDE`, with `:ro` behind it if it must not be written";
        let shown = escape_control(text);
        let wrong = |message: String| Err(ValueError::new(message).with_hint(HINT));
        let parts: Vec<&str> = text.split(':').collect();
        let (source, target, mode) = match *parts {
            [source, target] => (source, target, "rw"),
            [source, target, mode] => (source, target, mode),
            _ => return wrong(format!("`{shown}` is not a volume")),
        };
        if !matches!(mode, "ro" | "rw") {
            return wrong(format!("`{}` is not an option of a volume", escape_control(mode)));
        }
        if !source.starts_with('/') {
            return wrong(format!("`{}` is not an absolute path of the host", escape_control(source)));
        }
        let target = inside(target)?;
        if text.contains('\0') {
            return wrong("the volume holds a NUL character".to_owned());
        }
        Ok(Self(Volume { source: source.to_owned(), target, read_only: mode == "ro" }))
    }
}

/// Checks a path at which something is mounted in a container, and returns it without slashes at its end.
fn inside(path: &str) -> Result<String, ValueError> {
    let shown = escape_control(path);
    if !path.starts_with('/') || path.contains('\0') {
        return Err(ValueError::new(format!("`{shown}` is not an absolute path inside the container")));
    }
    if path.split('/').any(|part| matches!(part, "." | "..")) {
        return Err(ValueError::new(format!("`{shown}` holds `.` or `..`")).with_hint("write the whole path"));
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return Err(ValueError::new("nothing can be mounted over the root directory of a container"));
    }
    Ok(trimmed.to_owned())
}

/// File systems in memory: mount options by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tmpfs(pub Vec<(String, String)>);

impl Tmpfs {
    /// Options without a value.
    const FLAGS: [&str; 16] = [
        "rw",
        "ro",
        "exec",
        "noexec",
        "suid",
        "nosuid",
        "dev",
        "nodev",
        "sync",
        "async",
        "atime",
        "noatime",
        "diratime",
        "nodiratime",
        "relatime",
        "strictatime",
    ];
    /// Options with a value.
    const VALUES: [&str; 6] = ["size", "mode", "uid", "gid", "nr_inodes", "nr_blocks"];

    fn check_options(options: &str) -> Result<(), ValueError> {
        for option in options.split(',').filter(|_| !options.is_empty()) {
            let (name, value) =
                option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            let is_value = |value: &str| {
                !value.is_empty() && value.bytes().all(|part| part.is_ascii_alphanumeric() || part == b'%')
            };
            let is_known = match value {
                None => Self::FLAGS.contains(&name),
                Some(value) => Self::VALUES.contains(&name) && is_value(value),
            };
            if !is_known {
                let message = format!("`{}` is not a mount option of a tmpfs", escape_control(option));
                let known = Self::FLAGS.into_iter().chain(Self::VALUES);
                return Err(match ccm_model::closest(name, known).filter(|near| *near != name) {
                    None => {
                        ValueError::new(message).with_hint("write for example `rw,noexec,nosuid,size=64m`")
                    }
                    near => ValueError::new(message).with_suggestion(near),
                });
            }
        }
        Ok(())
    }
}

impl PropertyValue for Tmpfs {
    const KIND: PropertyKind = PropertyKind::Map {
        keys: Some("^/.+$"),
        values: &PropertyKind::Text(
            TextKind::ANY.matching("^[a-z_]*(=[a-zA-Z0-9%]+)?(,[a-z_]+(=[a-zA-Z0-9%]+)?)*$"),
        ),
        min: 0,
    };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            errors.push(expected("a map of paths to mount options", node));
            return None;
        };
        let before = errors.len();
        let mut all = Vec::new();
        for entry in map.entries() {
            let path = inside(&entry.key.text).map_err(|error| errors.push(error.at(entry.key.span))).ok();
            let options = if entry.value.is_null() {
                Some(Text::default())
            } else {
                Text::decode(&entry.value, errors)
            };
            let Some(options) = options else { continue };
            if let Err(error) = Self::check_options(&options) {
                errors.push(error.at(entry.value.span));
            }
            all.extend(path.map(|path| (path, options.0)));
        }
        (errors.len() == before).then_some(Self(all))
    }
}

/// Labels of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels(pub Vec<(String, String)>);

impl PropertyValue for Labels {
    const KIND: PropertyKind = PropertyKind::Map {
        keys: Some("^(?!ccm\\.)[^\\s=]+$"),
        values: &PropertyKind::Text(TextKind::ANY),
        min: 0,
    };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            errors.push(expected("a map of labels", node));
            return None;
        };
        let before = errors.len();
        let mut all = Vec::new();
        for entry in map.entries() {
            let name = &*entry.key.text;
            let refused = |part: char| part.is_whitespace() || part.is_control() || part == '=';
            if name.starts_with("ccm.") {
                let error = ValueError::new(format!(
                    "labels that begin with `ccm.` are those of ccm: `{}`",
                    escape_control(name)
                ));
                errors.push(error.with_hint("choose another name").at(entry.key.span));
            } else if name.is_empty() || name.contains(refused) {
                let error = ValueError::new(format!("`{}` is not the name of a label", escape_control(name)));
                errors.push(error.at(entry.key.span));
            }
            all.extend(Text::decode(&entry.value, errors).map(|value| (name.to_owned(), value.0)));
        }
        (errors.len() == before).then_some(Self(all))
    }
}
