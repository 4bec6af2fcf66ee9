//! `ccm policy`: checks, shows and tests policies, and judges commands without running them.

mod explanation;
mod overview;

use std::io::BufRead as _;
use std::sync::Arc;

use ccm_runtime::approval::{ApproversError, approvers_hint, unmet_demand};
use ccm_runtime::policy::{
    ApprovalNeed, Caller, ExplainOptions, ExplainedCommand, JudgedText, Policy, PolicyError, PolicyVerdict,
    ShellDialect, VerdictTestError, approval_demands, policy_schema,
};
use ccm_runtime::{CheckedPolicy, ExitCode, Finding, Findings, Session, printed};
use serde_json::json;

use crate::arguments::{
    DocumentFormat, PolicyCheckArguments, PolicyCommand, PolicyExplainArguments, PolicyFileArguments,
    PolicyPlaceArguments, PolicyShowArguments, PolicyTestArguments,
};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

/// `ccm policy`.
pub(crate) fn run(command: &PolicyCommand, console: &Console) -> CommandResult {
    let session = session::open(console);
    match command {
        PolicyCommand::Check(arguments) => check(arguments, console, &session),
        PolicyCommand::Show(arguments) => show(arguments, console, &session),
        PolicyCommand::Test(arguments) => test(arguments, console, &session),
        PolicyCommand::Explain(arguments) => explain(arguments, console, &session),
        PolicyCommand::Schema(_) => console.print(&format!("{:#}\n", policy_schema())),
    }
}

impl From<&PolicyError> for CommandError {
    fn from(error: &PolicyError) -> Self {
        policy_error(error, "")
    }
}

/// Returns the reason why a policy can't be used, with what it leads to.
pub(crate) fn policy_error(error: &PolicyError, consequence: &str) -> CommandError {
    let found = match error {
        PolicyError::Errors(errors) => {
            CommandError::located(errors).with_message(format!("{errors} in the policy"))
        }
        PolicyError::Text(error) => return error.into(),
        PolicyError::NotRead(_) => CommandError::of(error).hint("rename the file"),
        PolicyError::WithoutMain(_) => CommandError::of(error)
            .hint("write its content to policy.yaml beside policy.d, or move the file away"),
        error => {
            let hint = "the policy decides what root runs, so its files and the directories above have to belong to \
                        root, be writable by nobody else, and be no links";
            CommandError::of(error).hint(hint)
        }
    };
    if consequence.is_empty() { found } else { found.therefore(consequence) }
}

impl From<Arc<PolicyError>> for CommandError {
    fn from(error: Arc<PolicyError>) -> Self {
        (&*error).into()
    }
}

/// Returns the named policy, or else that of this machine; `None` if it has none.
fn read(
    arguments: &PolicyFileArguments,
    session: &Session,
) -> Result<Option<CheckedPolicy>, Arc<PolicyError>> {
    match &arguments.policy {
        Some(path) => Ok(Some(session.governance().read_policy(path)?)),
        None => session.governance().policy().map(Option::<&_>::cloned),
    }
}

/// Returns the policy, or the standard guard.
fn policy_or_standard(arguments: &PolicyFileArguments, session: &Session) -> CommandResult<Policy> {
    Ok(read(arguments, session)?.map(|checked| checked.policy).unwrap_or_default())
}

fn check(arguments: &PolicyCheckArguments, console: &Console, session: &Session) -> CommandResult {
    let is_json = arguments.output.format == DocumentFormat::Json;
    let checked = read(&arguments.file, session);
    if is_json
        && let Err(error) = &checked
        && let PolicyError::Errors(errors) = &**error
    {
        let document =
            json!({ "valid": false, "files": [], "rules": [], "findings": Finding::of_all(errors) });
        return console.print(&printed::document(&document)).map(|_| ExitCode::NothingRun);
    }
    let Some(CheckedPolicy { policy, files, warnings }) = checked? else {
        let hint = "write /etc/ccm/policy.yaml, or name a file with `--policy`";
        return Err(CommandError::new("this machine has no policy").hint(hint));
    };
    let mut diagnostics = policy.unknown_types(&session.type_names());
    diagnostics.extend(policy.conflicts());
    let conflicts = Findings { diagnostics, texts: policy.texts().clone() };
    if !is_json {
        console.findings(&warnings);
        console.findings(&conflicts);
    }
    if arguments.file.policy.is_none() {
        check_approvers(&policy, console, session)?;
    }
    if is_json {
        let rules: Vec<String> =
            (0..policy.rules().len()).map(|position| policy.rule_label(position)).collect();
        let findings = [Finding::of_all(&warnings), Finding::of_all(&conflicts)].concat();
        let document = json!({ "valid": true, "files": files, "rules": rules, "findings": findings });
        return console.print(&printed::document(&document));
    }
    let rules = match policy.rules().len() {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    };
    console.print_words(&format!("{} is valid: {rules}\n", files.join(", ")))
}

