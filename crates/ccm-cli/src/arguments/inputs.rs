//! Arguments with which several commands read manifests, facts and data.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::parsers::{AssignmentParser, size};

/// A manifest to read.
#[derive(Debug, Args)]
pub(crate) struct ManifestArguments {
    /// Manifest, a YAML file; `-` reads it from standard input
    #[arg(value_name = "MANIFEST")]
    pub path: PathBuf,

    /// Maximum size of the manifest in bytes, such as 64M; K, M and G are units
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    pub max_manifest_size: u64,
}

/// Facts over those of this machine.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FactArguments {
    /// Read facts from this YAML or JSON file, which override those of this machine; can be repeated
    #[arg(long, value_name = "FILE")]
    pub facts: Vec<PathBuf>,

    /// Set a fact that overrides all others; dots nest keys
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser)]
    pub fact: Vec<String>,
}

/// Values over those of the manifest.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DataArguments {
    /// File with values
    #[arg(
        long,
        value_name = "FILE",
        help = "Read values from this file with `data` and optional `hierarchy` and `overrides`; can be repeated \
                [env: CCM_HIERA_DATA]"
    )]
    pub hiera: Vec<PathBuf>,

    /// Set a value that overrides all others; dots nest keys
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser)]
    pub data: Vec<String>,

    /// Allow `--data` to set keys that the data does not have
    #[arg(long)]
    pub data_any: bool,
}

/// Facts, values and environment that expressions of a manifest can name.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ValueArguments {
    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub data: DataArguments,

    #[command(flatten)]
    pub environment: EnvironmentArguments,
}

/// Options of the environment.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EnvironmentArguments {
    /// Ignore the file `.env` beside the manifest
    #[arg(long)]
    pub no_env: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    Text,
    Json,
}
