//! Options that the environment sets where the command line leaves them out.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use ccm_runtime::model::escape_control;

use super::parsers::{runs, wait};
use super::{Arguments, BackupCommand, CliCommand, InnerCommands, PlanCommand, StateArguments, TimerCommand};

/// Variable whose value is not a value of its option.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidVariable {
    pub name: &'static str,
    pub reason: String,
}

impl Arguments {
    /// Returns the arguments with the options of the environment. The command line wins. A variable for an
    /// option that the command does not take is not read. `variable` returns a variable that is not empty.
    pub(crate) fn with_environment(
        mut self,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, InvalidVariable> {
        if let Some(state) = self.command.state_arguments()
            && state.state_dir.is_none()
        {
            state.state_dir = variable("CCM_STATE_DIR").map(PathBuf::from);
            state.is_of_environment = true;
        }
        if let Some((lock_wait, keep_runs)) = self.command.run_arguments() {
            if lock_wait.is_none() {
                *lock_wait = read("CCM_LOCK_WAIT", &variable, wait)?;
            }
            if keep_runs.is_none() {
                *keep_runs = read("CCM_KEEP_RUNS", &variable, runs)?;
            }
        }
        Ok(self)
    }
}

impl CliCommand {
    /// Returns the time to wait for another run and the number of runs to keep, if the command takes them.
    fn run_arguments(&mut self) -> Option<(&mut Option<Duration>, &mut Option<usize>)> {
        match self {
            Self::Apply(apply) => Some((&mut apply.run.lock_wait, &mut apply.run.keep_runs)),
            Self::Ensure(ensure) => Some((&mut ensure.run.lock_wait, &mut ensure.run.keep_runs)),
            Self::Timer(InnerCommands(TimerCommand::Install(install))) => {
                Some((&mut install.apply.run.lock_wait, &mut install.apply.run.keep_runs))
            }
            _ => None,
        }
    }

