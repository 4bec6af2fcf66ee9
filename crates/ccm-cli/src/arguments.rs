//! The command line.

mod backup;
mod history;
mod status;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use ccm_model::{ResourceId, is_variable_name, parse_duration};
use ccm_runtime::assignment;
use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, CommandFactory as _, Error, Parser, Subcommand, ValueEnum};

pub(crate) use backup::{BackupCommand, BackupListArguments, BackupPruneArguments, BackupRestoreArguments};
pub(crate) use history::HistoryArguments;
pub(crate) use status::{StatusArguments, StatusFormat};

const AFTER_HELP: &str = "\
Exit codes: 0 success (in noop: everything could be read), 1 nothing was run, 4 something failed or
was not recorded, 64 bad usage, 129/130/131/143 ended by HUP/INT/QUIT/TERM. With
--detailed-exitcodes also 2 (changes) and 6 (changes and failures).

Try it first:  ccm apply --noop manifest.yaml";

/// Brings this machine to the state that a manifest declares, and reports exactly what it did.
#[derive(Debug, Parser)]
#[command(name = "ccm", version, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Command to run.
    #[command(subcommand)]
    pub command: CliCommand,

    /// Level of detail; every command takes it.
    #[arg(
        short,
        long,
        global = true,
        action = clap::ArgAction::Count,
        display_order = 100,
        help = "Print more: -v adds unchanged resources and reasons, -vv states and debug messages [env: CCM_LOG]"
    )]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Apply a manifest: bring the machine to the state it declares
    Apply(ApplyArguments),
    /// Check a manifest and report every error in it; nothing is run
    Validate(ValidateArguments),
    /// Show the order of a manifest's resources and their dependencies
    Graph(GraphArguments),
    /// List the recorded runs, show one of them, or the last change of a resource
    History(HistoryArguments),
    /// Show the last run of each manifest and the pending refreshes, or check them for a monitoring system
    Status(StatusArguments),
    /// List, restore or remove backups of files
    #[command(subcommand)]
    Backup(BackupCommand),
    /// Show the facts of this machine, or the part of them at a path
    Facts(FactsArguments),
    /// Evaluate data that depends on facts
    #[command(subcommand)]
    Hiera(HieraCommand),
    /// Evaluate an expression and print its value
    Eval(EvalArguments),
    /// Explain a resource type, or one of its properties
    Explain(ExplainArguments),
    /// Print the JSON schema of manifests or of events, for editors and other tools
    Schema(SchemaArguments),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SchemaArguments {
    /// Print the schema of a line of events, which also defines the document of `--output json`
    #[arg(long)]
    pub events: bool,
}

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

/// State directory.
#[derive(Debug, Args)]
pub(crate) struct StateArguments {
    /// Directory of the lock and of the recorded runs
    #[arg(
        long,
        value_name = "DIR",
        help = "Directory of the lock and of the recorded runs [default: /var/lib/ccm as root, else \
                $XDG_STATE_HOME/ccm or ~/.local/state/ccm]"
    )]
    pub state_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Change nothing: read the state and report what would be changed
    #[arg(long)]
    pub noop: bool,

    /// Show changes of the content of files as unified diffs
    #[arg(long)]
    pub diff: bool,

    /// Print the manifest with all values filled in, and run nothing
    #[arg(long, conflicts_with_all = ["noop", "only", "events_file"])]
    pub render: bool,

    /// Exit with 2 if something changed (in noop: would change), and with 6 if something failed as well
    #[arg(long)]
    pub detailed_exitcodes: bool,

    /// Apply the manifest twice, and fail if the second run changes something
    #[arg(long, conflicts_with_all = ["noop", "render"])]
    pub verify_idempotent: bool,

    /// Stop after the first resource that fails
    #[arg(long)]
    pub fail_on_error: bool,

    /// Apply only this resource and what it requires; can be repeated
    #[arg(long, value_name = "TYPE#NAME", value_parser = reference)]
    pub only: Vec<ResourceId>,

    /// End the run after this time, such as 10m; a running command is stopped
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// Format of the output: the report, lines for a log, a line of JSON for each event as it happens, or one
    /// JSON document at the end
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub output: ReportFormat,

    /// File that the events are appended to, a line of JSON each
    #[arg(
        long,
        value_name = "PATH",
        value_parser = events_file,
        help = "Also append the events to this file, a line of JSON each [env: CCM_EVENTS_FILE]"
    )]
    pub events_file: Option<PathBuf>,

    #[command(flatten)]
    pub state: StateArguments,

    /// Time to wait for another run to end, such as 5m; 0 does not wait
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = wait)]
    pub lock_wait: Duration,

    /// Number of recorded runs to keep, and of older runs that changed something or failed
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub keep_runs: usize,

    /// Print failures and warnings only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Level of `-v`, which every command takes.
    #[arg(skip)]
    pub verbose: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    // Comments for clap would turn the help of `apply` into its long form, a page for each option.
    Text,
    Log,
    Jsonl,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    Text,
    Json,
}

