//! Protocol between a push and the ccm of a host: lines of JSON, and the bytes of a bundle.
//!
//! ```text
//! push                                   ccm source receive
//!   request ──────────────────────────▶
//!                                      ◀──  ready: the bundle is there or not
//!   bytes of the bundle, if it is not ──▶
//!                                      ◀──  events of the run, a line each
//!   interrupt, as Ctrl-C ──────────────▶
//!   end of input: the run goes on ─────▶
//! ```
//!
//! A program that is installed first is sent before the request, by the shell of the host: see [`InstallLine`].

use serde::{Deserialize, Serialize};

/// Maximum length of a request in bytes.
pub const MAX_REQUEST: usize = 1 << 20;
/// Line that ends a run as Ctrl-C does.
pub const INTERRUPT: &str = "interrupt";

/// Declares the name of a protocol as a type with one value.
macro_rules! protocol {
    ($type:ident, $name:literal) => {
        #[doc = concat!("Protocol `", $name, "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $type {
            #[doc = concat!("`", $name, "`.")]
            #[default]
            #[serde(rename = $name)]
            V1,
        }
    };
}

protocol!(RequestProtocol, "io.choria.ccm.v1.push.request");
protocol!(ReadyProtocol, "io.choria.ccm.v1.push.ready");
protocol!(InstallProtocol, "io.choria.ccm.v1.push.install");
protocol!(InstalledProtocol, "io.choria.ccm.v1.push.installed");

/// First line to the host: the bundle, and what to do with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushRequest {
    /// Name of the protocol, with its version.
    pub protocol: RequestProtocol,
    /// Name of the source, under which the host keeps the bundle.
    pub source: String,
    /// The sha256 of the archive in hexadecimal digits.
    pub sha256: String,
    /// Size of the archive in bytes.
    pub size: u64,
    /// Number of bytes that are sent if the host does not have the bundle.
    pub compressed: u64,
    /// Path of the manifest in the bundle.
    pub manifest: String,
    /// Options of `ccm apply`, as words.
    pub options: Vec<String>,
}

/// First line of the ccm of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyLine {
    /// Name of the protocol, with its version.
    pub protocol: ReadyProtocol,
    /// Version of ccm.
    pub version: String,
    /// The host has the bundle.
    pub has_bundle: bool,
}

/// Line of the shell of a host, before ccm begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallLine {
    /// Name of the protocol, with its version.
    pub protocol: InstallProtocol,
    /// Architecture, as `uname -m` prints it.
    pub machine: String,
    /// ccm is missing, and the shell waits for its size in a line and its bytes.
    pub missing: bool,
}

/// Line of the shell of a host after it has installed ccm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledLine {
    /// Name of the protocol, with its version.
    pub protocol: InstalledProtocol,
}

/// Error of the ccm of a host before a run: a document of errors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLine {
    /// The error in one line.
    pub error: String,
    /// Exit code of the command.
    pub exit_code: u8,
    /// Advice for the error as a whole.
    #[serde(default)]
    pub hints: Vec<String>,
    /// All errors and warnings that led to it.
    #[serde(default)]
    pub diagnostics: Vec<RefusedDiagnostic>,
}

/// Error or warning of a [`RefusedLine`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedDiagnostic {
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// What is wrong.
    pub message: String,
    /// Place in a manifest.
    #[serde(default)]
    pub location: Option<ccm_model::Location>,
    /// Advice on what to do.
    #[serde(default)]
    pub hints: Vec<String>,
}

/// Returns a value as a line.
pub fn line(value: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(value)? + "\n")
}
