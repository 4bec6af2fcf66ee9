//! Arguments of the format of the output, which every command spells alike.

use ccm_runtime::model::escape_json;
use ccm_runtime::printed;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, ValueEnum};
use serde_json::Value;

use super::headings;

/// Formats that a command knows. JSON is one of them.
pub(crate) trait OutputFormat: ValueEnum + Send + Sync + 'static {
    /// Name of the format that the command has without an option.
    const DEFAULT: &'static str = "text";
}

/// Form of JSON that the command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonForm {
    /// One document.
    Document,
    /// A document on each line.
    Lines,
}

impl JsonForm {
    /// Returns the form that `--output` or `--json` of a command asks for. A command whose results are JSON anyway,
    /// such as `ccm facts`, has none without these options.
    pub(crate) fn of(matches: &ArgMatches) -> Option<Self> {
        if let Some(form) = matches.subcommand().and_then(|(_, inner)| Self::of(inner)) {
            return Some(form);
        }
        let is_given = |id| {
            matches.try_contains_id(id).unwrap_or_default()
                && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        if !is_given("output") {
            // In `ccm tool`, `--json` is the input.
            let is_json = matches.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or_default();
            return is_json.then_some(Self::Document);
        }
        match matches.get_raw("output")?.next_back()?.to_str()? {
            "json" => Some(Self::Document),
            "jsonl" => Some(Self::Lines),
            _ => None,
        }
    }

    /// Returns a value in this form.
    pub(crate) fn text(self, value: &Value) -> String {
        match self {
            Self::Document => printed::document(value),
            Self::Lines => format!("{}\n", escape_json(&value.to_string())),
        }
    }
}

// Format of the output. `--json` is the short form of `--output json`.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArguments<F: OutputFormat = DocumentFormat> {
    /// Format of the output
    #[arg(
        id = "output",
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = F::DEFAULT,
        default_value_if("json", "true", "json"),
        conflicts_with = "json",
        help_heading = headings::OUTPUT
    )]
    pub format: F,

    /// Short for --output json
    #[arg(long, help_heading = headings::OUTPUT)]
    pub json: bool,
}

// Format of a value.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("output", |output| output.default_value_if("yaml", "true", "yaml").conflicts_with("yaml")))]
pub(crate) struct ValueOutputArguments<F: OutputFormat = ValueFormat> {
    #[command(flatten)]
    pub output: OutputArguments<F>,

    /// Short for --output yaml
    #[arg(long, conflicts_with = "json", help_heading = headings::OUTPUT)]
    pub yaml: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    Text,
    Json,
}

impl OutputFormat for DocumentFormat {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValueFormat {
    Json,
    Yaml,
}

impl OutputFormat for ValueFormat {
    const DEFAULT: &'static str = "json";
}

/// Format of a value, or of an explanation, which is a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainedFormat {
    Json,
    Yaml,
    Text,
}

impl OutputFormat for ExplainedFormat {
    const DEFAULT: &'static str = "json";
}

impl ExplainedFormat {
    /// Makes text the default of `--explain`.
    pub(crate) fn or_text(output: Arg) -> Arg {
        let output = output.hide_default_value(true).default_value_if("explain", "true", "text");
        output.help("Format of the output [default: json; with --explain: text]")
    }

    /// Returns the error of a format that the output can't have.
    pub(crate) fn check(self, is_explanation: bool) -> Result<(), &'static str> {
        match (self, is_explanation) {
            (Self::Yaml, true) => Err("an explanation is text or JSON, not YAML"),
            (Self::Text, false) => Err("a value is JSON or YAML; only that of `--explain` is text"),
            _ => Ok(()),
        }
    }
}

/// Format of what is always JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JsonFormat {
    Json,
}

impl OutputFormat for JsonFormat {
    const DEFAULT: &'static str = "json";
}