const VALIDATE_EXAMPLES: &str = "\
Examples:
  ccm validate site.yaml
  ccm validate manifests/ --strict --output json
  ccm validate site.yaml --matrix facts/web1.yaml facts/db1.yaml";

#[derive(Debug, Args)]
#[command(after_help = VALIDATE_EXAMPLES)]
pub(crate) struct ValidateArguments {
    /// Manifests, or directories whose YAML files with a `ccm` key are checked; `-` is standard input
    #[arg(value_name = "MANIFEST", required = true, num_args = 1..)]
    pub manifests: Vec<PathBuf>,

    /// Maximum size of a manifest in bytes, such as 64M; K, M and G are units
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    pub max_manifest_size: u64,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Check for several machines, each with the facts of one of these files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "facts")]
    pub matrix: Vec<PathBuf>,

    /// Treat warnings and notes as errors
    #[arg(long)]
    pub strict: bool,

    /// Format of the output
    #[arg(long, value_enum, default_value_t = DocumentFormat::Text)]
    pub output: DocumentFormat,
}

const CUSTOM_FACTS: &str = "\
Custom facts come from these files. Later files override earlier ones, and maps are merged:
  /etc/ccm/facts.json, /etc/ccm/facts.yaml, /etc/ccm/facts.d/*.json and *.yaml
  the same in $XDG_CONFIG_HOME/ccm, else in ~/.config/ccm
  the files of --facts, then the facts of --fact
Links, special files and files of more than 1 MiB are skipped with a warning; as root also files
that another user owns or can write. No file is ever run.";

#[derive(Debug, Args)]
#[command(after_help = CUSTOM_FACTS)]
pub(crate) struct FactsArguments {
    /// Path of the facts to show, such as host.info or `network.interfaces.#.name`; all facts without it
    #[arg(value_name = "PATH")]
    pub path: Option<String>,

    /// Print YAML instead of JSON
    #[arg(long)]
    pub yaml: bool,

    #[command(flatten)]
    pub given: FactArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HieraCommand {
    /// Evaluate the values of a file for the given facts
    Parse(HieraParseArguments),
}

const VARIABLES: &str = "\
Expressions get only the facts given here. --system-facts and --env-facts add others.

With --env, the name of a variable consists of the keys of the value, in capitals and joined by `_`.
Characters that a name can't have become `_`. Two values with the same name are an error. Lists are
JSON, and null is empty.";

#[derive(Debug, Args)]
#[command(after_help = VARIABLES)]
pub(crate) struct HieraParseArguments {
    /// File with values
    #[arg(
        value_name = "FILE",
        help = "YAML or JSON file with `data` and optional `hierarchy` and `overrides`, or a manifest; `-` is \
                standard input [env: CCM_HIERA_DATA]"
    )]
    pub file: Option<PathBuf>,

    /// Facts that override all others; dots nest keys
    #[arg(value_name = "FACT=VALUE", value_parser = AssignmentParser)]
    pub given: Vec<String>,

    /// Print only the part at this path, such as web.port
    #[arg(long, value_name = "PATH")]
    pub query: Option<String>,

    /// Print YAML instead of JSON
    #[arg(long)]
    pub yaml: bool,

    /// Print variables for a shell: eval "$(ccm hiera parse data.yaml --env)"
    #[arg(long, conflicts_with = "yaml")]
    pub env: bool,

    /// Prefix of the names of variables
    #[arg(long, value_name = "PREFIX", default_value = "HIERA", requires = "env", value_parser = variable_name)]
    pub env_prefix: String,

    /// Use the facts of this machine as well
    #[arg(short = 'S', long)]
    pub system_facts: bool,

    /// Use environment variables as facts as well
    #[arg(short = 'E', long)]
    pub env_facts: bool,

    /// Print the entries of the hierarchy that matched, and the source of each value, instead of the data
    #[arg(long, conflicts_with_all = ["yaml", "env", "query"])]
    pub explain: bool,

    /// Read facts from this YAML or JSON file; can be repeated
    #[arg(long, value_name = "FILE")]
    pub facts: Vec<PathBuf>,

    /// Set a value that overrides all others; dots nest keys
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser)]
    pub data: Vec<String>,

    /// Allow `--data` to set keys that the data does not have
    #[arg(long)]
    pub data_any: bool,

    /// Print sensitive values as well
    #[arg(long)]
    pub show_sensitive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArguments {
    /// Expression without braces
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub expression: String,

    /// Read additional names from this JSON or YAML file
    #[arg(long, value_name = "FILE")]
    pub vars: Option<PathBuf>,

    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub data: DataArguments,

    /// Print the names in the expression, and when it can be evaluated, instead of its value
    #[arg(long)]
    pub explain: bool,

    /// Print sensitive values as well
    #[arg(long)]
    pub show_sensitive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// Type, such as exec, or one of its properties, such as exec.timeout; without it, all types are listed
    #[arg(value_name = "TYPE[.PROPERTY]")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Format of the output
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub format: GraphFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Order of the run, a line for each resource
    Text,
    /// For Graphviz: ccm graph m.yaml --format dot | dot -Tsvg
    Dot,
    /// For Markdown pages that draw Mermaid diagrams
    Mermaid,
}

fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(duration) if duration.is_zero() => {
            Err("--timeout must be longer than 0; leave it out for no limit".to_owned())
        }
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("{error}; {}", error.hint())),
    }
}

/// Reads a time to wait, which may be 0.
fn wait(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| format!("{error}; {}", error.hint()))
}

/// Reads `KEY=VALUE` as it is. Any other text is not shown, because it may be a secret whose key was
/// forgotten.
#[derive(Clone, Debug)]
struct AssignmentParser;

impl TypedValueParser for AssignmentParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        let option = argument.map(ToString::to_string).unwrap_or_default();
        let refuse = |what: &str, hint: &str| {
            let message = format!("{option}: {what}\n\n  hint: {hint}\n");
            Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        };
        let text = value
            .to_str()
            .ok_or_else(|| refuse("the value is not UTF-8 text", "encode the value as UTF-8"))?;
        match assignment::read(text) {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(refuse(&error.to_string(), error.hint())),
        }
    }
}

/// Removes a possible value from the error about an unknown argument: `password=…` may have lost its
/// `--data`, and a word behind `--data password=a` may be the rest of a value without quotes.
pub(crate) fn without_value(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    // The suggestion of clap, to put `--` before the argument, does not help here.
    error.remove(ContextKind::Suggested);
    let shown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => match argument.split_once('=') {
            Some((key, _)) => Some(format!("{key}=…")),
            None => (!argument.starts_with('-') && takes_values()).then(|| "…".to_owned()),
        },
        _ => None,
    };
    if let Some(shown) = shown {
        let why = "the argument may be part of a value, so it is not shown; quote a value with blanks: --data 'motd=a b'";
        error.insert(ContextKind::InvalidArg, ContextValue::String(shown));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![why.into()]));
    }
    error
}

/// Returns `true` if the command line sets values, as far as it can be read.
fn takes_values() -> bool {
    let Ok(matches) = Arguments::command().ignore_errors(true).try_get_matches() else { return true };
    let mut matches = &matches;
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    ["data", "fact", "given"].into_iter().any(|id| matches!(matches.try_contains_id(id), Ok(true)))
}

/// Reads the path of the events file. `--output` is the option for standard output.
pub(crate) fn events_file(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("expected the path of a file; for standard output, write `--output jsonl`".to_owned()),
        "" => Err("expected the path of a file".to_owned()),
        path => Ok(PathBuf::from(path)),
    }
}

/// Reads the prefix of the names of variables.
fn variable_name(text: &str) -> Result<String, String> {
    if is_variable_name(text) {
        Ok(text.to_owned())
    } else {
        Err("use letters, digits and `_`, and don't begin with a digit".to_owned())
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
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_hint_of_an_invalid_timeout_is_a_valid_one() {
        let too_long = "`600w` is longer than ten years; write at most `3660d`";
        assert_eq!(duration("600w"), Err(too_long.to_owned()));
        assert_eq!(wait("600w"), Err(too_long.to_owned()));
        assert!(duration("3660d").is_ok());
        let zero = "--timeout must be longer than 0; leave it out for no limit";
        assert_eq!(duration("0"), Err(zero.to_owned()));
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
