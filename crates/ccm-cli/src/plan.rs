//! `ccm plan`: plans of changes, shown and compared.

mod text;

use std::path::{Path, PathBuf};

use ccm_runtime::model::escape_control;
use ccm_runtime::plan::{PlanCheckError, PlanDifference, PlanError, ReadPlan, compare};
use ccm_runtime::{Config, ExitCode, LoadedManifest, RunOptions, Session, printed};
use serde_json::json;

use crate::arguments::{DocumentFormat, PlanCommand, PlanDiffArguments, PlanShowArguments, ValueArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::reactor::block_on;
use crate::{manifest, session, state};

pub(crate) use text::{findings, lines, signature, text};

/// `ccm plan`.
pub(crate) fn run(command: &PlanCommand, console: &Console) -> CommandResult {
    match command {
        PlanCommand::Show(arguments) => show(arguments, console),
        PlanCommand::Diff(arguments) => diff(arguments, console),
    }
}

/// Shows a plan, whether it holds or not.
fn show(arguments: &PlanShowArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let plan = session.read_plan(&arguments.plan).map_err(|error| plan_error(&session, &error))?;
    let faults = session.plan_faults(&plan).map_err(|error| plan_error(&session, &error))?;
    if arguments.output.format == DocumentFormat::Text {
        return console.print(&text(&plan, &faults));
    }
    let document = json!({
        "protocol": "io.choria.ccm.v1.plan",
        "plan": plan.document,
        "approved_by": plan.signature.approver(),
        "holds": faults.is_empty(),
        "differences": text::document_of(&faults),
    });
    console.print(&printed::document(&document))
}

/// Lists what differs between a plan and another one, or what would be changed now.
fn diff(arguments: &PlanDiffArguments, console: &Console) -> CommandResult {
    let config = Config {
        handles_plans: true,
        identity: arguments.values.identity.identity.clone(),
        ..session::config(console, arguments.state.state_dir.clone())
    };
    let session = session::with_notices(Session::open(config), console);
    let read = |path: &Path| session.read_plan(path).map_err(|error| plan_error(&session, &error));
    let plan = read(&arguments.plan)?;
    let differences = match &arguments.other {
        Some(other) => compare(&plan.document, &read(other)?.document),
        None => against_now(arguments, &session, &plan, console)?,
    };
    let printed = if arguments.output.format == DocumentFormat::Text {
        let lines = lines(&differences).into_iter();
        lines.flat_map(|line| [escape_control(&line).into_owned(), "\n".to_owned()]).collect()
    } else {
        let differences = text::document_of(&differences);
        printed::document(&json!({ "protocol": "io.choria.ccm.v1.plan.diff", "differences": differences }))
    };
    console.print(&printed)?;
    Ok(if differences.is_empty() { ExitCode::Success } else { ExitCode::NothingRun })
}

/// Returns the faults of a plan, and in what the changes of now differ from it.
fn against_now(
    arguments: &PlanDiffArguments,
    session: &Session,
    plan: &ReadPlan,
    console: &Console,
) -> CommandResult<Vec<PlanDifference>> {
    let mut differences = session.plan_faults(plan).map_err(|error| plan_error(session, &error))?;
    if differences.iter().any(PlanDifference::makes_incomparable) {
        return Ok(differences);
    }
    let mut values = arguments.values.clone();
    fill_values(plan, &mut values);
    let values = session::values(&values);
    let paths = manifests(plan)?;
    let inputs: Vec<_> = paths
        .iter()
        .map(|path| session.read(manifest::source(path), &values, arguments.limits.max_manifest_size))
        .collect::<Result<_, _>>()?;
    let loaded: Vec<LoadedManifest<'_>> =
        inputs.iter().map(|input| manifest::load(console, session, input)).collect::<CommandResult<_>>()?;
    let loaded: Vec<&LoadedManifest<'_>> = loaded.iter().collect();
    let options = options(plan, RunOptions::default());
    let now =
        block_on(session.plan_now(&loaded, &options))?.map_err(|error| check_error(session, plan, &error))?;
    differences.extend(compare(&plan.document, &now));
    Ok(differences)
}

/// Returns the manifests of a plan, for a command line that names none.
pub(crate) fn manifests(plan: &ReadPlan) -> CommandResult<Vec<PathBuf>> {
    let found = plan.document.manifests.iter().map(|manifest| match &manifest.source {
        Some(version) => {
            let message = format!("the manifest of the plan is from the source {}", version.name);
            Err(CommandError::usage(message)
                .therefore("nothing was run")
                .hint("name the source and its signers, as for the plan: `ccm apply --plan PLAN --from SOURCE --signers FILE`"))
        }
        None if !Path::new(&manifest.name).is_absolute() => {
            Err(CommandError::usage("the manifest of the plan was read from standard input; nothing was run")
                .hint("name the manifest, `-` for standard input"))
        }
        None => Ok(PathBuf::from(&manifest.name)),
    });
    found.collect()
}

/// Takes the files of values of a plan, unless the command line names some.
pub(crate) fn fill_values(plan: &ReadPlan, values: &mut ValueArguments) {
    if let Some(planned) = plan.document.manifests.first().filter(|_| values.data.hiera.is_empty()) {
        values.data.hiera = planned.hiera.iter().map(PathBuf::from).collect();
    }
}

/// Takes the selection of a plan, unless the command line selects something.
pub(crate) fn options(plan: &ReadPlan, options: RunOptions) -> RunOptions {
    let planned = &plan.document.options;
    let references = |named: &[String]| {
        named.iter().filter_map(|name| ccm_runtime::ResourceId::parse(name).ok()).collect()
    };
    let selects = !options.only.is_empty() || !options.skip.is_empty();
    RunOptions {
        only: if selects { options.only } else { references(&planned.only) },
        skip: if selects { options.skip } else { references(&planned.skip) },
        fail_on_error: options.fail_on_error || planned.fail_on_error,
        ..options
    }
}

/// Returns the error of a plan that does not hold, with every difference.
pub(crate) fn refused(plan: &ReadPlan, differences: &[PlanDifference]) -> CommandError {
    CommandError::new(format!("{} does not hold", plan.path.display()))
        .therefore("nothing was run")
        .with_list(lines(differences))
        .with_findings(findings(differences))
        .hint("make a new plan: `ccm apply --noop --plan-out PLAN MANIFEST`")
}

/// Returns the reason for which a plan is not applied.
pub(crate) fn check_error(session: &Session, plan: &ReadPlan, error: &PlanCheckError) -> CommandError {
    match error {
        PlanCheckError::Refused(differences) => refused(plan, differences),
        PlanCheckError::Begin(failures) => {
            let errors = failures.iter().map(|failure| state::begin_error(session, &failure.error));
            CommandError::of_several(errors.collect())
        }
        PlanCheckError::Plan(error) => plan_error(session, error),
        _ => CommandError::new("the run was cancelled; nothing was run"),
    }
}

/// Returns the error of a plan, its key or the record of its use.
pub(crate) fn plan_error(session: &Session, error: &PlanError) -> CommandError {
    let found = CommandError::of(error).therefore("nothing was run");
    match error {
        PlanError::State(error) => found.hint(state::state_hint(session, error)),
        PlanError::Store { path, source } => found.hint(session.state_advice(path, source).to_string()),
        PlanError::Text { .. } => found.hint("write a plan with `ccm apply --noop --plan-out PLAN MANIFEST`"),
        PlanError::InTheWay(_) => found.hint("choose another file for the plan"),
        PlanError::NoKey(_) => {
            found.hint("use the state directory that the plan was made with: `--state-dir`")
        }
        _ => found,
    }
}
