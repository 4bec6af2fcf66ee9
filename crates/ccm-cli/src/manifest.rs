//! Manifests from the command line: reading, loading, and the errors of both.

use std::io::ErrorKind;
use std::path::Path;

use ccm_model::Diagnostic;
use ccm_runtime::{
    ExitCode, Findings, Input, InputError, LoadedManifest, ManifestErrors, ManifestSource,
    RELATIVE_PATH_HINT, Session, TextError, url_hint,
};

use crate::arguments::{ManifestArguments, ValueArguments};
use crate::console::Console;
use crate::{diagnostics, session, state};

/// Reads the manifest that the command line names.
pub(crate) fn read(
    console: &Console,
    session: &Session,
    arguments: &ManifestArguments,
    values: &ValueArguments,
) -> Result<Input, ExitCode> {
    let source = source(&arguments.path);
    let input = session.read(source, &session::values(values), arguments.limits.max_manifest_size);
    input.map_err(|error| report_input_error(console, &error))
}

/// Returns the source of a manifest that the command line names.
pub(crate) fn source(path: &Path) -> ManifestSource {
    if path == Path::new("-") { ManifestSource::StandardInput } else { ManifestSource::File(path.to_owned()) }
}

/// Returns what to show of an argument that may be part of a value and not a manifest: `password=…` may have lost its
/// `--data`, and a word behind `--data password=a` may be the rest of a value without quotes. `None` for a manifest.
fn hidden_argument(path: &Path, values: &ValueArguments) -> Option<String> {
    let is_named_as_manifest =
        path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") || path == Path::new("-");
    let takes_values = !values.data.data.is_empty() || !values.facts.fact.is_empty();
    match path.to_string_lossy().split_once('=') {
        Some((key, _)) => Some(format!("{key}=…")),
        None => (takes_values && !is_named_as_manifest).then(|| "…".to_owned()),
    }
}

/// Reports a manifest behind the first one that does not exist and may be part of a value, without showing it.
pub(crate) fn refuse_possible_value(
    console: &Console,
    path: &Path,
    values: &ValueArguments,
    error: &InputError,
) -> Result<(), ExitCode> {
    let Some(shown) = hidden_argument(path, values).filter(|_| is_missing(error)) else { return Ok(()) };
    let hint = "the argument may be part of a value, so it is not shown; quote a value with blanks: --data 'motd=a b'";
    let message = format!("unexpected argument '{shown}': there is no such manifest");
    console.error(&message, &[], &[hint.to_owned()]);
    Err(ExitCode::Usage)
}

/// Returns `true` if there is no file at the path of the manifest. Most often, its name is misspelt.
pub(crate) fn is_missing(error: &InputError) -> bool {
    matches!(error, InputError::Text(TextError::Read { source, .. }) if source.kind() == ErrorKind::NotFound)
}

/// Loads a manifest, and shows its warnings or its errors.
pub(crate) fn load<'s>(
    console: &Console,
    session: &'s Session,
    input: &'s Input,
) -> Result<LoadedManifest<'s>, ExitCode> {
    let manifest = session.load(input).map_err(|errors| report_manifest_errors(console, &errors, input))?;
    diagnostics::print(console, manifest.warnings());
    Ok(manifest)
}

/// Returns how many of several manifests are not valid, in words.
pub(crate) fn count_of_invalid(invalid: usize, total: usize) -> String {
    let verb = if invalid == 1 { "is" } else { "are" };
    format!("{invalid} of {total} manifests {verb} not valid")
}

/// Shows the errors in a manifest.
pub(crate) fn report_manifest_errors(console: &Console, errors: &ManifestErrors, input: &Input) -> ExitCode {
    diagnostics::print(console, errors);
    console.error(&format!("{}; nothing was run", count_of_errors(errors, input.name())), &[], &[]);
    ExitCode::NothingRun
}

/// Returns how many errors there are and in what: a manifest, files that it uses, or values that it was given.
pub(crate) fn count_of_errors(errors: &ManifestErrors, manifest: &str) -> String {
    let (texts, has_unlocated) = errors.texts_with_errors();
    if texts.contains(&manifest) {
        format!("{errors} in {manifest}")
    } else if has_unlocated {
        format!("{errors} in the values for {manifest}")
    } else {
        format!("{errors} in {}, used for {manifest}", texts.join(", "))
    }
}

/// Prints errors that have no source text.
pub(crate) fn print_without_location(console: &Console, errors: Vec<Diagnostic>) -> ExitCode {
    diagnostics::print(console, &Findings { diagnostics: errors, ..Findings::default() });
    ExitCode::NothingRun
}

/// Reports why a manifest or values can't be read.
pub(crate) fn report_input_error(console: &Console, error: &InputError) -> ExitCode {
    match error {
        InputError::Directory(source) => return state::report_setup_error(console, source),
        InputError::Text(error) => return report_text_error(console, error),
        InputError::DataUrl(path) => {
            let hints: Vec<String> = url_hint(path).into_iter().collect();
            console.error(&format!("{} {error}", hiera_option(path)), &[], &hints);
        }
        InputError::Data { path, source } => {
            let is_misnamed = source.kind() == ErrorKind::NotFound && path.is_relative();
            let hints: Vec<String> = is_misnamed.then(|| RELATIVE_PATH_HINT.to_owned()).into_iter().collect();
            console.error(&format!("{} {error}", hiera_option(path)), &[source.to_string()], &hints);
        }
        _ => console.error_of(error, "", &[]),
    }
    ExitCode::NothingRun
}

/// Returns the option or the variable that names a file of values.
fn hiera_option(path: &Path) -> &'static str {
    let is_of_environment = session::hiera_of_environment().is_some_and(|named| named == path);
    if is_of_environment { session::HIERA_VARIABLE } else { "--hiera" }
}

/// Reports why a text can't be read.
pub(crate) fn report_text_error(console: &Console, error: &TextError) -> ExitCode {
    let hint = text_hint(error);
    let hints: Vec<String> = (!hint.is_empty()).then(|| hint.to_owned()).into_iter().collect();
    console.error_of(error, "", &hints);
    ExitCode::NothingRun
}

/// Returns what to do about a text that can't be read; empty if nothing is known to help.
pub(crate) fn text_hint(error: &TextError) -> &'static str {
    match error {
        TextError::TooLong { what: "manifest", .. } => {
            "raise `--max-manifest-size` if the manifest is meant to be that long"
        }
        TextError::TooLong { what: "input" | "script" | "code", .. } => {
            "write the data to a file of the workspace, and pass its path"
        }
        TextError::Read { source, is_relative, .. } => match source.kind() {
            ErrorKind::NotFound if *is_relative => RELATIVE_PATH_HINT,
            ErrorKind::PermissionDenied => "run ccm as a user who can read this file",
            ErrorKind::IsADirectory => "give the path of a file in this directory",
            _ => "",
        },
        TextError::NotUtf8 { .. } => "save the file as UTF-8",
        _ => "",
    }
}
