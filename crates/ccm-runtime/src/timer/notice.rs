//! Notice of a service that failed, for the commands that `on_failure` names.

use std::fmt;
use std::time::Duration;

use ccm_host::{Cancellation, CapturedOutput, Command, CommandOrigin, Commands, Exit, Role, variable};
use ccm_model::escape_json;
use ccm_resources::systemd::SummaryFormat;
use serde_json::json;

use super::{TimerError, Timers, UnitScope};

/// Maximum number of lines of output in a notice.
const MAX_LINES: &str = "40";
/// Maximum length of the output in a notice, in bytes.
const MAX_OUTPUT: usize = 64 << 10;
/// Time limit of a call of journalctl.
const JOURNAL_LIMIT: Duration = Duration::from_secs(20);
/// Time limit of the command that gets the notice.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Notice of a service that failed. [`Display`](fmt::Display) writes its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureNotice {
    /// Name of the unit.
    pub unit: String,
    /// Name of the machine.
    pub host: String,
    /// End of the service in words; `None` if nothing failed, and the notice is a test.
    pub end: Option<String>,
    /// Last lines of the output of the service, or the reason why they can't be read.
    pub output: Result<String, String>,
    scope: UnitScope,
}

/// Reason why a command did not take a notice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{program}` did not take the notice: {reason}")]
pub struct NotifyError {
    /// The program as it was given.
    pub program: String,
    /// Reason.
    pub reason: String,
}

impl FailureNotice {
    /// Returns the notice in a form for programs.
    pub fn text(&self, format: SummaryFormat) -> String {
        match format {
            SummaryFormat::Text => self.to_string(),
            SummaryFormat::Json => {
                format!("{}\n", escape_json(&json!({ "text": self.to_string() }).to_string()))
            }
        }
    }
}

impl fmt::Display for FailureNotice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unit, host, end, output, scope } = self;
        match end {
            Some(end) => writeln!(formatter, "{unit} failed on {host}: {end}\n")?,
            None => writeln!(formatter, "{unit} on {host}: a test of this notice\n")?,
        }
        match output {
            Ok(output) if output.trim().is_empty() => writeln!(formatter, "It printed nothing.")?,
            Ok(output) => writeln!(formatter, "{}", output.trim_end())?,
            Err(reason) => writeln!(formatter, "Its output can't be read: {reason}")?,
        }
        let option = if *scope == UnitScope::User { "--user " } else { "" };
        writeln!(formatter, "\nAll of it: journalctl {option}-u {unit}")
    }
}

impl Timers<'_> {
    /// Builds the notice of a service from what systemd tells the commands that run after it. `None` if the service
    /// succeeded.
    pub async fn failure_notice(&self, unit: &str) -> Result<Option<FailureNotice>, TimerError> {
        let end = match variable("SERVICE_RESULT") {
            Some(result) if result == "success" => return Ok(None),
            Some(result) => {
                let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
                let result = result.to_string_lossy();
                Some(end_in_words(&result, text("EXIT_CODE").as_deref(), text("EXIT_STATUS").as_deref()))
            }
            None => None,
        };
        let commands =
            self.session.doors.commands(&self.session.secrets, self.session.launcher.as_deref())?;
        Ok(Some(FailureNotice {
            unit: unit.to_owned(),
            host: self.session.doors.machine.kernel().hostname,
            end,
            output: self.last_output(unit, commands).await,
            scope: self.scope,
        }))
    }

    /// Hands a notice to a command, on its standard input.
    pub async fn notify(&self, notice: String, words: &[String]) -> Result<(), NotifyError> {
        let program = words.first().cloned().unwrap_or_default();
        let refuse = |reason: String| NotifyError { program: program.clone(), reason };
        let commands = self.session.doors.commands(&self.session.secrets, self.session.launcher.as_deref());
        let commands = commands.map_err(|error| refuse(error.to_string()))?;
        let call = Call { words, stdin: Some(notice), role: Role::Command, limit: COMMAND_LIMIT };
        call.run(commands).await.map(drop).map_err(refuse)
    }

    /// Returns the last lines that the service printed in its present run.
    async fn last_output(&self, unit: &str, commands: &dyn Commands) -> Result<String, String> {
        let mut words = ["journalctl", "--quiet", "--no-pager", "--output=cat", "--lines", MAX_LINES]
            .map(str::to_owned)
            .to_vec();
        if let Some(id) = variable("INVOCATION_ID").and_then(|id| id.into_string().ok()) {
            let option = if self.scope == UnitScope::User { "--user" } else { "--system" };
            words.extend([option.to_owned(), format!("_SYSTEMD_INVOCATION_ID={id}")]);
            // The last lines may be on their way. The journal of a user is synced by nobody else.
            let sync = ["journalctl", "--sync"].map(str::to_owned);
            let sync = Call { words: &sync, stdin: None, role: Role::Query, limit: JOURNAL_LIMIT };
            let _synced = sync.run(commands).await;
        } else {
            let option = if self.scope == UnitScope::User { "--user-unit" } else { "--unit" };
            words.extend([option.to_owned(), unit.to_owned()]);
        }
        let call = Call { words: &words, stdin: None, role: Role::Query, limit: JOURNAL_LIMIT };
        let printed = call.run(commands).await?;
        let bytes = [&*printed.head, &*printed.tail].concat();
        let beginning = bytes.len().saturating_sub(MAX_OUTPUT);
        Ok(String::from_utf8_lossy(&bytes[beginning..]).into_owned())
    }
}

