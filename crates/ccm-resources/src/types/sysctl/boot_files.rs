//! Files from which the parameters of the kernel are set at boot, read once until something is executed.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::WalkStep;

use super::decide::DesiredParameter;
use super::parameter_file::{assignments, last_line};
use super::properties::are_equal;
use crate::parts::parameter_key::ParameterKey;

/// Directories of the files. Of several files with one name, that in the first directory counts.
const DIRECTORIES: [&str; 5] =
    ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"];

/// File that is read after all others.
const LAST: &str = "/etc/sysctl.conf";

/// Maximum size of a file.
const MAX_FILE: u64 = 1 << 20;

/// Files in the order in which they are read.
#[derive(Debug, Default)]
pub(super) struct BootFiles(Vec<BootFile>);

#[derive(Debug)]
struct BootFile {
    path: PathBuf,
    content: Vec<u8>,
}

/// Line that has another value than the desired one, and counts at boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaterLine {
    path: PathBuf,
    /// `None` if the file takes the place of another one with its name.
    line: Option<(usize, String)>,
}

impl LaterLine {
    /// Returns the warning for a parameter that is saved in `file`.
    pub(super) fn warning(&self, file: &Path) -> String {
        let path = self.path.display();
        match &self.line {
            Some((line, value)) => format!(
                "at boot, line {} of \"{path}\" sets the value to `{value}`, later than \"{}\"",
                line + 1,
                file.display()
            ),
            None => format!("at boot, \"{path}\" is read in place of \"{}\"", file.display()),
        }
    }
}

impl BootFiles {
    pub(super) async fn of(context: &Context<'_>) -> Rc<Self> {
        let files = context.state_cache(async || Ok::<_, Infallible>(Self::read(context))).await;
        files.unwrap_or_else(|never| match never {})
    }

    /// Reads all files. One that can't be read is left out: only warnings depend on them.
    fn read(context: &Context<'_>) -> Self {
        let files = context.host.files;
        let mut by_name: BTreeMap<OsString, PathBuf> = BTreeMap::new();
        for directory in DIRECTORIES.map(Path::new) {
            let found = files.walk(directory, &|_, _| WalkStep::List).ok().flatten().unwrap_or_default();
            for name in found.into_iter().map(|entry| entry.path) {
                if name.extension().is_some_and(|ending| ending == "conf") {
                    by_name.entry(name.clone().into_os_string()).or_insert_with(|| directory.join(name));
                }
            }
        }
        let mut paths: Vec<PathBuf> = by_name.into_values().collect();
        let canonical = |path: &Path| files.canonical(path).ok();
        // The Debian family has a link to the last file among the others.
        if !paths.iter().any(|path| canonical(path) == canonical(Path::new(LAST))) {
            paths.push(PathBuf::from(LAST));
        }
        let found = paths.into_iter().filter_map(|path| {
            let bytes = files.content(&path, MAX_FILE).ok().flatten()?;
            Some(BootFile { path, content: bytes })
        });
        Self(found.collect())
    }

    /// Returns the parameters that files below `/etc` set, each with the last of these files.
    pub(super) fn of_administrator(&self) -> Vec<(ParameterKey, String, PathBuf)> {
        let mut found: Vec<(ParameterKey, String, PathBuf)> = Vec::new();
        for file in self.0.iter().filter(|file| file.path.starts_with("/etc")) {
            for (key, value) in assignments(&file.content) {
                found.retain(|(other, ..)| *other != key);
                found.push((key, value, file.path.clone()));
            }
        }
        found
    }

