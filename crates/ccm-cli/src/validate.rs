//! `ccm validate`: checks a manifest, for one machine or for several.

use std::path::PathBuf;

use ccm_runtime::{
    ExitCode, GivenFacts, Input, Session, SharedFinding, Validation, ValidationError, shared_findings,
};

use crate::arguments::ValidateArguments;
use crate::console::Console;
use crate::{diagnostics, manifest, session, state};

/// Checks a manifest.
pub(crate) fn run(arguments: &ValidateArguments, console: &Console) -> ExitCode {
    let session = session::open(console);
    let input = match manifest::read(console, &session, &arguments.manifest, &arguments.values) {
        Ok(input) => input,
        Err(code) => return code,
    };
    if !arguments.matrix.is_empty() {
        return matrix(console, arguments, &session, &input);
    }
    match session.validate(&input) {
        Ok(Validation { resources: count, warnings }) => {
            diagnostics::print(console, &warnings);
            console.print(&format!("{} is valid: {}\n", input.name(), resources(count)))
        }
        Err(ValidationError::Manifest(errors)) => manifest::report_manifest_errors(console, &errors, &input),
        Err(ValidationError::Name(error)) => state::report_missing_name(console, &error),
        Err(error) => state::report_setup_error(console, &error),
    }
}

fn resources(count: usize) -> String {
    if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") }
}

/// Checks a manifest for each of several machines.
fn matrix(console: &Console, arguments: &ValidateArguments, session: &Session, input: &Input) -> ExitCode {
    let facts = |file: &PathBuf| GivenFacts {
        files: vec![file.clone()],
        assignments: arguments.values.facts.fact.clone(),
    };
    let machines: Vec<GivenFacts> = arguments.matrix.iter().map(facts).collect();
    let validations = session.validate_for(input, &machines);
    show_shared(console, &shared_findings(&validations), &arguments.matrix);
    let line = |(file, validation): (&PathBuf, &Result<Validation, ValidationError>)| match validation {
        Ok(validation) => format!("{}: valid, {}\n", file.display(), resources(validation.resources)),
        Err(error) => format!("{}: {error}\n", file.display()),
    };
    let printed = console.print(&arguments.matrix.iter().zip(&validations).map(line).collect::<String>());
    match validations.iter().filter(|validation| validation.is_err()).count() {
        0 => printed,
        failed => {
            let message =
                format!("{} is not valid for {failed} of {} machines", input.name(), validations.len());
            console.error(&message, &[], &[]);
            ExitCode::NothingRun
        }
    }
}

/// Shows errors and warnings, grouped by the machines that they concern.
fn show_shared(console: &Console, shared: &[SharedFinding<'_>], files: &[PathBuf]) {
    let mut before: &[usize] = &[];
    for SharedFinding { diagnostic, findings, machines } in shared {
        if *machines != before {
            let names: Vec<String> =
                machines.iter().map(|machine| files[*machine].display().to_string()).collect();
            let heading = if names.len() == files.len() && names.len() > 1 {
                "for all".to_owned()
            } else {
                format!("for {}", names.join(", "))
            };
            console.write(&format!("{heading}:\n\n"));
            before = machines;
        }
        console.write(&format!("{}\n\n", diagnostics::render_styled(diagnostic, &findings.texts)));
    }
}
