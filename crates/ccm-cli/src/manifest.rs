//! Manifests from the command line: reading, loading, and the errors of both.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;

use ccm_runtime::model::escape_control;
use ccm_runtime::{
    Input, InputError, LoadedManifest, ManifestErrors, ManifestSource, RELATIVE_PATH_HINT, Session,
    TextError, url_hint,
};

use crate::arguments::{ManifestArguments, ValueArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

/// Reads the manifest that the command line names.
pub(crate) fn read(
    session: &Session,
    arguments: &ManifestArguments,
    values: &ValueArguments,
) -> CommandResult<Input> {
    let source = source(&arguments.path);
    Ok(session.read(source, &session::values(values), arguments.limits.max_manifest_size)?)
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

/// Returns the error of a manifest behind the first one that does not exist and may be part of a value, without showing
/// it.
pub(crate) fn refuse_possible_value(
    path: &Path,
    values: &ValueArguments,
    error: &InputError,
) -> CommandResult<()> {
    let Some(shown) = hidden_argument(path, values).filter(|_| is_missing(error)) else { return Ok(()) };
    let hint = "the argument may be part of a value, so it is not shown; quote a value with blanks: --data 'motd=a b'";
    let message = format!("unexpected argument '{shown}': there is no such manifest");
    Err(CommandError::usage(message).hint(hint))
}

/// Returns `true` if there is no file at the path of the manifest. Most often, its name is misspelt.
pub(crate) fn is_missing(error: &InputError) -> bool {
    matches!(error, InputError::Text(TextError::Read { source, .. }) if source.kind() == ErrorKind::NotFound)
}

/// Loads a manifest, and shows its warnings.
pub(crate) fn load<'s>(
    console: &Console,
    session: &'s Session,
    input: &'s Input,
) -> CommandResult<LoadedManifest<'s>> {
    let manifest = session.load(input).map_err(|errors| not_valid(&errors, input))?;
    console.findings(manifest.warnings());
    Ok(manifest)
}

/// Returns the error that some of several manifests are not valid.
pub(crate) fn invalid_of_several(invalid: usize, total: usize) -> CommandError {
    let verb = if invalid == 1 { "is" } else { "are" };
    CommandError::new(format!("{invalid} of {total} manifests {verb} not valid"))
}

/// Returns the errors in a manifest.
pub(crate) fn not_valid(errors: &ManifestErrors, input: &Input) -> CommandError {
    CommandError::located(errors)
        .with_message(count_of_errors(errors, input.name()))
        .therefore("nothing was run")
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

impl From<&InputError> for CommandError {
    fn from(error: &InputError) -> Self {
        let of_option = |path: &Path| Self::new(format!("{} {error}", hiera_option(path)));
        match error {
            InputError::Directory(source) if source.kind() == ErrorKind::NotFound => {
                Self::new("the current directory does not exist any more")
                    .hints(Some("change to a directory that exists, and run ccm again"))
            }
            InputError::Directory(source) => Self::setup(source),
            InputError::Text(error) => error.into(),
            InputError::DataUrl(path) => of_option(path).hints(url_hint(path)),
            InputError::Data { path, source } => {
                let is_misnamed = source.kind() == ErrorKind::NotFound && path.is_relative();
                of_option(path).caused_by(source).hints(is_misnamed.then_some(RELATIVE_PATH_HINT))
            }
            _ => Self::of(error),
        }
    }
}

/// Returns the option or the variable that names a file of values.
fn hiera_option(path: &Path) -> &'static str {
    let is_of_environment = session::hiera_of_environment().is_some_and(|named| named == path);
    if is_of_environment { session::HIERA_VARIABLE } else { "--hiera" }
}

impl From<&TextError> for CommandError {
    fn from(error: &TextError) -> Self {
        Self::of(error).hints(Some(text_hint(error)).filter(|hint| !hint.is_empty()))
    }
}

/// Dashes that word processors and web pages write in place of those of an option.
const DASHES: [char; 5] = ['‐', '‑', '–', '—', '−'];

/// Returns what to do about a text that can't be read; empty if nothing is known to help.
pub(crate) fn text_hint(error: &TextError) -> Cow<'static, str> {
    Cow::Borrowed(match error {
        TextError::TooLong { what: "manifest", .. } => {
            "raise `--max-manifest-size` if the manifest is meant to be that long"
        }
        TextError::TooLong { what: "input" | "script" | "code", .. } => {
            "write the data to a file of the workspace, and pass its path"
        }
        TextError::Read { name, .. } if name.starts_with(DASHES) => {
            let plain = name.replace(DASHES, "-");
            let plain = format!("--{}", plain.trim_start_matches('-'));
            let hint = format!("this begins with a typographic dash: write `{}`", escape_control(&plain));
            return Cow::Owned(hint);
        }
        TextError::Read { what: "manifest", name, .. } if name.contains("://") => {
            "give a release with `--from SOURCE`, or download the file first"
        }
        TextError::Read { nearest: Some(nearest), .. } => {
            return Cow::Owned(format!("did you mean `{}`?", escape_control(nearest)));
        }
        TextError::Read { source, is_relative, .. } => match source.kind() {
            ErrorKind::NotFound if *is_relative => RELATIVE_PATH_HINT,
            ErrorKind::PermissionDenied => "run ccm as a user who can read this file",
            ErrorKind::IsADirectory => "give the path of a file in this directory",
            _ => "",
        },
        TextError::NotUtf8 { .. } => "save the file as UTF-8",
        _ => "",
    })
}
