//! Files below `/etc` that packages bring, and what they were when they came.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::WalkStep;
use ccm_model::{Failure, FailureKind};
use md5::{Digest as _, Md5};

use super::apt::{MAX_STATUS_SIZE, STATUS, StatusEntry, installed_entries};
use super::tool::bytes;
use crate::support::file_failure::{file_failure, names_in};

/// Directories that are one on most systems, and two in the lists of packages.
const MERGED: [(&str, &str); 2] = [("/usr/lib/", "/lib/"), ("/lib/", "/usr/lib/")];

/// Directory with a list of files for each package.
const LISTS: &str = "/var/lib/dpkg/info";
/// Checksums of files that packages make with ucf.
const UCF: &str = "/var/lib/ucf/hashfile";
/// Maximum size of a list.
const MAX_LIST: u64 = 64 << 20;
/// Maximum size of a configuration file that is compared.
const MAX_CONFFILE: u64 = 16 << 20;

/// Origin of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathOrigin {
    /// A package brought the file, which is unchanged or no configuration file.
    Shipped,
    /// A package brought the file, and somebody changed it.
    Changed,
    /// No package has the file.
    Unowned,
}

/// Files below `/etc` that packages bring.
#[derive(Debug, Default)]
pub(crate) struct OwnedPaths {
    /// Installed packages.
    entries: Vec<StatusEntry>,
    owned: HashSet<String>,
    /// MD5 of configuration files as shipped.
    conffiles: HashMap<String, String>,
}

/// Returns the files that packages bring, read once until something is executed.
pub(crate) async fn owned_paths(context: &Context<'_>) -> Result<Rc<OwnedPaths>, Failure> {
    context.state_cache(async || OwnedPaths::read(context)).await
}

impl OwnedPaths {
    /// Reads the lists of dpkg.
    fn read(context: &Context<'_>) -> Result<Self, Failure> {
        let host = context.host;
        let Some(status) = bytes(host, STATUS, MAX_STATUS_SIZE)? else {
            let message = "only the files of packages of dpkg can be told from those that a person made";
            return Err(
                Failure::new(FailureKind::Provider, message).with_hint("name the resources to export")
            );
        };
        let mut paths = Self { entries: installed_entries(&status), ..Self::default() };
        let is_list = |path: &Path| path.extension().is_some_and(|ending| ending == "list");
        let step = |path: &Path, _| if is_list(path) { WalkStep::List } else { WalkStep::Skip };
        let lists = host.files.walk(Path::new(LISTS), &step).map_err(|error| file_failure(&error))?;
        for list in lists.into_iter().flatten() {
            let path = Path::new(LISTS).join(&list.path);
            let listed = host.files.content(&path, MAX_LIST).map_err(|error| file_failure(&error))?;
            let listed = listed.unwrap_or_default();
            let lines = listed.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"/etc/"));
            paths.owned.extend(lines.filter_map(|line| Some(str::from_utf8(line).ok()?.to_owned())));
        }
        for entry in &paths.entries {
            paths.conffiles.extend(entry.conffiles.iter().cloned());
        }
        // Packages make these files with a tool that asks before it replaces a changed one.
        let ucf = bytes(host, UCF, MAX_LIST)?.unwrap_or_default();
        for line in String::from_utf8_lossy(&ucf).lines() {
            if let Some((digest, path)) = line.split_once(' ') {
                paths.conffiles.insert(path.trim().to_owned(), digest.to_owned());
            }
        }
        Ok(paths)
    }

    /// Returns the installed packages.
    pub(super) fn entries(&self) -> &[StatusEntry] {
        &self.entries
    }

    /// Returns `true` for a path that a package brings, be it a directory.
    pub(crate) fn has(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.owned.contains(path))
    }

    /// Returns the configuration files that packages brought.
    pub(crate) fn shipped_conffiles(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().flat_map(|entry| entry.conffiles.iter().map(|(path, _)| &**path))
    }

    /// Returns the configuration files of a package.
    pub(crate) fn conffiles_of<'p>(&'p self, package: &'p str) -> impl Iterator<Item = &'p str> {
        let entries = self.entries.iter().filter(move |entry| entry.name == package);
        entries.flat_map(|entry| entry.conffiles.iter().map(|(path, _)| &**path))
    }

    /// Returns the origin of a regular file or a link. A file that can't be read counts as shipped.
    pub(crate) fn origin(&self, path: &Path, context: &Context<'_>) -> PathOrigin {
        let Some(text) = path.to_str() else { return PathOrigin::Unowned };
        match self.conffiles.get(text) {
            Some(shipped) => match context.host.files.content(path, MAX_CONFFILE).ok().flatten() {
                Some(present) if md5(&present) != *shipped => PathOrigin::Changed,
                _ => PathOrigin::Shipped,
            },
            None if self.owned.contains(text) => PathOrigin::Shipped,
            None => PathOrigin::Unowned,
        }
    }

    /// Returns `true` for a file that is as a package brought it.
    pub(crate) fn has_as_shipped(&self, path: &Path, context: &Context<'_>) -> bool {
        self.origin(path, context) == PathOrigin::Shipped
    }
}

/// Returns the package that brings a file; `None` if there is none.
pub(crate) fn package_of(path: &str, context: &Context<'_>) -> Result<Option<String>, Failure> {
    let files = context.host.files;
    let other = MERGED.iter().find_map(|(one, other)| Some(format!("{other}{}", path.strip_prefix(one)?)));
    let is_it =
        |line: &[u8]| line == path.as_bytes() || other.as_ref().is_some_and(|other| line == other.as_bytes());
    for list in names_in(Path::new(LISTS), files)? {
        let Some(package) = list.strip_suffix(".list") else { continue };
        let listed =
            files.content(&Path::new(LISTS).join(&list), MAX_LIST).map_err(|error| file_failure(&error))?;
        if listed.unwrap_or_default().split(|byte| *byte == b'\n').any(is_it) {
            return Ok(Some(package.split(':').next().unwrap_or(package).to_owned()));
        }
    }
    Ok(None)
}

fn md5(content: &[u8]) -> String {
    Md5::digest(content).iter().fold(String::with_capacity(32), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::md5;

    #[test]
    fn checksums_are_those_of_dpkg() {
        assert_eq!(md5(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5(b"a\n"), "60b725f10c9c85c70d97880dfe8191b3");
    }
}
