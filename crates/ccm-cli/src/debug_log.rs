//! Debug messages on standard error, which `-vv` or the variable `CCM_LOG` turns on.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use ccm_runtime::Secrets;
use ccm_runtime::model::escape_control;
use ccm_runtime::process::{Clock as _, SystemClock, variable};
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry;

use crate::console::Console;
use crate::error_output::ErrorOutput;

/// Variable with the filter of messages.
const VARIABLE: &str = "CCM_LOG";

/// Turns on the messages that the environment or the command line asks for. `CCM_LOG` wins over `-vv`. An
/// invalid filter is ignored with a warning: a debugging aid must not keep a machine from its desired state.
pub(crate) fn install(verbose: u8, console: &Console) {
    let chosen = match filter_of_environment() {
        Ok(chosen) => chosen,
        Err(reason) => {
            console.warning(&format!("{VARIABLE} is ignored: {reason}"));
            None
        }
    };
    let by_default = || (verbose > 1).then(|| Targets::new().with_target("ccm", LevelFilter::DEBUG));
    if let Some(targets) = chosen.or_else(by_default) {
        write_messages(targets, console);
    }
}

fn filter_of_environment() -> Result<Option<Targets>, String> {
    let Some(value) = variable(VARIABLE) else { return Ok(None) };
    filter(value.to_str().ok_or("it is not UTF-8 text")?)
}

/// Parses a filter: levels and `TARGET=LEVEL`, separated by commas. An empty filter is `None`.
fn filter(text: &str) -> Result<Option<Targets>, String> {
    let mut all = None;
    for directive in text.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let (target, level) = match (directive.split_once('='), level(directive)) {
            (Some((target, text)), _) => (Some(target), level(text)),
            // A part of ccm without a level means all its messages.
            (None, None) => (Some(directive), Some(LevelFilter::TRACE)),
            (None, level) => (None, level),
        };
        let targets: Targets = all.unwrap_or_default();
        all = Some(match (target, level) {
            (None, Some(level)) => targets.with_default(level),
            (Some(target), Some(level)) if is_part_of_ccm(target) => targets.with_target(target, level),
            _ => {
                return Err(format!(
                    "`{directive}` is neither a level (off, error, warn, info, debug, trace) nor a part of ccm with a \
                     level, such as `ccm_engine=debug`"
                ));
            }
        });
    }
    Ok(all)
}

fn level(text: &str) -> Option<LevelFilter> {
    // The library takes an empty text for a level.
    text.parse().ok().filter(|_| !text.is_empty())
}

/// Returns `true` for the path of a module of ccm, or the beginning of such a path.
fn is_part_of_ccm(target: &str) -> bool {
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
    target.starts_with("ccm") && target.bytes().all(is_path)
}

fn write_messages(targets: Targets, console: &Console) {
    let levels = targets.iter().map(|(_, level)| level).chain(targets.default_level());
    let Some(most) = levels.max().filter(|most| *most > LevelFilter::OFF) else { return };
    // A message keeps its spans, whichever part of ccm created them.
    let is_enabled = move |metadata: &Metadata<'_>| {
        metadata.is_span() || targets.would_enable(metadata.target(), metadata.level())
    };
    let (output, secrets) = (console.error_output().clone(), console.secrets().clone());
    let messages = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_ansi_sanitization(false)
        .with_timer(Elapsed::new())
        .with_writer(move || DebugMessage {
            bytes: Vec::new(),
            output: output.clone(),
            secrets: secrets.clone(),
        });
    let filter = filter_fn(is_enabled).with_max_level_hint(most.max(LevelFilter::DEBUG));
    // No other subscriber is ever set, so setting this one can't fail.
    let _ = tracing::subscriber::set_global_default(registry().with(filter).with(messages));
}

/// Returns `true` if debug messages are written.
pub(crate) fn is_on() -> bool {
    LevelFilter::current() > LevelFilter::OFF
}

/// The time since ccm started.
struct Elapsed {
    clock: SystemClock,
    start: Duration,
}

impl Elapsed {
    fn new() -> Self {
        let clock = SystemClock::new();
        Self { start: clock.monotonic(), clock }
    }
}

impl FormatTime for Elapsed {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let elapsed = self.clock.monotonic().saturating_sub(self.start);
        write!(writer, "{:8.3}s", elapsed.as_secs_f64())
    }
}

/// A message. It is redacted and written as a whole when it is dropped, because a secret may span the pieces
/// in which it was formatted.
struct DebugMessage {
    bytes: Vec<u8>,
    output: ErrorOutput,
    secrets: Secrets,
}

impl DebugMessage {
    /// Returns the message as one line, without secrets and terminal control characters.
    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = self.secrets.redact(text.trim_end_matches('\n'));
        format!("{}\n", escape_control(&text))
    }
}

impl Write for DebugMessage {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for DebugMessage {
    fn drop(&mut self) {
        self.output.write(self.text().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pieces: &[&str]) -> String {
        let secrets = Secrets::new();
        secrets.add(["hunter22"]);
        let bytes = pieces.concat().into_bytes();
        let line = DebugMessage { bytes, output: ErrorOutput::default(), secrets };
        let text = line.text();
        // Dropping the message would write it.
        std::mem::forget(line);
        text
    }

    #[test]
    fn a_message_is_one_line_without_secrets() {
        for (pieces, expected) in [
            (&["DEBUG read\n"][..], "DEBUG read\n"),
            (&["DEBUG read hun", "ter22\n"], "DEBUG read [redacted]\n"),
            (&["DEBUG a\nb\u{1b}[31m\n"], "DEBUG a\\nb\\u{1b}[31m\n"),
        ] {
            assert_eq!(line(pieces), expected);
        }
    }

    #[test]
    fn a_filter_names_levels_and_parts_of_ccm() {
        let enables = |text: &str, target: &str| {
            let targets = filter(text).expect("a filter").expect("not empty");
            targets.would_enable(target, &tracing::Level::DEBUG)
        };
        for (text, engine, host) in [
            ("debug", true, true),
            ("TRACE", true, true),
            ("info", false, false),
            ("off", false, false),
            ("ccm_engine=debug", true, false),
            ("ccm_engine", true, false),
            ("debug, ccm_host=off ,", true, false),
            ("ccm_host::command=trace", false, true),
            ("ccm=debug", true, true),
        ] {
            assert_eq!(enables(text, "ccm_engine::walk"), engine, "{text}");
            assert_eq!(enables(text, "ccm_host::command::trace"), host, "{text}");
        }
        for empty in ["", " ", ","] {
            assert!(filter(empty).expect("a filter").is_none(), "{empty:?}");
        }
    }

    #[test]
    fn a_filter_that_can_not_be_read_is_named() {
        for (text, wrong) in [
            ("debgu", "debgu"),
            ("debug,ccm_engine=lots", "ccm_engine=lots"),
            ("hyper=debug", "hyper=debug"),
            ("ccm_engine[{id}]=debug", "ccm_engine[{id}]=debug"),
            ("=debug", "=debug"),
            ("ccm_engine=", "ccm_engine="),
            ("ccm_engine=debug=trace", "ccm_engine=debug=trace"),
        ] {
            let error = filter(text).expect_err("no filter");
            assert!(error.starts_with(&format!("`{wrong}` is neither a level")), "{text}: {error}");
        }
    }
}
