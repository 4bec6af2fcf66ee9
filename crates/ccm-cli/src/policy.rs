//! `ccm policy`: checks, shows and tests policies, and judges commands without running them.

mod explanation;
mod overview;

use std::io::BufRead as _;
use std::sync::Arc;

use ccm_runtime::policy::{
    Caller, ExplainOptions, ExplainedCommand, JudgedText, Policy, PolicyError, PolicyVerdict, ShellDialect,
    VerdictTestError, policy_schema,
};
use ccm_runtime::{ApproversError, CheckedPolicy, ExitCode, Findings, Session, approvers_hint};

use crate::arguments::{
    PolicyCheckArguments, PolicyCommand, PolicyExplainArguments, PolicyFileArguments, PolicyPlaceArguments,
    PolicyShowArguments, PolicyTestArguments,
};
use crate::console::Console;
use crate::{diagnostics, manifest, session};

/// `ccm policy`.
pub(crate) fn run(command: &PolicyCommand, console: &Console) -> ExitCode {
    let session = session::open(console);
    let done = match command {
        PolicyCommand::Check(arguments) => check(arguments, console, &session),
        PolicyCommand::Show(arguments) => show(arguments, console, &session),
        PolicyCommand::Test(arguments) => test(arguments, console, &session),
        PolicyCommand::Explain(arguments) => explain(arguments, console, &session),
        PolicyCommand::Schema => Ok(console.print(&format!("{:#}\n", policy_schema()))),
    };
    done.unwrap_or_else(|code| code)
}

/// Reports why a policy can't be used.
pub(crate) fn report_policy_error(console: &Console, error: &PolicyError, consequence: &str) -> ExitCode {
    match error {
        PolicyError::Errors(errors) => {
            diagnostics::print(console, errors);
            let consequence = if consequence.is_empty() { String::new() } else { format!("; {consequence}") };
            console.error(&format!("{errors} in the policy{consequence}"), &[], &[]);
        }
        PolicyError::Text(error) => {
            manifest::report_text_error(console, error);
        }
        error => {
            let hint = "the policy decides what root runs, so its files and the directories above have to belong to \
                        root, be writable by nobody else, and be no links";
            console.error_of(error, consequence, &[hint.to_owned()]);
        }
    }
    ExitCode::NothingRun
}

/// Returns the named policy, or else that of this machine; `None` if it has none.
fn read(
    arguments: &PolicyFileArguments,
    console: &Console,
    session: &Session,
) -> Result<Option<CheckedPolicy>, ExitCode> {
    let report = |error: &PolicyError| report_policy_error(console, error, "");
    match &arguments.policy {
        Some(path) => session.read_policy(path).map(Some).map_err(|error| report(&error)),
        None => session
            .policy()
            .map_or_else(|error: Arc<PolicyError>| Err(report(&error)), |found| Ok(found.cloned())),
    }
}

/// Returns the policy, or the standard guard.
fn policy_or_standard(
    arguments: &PolicyFileArguments,
    console: &Console,
    session: &Session,
) -> Result<Policy, ExitCode> {
    Ok(read(arguments, console, session)?.map(|checked| checked.policy).unwrap_or_default())
}

fn check(
    arguments: &PolicyCheckArguments,
    console: &Console,
    session: &Session,
) -> Result<ExitCode, ExitCode> {
    let Some(CheckedPolicy { policy, files, warnings }) = read(&arguments.file, console, session)? else {
        let hints = ["write /etc/ccm/policy.yaml, or name a file with `--policy`".to_owned()];
        console.error("this machine has no policy", &[], &hints);
        return Err(ExitCode::NothingRun);
    };
    diagnostics::print(console, &warnings);
    let conflicts = Findings { diagnostics: policy.conflicts(), texts: policy.texts().clone() };
    diagnostics::print(console, &conflicts);
    let rules = match policy.rules().len() {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    };
    if arguments.file.policy.is_none() {
        check_approvers(&policy, console, session)?;
    }
    Ok(console.print(&format!("{} is valid: {rules}\n", files.join(", "))))
}

/// Reports errors of the file of approvers. Without the file, nobody can approve, and what asks is refused.
fn check_approvers(policy: &Policy, console: &Console, session: &Session) -> Result<(), ExitCode> {
    let approvers = match session.approvers() {
        Ok(approvers) => approvers,
        Err(error @ (ApproversError::Missing { .. } | ApproversError::Empty { .. })) => {
            console.warning(&format!("{error}: nobody can approve"));
            console.hint(&approvers_hint(&error));
            return Ok(());
        }
        Err(error) => {
            console.error_of(&error, "nobody can approve", &[approvers_hint(&error)]);
            return Err(ExitCode::NothingRun);
        }
    };
    for (group, members) in &policy.approval().groups {
        let is_known = |name: &&String| approvers.signers().signers.iter().any(|line| line.names(name));
        for name in members.iter().filter(|name| !is_known(name)) {
            let path = approvers.path().display();
            console.warning(&format!("{name} of group {group} has no key in {path}"));
            console.hint(&format!("add a line for {name} to {path}, or remove the name from the group"));
        }
    }
    Ok(())
}

