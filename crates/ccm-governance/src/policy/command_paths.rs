//! Paths that a simple command names, and those of the files that it runs.

use std::path::{Path, PathBuf};

use ccm_model::normalize;
use ccm_policy::{AnalysedCommand, CodeSource};

use super::implied_files::implied_files;

/// Maximum length of an option whose value may be attached, in bytes.
const MAX_OPTION: usize = 256;

fn directory_of(command: &AnalysedCommand) -> &Path {
    Path::new(command.directory.as_deref().unwrap_or("/"))
}

/// Returns all directories in which a command may run; the root if none is known.
pub(super) fn directories_of(command: &AnalysedCommand) -> Vec<&Path> {
    match &*command.directories {
        [] => vec![directory_of(command)],
        directories => directories.iter().map(Path::new).collect(),
    }
}

/// Returns the paths behind the letters of an option, as in `-C/srv` and `-sCd`.
pub(super) fn attached_paths(command: &AnalysedCommand) -> Vec<PathBuf> {
    let words = command.words.iter().skip(1).filter(|word| word.is_known).map(|word| &*word.shown);
    let options =
        words.filter(|word| word.starts_with('-') && !word.starts_with("--") && word.len() <= MAX_OPTION);
    let values = options.flat_map(|word| word.char_indices().skip(2).filter_map(|(at, _)| word.get(at..)));
    let values = values.filter(|value| !value.is_empty());
    values
        .flat_map(|value| {
            directories_of(command).into_iter().map(move |directory| normalize(&directory.join(value)))
        })
        .collect()
}

/// Returns the paths that the words of a simple command name, alone or behind the `=` of an option.
pub(super) fn named_paths(command: &AnalysedCommand) -> Vec<PathBuf> {
    let words = command.words.iter().skip(1).filter(|word| word.is_known).map(|word| &*word.shown);
    let values = words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]);
    let paths = values.flatten().filter(|word| !word.is_empty() && !word.starts_with('-'));
    let mut paths: Vec<PathBuf> = paths
        .flat_map(|path| {
            directories_of(command).into_iter().map(move |directory| normalize(&directory.join(path)))
        })
        .collect();
    paths.dedup();
    paths
}

/// Returns the paths of the files that a simple command runs; those that it runs unasked in these directories and above.
pub(super) fn run_by(command: &AnalysedCommand, directories: &[&Path]) -> Vec<String> {
    let absolute = |directory: &Path, path: &str| directory.join(path).to_str().map(str::to_owned);
    let program = command.program.as_ref().and_then(|program| program.location.as_ref());
    let code = command.effects.iter().filter(|effect| effect.code == Some(CodeSource::File));
    let code = code.filter_map(|effect| absolute(directory_of(command), effect.object.as_deref()?));
    let names = names_of(command);
    // Programs look for such files in the directories above as well.
    let above: Vec<&Path> = directories.iter().flat_map(|directory| directory.ancestors()).collect();
    let implied = implied_files(&names)
        .flat_map(|file| above.iter().filter_map(move |directory| absolute(directory, file)));
    program.map(|location| location.canonical.clone()).into_iter().chain(code).chain(implied).collect()
}

/// Returns the names of the program of a command, which may be a link to another name.
pub(super) fn names_of(command: &AnalysedCommand) -> Vec<String> {
    let name = |path: &str| Path::new(path).file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let Some(program) = &command.program else { return Vec::new() };
    let location = program.location.iter().flat_map(|location| [&*location.path, &*location.canonical]);
    let mut names: Vec<String> = location.chain(program.name.as_deref()).filter_map(name).collect();
    names.dedup();
    names
}