    /// Returns the options of the state directory, if the command takes them.
    fn state_arguments(&mut self) -> Option<&mut StateArguments> {
        match self {
            Self::Apply(apply) => Some(&mut apply.run.state),
            Self::Ensure(ensure) => Some(&mut ensure.run.state),
            Self::Validate(validate) => Some(&mut validate.state),
            Self::History(history) => Some(&mut history.state),
            Self::Status(status) => Some(status.state_arguments()),
            Self::Pause(pause) => Some(&mut pause.state),
            Self::Approve(approve) => Some(&mut approve.state),
            Self::Plan(InnerCommands(PlanCommand::Show(show))) => Some(&mut show.state),
            Self::Plan(InnerCommands(PlanCommand::Diff(diff))) => Some(&mut diff.state),
            Self::Backup(InnerCommands(BackupCommand::List(list))) => Some(&mut list.state),
            Self::Backup(InnerCommands(BackupCommand::Restore(restore))) => Some(&mut restore.state),
            Self::Backup(InnerCommands(BackupCommand::Prune(prune))) => Some(&mut prune.state),
            Self::Timer(InnerCommands(TimerCommand::Install(install))) => Some(&mut install.apply.run.state),
            Self::Tool(tool) => Some(tool.0.state()),
            Self::Mcp(mcp) => Some(&mut mcp.state),
            #[cfg(feature = "archive")]
            Self::Source(InnerCommands(super::SourceCommand::List(list))) => Some(&mut list.state),
            #[cfg(feature = "archive")]
            Self::Source(InnerCommands(super::SourceCommand::Forget(forget))) => Some(&mut forget.state),
            #[cfg(feature = "archive")]
            Self::Source(InnerCommands(super::SourceCommand::Rewind(rewind))) => Some(&mut rewind.state),
            #[cfg(feature = "archive")]
            Self::Source(InnerCommands(super::SourceCommand::Receive(receive))) => Some(&mut receive.state),
            #[cfg(feature = "archive")]
            Self::Push(push) => Some(&mut push.state),
            #[cfg(feature = "archive")]
            Self::Release(_) => None,
            #[cfg(feature = "secrets")]
            Self::Secret(_) => None,
            Self::Timer(_)
            | Self::Session(_)
            | Self::Graph(_)
            | Self::Policy(_)
            | Self::Approvals(_)
            | Self::Audit(_)
            | Self::Check(_)
            | Self::Resource(_)
            | Self::Facts(_)
            | Self::Hiera(_)
            | Self::Eval(_)
            | Self::Explain(_)
            | Self::Schema(_)
            | Self::Init(_)
            | Self::Completions(_)
            | Self::Complete(_) => None,
        }
    }
}

/// Reads a variable with the parser of its option.
fn read<T>(
    name: &'static str,
    variable: impl Fn(&str) -> Option<OsString>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, InvalidVariable> {
    let read = |value: &OsStr| {
        let text = value.to_str().ok_or("its value is not UTF-8 text")?;
        parse(text).map_err(|reason| format!("invalid value '{}': {reason}", escape_control(text)))
    };
    let value = variable(name);
    value.map(|value| read(&value)).transpose().map_err(|reason| InvalidVariable { name, reason })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::Path;
    use std::time::Duration;

    use clap::Parser as _;

    use super::*;

    /// Returns the arguments of a command line and an environment.
    fn arguments(line: &str, environment: &[(&str, &str)]) -> Result<Arguments, InvalidVariable> {
        let arguments = Arguments::try_parse_from(line.split(' ')).expect("a valid command line");
        let value = |name: &str| environment.iter().find(|(other, _)| *other == name).map(|(_, value)| value);
        arguments.with_environment(|name| value(name).map(OsString::from))
    }

    #[test]
    fn the_environment_sets_what_the_command_line_leaves_out() {
        let environment = [("CCM_STATE_DIR", "/env"), ("CCM_LOCK_WAIT", "5m"), ("CCM_KEEP_RUNS", "7")];
        for (options, environment, state_dir, lock_wait, keep_runs) in [
            ("", &[][..], None, None, None),
            ("", &environment[..], Some("/env"), Some(300), Some(7)),
            (" --state-dir /line", &environment[..], Some("/line"), Some(300), Some(7)),
            (" --lock-wait 0", &environment[..], Some("/env"), Some(0), Some(7)),
            (" --keep-runs 0", &environment[..], Some("/env"), Some(300), Some(0)),
        ] {
            let found =
                arguments(&format!("ccm apply site.yaml{options}"), environment).expect("valid variables");
            let CliCommand::Apply(apply) = found.command else { panic!("apply") };
            assert_eq!(apply.run.state.state_dir.as_deref(), state_dir.map(Path::new), "{options}");
            assert_eq!(apply.run.lock_wait, lock_wait.map(Duration::from_secs), "{options}");
            assert_eq!(apply.run.keep_runs, keep_runs, "{options}");
        }
    }

    #[test]
    fn every_command_with_a_state_directory_takes_that_of_the_environment() {
        for (line, takes) in [
            ("apply m.yaml", true),
            ("ensure file /x", true),
            ("session report", false),
            ("history", true),
            ("status", true),
            ("pause", true),
            ("plan show web.plan", true),
            ("plan diff web.plan", true),
            ("approve 7K3F", true),
            ("backup list", true),
            ("backup restore /etc/motd", true),
            ("backup prune --keep 1", true),
            ("timer install m.yaml", true),
            ("timer list", false),
            ("timer remove site", false),
            #[cfg(feature = "archive")]
            ("source list", true),
            #[cfg(feature = "archive")]
            ("source forget base", true),
            #[cfg(feature = "archive")]
            ("source rewind base --forward", true),
            #[cfg(feature = "archive")]
            ("source receive", true),
            #[cfg(feature = "archive")]
            ("push web1 m.yaml", true),
            ("validate m.yaml", true),
            ("graph m.yaml", false),
            ("check goss.yaml", false),
            ("facts", false),
            ("hiera parse", false),
            ("eval 1", false),
            ("explain", false),
            ("schema", false),
            ("init", false),
            ("completions bash", false),
            ("__complete bash", false),
        ] {
            let environment = [("CCM_STATE_DIR", "/env")];
            let mut found = arguments(&format!("ccm {line}"), &environment).expect("valid variables");
            let state_dir = found.command.state_arguments().and_then(|state| state.state_dir.clone());
            assert_eq!(state_dir, takes.then(|| PathBuf::from("/env")), "{line}");
        }
    }

    #[test]
    fn an_invalid_value_is_reported_with_its_variable() {
        for (line, variable, value, reason) in [
            ("apply m.yaml", "CCM_LOCK_WAIT", "30", Some("no unit")),
            ("apply m.yaml", "CCM_LOCK_WAIT", "\u{1b}[2J", Some("'\\u{1b}[2J'")),
            ("apply m.yaml", "CCM_KEEP_RUNS", "many", Some("number of runs")),
            ("apply m.yaml", "CCM_KEEP_RUNS", "-1", Some("number of runs")),
            ("timer install m.yaml", "CCM_LOCK_WAIT", "30", Some("no unit")),
            ("timer install m.yaml", "CCM_KEEP_RUNS", "many", Some("number of runs")),
            ("timer install m.yaml --keep-runs 3", "CCM_KEEP_RUNS", "many", None),
            ("timer list", "CCM_KEEP_RUNS", "many", None),
            ("apply m.yaml --keep-runs 3", "CCM_KEEP_RUNS", "many", None),
            ("apply m.yaml --lock-wait 3s", "CCM_LOCK_WAIT", "30", None),
            ("history", "CCM_KEEP_RUNS", "many", None),
        ] {
            let found = arguments(&format!("ccm {line}"), &[(variable, value)]).err();
            assert_eq!(found.as_ref().map(|error| error.name), reason.map(|_| variable), "{line} {value}");
            let shown = found.map(|error| error.reason).unwrap_or_default();
            assert!(shown.contains(reason.unwrap_or_default()), "{line} {value}: {shown}");
        }
    }

    #[test]
    fn a_value_that_is_not_text_is_a_path_or_an_error() {
        let arguments =
            || Arguments::try_parse_from(["ccm", "apply", "m.yaml"]).expect("a valid command line");
        let not_text = |only: &'static str| {
            move |name: &str| (name == only).then(|| OsString::from_vec(b"/\xff".to_vec()))
        };
        assert!(arguments().with_environment(not_text("CCM_STATE_DIR")).is_ok());
        let error = arguments().with_environment(not_text("CCM_LOCK_WAIT")).err();
        let expected =
            InvalidVariable { name: "CCM_LOCK_WAIT", reason: "its value is not UTF-8 text".to_owned() };
        assert_eq!(error, Some(expected));
    }
}
