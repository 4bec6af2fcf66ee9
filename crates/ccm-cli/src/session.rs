//! The session behind a command, and its notices on standard error.

use std::path::PathBuf;

use ccm_runtime::process::variable;
use ccm_runtime::{
    Config, GivenData, GivenFacts, GivenValues, GovernanceNotice, LedgerError, Notice, Session, error_layers,
};

use crate::arguments::{DataArguments, FactArguments, IdentityArguments, StateArguments, ValueArguments};
use crate::audit::problem_hint;
use crate::console::Console;
use crate::state::untrusted_hint;

/// Maximum number of files that a warning names.
const MAX_LISTED: usize = 3;

/// Opens a session for a command that keeps no state.
pub(crate) fn open(console: &Console) -> Session {
    with_notices(Session::open(config(console, None)), console)
}

/// Opens a session in the state directory of the command line.
pub(crate) fn open_with(console: &Console, arguments: &StateArguments) -> Session {
    with_notices(Session::open(config(console, arguments.state_dir.clone())), console)
}

/// Opens a session that opens encrypted values with the key of the command line.
pub(crate) fn open_as(
    console: &Console,
    state_directory: Option<PathBuf>,
    arguments: &IdentityArguments,
) -> Session {
    let identity = arguments.identity.clone();
    with_notices(Session::open(Config { identity, ..config(console, state_directory) }), console)
}

/// Returns the configuration of a session that shares its secrets with the console.
pub(crate) fn config(console: &Console, state_directory: Option<PathBuf>) -> Config {
    Config {
        secrets: console.secrets().clone(),
        state_directory,
        // This path leads to the program of the process itself, even after an update has replaced the file.
        launcher: Some("/proc/self/exe".into()),
        ..Config::default()
    }
}

/// Shows the notices of a session.
pub(crate) fn with_notices(session: Session, console: &Console) -> Session {
    let console = console.clone();
    session.on_notice(move |notice| show(notice, &console))
}

/// Shows a notice.
pub(crate) fn show(notice: &Notice<'_>, console: &Console) {
    match notice {
        Notice::Facts(warning) => console.warning_of(warning),
        Notice::Environment(error) => console.warning(&format!("`.env` is left out: {error}")),
        Notice::DataFile(error) => console.warning(&format!("`.hiera` is left out: {error}")),
        Notice::Waiting(other) => console.note(&format!("waiting for another run to end ({other})")),
        Notice::ContainerProblem(problem) => console.warning(problem),
        Notice::Container(note) => console.note(note),
        Notice::Governance(GovernanceNotice::Audit(problem)) => {
            console.warning_of(problem);
            console.note("the audit log has not all of this run");
            console.hint(&problem_hint(problem));
        }
        Notice::Governance(GovernanceNotice::SealNotForwarded(failure)) => {
            console.warning_of(failure);
            console.note("it is forwarded again with the next seal");
        }
        Notice::Governance(GovernanceNotice::Policy { resource, verdict, reason }) => {
            let verdict = if *verdict == "deny" { "denied" } else { "not allowed without an approval" };
            console.warning(&format!("{resource} would be {verdict} if `guard` were not `audit`: {reason}"));
        }
        Notice::UnusedSignature { manifest, error } => {
            let causes: Vec<String> = error_layers(*error).into_iter().collect();
            console.warning(&format!("the signature of {manifest} does not count: {}", causes.join(": ")));
        }
        Notice::UntrustedLedger(error) => {
            console.warning_of(error);
            console.note("`ccm apply` refuses this ledger");
            if let LedgerError::Untrusted { is_directory, .. } = error {
                console.hint(untrusted_hint(*is_directory));
            }
        }
        Notice::Changeable(files) => {
            let listed: Vec<String> = files
                .iter()
                .take(MAX_LISTED)
                .map(|(path, writer)| format!("{} ({writer})", path.display()))
                .collect();
            let more = match files.len().saturating_sub(MAX_LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            console
                .warning(&format!("others can change what this manifest does: {}{more}", listed.join(", ")));
            console.hint("give the files and their directory to root (`chown root`, `chmod go-w`), or require a signature");
        }
        Notice::DamagedLedger { damage, is_kept } => {
            console.warning_of(damage);
            let name = damage.path.file_name().unwrap_or_default().display();
            let kept = if *is_kept {
                format!("the file is kept as {}", damage.kept_as)
            } else {
                format!("the next run renames the file to {name}.damaged-RUN")
            };
            console.note(&format!("every refresh of this manifest counts as pending; {kept}"));
        }
        _ => {}
    }
}

/// Facts that the command line gives.
pub(crate) fn facts(arguments: &FactArguments) -> GivenFacts {
    GivenFacts { files: arguments.facts.clone(), assignments: arguments.fact.clone() }
}

/// Variable with the file of values where the command line names none.
pub(crate) const HIERA_VARIABLE: &str = "CCM_HIERA_DATA";

/// File of values that the environment names.
pub(crate) fn hiera_of_environment() -> Option<PathBuf> {
    variable(HIERA_VARIABLE).map(PathBuf::from)
}

/// Values that the command line gives, or else the environment.
pub(crate) fn data(arguments: &DataArguments) -> GivenData {
    let of_environment = || hiera_of_environment().into_iter().collect();
    GivenData {
        files: if arguments.hiera.is_empty() { of_environment() } else { arguments.hiera.clone() },
        assignments: arguments.data.clone(),
        allows_new_keys: arguments.data_any,
    }
}

/// Everything that the command line gives to expressions.
pub(crate) fn values(arguments: &ValueArguments) -> GivenValues {
    GivenValues {
        facts: facts(&arguments.facts),
        data: data(&arguments.data),
        no_dotenv: arguments.environment.no_env,
    }
}
