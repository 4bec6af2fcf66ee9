//! Reading the directory that a tree is copied from.

use std::path::{Component, Path, PathBuf};

use ccm_host::{FileError, FileStep, Files, TreeEntryKind, WalkStep, is_temp_path, walk_order};
use ccm_model::{Failure, MissingPrerequisite};

use super::glob::TreeGlobs;
use super::{DesiredEntry, DesiredKind, EntryContent, Rendered};
use crate::parts::path_walk::real_path;
use crate::support::file_failure::file_failure;

/// Ending of the name of a template.
const TEMPLATE: &str = "j2";

/// Files that are templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplateFiles {
    /// Those whose names end with `.j2`.
    Named,
    /// All that were rendered. Directories with this name are left out.
    AllBut(&'static str),
}

/// Directory to copy.
pub(crate) struct CopiedTree<'a> {
    pub path: &'a Path,
    pub rendered: &'a Rendered,
    pub ignore: &'a TreeGlobs,
    pub templates: TemplateFiles,
}

/// Returns the entries of a directory that is copied to `tree`, in the order of a walk.
pub(crate) fn read(
    source: &CopiedTree<'_>,
    tree: &Path,
    files: &dyn Files,
) -> Result<Vec<DesiredEntry>, Failure> {
    let missing = || {
        conflict(source.path, "does not exist")
            .with_missing(MissingPrerequisite::Path(source.path.to_owned()))
    };
    let root = match files.canonical(source.path) {
        Ok(root) => root,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(of_source(missing())),
        Err(error) => {
            let error = FileError::Step {
                path: source.path.to_owned(),
                step: FileStep::Read,
                changed: false,
                source: error,
            };
            return Err(of_source(file_failure(&error)));
        }
    };
    let real = real_path(tree, files);
    if [tree, &real].into_iter().any(|tree| root.starts_with(tree) || tree.starts_with(&root)) {
        let failure = conflict(&root, "and the directory to manage are one inside the other");
        return Err(of_source(failure.with_hint("keep the files to copy in a directory of their own")));
    }
    let step = |path: &Path, is_directory: bool| {
        let is_partial = matches!(source.templates, TemplateFiles::AllBut(name)
            if is_directory && path.file_name().is_some_and(|found| found == name));
        if is_partial || source.ignore.matches(path) { WalkStep::Skip } else { WalkStep::Enter }
    };
    let walked = files.walk(&root, &step).map_err(|error| of_source(file_failure(&error)))?;
    let mut entries = Vec::new();
    let mut is_sorted = true;
    for entry in walked.ok_or_else(|| of_source(missing()))? {
        let path = root.join(&entry.path);
        let refused = |what: &str| Err(of_source(conflict(&path, what)));
        if is_temp_path(&path) {
            return refused("has the name of a temporary file of ccm");
        }
        let kind = match entry.kind {
            TreeEntryKind::Directory { is_mount: false } => DesiredKind::Directory,
            TreeEntryKind::Directory { is_mount: true } => return refused("is a mount point"),
            TreeEntryKind::Special(what) => return refused(&format!("is {what}, which is not copied")),
            TreeEntryKind::Link(text) if stays_inside(&entry.path, &text) => DesiredKind::Link(text),
            TreeEntryKind::Link(_) => {
                return refused("is a link that leads out of the directory, which is not copied");
            }
            TreeEntryKind::File => {
                let content = match source.rendered.get(&entry.path) {
                    Some(text) => EntryContent::Text(text.clone()),
                    None if source.templates == TemplateFiles::Named && is_template(&entry.path) => {
                        let failure = conflict(&path, "was not there when the manifest was read");
                        return Err(of_source(failure.with_hint("run ccm again")));
                    }
                    None => EntryContent::Copy { source: path.clone(), size: entry.size },
                };
                DesiredKind::File { content, is_executable: entry.mode & 0o100 != 0 }
            }
        };
        let is_rendered = matches!(&kind, DesiredKind::File { content: EntryContent::Text(_), .. });
        let path = if is_rendered && is_template(&entry.path) {
            is_sorted = false;
            entry.path.with_extension("")
        } else {
            entry.path
        };
        entries.push(DesiredEntry { path, kind });
    }
    if !is_sorted {
        entries.sort_by(|one, other| walk_order(&one.path, &other.path));
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].path == pair[1].path) {
            let path = root.join(&pair[0].path);
            let failure = conflict(&path, "is there twice, once as a template");
            return Err(of_source(failure.with_hint("remove one of the two files")));
        }
    }
    Ok(entries)
}

fn is_template(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == TEMPLATE)
}

/// Returns `true` for a relative link that leads to a path of its tree.
pub(crate) fn stays_inside(link: &Path, text: &Path) -> bool {
    let mut at: PathBuf = link.parent().unwrap_or(Path::new("")).to_owned();
    text.components().all(|part| match part {
        Component::Normal(name) => {
            at.push(name);
            true
        }
        Component::CurDir => true,
        Component::ParentDir => at.pop(),
        Component::RootDir | Component::Prefix(_) => false,
    })
}

fn conflict(path: &Path, what: &str) -> Failure {
    Failure::conflict(format!("\"{}\" {what}", path.display()))
}

fn of_source(failure: Failure) -> Failure {
    failure.because_of("cannot copy `source`").of_property("source")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_inside_their_tree() {
        for (link, text, expected) in [
            ("a", "b", true),
            ("a", "./b/../c", true),
            ("a", "../b", false),
            ("d/a", "../b", true),
            ("d/a", "../../b", false),
            ("d/a", "x/../../..", false),
            ("a", "/etc/passwd", false),
        ] {
            assert_eq!(stays_inside(Path::new(link), Path::new(text)), expected, "{link} -> {text}");
        }
    }
}
