//! Arguments of `ccm ensure`.

use std::ffi::OsString;
use std::path::PathBuf;

use ccm_runtime::ensure::{EnsureOption, EnsureType, ensure_type, ensure_types};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, value_parser};

use super::{
    ApplyArguments, FromArguments, RecordFormat, RunArguments, SizeArguments, VERBOSE_ORDER, ValueArguments,
};

const EXAMPLES: &str = "\
Examples:
  ccm ensure package zsh                           install a package
  ccm ensure file /etc/motd --content 'Hello.' --mode 644
  ccm ensure --noop --diff file /etc/motd --content 'Hello.'
  ccm ensure service nginx stopped --enable false
  ccm ensure exec 'make install' --cwd /srv/app --creates /usr/local/bin/app
  eval \"$(ccm session new)\"                        let later calls see the outcomes of earlier ones

Options of the run stand before the type, and properties behind the name of the resource.
`ccm ensure TYPE --help` lists the properties of a type.
Documentation: /usr/share/doc/ccm/use/shell.md, or docs/use/shell.md";

const PIPE_EXAMPLES: &str = "\
Examples:
  echo '{\"protocol\": \"io.choria.ccm.v1.resource.ensure.request\", \"type\": \"package\",
    \"properties\": {\"name\": \"zsh\"}}' | ccm ensure api pipe

Each request is a document of JSON, or one of YAML with `---` between documents, and has one answer.
`ccm schema --api` prints the JSON schema of both.
Documentation: /usr/share/doc/ccm/use/api.md, or docs/use/api.md";

const NO_ENV: &str = "Ignore the files `.env` and `.hiera` in the working directory";

/// Name of the arguments behind the type.
const WORDS: &str = "words";

/// Heading of the properties that every type has.
const OF_EVERY_TYPE: &str = "Properties of every type";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    subcommand_value_name = "TYPE",
    subcommand_help_heading = "Types",
    mut_arg("no_env", |argument| argument.help(NO_ENV)),
    mut_arg("data_any", |argument| argument.hide(true)),
)]
pub(crate) struct EnsureArguments {
    /// Change nothing: read the state and report what would be changed
    #[arg(short = 'n', long, aliases = ["dry-run", "check"])]
    pub noop: bool,

    /// Show changes of the content of files as unified diffs
    #[arg(long)]
    pub diff: bool,

    /// Print failures and warnings only
    #[arg(short, long, conflicts_with = "verbose", display_order = VERBOSE_ORDER + 1)]
    pub quiet: bool,

    /// Directory of the session that the call belongs to
    #[arg(
        long,
        value_name = "DIR",
        help = "Directory of the session that the call belongs to [env: CCM_SESSION_STORE]"
    )]
    pub session: Option<PathBuf>,

    #[command(flatten)]
    pub values: ValueArguments,

    #[command(flatten)]
    pub run: RunArguments,

    #[command(subcommand)]
    pub target: EnsureTarget,

    /// Level of `-v`, which every command takes.
    #[arg(skip)]
    pub verbose: u8,
}

/// Resource of `ccm ensure`, or the source of several.
#[derive(Debug)]
pub(crate) enum EnsureTarget {
    /// A type and the words behind it.
    Resource(String, Vec<OsString>),
    /// Requests on standard input.
    Pipe(EnsurePipeArguments),
}

/// Arguments of `ccm ensure api pipe`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct EnsurePipeArguments {
    /// Answer in YAML, also to requests in JSON
    #[arg(long)]
    pub yaml: bool,

    /// Change nothing: read the state and answer what would be changed
    #[arg(short = 'n', long, id = "pipe_noop", aliases = ["dry-run", "check"])]
    pub noop: bool,
}

impl EnsureArguments {
    /// Splits the arguments into those of a run and the resource.
    pub(crate) fn into_parts(self) -> (ApplyArguments, EnsureTarget, Option<PathBuf>) {
        let apply = ApplyArguments {
            manifests: Vec::new(),
            from: FromArguments::default(),
            noop: self.noop,
            diff: self.diff,
            only: Vec::new(),
            skip: Vec::new(),
            confirm: false,
            monitor_only: false,
            quiet: self.quiet,
            render: false,
            verify_idempotent: false,
            require_signed: false,
            plan_out: None,
            plan: None,
            require_plan: false,
            values: self.values,
            run: self.run,
            honour_pause: false,
            fail_on_error: false,
            limits: SizeArguments { max_manifest_size: ccm_runtime::MAX_MANIFEST_SIZE },
            record: RecordFormat::default(),
            emits_output: false,
            verbose: self.verbose,
        };
        (apply, self.target, self.session)
    }
}

