//! From a path on the command line to a catalog, or to words about why there is none.

use std::io::{self, ErrorKind};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use ccm_engine::ResourceType;
use ccm_host::{absolute, read_at_most};
use ccm_manifest::{DataFile, Loaded, Request, Sources as _, load};
use ccm_model::{Catalog, Diagnostic, Severity};
use ccm_properties::TypeSpec;

use crate::arguments::{DataArguments, EnvironmentArguments, ManifestArguments};
use crate::exit::Code;
use crate::secrets::secrets;
use crate::sources::{MachineSources, url_hint};
use crate::{diagnostics, messages};

/// A manifest that was read, and what completes its resources. Nobody waits until it is freed piece by piece: the process
/// ends when it has been used.
pub(crate) type Kept<'s> = (ManuallyDrop<Catalog>, ManuallyDrop<Loaded<'s>>);

/// Reads and checks a manifest. Says what is wrong with it; nothing is run before this is done. Without
/// `warnings`, mere warnings are kept back.
pub(crate) fn read<'s>(
    arguments: &ManifestArguments,
    values: &DataArguments,
    sources: &'s MachineSources,
    warnings: bool,
    types: &[&'static dyn ResourceType],
) -> Result<Kept<'s>, Code> {
    read_request(request(arguments, values, sources)?, sources, warnings, types)
}

/// The same with what it is loaded from.
pub(crate) fn read_request<'s>(
    request: Request,
    sources: &'s MachineSources,
    warnings: bool,
    types: &[&'static dyn ResourceType],
) -> Result<Kept<'s>, Code> {
    let name = request.name.clone();
    let mut loaded = load(request, &specs(types), sources);
    secrets().add(loaded.data.secrets.iter().cloned());
    let mut texts = loaded.texts();
    let unnoticed = sources.unnoticed(&mut texts);
    if !unnoticed.is_empty() {
        loaded.catalog = None;
        loaded.diagnostics.extend(unnoticed);
    }
    if warnings || loaded.catalog.is_none() {
        diagnostics::print(&loaded.diagnostics, &texts);
    }
    if let Some(catalog) = loaded.catalog.take() {
        return Ok((ManuallyDrop::new(catalog), ManuallyDrop::new(loaded)));
    }
    let mistakes = mistakes(&loaded.diagnostics);
    messages::error(&format!("{mistakes} in {name}; nothing was run"), &[], &[]);
    Err(Code::NothingRun)
}

/// Counts mistakes, in words.
pub(crate) fn mistakes(diagnostics: &[Diagnostic]) -> String {
    match diagnostics.iter().filter(|found| found.severity == Severity::Error).count() {
        1 => "1 mistake".to_owned(),
        errors => format!("{errors} mistakes"),
    }
}

/// Reads what a manifest is loaded from.
pub(crate) fn request(
    arguments: &ManifestArguments,
    values: &DataArguments,
    sources: &MachineSources,
) -> Result<Request, Code> {
    let (name, text) = text(&arguments.path, arguments.max_manifest_size, "manifest")?;
    let directory = directory(arguments).map_err(|error| crate::apply::cannot_start(&error))?;
    Ok(Request {
        name,
        text: text.into(),
        directory,
        hiera: hiera(values, sources)?,
        assignments: values.data.clone(),
    })
}

/// The file of variables beside the manifest, if it is to be read.
pub(crate) fn dotenv(
    manifest: &ManifestArguments,
    environment: &EnvironmentArguments,
) -> io::Result<Option<PathBuf>> {
    if environment.no_env {
        Ok(None)
    } else {
        directory(manifest).map(|directory| Some(directory.join(".env")))
    }
}

/// Reads the files of values that the command line names.
pub(crate) fn hiera(values: &DataArguments, sources: &MachineSources) -> Result<Vec<DataFile>, Code> {
    let read = |path: &PathBuf| match sources.read(path) {
        _ if url_hint(path).is_some() => {
            let message = format!("--hiera {}: a URL is not supported in this version", path.display());
            messages::error(&message, &[], &url_hint(path).into_iter().collect::<Vec<_>>());
            Err(Code::NothingRun)
        }
        Ok(text) => Ok(DataFile { name: path.display().to_string(), text: text.into() }),
        Err(error) => {
            messages::error(&format!("--hiera {} can't be read", path.display()), &[error.to_string()], &[]);
            Err(Code::NothingRun)
        }
    };
    values.hiera.iter().map(read).collect()
}

/// What records call the manifest: its absolute path, its links as they are.
pub(crate) fn full_name(arguments: &ManifestArguments) -> String {
    if arguments.path == Path::new("-") {
        return "standard input".to_owned();
    }
    // The path as given names it as well, if the current directory is gone.
    absolute(&arguments.path).as_deref().unwrap_or(&arguments.path).display().to_string()
}

/// The directory of a manifest, absolute; the current one if the manifest comes from standard input.
pub(crate) fn directory(arguments: &ManifestArguments) -> io::Result<PathBuf> {
    if arguments.path == Path::new("-") {
        return absolute(Path::new("."));
    }
    let manifest = absolute(&arguments.path)?;
    Ok(manifest.parent().unwrap_or(Path::new("/")).to_owned())
}

/// The loader's view of the types.
pub(crate) fn specs(types: &[&'static dyn ResourceType]) -> Vec<&'static dyn TypeSpec> {
    types.iter().map(|found| *found as &dyn TypeSpec).collect()
}

/// The text of a manifest, or of anything like it, and what messages call it.
pub(crate) fn text(path: &Path, limit: u64, what: &str) -> Result<(String, String), Code> {
    let from_input = path == Path::new("-");
    let name = if from_input { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = read_at_most((!from_input).then_some(path), limit).map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::FileTooLarge => {
                let message = format!("{what} {name} is longer than {limit} bytes");
                let hint = "raise --max-manifest-size if it is meant to be that long".to_owned();
                let hints: Vec<String> = (what == "manifest").then_some(hint).into_iter().collect();
                messages::error(&message, &[], &hints);
                return Code::NothingRun;
            }
            ErrorKind::NotFound if path.is_relative() => {
                Some("is the path right? it is relative to the current directory".to_owned())
            }
            ErrorKind::PermissionDenied => Some("run ccm as a user who may read it".to_owned()),
            ErrorKind::IsADirectory => Some("name the file in it".to_owned()),
            _ => None,
        };
        let hints: Vec<String> = hint.into_iter().collect();
        messages::error(&format!("{what} {name} can't be read"), &[error.to_string()], &hints);
        Code::NothingRun
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = str::from_utf8(&error.as_bytes()[..at]).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let cause = format!("line {line}: byte {at} is not part of a UTF-8 character");
        let hints = ["save the file as UTF-8".to_owned()];
        messages::error(&format!("{what} {name} is not UTF-8 text"), &[cause], &hints);
        Code::NothingRun
    })?;
    Ok((name, text))
}