/// Call of a program.
struct Call<'c> {
    words: &'c [String],
    stdin: Option<String>,
    role: Role,
    limit: Duration,
}

impl Call<'_> {
    /// Runs the program, and returns its output.
    async fn run(self, commands: &dyn Commands) -> Result<CapturedOutput, String> {
        let Self { words, stdin, role, limit } = self;
        let (name, arguments) = words.split_first().ok_or("no program is named")?;
        let program = commands.find_helper(name).map_err(|error| error.to_string())?;
        let command = Command {
            called_as: Some(name.clone()),
            args: arguments.iter().map(Into::into).collect(),
            environment: commands.base_environment(),
            stdin: stdin.map(Into::into),
            timeout: Some(limit),
            origin: CommandOrigin::Ccm,
            role,
            ..Command::new(program)
        };
        let finished = commands.run(&command, &Cancellation::never(), &mut |_, _| {}).await;
        let finished = finished.map_err(|error| error.to_string())?;
        if finished.exit == Exit::Code(0) {
            return Ok(finished.stdout);
        }
        let end = match finished.exit.code("the command") {
            Ok(code) => format!("exit code {code}"),
            Err(failure) => failure.one_line(),
        };
        let printed = String::from_utf8_lossy(&finished.stderr.head).into_owned();
        let line = printed.lines().rev().map(str::trim).find(|line| !line.is_empty());
        Err(line.map_or_else(|| end.clone(), |line| format!("{end}: {line}")))
    }
}

/// Returns the end of a service in words. systemd has words for its result, and for how its process ended.
fn end_in_words(result: &str, code: Option<&str>, status: Option<&str>) -> String {
    match (result, code, status) {
        ("exit-code", _, Some(status)) => format!("exit code {status}"),
        ("signal" | "core-dump", _, Some(signal)) => format!("ended by SIG{signal}"),
        ("timeout", ..) => "it took too long".to_owned(),
        ("oom-kill", ..) => "the machine had no memory left for it".to_owned(),
        ("start-limit-hit", ..) => "it failed too often".to_owned(),
        (result, ..) => result.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_service_has_words() {
        for (result, code, status, expected) in [
            ("exit-code", Some("exited"), Some("1"), "exit code 1"),
            ("exit-code", None, None, "exit-code"),
            ("signal", Some("killed"), Some("KILL"), "ended by SIGKILL"),
            ("core-dump", Some("dumped"), Some("SEGV"), "ended by SIGSEGV"),
            ("timeout", Some("killed"), Some("TERM"), "it took too long"),
            ("resources", None, None, "resources"),
        ] {
            assert_eq!(end_in_words(result, code, status), expected, "{result}");
        }
    }

    #[test]
    fn a_notice_is_text_or_json() {
        let notice = FailureNotice {
            unit: "backup.service".to_owned(),
            host: "web1".to_owned(),
            end: Some("exit code 1".to_owned()),
            output: Ok("disk \"a\" is full\n".to_owned()),
            scope: UnitScope::System,
        };
        let expected = "backup.service failed on web1: exit code 1\n\ndisk \"a\" is full\n\nAll of it: journalctl -u backup.service\n";
        assert_eq!(notice.text(SummaryFormat::Text), expected);
        let json: serde_json::Value =
            serde_json::from_str(&notice.text(SummaryFormat::Json)).expect("an object");
        assert_eq!(json, json!({ "text": expected }));
        let unread = FailureNotice {
            end: None,
            output: Err("no journal".to_owned()),
            scope: UnitScope::User,
            ..notice
        };
        let expected = "backup.service on web1: a test of this notice\n\nIts output can't be read: no journal\n\n\
                        All of it: journalctl --user -u backup.service\n";
        assert_eq!(unread.text(SummaryFormat::Text), expected);
    }
}