impl FromArgMatches for EnsureTarget {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Some((name, matches)) = matches.subcommand() else {
            return Err(Error::new(clap::error::ErrorKind::MissingSubcommand));
        };
        if let ("api", Some(("pipe", pipe))) = (name, matches.subcommand()) {
            return EnsurePipeArguments::from_arg_matches(pipe).map(Self::Pipe);
        }
        // The words behind a type that does not exist have no name.
        let words =
            [WORDS, ""].into_iter().find_map(|id| matches.try_get_many::<OsString>(id).ok().flatten());
        Ok(Self::Resource(name.to_owned(), words.into_iter().flatten().cloned().collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for EnsureTarget {
    fn augment_subcommands(command: Command) -> Command {
        let of_type = |found: EnsureType| Command::new(found.name).about(line(found.summary)).arg(words());
        let types = ensure_types().into_iter().map(of_type);
        let command = command.subcommands(types).subcommand(api());
        command.subcommand_required(true).arg_required_else_help(true).allow_external_subcommands(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(_: &str) -> bool {
        true
    }
}

/// Returns a sentence as a line of the help, which has no period.
fn line(sentence: &'static str) -> &'static str {
    sentence.strip_suffix('.').unwrap_or(sentence)
}

/// Returns the argument that takes all words behind a type.
fn words() -> Arg {
    Arg::new(WORDS)
        .value_name("NAME")
        .help("Name, state and properties of the resource")
        .value_parser(value_parser!(OsString))
        .num_args(1..)
        .required(true)
        .trailing_var_arg(true)
}

fn api() -> Command {
    let pipe = EnsurePipeArguments::augment_args(Command::new("pipe").visible_alias("piped"))
        .about("Ensure the resources of requests on standard input, and answer each on standard output")
        .after_help(PIPE_EXAMPLES);
    let api = Command::new("api").about("Ensure resources that a program describes");
    api.subcommand(pipe).subcommand_required(true).arg_required_else_help(true)
}

/// Adds to the definition of ccm the properties of each type. The words behind a type are not parsed by it.
pub(crate) fn with_properties(root: Command) -> Command {
    // A change of one command alone would move it to the end.
    root.mut_subcommands(|command| match command.get_name() {
        "ensure" => command.defer(described),
        _ => command,
    })
}

fn described(command: Command) -> Command {
    EnsureArguments::augment_args(command).mut_subcommands(|command| {
        let is_type = ensure_types().iter().any(|found| found.name == command.get_name());
        if is_type { command.defer(described_type) } else { command }
    })
}

/// Replaces the words behind a type by its properties.
fn described_type(command: Command) -> Command {
    let Some(found) = ensure_type(command.get_name()) else { return command };
    let EnsureType { name, summary, ensures, options, .. } = found;
    let usage = format!("ccm ensure [RUN OPTIONS] {name} <NAME> [ENSURE] [OPTIONS]");
    let mut described = Command::new(name).about(line(summary)).override_usage(usage);
    described =
        described.arg(Arg::new("name").value_name("NAME").help("Name of the resource").required(true));
    if !ensures.is_empty() {
        let help = format!("State: {} [default: {}]", ensures.join(", "), ensures[0]);
        let ensure = Arg::new("ensure").value_name("ENSURE").help(help).hide_possible_values(true);
        described = described.arg(ensure.value_parser(PossibleValuesParser::new(ensures)));
    }
    let help = format!("Documentation: `ccm explain {name}`");
    let described = described.args(options.into_iter().map(argument)).after_help(help);
    described.arg(
        Arg::new("type_noop")
            .long("check")
            .help("Short for --noop before the type")
            .action(ArgAction::SetTrue)
            .hide(true),
    )
}

fn argument(option: EnsureOption) -> Arg {
    let EnsureOption { name, value_name, words, meaning, is_flag, is_repeatable, is_common, .. } = option;
    // clap keeps names for ever, and builds the definition once in a process.
    let name: &'static str = name.leak();
    let repeatable = if is_repeatable { "; repeatable" } else { "" };
    let mut argument =
        Arg::new(name).long(name).value_name(value_name).help(format!("{meaning}{repeatable}"));
    if is_common {
        argument = argument.help_heading(OF_EVERY_TYPE);
    }
    argument = argument.action(if is_repeatable { ArgAction::Append } else { ArgAction::Set });
    if is_flag {
        argument = argument.num_args(0..=1).default_missing_value("true");
        if words.is_empty() {
            let words = PossibleValuesParser::new(["true", "false"]);
            return argument.value_parser(words).hide_possible_values(true);
        }
    }
    if words.is_empty() { argument } else { argument.value_parser(PossibleValuesParser::new(words)) }
}