/// Checks the file of approvers. Without the file, nobody can approve, and what asks is refused.
fn check_approvers(policy: &Policy, console: &Console, session: &Session) -> CommandResult<()> {
    let approvers = match session.governance().approvers() {
        Ok(approvers) => approvers,
        Err(error @ (ApproversError::Missing { .. } | ApproversError::Empty { .. })) => {
            console.warning(&format!("{error}: nobody can approve"));
            console.hint(&approvers_hint(&error));
            return Ok(());
        }
        Err(error) => {
            let found = CommandError::of(&error).therefore("nobody can approve");
            return Err(found.hint(approvers_hint(&error)));
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
    for (position, rule) in policy.rules().iter().enumerate() {
        let Some(conditions) = rule.action.ask.clone() else { continue };
        let demands = approval_demands(policy, &[ApprovalNeed { rule: Some(position), conditions }]);
        if let Some(demand) = approvers.first_unmet(&demands) {
            let (note, hint) = unmet_demand(&approvers, demand);
            let error = CommandError::new(format!(
                "nobody can approve what {} asks: {note}",
                policy.rule_label(position)
            ));
            return Err(error.hint(hint).with_code(ExitCode::NothingRun));
        }
    }
    Ok(())
}

fn show(arguments: &PolicyShowArguments, console: &Console, session: &Session) -> CommandResult {
    let checked = read(&arguments.file, session)?;
    match arguments.output.format {
        DocumentFormat::Text => console.print_words(&overview::text(checked.as_ref(), arguments.classes)),
        DocumentFormat::Json => {
            console.print(&printed::document(&overview::json(checked.as_ref(), arguments.classes)))
        }
    }
}

fn test(arguments: &PolicyTestArguments, console: &Console, session: &Session) -> CommandResult {
    let policy = policy_or_standard(&arguments.file, session)?;
    let tests = session.governance().read_verdict_tests(&arguments.tests).map_err(|error| match &error {
        VerdictTestError::Text(error) => error.into(),
        VerdictTestError::Errors(errors) => {
            CommandError::located(errors).with_message(format!("{errors} in {}", arguments.tests.display()))
        }
        error => CommandError::of(error),
    })?;
    let mut failed = Vec::new();
    let mut text = String::new();
    for test in &tests {
        let options = options(&arguments.place, test.caller);
        let command = JudgedText::Shell(test.command.clone(), ShellDialect::Sh);
        let explained = session.governance().explain_command(&policy, command, &options);
        let verdict = explained.decision.verdict;
        if verdict != test.expected {
            let (found, expected) = (verdict.name(), test.expected.name());
            text += &format!("{}:{}: {found} instead of {expected}\n", arguments.tests.display(), test.line);
            text += &explanation::text(&policy, &explained);
            let explanation = explained.json(&policy);
            failed.push(json!({ "line": test.line, "expected": expected, "explanation": explanation }));
        }
    }
    let total = tests.len();
    text += &match failed.len() {
        0 => format!("{total} of {total} verdicts are as expected\n"),
        failed => format!("{failed} of {total} verdicts are not as expected\n"),
    };
    let code = if failed.is_empty() { ExitCode::Success } else { ExitCode::NothingRun };
    if arguments.output.format == DocumentFormat::Json {
        console.print(&printed::document(&json!({ "tests": total, "failed": failed })))?;
    } else {
        console.print_words(&text)?;
    }
    Ok(code)
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

fn explain(arguments: &PolicyExplainArguments, console: &Console, session: &Session) -> CommandResult {
    let policy = policy_or_standard(&arguments.file, session)?;
    let options = options(&arguments.place, arguments.caller.into());
    if arguments.batch {
        return batch(arguments, console, session, &policy, &options);
    }
    let dialect = arguments.dialect.into();
    let command = match (&arguments.shell, &*arguments.command) {
        (Some(text), _) | (None, [text]) => JudgedText::Shell(text.clone(), dialect),
        (None, words) => JudgedText::Words(words.to_vec()),
    };
    let explained = session.governance().explain_command(&policy, command, &options);
    if arguments.output.format == DocumentFormat::Json {
        console.print(&format!("{:#}\n", explained.json(&policy)))?;
    } else {
        console.print_words(&explanation::text(&policy, &explained))?;
    }
    Ok(code(&explained))
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
) -> CommandResult {
    let mut result = ExitCode::Success;
    for line in std::io::stdin().lock().lines() {
        let line =
            line.map_err(|error| CommandError::new("standard input can't be read").caused_by(&error))?;
        let document = match serde_json::from_str::<String>(&line) {
            Ok(text) => {
                let command = JudgedText::Shell(text, arguments.dialect.into());
                session.governance().explain_command(policy, command, options).json(policy)
            }
            Err(error) => {
                result = ExitCode::NothingRun;
                json!({ "verdict": "deny", "error": format!("not a JSON string: {error}"), "commands": [] })
            }
        };
        console.print(&format!("{document}\n"))?;
    }
    Ok(result)
}
