//! The command line.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use ccm_model::{ResourceId, is_variable_name, parse_duration};
use ccm_runtime::assignment;
use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, CommandFactory as _, Error, Parser, Subcommand, ValueEnum};

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

    /// Level of detail; every command takes it.
    #[arg(
        short,
        long,
        global = true,
        action = clap::ArgAction::Count,
        display_order = 100,
        help = "Say more: -v adds reasons, -vv states and debug messages [env: CCM_LOG]"
    )]
    pub verbose: u8,
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
    /// Show the last run, and the refreshes that are owed to the next ones
    Status(Status),
    /// Show what is true of this machine, or the part of it at a path
    Facts(Facts),
    /// Work out values that depend on facts
    #[command(subcommand)]
    Hiera(Hiera),
    /// Print what an expression comes to, for trying things out
    Eval(Eval),
    /// Explain a resource type, or one of its properties
    Explain(Explain),
    /// Print the JSON schema of manifests or of events, for editors and other tools
    Schema(Schema),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Schema {
    /// Print the schema of a line of events, which also defines the document of `--output json`
    #[arg(long)]
    pub events: bool,
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
    #[arg(long, value_name = "KEY=VALUE", value_parser = Pair)]
    pub fact: Vec<String>,
}

/// Values over those of the manifest.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DataArguments {
    /// Take values from this file, which has `data` and may have `hierarchy` and `overrides`; can be given more
    /// than once
    #[arg(long, value_name = "FILE")]
    pub hiera: Vec<PathBuf>,

    /// Set a value, over all others; dots make maps
    #[arg(long, value_name = "KEY=VALUE", value_parser = Pair)]
    pub data: Vec<String>,
}

/// What expressions of a manifest can name.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ValueArguments {
    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub data: DataArguments,

    #[command(flatten)]
    pub environment: EnvironmentArguments,
}

/// What belongs to the environment.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EnvironmentArguments {
    /// Leave the file `.env` beside the manifest out of the environment
    #[arg(long)]
    pub no_env: bool,
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

    /// Print the manifest with all values put in, and run nothing
    #[arg(long, conflicts_with_all = ["noop", "only", "events_file"])]
    pub render: bool,

    /// Exit with 2 if something changed (in noop: would change), with 6 if something else failed as well
    #[arg(long)]
    pub detailed_exitcodes: bool,

    /// Apply it, then apply it once more, and fail if that changes something again
    #[arg(long, conflicts_with_all = ["noop", "render"])]
    pub verify_idempotent: bool,

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

    /// Say nothing unless something fails or deserves a warning
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// The level of `-v`, which every command takes.
    #[arg(skip)]
    pub verbose: u8,
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
pub(crate) struct Status {
    /// Show only the refreshes that are owed
    #[arg(long)]
    pub pending: bool,

    /// How to print it
    #[arg(long, value_enum, default_value_t = HistoryOutput::Text)]
    pub output: HistoryOutput,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Check for several machines, each with the facts of one of these files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "facts")]
    pub matrix: Vec<PathBuf>,
}

