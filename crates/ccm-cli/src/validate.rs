//! `ccm validate`: checks manifests, for one machine or for several.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use ccm_runtime::model::{Diagnostic, DiagnosticKind, Severity};
use ccm_runtime::{
    ExitCode, Finding, GivenFacts, Input, InputError, ManifestSource, RunMode, Session, SharedFinding,
    ValidatedChild, ValidatedManifest, Validation, ValidationDocument, ValidationError, ValidationExtent,
    printed, shared_findings,
};

use crate::arguments::{DocumentFormat, ValidateArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::reactor::block_on;
use crate::source::{self, FromRequest};
use crate::{data_explanation, diagnostics, manifest, session};

/// Manifest to check, or the reason why it can't be read.
struct Given {
    name: String,
    input: Result<Input, InputError>,
}

/// Manifests to check, and files that are not checked by themselves.
struct GivenManifests {
    given: Vec<Given>,
    /// YAML files of given directories without a `ccm` key.
    not_manifests: Vec<String>,
    children: Vec<ValidatedChild>,
}

/// Checks manifests.
pub(crate) fn run(arguments: &ValidateArguments, is_verbose: bool, console: &Console) -> CommandResult {
    let state = arguments.state.state_dir.clone();
    let session = session::open_as(console, state, &arguments.values.identity);
    let request = FromRequest {
        from: &arguments.from,
        manifests: &arguments.manifests,
        values: &arguments.values,
        max_size: arguments.limits.max_manifest_size,
        consequence: "nothing was checked",
    };
    let from = block_on(source::follow(request, &session, RunMode::Plan, console));
    let from = from.map_err(|error| CommandError::setup(&error))??;
    let result = check_all(arguments, is_verbose, console, &session, from.manifest());
    match from.refused() {
        Some(reason) if result.is_ok() => {
            Err(CommandError::new(format!("what the source offers is refused: {reason}")))
        }
        _ => result,
    }
}

fn check_all(
    arguments: &ValidateArguments,
    is_verbose: bool,
    console: &Console,
    session: &Session,
    from: Option<ManifestSource>,
) -> CommandResult {
    let GivenManifests { given, not_manifests, children } = collect(arguments, session, from)?;
    for Given { name, input } in given.iter().skip(1) {
        if let Err(error) = input {
            manifest::refuse_possible_value(Path::new(name), &arguments.values, error)?;
        }
    }
    if arguments.output.format == DocumentFormat::Json {
        return document(arguments, console, session, &given, (not_manifests, children));
    }
    for name in &not_manifests {
        console.note(&format!("{name} is left out: it has no `ccm` key"));
    }
    for ValidatedChild { manifest, applied_by } in &children {
        console.note(&format!("{manifest} is checked as a part of {applied_by}, which applies it"));
    }
    if given.is_empty() {
        let names = arguments.manifests.iter().map(|path| path.display().to_string());
        let message = format!("there is no manifest in {}", names.collect::<Vec<_>>().join(", "));
        return Err(CommandError::new(message).hint("a manifest is a YAML file with a `ccm` key"));
    }
    if let [given] = &*given {
        return check(arguments, is_verbose, console, session, given);
    }
    // The results are shown in the order of the manifests.
    let checked = given.iter().map(|given| check(arguments, is_verbose, console, session, given));
    match checked.filter_map(Result::err).inspect(|error| console.error(error)).count() {
        0 => Ok(ExitCode::Success),
        invalid => Err(manifest::invalid_of_several(invalid, given.len())),
    }
}

/// Reads the manifest of a source, or the manifests of the command line and those below its directories.
fn collect(
    arguments: &ValidateArguments,
    session: &Session,
    from: Option<ManifestSource>,
) -> CommandResult<GivenManifests> {
    let values = session::values(&arguments.values);
    let read = |source: ManifestSource| session.read(source, &values, arguments.limits.max_manifest_size);
    if let Some(source) = from {
        let name = source.name();
        let given = vec![Given { name, input: read(source) }];
        return Ok(GivenManifests { given, not_manifests: Vec::new(), children: Vec::new() });
    }
    let (mut manifests, mut others) = (Vec::new(), Vec::new());
    let mut found_below: Vec<usize> = Vec::new();
    for path in &arguments.manifests {
        if path == Path::new("-") {
            let input = read(ManifestSource::StandardInput);
            manifests.push(Given { name: "standard input".to_owned(), input });
            continue;
        }
        if !session.is_directory(path) {
            let input = read(ManifestSource::File(path.clone()));
            manifests.push(Given { name: path.display().to_string(), input });
            continue;
        }
        let files = session.yaml_files_below(path).map_err(|error| {
            let message = format!("{} can't be searched for manifests", path.display());
            CommandError::new(message).caused_by(&error)
        })?;
        for file in files {
            let name = file.display().to_string();
            match read(ManifestSource::File(file)) {
                Ok(input) if !input.is_manifest() => others.push(name),
                input => {
                    found_below.push(manifests.len());
                    manifests.push(Given { name, input });
                }
            }
        }
    }
    let (given, children) = without_children(manifests, &found_below);
    Ok(GivenManifests { given, not_manifests: others, children })
}

/// Leaves out the manifests found in directories that another one applies: its data may complete theirs. Manifests
/// that apply each other in a circle stay.
fn without_children(given: Vec<Given>, found_below: &[usize]) -> (Vec<Given>, Vec<ValidatedChild>) {
    let input = |at: usize| given[at].input.as_ref().ok();
    let positions: HashMap<PathBuf, usize> =
        found_below.iter().filter_map(|at| Some((input(*at)?.path()?, *at))).collect();
    let applied: Vec<Vec<usize>> = (0..given.len())
        .map(|at| {
            let paths = input(at).map(Input::applied_manifests).unwrap_or_default();
            paths
                .iter()
                .filter_map(|path| positions.get(path).copied())
                .filter(|child| *child != at)
                .collect()
        })
        .collect();
    let is_child = |at: usize| applied.iter().any(|children| children.contains(&at));
    let mut reached: Vec<usize> = (0..given.len()).filter(|at| !is_child(*at)).collect();
    let mut parents: HashMap<usize, usize> = HashMap::new();
    let mut next = 0;
    while let Some(parent) = reached.get(next).copied() {
        for child in &applied[parent] {
            if let Entry::Vacant(entry) = parents.entry(*child) {
                entry.insert(parent);
                reached.push(*child);
            }
        }
        next += 1;
    }
    let children: Vec<ValidatedChild> = (0..given.len())
        .filter_map(|at| {
            let (manifest, applied_by) = (given[at].name.clone(), given[*parents.get(&at)?].name.clone());
            Some(ValidatedChild { manifest, applied_by })
        })
        .collect();
    let kept = given.into_iter().enumerate().filter(|(at, _)| !parents.contains_key(at));
    (kept.map(|(_, given)| given).collect(), children)
}

/// Checks a manifest, and prints the result.
fn check(
    arguments: &ValidateArguments,
    is_verbose: bool,
    console: &Console,
    session: &Session,
    given: &Given,
) -> CommandResult {
    let input = given.input.as_ref()?;
    if !arguments.matrix.is_empty() {
        return matrix(console, arguments, session, input);
    }
    let validation = strictly(arguments, session.validate(input, extent(arguments)));
    let validation = validation.map_err(|error| validation_error(arguments, input, error))?;
    console.findings(&validation.warnings);
    if is_verbose {
        console.explain(data_explanation::of_manifest(input.name(), &validation.data));
    }
    for (location, text) in &validation.approvals {
        let at = location.as_ref().map_or_else(String::new, |location| format!("{location}: "));
        console.note(&format!("{at}{text}"));
    }
    console.print_words(&format!("{} is valid: {}\n", input.name(), counted(&validation)))
}

fn validation_error(arguments: &ValidateArguments, input: &Input, error: ValidationError) -> CommandError {
    match error {
        ValidationError::Manifest(errors) => {
            let lacks_file = |found: &Diagnostic| {
                found.kind == DiagnosticKind::Unreadable && found.severity == Severity::Error
            };
            let is_advised = !arguments.no_files && errors.diagnostics.iter().any(lacks_file);
            let hint = "`--no-files` checks a manifest without the files of its machine";
            manifest::not_valid(&errors, input).hints(is_advised.then_some(hint))
        }
        ValidationError::Policy(error) => (&*error).into(),
        ValidationError::Name(error) => (&error).into(),
        error => CommandError::setup(&error),
    }
}

/// Checks manifests, and prints nothing.
#[cfg(feature = "archive")]
pub(crate) fn check_silently(arguments: &ValidateArguments, console: &Console) -> CommandResult<()> {
    let session = session::open(console);
    for Given { name, input } in collect(arguments, &session, None)?.given {
        let input = input?;
        if arguments.matrix.is_empty() {
            let validation = strictly(arguments, session.validate(&input, extent(arguments)));
            validation.map_err(|error| validation_error(arguments, &input, error))?;
        } else if validate_for_machines(arguments, &session, &input).iter().any(Result::is_err) {
            return Err(CommandError::new(format!("{name} is not valid for every machine")));
        }
    }
    Ok(())
}

/// Makes warnings and notes errors, if the command line asks for it.
fn strictly(
    arguments: &ValidateArguments,
    validation: Result<Validation, ValidationError>,
) -> Result<Validation, ValidationError> {
    if arguments.strict { validation.and_then(Validation::strict) } else { validation }
}

fn extent(arguments: &ValidateArguments) -> ValidationExtent {
    if arguments.no_files { ValidationExtent::WithoutFiles } else { ValidationExtent::Everything }
}

/// Returns the numbers of resources and of inputs that were left out.
fn counted(validation: &Validation) -> String {
    let in_words = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let resources = in_words(validation.resources, "resource");
    match validation.unchecked() {
        0 => resources,
        unchecked => format!("{resources}, {} not checked", in_words(unchecked, "input")),
    }
}

/// Checks a manifest for each of several machines.
fn validate_for_machines(
    arguments: &ValidateArguments,
    session: &Session,
    input: &Input,
) -> Vec<Result<Validation, ValidationError>> {
    let facts = |file: &PathBuf| GivenFacts {
        files: vec![file.clone()],
        assignments: arguments.values.facts.fact.clone(),
    };
    let machines: Vec<GivenFacts> = arguments.matrix.iter().map(facts).collect();
    let validations = session.validate_for(input, &machines, extent(arguments)).into_iter();
    validations.map(|validation| strictly(arguments, validation)).collect()
}

/// Checks a manifest for each of several machines, and prints the results.
fn matrix(
    console: &Console,
    arguments: &ValidateArguments,
    session: &Session,
    input: &Input,
) -> CommandResult {
    let validations = validate_for_machines(arguments, session, input);
    // A note is about the manifest, not about one of the machines. That on a data file is about all of them.
    let mut shared = shared_findings(&validations);
    shared.retain(|found| {
        found.diagnostic.severity != Severity::Note
            || found.diagnostic.kind == DiagnosticKind::NoEffect
            || diagnostics::is_line(found.diagnostic)
    });
    show_shared(console, &shared, &arguments.matrix);
    let several =
        arguments.manifests.len() > 1 || arguments.manifests.iter().any(|path| session.is_directory(path));
    let prefix = if several { format!("{} for ", input.name()) } else { String::new() };
    let line = |(file, validation): (&PathBuf, &Result<Validation, ValidationError>)| match validation {
        Ok(validation) => {
            format!("{prefix}{}: valid, {}\n", file.display(), counted(validation))
        }
        Err(error) => format!("{prefix}{}: {error}\n", file.display()),
    };
    console.print_words(&arguments.matrix.iter().zip(&validations).map(line).collect::<String>())?;
    match validations.iter().filter(|validation| validation.is_err()).count() {
        0 => Ok(ExitCode::Success),
        failed => Err(CommandError::new(format!(
            "{} is not valid for {failed} of {} machines",
            input.name(),
            validations.len()
        ))),
    }
}

/// Shows errors, warnings and notes, grouped by the machines that they concern.
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
        let end = if diagnostics::is_line(diagnostic) { "\n" } else { "\n\n" };
        console.write(
            &(diagnostics::render_styled(diagnostic, &findings.texts, diagnostics::terminal_width()) + end),
        );
    }
}

