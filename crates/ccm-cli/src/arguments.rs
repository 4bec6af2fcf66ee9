//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use ccm_model::{ResourceId, parse_duration};
use clap::{Args, Parser, Subcommand, ValueEnum};

const AFTER_HELP: &str = "\
Exit codes: 0 converged (in noop: looked), 1 nothing was run, 4 something failed or was not
recorded, 64 bad usage, 129/130/131/143 ended by HUP/INT/QUIT/TERM. With --detailed-exitcodes also 2
(changes) and 6 (changes and failures).

Try it first:  ccm apply --noop manifest.yaml";

/// Brings this machine to the state that a manifest declares, and says exactly what it did.
#[derive(Debug, Parser)]
#[command(name = "ccm", version, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply a manifest: bring the machine to the state it declares
    Apply(Apply),
    /// Check a manifest and report every mistake in it; nothing is run
    Validate(Validate),
    /// Show the order of a manifest's resources and what depends on what
    Graph(Graph),
    /// List the runs that were recorded, or show one of them
    History(History),
    /// Print the JSON schema of manifests, for editors and other tools
    Schema,
}

/// A manifest to read.
#[derive(Debug, Args)]
pub(crate) struct ManifestArguments {
    /// The manifest, a YAML file; `-` reads it from standard input
    #[arg(value_name = "MANIFEST")]
    pub path: PathBuf,

    /// Refuse a manifest that is longer than this many bytes; K, M and G are understood
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    pub max_manifest_size: u64,
}

/// Facts beside those of this machine.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FactArguments {
    /// Take facts from this file, YAML or JSON, over those of this machine; can be given more than once
    #[arg(long, value_name = "FILE")]
    pub facts: Vec<PathBuf>,

    /// Set a fact, over all others; dots make maps
    #[arg(long, value_name = "KEY=VALUE")]
    pub fact: Vec<String>,

    /// Leave the file `.env` beside the manifest out of the environment
    #[arg(long)]
    pub no_env: bool,
}

/// Values over those of the manifest.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DataArguments {
    /// Take values from this file, which has `data` and may have `hierarchy` and `overrides`; can be given more
    /// than once
    #[arg(long, value_name = "FILE")]
    pub hiera: Vec<PathBuf>,

    /// Set a value, over all others; dots make maps
    #[arg(long, value_name = "KEY=VALUE")]
    pub data: Vec<String>,
}

/// What expressions of a manifest can name.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ValueArguments {
    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub data: DataArguments,
}

/// Where ccm keeps what it remembers.
#[derive(Debug, Args)]
pub(crate) struct StateArguments {
    /// Where the lock and the recorded runs are
    #[arg(
        long,
        value_name = "DIR",
        help = "Where the lock and the recorded runs are [default: /var/lib/ccm as root, else \
                $XDG_STATE_HOME/ccm or ~/.local/state/ccm]"
    )]
    pub state_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Change nothing: read the state, and say what would be changed
    #[arg(long)]
    pub noop: bool,

    /// Show how the content of files changes, as a unified diff
    #[arg(long)]
    pub diff: bool,

    /// Exit with 2 if something changed (in noop: would change), with 6 if something else failed as well
    #[arg(long)]
    pub detailed_exitcodes: bool,

    /// Stop after the first resource that fails
    #[arg(long)]
    pub fail_on_error: bool,

    /// Apply only this resource and what it requires; can be given more than once
    #[arg(long, value_name = "TYPE#NAME", value_parser = reference)]
    pub only: Vec<ResourceId>,

    /// End the run after this time, such as 10m; a command that is running then is stopped
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// What to print: the report, a line of JSON for each event as it happens, or one JSON document at the end
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub output: Output,

    /// Where to write the events as well, a line of JSON each
    #[arg(
        long,
        value_name = "PATH",
        value_parser = events_file,
        help = "Also append the events to this file, a line of JSON each [env: CCM_EVENTS_FILE]"
    )]
    pub events_file: Option<PathBuf>,

    #[command(flatten)]
    pub state: StateArguments,

    /// How long to wait for another run to end, such as 5m; 0 does not wait
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = wait)]
    pub lock_wait: Duration,

    /// How many recorded runs to keep, this one among them; older ones are removed
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub keep_runs: usize,

    /// Say more: why each resource was left alone, and which state was read (-vv: debug messages too)
    #[arg(short, long, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,

    /// Say nothing unless something fails or deserves a warning
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    // Comments for clap would turn the help of `apply` into its long form, a page for each option.
    Text,
    Jsonl,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The run to show; the beginning of its id is enough
    #[arg(value_name = "RUN")]
    pub run: Option<String>,

    /// What an exec of that run left: by name, or by position
    #[arg(value_name = "EXEC")]
    pub exec: Option<String>,

    /// How to print it
    #[arg(long, value_enum, default_value_t = HistoryOutput::Text)]
    pub output: HistoryOutput,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryOutput {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub values: ValueArguments,
}

#[derive(Debug, Args)]
pub(crate) struct Graph {
    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub values: ValueArguments,

    /// How to show it
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub format: GraphFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GraphFormat {
    /// The order of the run, a line each
    Text,
    /// For Graphviz: ccm graph m.yaml --format dot | dot -Tsvg
    Dot,
    /// For Markdown pages that draw Mermaid diagrams
    Mermaid,
}

fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(duration) if duration.is_zero() => {
            Err("a run needs some time; leave --timeout out for no limit".to_owned())
        }
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("{error}; {}", error.hint())),
    }
}

/// Reads a time to wait; none is fine.
fn wait(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| format!("{error}; {}", error.hint()))
}

/// Reads the path of the events file. Standard output has an option of its own.
pub(crate) fn events_file(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("it must be a file; for standard output write `--output jsonl`".to_owned()),
        "" => Err("it must be a file".to_owned()),
        path => Ok(PathBuf::from(path)),
    }
}

fn reference(text: &str) -> Result<ResourceId, String> {
    ResourceId::parse(text).map_err(|error| error.to_string())
}

/// Reads a number of bytes: `4096`, `64K`, `64M`, `1G`.
fn size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text
        .trim_end_matches(['i', 'B', 'b'])
        .split_at_checked(text.trim_end_matches(['i', 'B', 'b']).len().saturating_sub(1))
    {
        Some((digits, "k" | "K")) => (digits, 1 << 10),
        Some((digits, "M")) => (digits, 1 << 20),
        Some((digits, "G")) => (digits, 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "write a number of bytes such as 1048576, 512K or 64M".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("1", 1),
            ("4096", 4096),
            ("64K", 65536),
            ("64M", 67_108_864),
            ("1G", 1 << 30),
            ("2MiB", 2 << 20),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "M", "-1", "1T", "99999999999G"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
