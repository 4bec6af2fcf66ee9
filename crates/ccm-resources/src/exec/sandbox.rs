//! What a command is kept from, as the manifest writes it.

use std::path::{Path, PathBuf};

use ccm_host::{Enforced, Means, never_opened};
use ccm_model::{Text, closest, escape_control};
use schemars::{JsonSchema, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::{Value, json};

use crate::inline_schema::inline_schema;

/// What a command is kept from. Everything that is not opened here is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct SandboxProperties {
    /// What keeps it in: `process`, the kernel of this host.
    pub mode: Option<Mode>,
    /// Where it works, and may write: `private`, a fresh directory that is removed afterwards; `manifest`, the
    /// directory of the manifest; or a path. Default: `private`.
    pub workdir: Option<Workdir>,
    /// What its environment begins with: `minimal` is PATH, `inherit` all that ccm was started with. Default:
    /// `minimal`.
    pub env: Option<StartsFrom>,
    /// Let it use the network. Default: `false`.
    pub network: Option<bool>,
    /// What it may read beside the system: paths, with all that is below them. Default: none.
    pub read: Option<Vec<OpenedPath>>,
    /// What it may write: paths, with all that is below them. Default: none.
    pub write: Option<Vec<WrittenPath>>,
    /// Let it use Unix sockets that it can see. Default: `false`.
    pub unix_sockets: Option<bool>,
    /// Run it also if this kernel can't enforce all of it, and report what was not. Default: `false`.
    pub advisory: Option<bool>,
}

/// What keeps a command in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode;

/// Where a command works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Workdir {
    /// In a directory of its own that is removed afterwards.
    #[default]
    Private,
    /// In the directory of the manifest.
    Manifest,
    /// There; a relative path starts in the directory of the manifest.
    At(PathBuf),
}

/// What the environment begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StartsFrom {
    /// PATH alone.
    #[default]
    Minimal,
    /// The environment of ccm.
    Inherit,
}

/// A path that is opened; a relative one starts in the directory of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenedPath(pub PathBuf);

/// The same of one that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenPath(pub PathBuf);

impl SandboxProperties {
    /// Tells whether the command works in a directory of its own.
    pub(crate) fn is_private(&self) -> bool {
        self.workdir.as_ref().is_none_or(|workdir| *workdir == Workdir::Private)
    }
}

/// The word that is meant, or why it is none of these.
fn word<E: Error>(property: &str, text: &str, words: &[&'static str]) -> E {
    let shown = escape_control(text);
    let hint = match closest(text, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it is `{}`", words.join("` or `")),
    };
    E::custom(format!("`{property}` can't be `{shown}`\nhint: {hint}"))
}

fn path<E: Error>(text: &str, to_write: bool) -> Result<PathBuf, E> {
    // Where a relative one starts is not known here; the launcher looks at it again.
    if let Some(reason) = never_opened(Path::new(text), to_write).filter(|_| text.starts_with('/')) {
        let shown = escape_control(text);
        return Err(E::custom(format!("`{shown}` can't be opened to a sandbox: {reason}")));
    }
    match text {
        "" => Err(E::custom("the path is empty")),
        text if text.contains('\0') => Err(E::custom("the text holds a NUL character")),
        text if text.starts_with('~') => Err(E::custom("`~` is not expanded\nhint: write the whole path")),
        text => Ok(PathBuf::from(text)),
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*Text::deserialize(deserializer)? {
            "process" => Ok(Self),
            "docker" => Err(D::Error::custom("`docker` is not supported in this version")),
            other => Err(word("mode", other, &["process"])),
        }
    }
}

impl<'de> Deserialize<'de> for StartsFrom {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*Text::deserialize(deserializer)? {
            "minimal" => Ok(Self::Minimal),
            "inherit" => Ok(Self::Inherit),
            other => Err(word("env", other, &["minimal", "inherit"])),
        }
    }
}

impl<'de> Deserialize<'de> for Workdir {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*Text::deserialize(deserializer)? {
            "private" => Ok(Self::Private),
            "manifest" => Ok(Self::Manifest),
            text if text.contains('/') || text.starts_with('~') || text.is_empty() => {
                path(text, true).map(Self::At)
            }
            text if closest(text, ["private", "manifest"]).is_some() => {
                Err(word("workdir", text, &["private", "manifest"]))
            }
            text => {
                let shown = escape_control(text);
                Err(D::Error::custom(format!(
                    "`{shown}` is neither `private`, `manifest` nor a path with a `/` in it\nhint: write `./{shown}` for one beside the manifest"
                )))
            }
        }
    }
}

impl<'de> Deserialize<'de> for OpenedPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        path(&Text::deserialize(deserializer)?, false).map(Self)
    }
}

impl<'de> Deserialize<'de> for WrittenPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        path(&Text::deserialize(deserializer)?, true).map(Self)
    }
}

inline_schema! {
    Mode => |_generator| json_schema!({ "enum": ["process"] });
    StartsFrom => |_generator| json_schema!({ "enum": ["minimal", "inherit"] });
    Workdir => |_generator| json_schema!({ "type": "string", "pattern": "^(private|manifest|[^~/]*/.*)$" });
    OpenedPath => |_generator| json_schema!({ "type": "string", "pattern": "^[^~]" });
    WrittenPath => |_generator| json_schema!({ "type": "string", "pattern": "^[^~]" });
}

/// Shapes what was enforced for events.
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