fn show(arguments: &PolicyShowArguments, console: &Console, session: &Session) -> Result<ExitCode, ExitCode> {
    let checked = read(&arguments.file, console, session)?;
    Ok(console.print(&overview::text(checked.as_ref(), arguments.classes)))
}

fn test(arguments: &PolicyTestArguments, console: &Console, session: &Session) -> Result<ExitCode, ExitCode> {
    let policy = policy_or_standard(&arguments.file, console, session)?;
    let tests = session.read_verdict_tests(&arguments.tests).map_err(|error| {
        match &error {
            VerdictTestError::Text(error) => {
                manifest::report_text_error(console, error);
            }
            VerdictTestError::Errors(errors) => {
                diagnostics::print(console, errors);
                console.error(&format!("{errors} in {}", arguments.tests.display()), &[], &[]);
            }
            error => console.error_of(error, "", &[]),
        }
        ExitCode::NothingRun
    })?;
    let mut failed = 0;
    let mut text = String::new();
    for test in &tests {
        let options = options(&arguments.place, test.caller);
        let command = JudgedText::Shell(test.command.clone(), ShellDialect::Sh);
        let explained = session.explain_command(&policy, command, &options);
        let verdict = explained.decision.verdict;
        if verdict != test.expected {
            failed += 1;
            let (found, expected) = (verdict.name(), test.expected.name());
            text += &format!("{}:{}: {found} instead of {expected}\n", arguments.tests.display(), test.line);
            text += &explanation::text(&policy, &explained);
        }
    }
    let total = tests.len();
    text += &match failed {
        0 => format!("{total} of {total} verdicts are as expected\n"),
        failed => format!("{failed} of {total} verdicts are not as expected\n"),
    };
    let printed = console.print(&text);
    Ok(if failed == 0 { printed } else { ExitCode::NothingRun })
}

fn options(place: &PolicyPlaceArguments, caller: Caller) -> ExplainOptions {
    ExplainOptions {
        caller: Some(caller),
        workspace: place.workspace.clone(),
        restrict: place.restrict,
        directory: place.cwd.clone(),
        home: place.home.clone(),
        user: place.user.clone(),
    }
}

fn explain(
    arguments: &PolicyExplainArguments,
    console: &Console,
    session: &Session,
) -> Result<ExitCode, ExitCode> {
    let policy = policy_or_standard(&arguments.file, console, session)?;
    let options = options(&arguments.place, arguments.caller.into());
    if arguments.batch {
        return batch(arguments, console, session, &policy, &options);
    }
    let dialect = arguments.dialect.into();
    let command = match (&arguments.shell, &*arguments.command) {
        (Some(text), _) | (None, [text]) => JudgedText::Shell(text.clone(), dialect),
        (None, words) => JudgedText::Words(words.to_vec()),
    };
    let explained = session.explain_command(&policy, command, &options);
    let text = if arguments.json {
        format!("{:#}\n", explained.json(&policy))
    } else {
        explanation::text(&policy, &explained)
    };
    let printed = console.print(&text);
    Ok(if printed == ExitCode::Success { code(&explained) } else { printed })
}

fn code(explained: &ExplainedCommand) -> ExitCode {
    match explained.decision.verdict {
        _ if explained.decision.is_allowed() => ExitCode::Success,
        PolicyVerdict::Deny => ExitCode::Denied,
        _ => ExitCode::ApprovalRequired,
    }
}

/// Judges a text per line. A line that is no JSON string is reported in its place.
fn batch(
    arguments: &PolicyExplainArguments,
    console: &Console,
    session: &Session,
    policy: &Policy,
    options: &ExplainOptions,
) -> Result<ExitCode, ExitCode> {
    let mut result = ExitCode::Success;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| {
            console.error("standard input can't be read", &[error.to_string()], &[]);
            ExitCode::NothingRun
        })?;
        let document = match serde_json::from_str::<String>(&line) {
            Ok(text) => {
                let command = JudgedText::Shell(text, arguments.dialect.into());
                session.explain_command(policy, command, options).json(policy)
            }
            Err(error) => {
                result = ExitCode::NothingRun;
                serde_json::json!({ "verdict": "deny", "error": format!("not a JSON string: {error}"), "commands": [] })
            }
        };
        let printed = console.print(&format!("{document}\n"));
        if printed != ExitCode::Success {
            return Err(printed);
        }
    }
    Ok(result)
}