    /// Returns what makes another value count than the one that a parameter is to have at boot.
    pub(super) fn later(&self, parameter: &DesiredParameter) -> Option<LaterLine> {
        let file = &*parameter.file;
        let is_last = |path: &Path| path == Path::new(LAST);
        // Nobody knows when a file elsewhere is read.
        if !is_last(file) && rank(file).is_none() {
            return None;
        }
        let hides = |found: &&BootFile| {
            !is_last(&found.path)
                && found.path.file_name() == file.file_name()
                && rank(&found.path) < rank(file)
        };
        if let Some(hiding) = self.0.iter().find(hides).filter(|_| !is_last(file)) {
            return Some(LaterLine { path: hiding.path.clone(), line: None });
        }
        let place = |path: &Path| (is_last(path), path.file_name().map(OsString::from));
        let (path, line) = self
            .0
            .iter()
            .filter(|found| place(&found.path) > place(file))
            .filter_map(|found| Some((&found.path, last_line(&found.content, &parameter.key)?)))
            .next_back()?;
        (!are_equal(&line.1, &parameter.value)).then(|| LaterLine { path: path.clone(), line: Some(line) })
    }
}

/// Returns `true` for a file in one of the directories that is not read, because of its name.
pub(super) fn is_left_out(file: &Path) -> bool {
    rank(file).is_some() && file.extension().is_none_or(|ending| ending != "conf")
}

/// Returns the place of the directory of a file.
fn rank(file: &Path) -> Option<usize> {
    DIRECTORIES.iter().position(|directory| file.parent() == Some(Path::new(directory)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later(files: &[(&str, &str)], file: &str) -> Option<String> {
        let files = files.iter().map(|(path, content)| BootFile {
            path: PathBuf::from(path),
            content: content.as_bytes().to_vec(),
        });
        let parameter = DesiredParameter {
            name: "a.b".to_owned(),
            key: ParameterKey::parse("a.b").expect("a key"),
            is_absent: false,
            value: "1".to_owned(),
            file: PathBuf::from(file),
        };
        BootFiles(files.collect()).later(&parameter).map(|later| later.warning(&parameter.file))
    }

    #[test]
    fn last_value_counts() {
        const OWN: &str = "/etc/sysctl.d/90-ccm.conf";
        const LOCAL: &str = "/etc/sysctl.d/99-local.conf";
        let warning = |line: &str| Some(format!("at boot, {line}"));
        for (files, file, expected) in [
            (&[(OWN, "a.b = 1\n")][..], OWN, None),
            (&[("/usr/lib/sysctl.d/50-a.conf", "a.b = 2\n"), (OWN, "")], OWN, None),
            (
                &[(OWN, ""), (LOCAL, "# x\na/b=2\n")],
                OWN,
                warning(
                    "line 2 of \"/etc/sysctl.d/99-local.conf\" sets the value to `2`, later than \"/etc/sysctl.d/90-ccm.conf\"",
                ),
            ),
            // A new file.
            (
                &[("/usr/lib/sysctl.d/99-z.conf", "a.b = 2\n")],
                OWN,
                warning(
                    "line 1 of \"/usr/lib/sysctl.d/99-z.conf\" sets the value to `2`, later than \"/etc/sysctl.d/90-ccm.conf\"",
                ),
            ),
            (&[(LOCAL, "a.b = 2\n"), (LAST, "a.b = 0x1\n")], OWN, None),
            (&[(LOCAL, "#a.b = 2\na.c = 3\n")], OWN, None),
            (&[("/etc/sysctl.d/10-a.conf", "a.b = 2\n")], OWN, None),
            (
                &[("/run/sysctl.d/50-a.conf", "")],
                "/usr/lib/sysctl.d/50-a.conf",
                warning("\"/run/sysctl.d/50-a.conf\" is read in place of \"/usr/lib/sysctl.d/50-a.conf\""),
            ),
            (&[(LAST, "a.b = 2\n")], LAST, None),
            (&[(LAST, "a.b = 2\n")], "/opt/a.conf", None),
        ] {
            assert_eq!(later(files, file), expected, "{files:?}");
        }
        assert!(is_left_out(Path::new("/etc/sysctl.d/90-a")) && !is_left_out(Path::new("/opt/a")));
    }
}