/// Checks manifests, and prints the results as one JSON document.
fn document(
    arguments: &ValidateArguments,
    console: &Console,
    session: &Session,
    given: &[Given],
    (not_manifests, children): (Vec<String>, Vec<ValidatedChild>),
) -> CommandResult {
    let mut manifests = Vec::new();
    for Given { name, input } in given {
        let input = match input {
            Ok(input) => input,
            Err(error) => {
                manifests.push(unreadable(name, error));
                continue;
            }
        };
        if arguments.matrix.is_empty() {
            let validation = strictly(arguments, session.validate(input, extent(arguments)));
            manifests.push(validated(name, None, &validation));
        } else {
            let validations = validate_for_machines(arguments, session, input);
            let machines = arguments.matrix.iter().zip(&validations);
            manifests.extend(
                machines
                    .map(|(file, validation)| validated(name, Some(file.display().to_string()), validation)),
            );
        }
    }
    let document = ValidationDocument::new(manifests, not_manifests).with_children(children);
    console.print(&printed::document(&document.json()))?;
    Ok(if document.is_valid() { ExitCode::Success } else { ExitCode::NothingRun })
}

/// Returns the result of a manifest that can't be read.
fn unreadable(name: &str, error: &InputError) -> ValidatedManifest {
    let message = ccm_runtime::model::error_layers(error).join(": ");
    let location = match error {
        InputError::Text(error) => error.location(),
        _ => None,
    };
    ValidatedManifest {
        manifest: name.to_owned(),
        machine: None,
        resources: None,
        valid: false,
        findings: vec![Finding::error(DiagnosticKind::Unreadable, message).at(location)],
    }
}

fn validated(
    name: &str,
    machine: Option<String>,
    validation: &Result<Validation, ValidationError>,
) -> ValidatedManifest {
    let findings = match validation {
        Ok(validation) => Finding::of_all(&validation.warnings),
        Err(ValidationError::Manifest(errors)) => Finding::of_all(errors),
        Err(error) => vec![Finding::error(DiagnosticKind::Missing, error.to_string())],
    };
    ValidatedManifest {
        manifest: name.to_owned(),
        machine,
        resources: validation.as_ref().ok().map(|valid| valid.resources),
        valid: validation.is_ok(),
        findings,
    }
}