const CUSTOM_FACTS: &str = "\
Custom facts come from these files, where later ones win and maps are merged:
  /etc/ccm/facts.json, /etc/ccm/facts.yaml, /etc/ccm/facts.d/*.json and *.yaml
  the same in $XDG_CONFIG_HOME/ccm, else in ~/.config/ccm
  what --facts names, then what --fact sets
Links, what is no regular file and files of more than 1 MiB are left out with a warning; as root
also what belongs to somebody else or may be written by everybody. No file is ever run.";

#[derive(Debug, Args)]
#[command(after_help = CUSTOM_FACTS)]
pub(crate) struct Facts {
    /// The facts to show, such as host.info or `network.interfaces.#.name`; without, all of them
    #[arg(value_name = "PATH")]
    pub path: Option<String>,

    /// Print YAML instead of JSON
    #[arg(long)]
    pub yaml: bool,

    #[command(flatten)]
    pub given: FactArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Hiera {
    /// Work out the values of a file for the facts that are given
    Parse(HieraParse),
}

const VARIABLES: &str = "\
Facts are those given here, and no others without --system-facts or --env-facts.

With --env, the keys that lead to a value make its name, in capitals, with `_` between them and
for whatever can't stand in a name. Two values of one name are an error. Lists are JSON, null is empty.";

#[derive(Debug, Args)]
#[command(after_help = VARIABLES)]
pub(crate) struct HieraParse {
    /// The values: YAML or JSON with `data`, and maybe `hierarchy` and `overrides`; a manifest is fine, and `-`
    /// is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Facts, over all others; dots make maps
    #[arg(value_name = "FACT=VALUE", value_parser = Pair)]
    pub given: Vec<String>,

    /// Print only what is at this path, such as web.port
    #[arg(long, value_name = "PATH")]
    pub query: Option<String>,

    /// Print YAML instead of JSON
    #[arg(long)]
    pub yaml: bool,

    /// Print variables for a shell: eval "$(ccm hiera parse data.yaml --env)"
    #[arg(long, conflicts_with = "yaml")]
    pub env: bool,

    /// What the names of variables begin with
    #[arg(long, value_name = "PREFIX", default_value = "HIERA", requires = "env", value_parser = variable_name)]
    pub env_prefix: String,

    /// Take the facts of this machine as well
    #[arg(short = 'S', long)]
    pub system_facts: bool,

    /// Take the variables of the environment as facts as well
    #[arg(short = 'E', long)]
    pub env_facts: bool,

    /// Print why instead: which entries of the hierarchy matched, and where each value comes from
    #[arg(long, conflicts_with_all = ["yaml", "env", "query"])]
    pub explain: bool,

    /// Take facts from this file, YAML or JSON; can be given more than once
    #[arg(long, value_name = "FILE")]
    pub facts: Vec<PathBuf>,

    /// Set a value, over all others; dots make maps
    #[arg(long, value_name = "KEY=VALUE", value_parser = Pair)]
    pub data: Vec<String>,

    /// Print values that are marked as sensitive, too
    #[arg(long)]
    pub show_sensitive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// The expression, without braces
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub expression: String,

    /// Take names of its own from this file, JSON or YAML
    #[arg(long, value_name = "FILE")]
    pub vars: Option<PathBuf>,

    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub data: DataArguments,

    /// Print what it names and when it can be evaluated, instead of its value
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The type, such as exec, or a property of it, such as exec.timeout; without, all types are listed
    #[arg(value_name = "TYPE[.PROPERTY]")]
    pub name: Option<String>,
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

/// Reads `KEY=VALUE` as it is. What is none is not shown: it may be a secret whose key was forgotten.
#[derive(Clone, Debug)]
struct Pair;

impl TypedValueParser for Pair {
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
        let text =
            value.to_str().ok_or_else(|| refuse("it is not UTF-8 text", "write it like `port=8080`"))?;
        match assignment::read(text) {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(refuse(&error.to_string(), error.hint())),
        }
    }
}

/// Takes what may be a value out of a mistake about an argument that nobody knows: `password=…` may have lost its
/// `--data`, and a word behind `--data password=a` may be the rest of what was not quoted.
pub(crate) fn without_value(mut mistake: Error) -> Error {
    if mistake.kind() != ErrorKind::UnknownArgument {
        return mistake;
    }
    // It would be advice to pass an option on that is not meant to be.
    mistake.remove(ContextKind::Suggested);
    let shown = match mistake.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => match argument.split_once('=') {
            Some((key, _)) => Some(format!("{key}=…")),
            None => (!argument.starts_with('-') && takes_values()).then(|| "…".to_owned()),
        },
        _ => None,
    };
    if let Some(shown) = shown {
        let why = "it is not shown, because it may be of a value; one with blanks has to be quoted: --data 'motd=a b'";
        mistake.insert(ContextKind::InvalidArg, ContextValue::String(shown));
        mistake.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![why.into()]));
    }
    mistake
}

/// Tells whether the command line sets values, as far as it can be read.
fn takes_values() -> bool {
    let Ok(matches) = Arguments::command().ignore_errors(true).try_get_matches() else { return true };
    let mut matches = &matches;
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    ["data", "fact", "given"].into_iter().any(|id| matches!(matches.try_contains_id(id), Ok(true)))
}

/// Reads the path of the events file. Standard output has an option of its own.
pub(crate) fn events_file(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("it must be a file; for standard output write `--output jsonl`".to_owned()),
        "" => Err("it must be a file".to_owned()),
        path => Ok(PathBuf::from(path)),
    }
}

/// Reads the beginning of the names of variables.
fn variable_name(text: &str) -> Result<String, String> {
    if is_variable_name(text) {
        Ok(text.to_owned())
    } else {
        Err("a name has letters, digits and `_`, no digit first".to_owned())
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
