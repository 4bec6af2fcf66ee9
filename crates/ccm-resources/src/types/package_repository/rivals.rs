//! Other definitions of a repository, in files that other programs or people wrote.

use std::path::{Path, PathBuf};

use ccm_model::{Failure, MissingPrerequisite};

/// File with definitions of repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DefinitionFile {
    pub path: PathBuf,
    pub text: String,
}

/// Definition of the same repository in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rival {
    pub path: PathBuf,
    /// Number of the line, from 1.
    pub line: usize,
    /// Repository as the message names it.
    pub repository: String,
    pub kind: RivalKind,
    /// True if a resource of the run writes the definition, so that nothing else mends it.
    pub is_planned: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RivalKind {
    /// The same in each respect.
    Twin,
    /// Another value of an option; `None` if the option is not set.
    Contradiction { option: &'static str, there: Option<String>, here: Option<String> },
}

impl Rival {
    fn place(&self) -> String {
        format!("{}:{}", self.path.display(), self.line)
    }

    /// Returns the warning about a second definition that is the same.
    pub(crate) fn warning(&self) -> Option<String> {
        (self.kind == RivalKind::Twin)
            .then(|| format!("{} is also configured at {}", self.repository, self.place()))
    }
}

/// Returns the failure of a repository that contradicts another file; `consequence` says what the package tool does.
pub(crate) fn contradiction(rivals: &[Rival], consequence: &str) -> Option<Failure> {
    const MAX_QUOTED: usize = 3;
    let differences = rivals.iter().filter_map(|rival| match &rival.kind {
        RivalKind::Twin => None,
        RivalKind::Contradiction { option, there, here } => Some((rival, option, there, here)),
    });
    let (first, ..) = differences.clone().next()?;
    let shown = |value: &Option<String>| match value.as_deref() {
        None => "not set".to_owned(),
        Some(value) if value.contains('\n') => "a key in the file".to_owned(),
        Some(value) => format!("`{value}`"),
    };
    let sentences = differences.take(MAX_QUOTED).map(|(rival, option, there, here)| {
        let (there, here) = (shown(there), shown(here));
        format!("`{option}` is {there} at {}, and would be {here} here", rival.place())
    });
    let place = first.place();
    let message = format!("{} is configured differently at {place}: {consequence}", first.repository);
    let mut failure = Failure::conflict(message);
    if !first.is_planned {
        failure = failure.with_missing(MissingPrerequisite::Path(first.path.clone()));
    }
    failure.chain.extend(sentences);
    Some(failure.with_hint(format!("remove the repository at {place}, or this resource")))
}

/// Returns the names of the files in a directory that have one of these extensions, sorted, as the package tools read them.
pub(crate) fn definition_files(
    directory: &Path,
    extensions: &[&str],
    files: &dyn ccm_host::Files,
) -> Vec<PathBuf> {
    use ccm_host::WalkStep;

    let is_allowed = |part: char| part.is_ascii_alphanumeric() || "_-:.".contains(part);
    let is_definition = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let name = path.to_string_lossy();
        extension.is_some_and(|extension| extensions.contains(&extension)) && name.chars().all(is_allowed)
    };
    let step = |path: &Path, is_directory: bool| {
        if !is_directory && is_definition(path) { WalkStep::List } else { WalkStep::Skip }
    };
    // What can't be listed is no reason to fail: the tool itself reports it.
    let entries = files.walk(directory, &step).ok().flatten().unwrap_or_default();
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| directory.join(entry.path)).collect();
    paths.sort_unstable();
    paths
}
