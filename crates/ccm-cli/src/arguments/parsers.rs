//! Parsers of the values of options.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use ccm_runtime::model::{ReferenceError, ResourceId, is_variable_name, parse_duration, parse_size};
#[cfg(feature = "archive")]
use ccm_runtime::release::ChannelName;
use ccm_runtime::{MAX_PAUSE, assignment};
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Error};

/// Maximum time for which a signature counts.
const MAX_LIFETIME: Duration = Duration::from_secs(366 * 24 * 3600);

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(duration) if duration.is_zero() => {
            Err("--timeout must be longer than 0; leave it out for no limit".to_owned())
        }
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("{error}; {}", error.hint())),
    }
}

/// Reads the time limit of a call of a tool.
pub(crate) fn call_timeout(text: &str) -> Result<Duration, String> {
    match wait(text)? {
        duration if duration < Duration::from_millis(1) => {
            Err("a call takes at least 1ms; leave out `--timeout` for the usual limit".to_owned())
        }
        duration => Ok(duration),
    }
}

/// Reads the time limit of a client.
pub(crate) fn client_timeout(text: &str) -> Result<Duration, String> {
    match wait(text)? {
        duration if duration.is_zero() => Err("a client needs more than 0s".to_owned()),
        duration => Ok(duration),
    }
}

/// Reads the number of a process.
pub(crate) fn process_number(text: &str) -> Result<i64, String> {
    let number = text.parse::<i32>().ok().filter(|number| *number > 0);
    number.map(i64::from).ok_or_else(|| "expected the number of a process, such as 4711".to_owned())
}

/// Reads a time to wait, which may be 0.
pub(crate) fn wait(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| format!("{error}; {}", error.hint()))
}

/// Reads the time for which a signature counts.
pub(crate) fn lifetime(text: &str) -> Result<Duration, String> {
    match wait(text)? {
        duration if duration.is_zero() => Err("an approval counts for more than 0s".to_owned()),
        duration if duration > MAX_LIFETIME => Err("an approval counts for at most 366d".to_owned()),
        duration => Ok(duration),
    }
}

/// Reads the name of a channel.
#[cfg(feature = "archive")]
pub(crate) fn channel(text: &str) -> Result<ChannelName, String> {
    ChannelName::parse(text).map_err(|error| error.to_string())
}

/// Reads the duration of a pause.
pub(crate) fn pause(text: &str) -> Result<Duration, String> {
    match wait(text)? {
        duration if duration.is_zero() => Err("a pause takes more than 0s; `--end` ends it".to_owned()),
        duration if duration > MAX_PAUSE => {
            Err("a pause takes at most 90d; begin it again to extend it".to_owned())
        }
        duration => Ok(duration),
    }
}

/// Reads `KEY=VALUE` as it is. Any other text is not shown, because it may be a secret whose key was
/// forgotten.
#[derive(Clone, Debug)]
pub(crate) struct AssignmentParser;

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

/// Reads the path of the events file. `--output` is the option for standard output.
pub(crate) fn events_file(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("expected the path of a file; for standard output, write `--output jsonl`".to_owned()),
        "" => Err("expected the path of a file".to_owned()),
        path => Ok(PathBuf::from(path)),
    }
}

/// Reads the prefix of the names of variables.
pub(crate) fn variable_name(text: &str) -> Result<String, String> {
    if is_variable_name(text) {
        Ok(text.to_owned())
    } else {
        Err("use letters, digits and `_`, and don't begin with a digit".to_owned())
    }
}

/// Reads a variable and its value.
pub(crate) fn assignment_of_variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write `KEY=VALUE`")?;
    Ok((variable_name(name)?, value.to_owned()))
}

pub(crate) fn reference(text: &str) -> Result<ResourceId, String> {
    ResourceId::parse(text).map_err(|error| {
        if !matches!(error, ReferenceError::NoSeparator(_)) {
            return error.to_string();
        }
        // As Puppet writes it.
        if let Some((kind, name)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            return format!("{error}; write `{}#{name}`", kind.to_lowercase());
        }
        match text.split_once([':', '=', ' ']) {
            _ if text.starts_with('/') => format!("{error}; write `file#{text}`"),
            Some((kind, name)) if !kind.is_empty() && !name.is_empty() => {
                format!("{error}; write `{kind}#{name}`")
            }
            _ if !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                format!("{error}, such as `exec#{text}`")
            }
            _ => format!("{error}, such as `file#/etc/motd`"),
        }
    })
}

/// Reads a number of recorded runs.
pub(crate) fn runs(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a number of runs, such as 50".to_owned())
}

/// Reads a size, which is not 0.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let size = parse_size(text).filter(|size| *size > 0);
    size.ok_or_else(|| "write a size such as 64MiB, 512K or 1048576; K is 1000 bytes, Ki is 1024".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_an_invalid_timeout_is_a_valid_one() {
        let too_long = "`600w` is longer than ten years; write a shorter one, such as `7d`";
        assert_eq!(duration("600w"), Err(too_long.to_owned()));
        assert_eq!(wait("600w"), Err(too_long.to_owned()));
        assert!(duration("7d").is_ok());
        let zero = "--timeout must be longer than 0; leave it out for no limit";
        assert_eq!(duration("0"), Err(zero.to_owned()));
    }

    #[test]
    fn a_pause_is_neither_nothing_nor_for_ever() {
        for (text, is_valid) in [
            ("1s", true),
            ("2h", true),
            ("90d", true),
            ("0", false),
            ("0s", false),
            ("91d", false),
            ("2", false),
        ] {
            assert_eq!(pause(text).is_ok(), is_valid, "{text}");
        }
    }
}
