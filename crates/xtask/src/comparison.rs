//! Lines of the jobs in tests/comparison, which are written for ccm, Ansible and Puppet.

use std::path::{Path, PathBuf};

use crate::cell;

/// Folders of each job.
const TOOLS: [&str; 3] = ["ccm", "ansible", "puppet"];

/// Returns a table with a row for each job: its description, which begins its manifest, and the lines for each tool.
pub(crate) fn lines(root: &Path) -> Result<String, String> {
    let mut table = "| Job | ccm | Ansible | Puppet |\n|---|---|---|---|\n".to_owned();
    for job in entries(&root.join("tests/comparison"))? {
        let name = job.file_name().unwrap_or_default().to_string_lossy();
        let manifest = read(&job.join("ccm/site.yaml"))?;
        let description = manifest.lines().next().and_then(|line| line.strip_prefix("# "));
        let description =
            description.ok_or_else(|| format!("the manifest of {name} begins with no comment"))?;
        table += &format!("| [{name}](../../tests/comparison/{name}): {} |", cell(description));
        for tool in TOOLS {
            table += &format!(" {} |", lines_below(&job.join(tool))?);
        }
        table.push('\n');
    }
    Ok(table)
}

/// Returns the number of lines in a file, or in all files below a folder, that are neither empty nor a comment.
fn lines_below(path: &Path) -> Result<usize, String> {
    if path.is_dir() {
        entries(path)?.iter().map(|entry| lines_below(entry)).sum()
    } else {
        Ok(counted(&read(path)?))
    }
}

fn counted(text: &str) -> usize {
    text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#')).count()
}

/// Returns the paths in a folder, in the order of their names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect::<Result<Vec<_>, String>>()?;
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_and_comments_do_not_count() {
        assert_eq!(counted("# no\n\none # two\n  # no\n  two\n   \n"), 2);
    }
}
