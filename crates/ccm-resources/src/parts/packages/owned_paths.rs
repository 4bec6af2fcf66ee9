//! Files below `/etc` that packages bring, and what they were when they came.

mod dpkg;
mod pacman;
mod rpm;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_model::Failure;
use md5::Md5;
use sha2::{Digest, Sha256, Sha512};

use super::own_tool::OwnTool;
use crate::support::program::ProgramScope;

pub(super) use dpkg::installed_packages;

/// Directory whose files are of interest.
const ETC: &str = "/etc";
/// Maximum size of a list of files.
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
    /// Paths of packages, also of directories.
    owned: HashSet<String>,
    /// Configuration files by their paths.
    conffiles: HashMap<String, Conffile>,
}

/// Configuration file as a package brought it.
#[derive(Debug)]
struct Conffile {
    /// Package with the file; `None` for a file that a script of a package made.
    package: Option<Rc<str>>,
    /// Checksum in lower case; its length tells its kind.
    digest: String,
}

/// Returns the files that packages bring, read once until something is executed.
pub(crate) async fn owned_paths(context: &Context<'_>) -> Result<Rc<OwnedPaths>, Failure> {
    let scope = ProgramScope::from(context);
    context
        .state_cache(async || match OwnTool::of(context.host) {
            Some(OwnTool::Dnf) => rpm::owned_paths(scope).await,
            Some(OwnTool::Pacman) => pacman::owned_paths(context.host),
            // A small system has the database of dpkg and no apt.
            Some(OwnTool::Apt) | None => dpkg::owned_paths(context).await,
        })
        .await
}

/// Returns the package that brings a file; `None` if there is none.
pub(crate) async fn package_of(path: &str, context: &Context<'_>) -> Result<Option<String>, Failure> {
    match OwnTool::of(context.host) {
        Some(OwnTool::Dnf) => rpm::package_of(path, context.into()).await,
        Some(OwnTool::Pacman) => pacman::package_of(path, context.into()).await,
        Some(OwnTool::Apt) | None => dpkg::package_of(path, context.host.files),
    }
}

impl OwnedPaths {
    /// Adds a configuration file of a package.
    fn add_conffile(&mut self, path: &str, package: &Rc<str>, digest: &str) {
        let digest = digest.to_owned();
        self.conffiles.insert(path.to_owned(), Conffile { package: Some(Rc::clone(package)), digest });
    }

    /// Returns `true` for a path that a package brings, be it a directory.
    pub(crate) fn has(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.owned.contains(path))
    }

    /// Returns the configuration files that packages brought.
    pub(crate) fn shipped_conffiles(&self) -> impl Iterator<Item = &str> {
        let of_packages = self.conffiles.iter().filter(|(_, conffile)| conffile.package.is_some());
        of_packages.map(|(path, _)| &**path)
    }

    /// Returns the configuration files of a package, sorted.
    pub(crate) fn conffiles_of(&self, package: &str) -> Vec<&str> {
        let is_its = |conffile: &Conffile| conffile.package.as_deref() == Some(package);
        let found = self.conffiles.iter().filter(|(_, conffile)| is_its(conffile));
        let mut found: Vec<&str> = found.map(|(path, _)| &**path).collect();
        found.sort_unstable();
        found
    }

    /// Returns the origin of a regular file or a link. A file that can't be read counts as shipped.
    pub(crate) fn origin(&self, path: &Path, context: &Context<'_>) -> PathOrigin {
        let Some(text) = path.to_str() else { return PathOrigin::Unowned };
        match self.conffiles.get(text) {
            Some(shipped) => match context.host.files.content(path, MAX_CONFFILE).ok().flatten() {
                Some(present) if is_changed(&shipped.digest, &present) => PathOrigin::Changed,
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

/// Returns `true` if content has another checksum than the one a package has, which is of a kind that package tools use.
fn is_changed(shipped: &str, content: &[u8]) -> bool {
    match shipped.len() {
        32 => hex::<Md5>(content) != shipped,
        64 => hex::<Sha256>(content) != shipped,
        128 => hex::<Sha512>(content) != shipped,
        _ => false,
    }
}

fn hex<D: Digest>(content: &[u8]) -> String {
    D::digest(content).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_compared_by_the_checksum_that_the_package_has() {
        for (shipped, content, expected) in [
            ("d41d8cd98f00b204e9800998ecf8427e", "", false),
            ("60b725f10c9c85c70d97880dfe8191b3", "a\n", false),
            ("60b725f10c9c85c70d97880dfe8191b3", "b\n", true),
            ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "", false),
            ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "a", true),
            ("", "a", false),
            ("X", "a", false),
        ] {
            assert_eq!(is_changed(shipped, content.as_bytes()), expected, "{shipped} {content:?}");
        }
    }
}
