//! Arguments with which several commands read manifests, facts and data.

use std::path::PathBuf;

use clap::Args;

use super::headings;
use super::parsers::{AssignmentParser, size};

// A manifest to read.
#[derive(Debug, Args)]
pub(crate) struct ManifestArguments {
    /// Manifest, a YAML file; `-` reads it from standard input
    #[arg(value_name = "MANIFEST")]
    pub path: PathBuf,

    #[command(flatten)]
    pub limits: SizeArguments,
}

// Limits for what is read.
#[derive(Args, Clone, Debug)]
pub(crate) struct SizeArguments {
    /// Maximum size of a manifest, such as 64MiB
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size, help_heading = headings::LIMITS)]
    pub max_manifest_size: u64,
}

// Facts over those of this machine.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FactArguments {
    /// Set a fact that overrides all others, such as role=web; dots nest keys; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser, help_heading = headings::DATA)]
    pub fact: Vec<String>,

    /// Use the facts in this YAML or JSON file over those of this machine; repeatable
    #[arg(long, value_name = "FILE", help_heading = headings::DATA)]
    pub facts: Vec<PathBuf>,
}

// Values over those of the manifest.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DataArguments {
    /// Set a value that overrides all others, such as web.port=8080; dots nest keys; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser, help_heading = headings::DATA)]
    pub data: Vec<String>,

    /// File with values
    #[arg(
        long,
        value_name = "FILE",
        help_heading = headings::DATA,
        help = "Read values from this file with `data` and optional `hierarchy` and `overrides`; repeatable \
                [env: CCM_HIERA_DATA]"
    )]
    pub hiera: Vec<PathBuf>,

    /// Allow `--data` to set keys that the data does not have
    #[arg(long, help_heading = headings::DATA)]
    pub data_any: bool,
}

// Facts, values and environment that expressions of a manifest can name.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ValueArguments {
    #[command(flatten)]
    pub data: DataArguments,

    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub environment: EnvironmentArguments,

    #[command(flatten)]
    pub identity: IdentityArguments,
}

// The key that opens encrypted values.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct IdentityArguments {
    /// Open encrypted values with this private key of OpenSSH (Ed25519), in place of the host key of this machine
    #[arg(long, value_name = "FILE", help_heading = headings::DATA)]
    pub identity: Option<PathBuf>,
}

// Options of the environment.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EnvironmentArguments {
    /// Ignore the file `.env` beside the manifest
    #[arg(long, help_heading = headings::DATA)]
    pub no_env: bool,
}
