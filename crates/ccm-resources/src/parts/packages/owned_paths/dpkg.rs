//! Files of packages of dpkg.

use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::{Files, WalkStep};
use ccm_model::{Failure, FailureKind};

use super::{Conffile, ETC, MAX_LIST, OwnedPaths};
use crate::parts::packages::apt::{MAX_STATUS_SIZE, STATUS, StatusEntry, installed_entries};
use crate::parts::packages::tool::bytes;
use crate::support::file_failure::{file_failure, names_in};

/// Directories that are one on most systems, and two in the lists of packages.
const MERGED: [(&str, &str); 2] = [("/usr/lib/", "/lib/"), ("/lib/", "/usr/lib/")];

/// Directory with a list of files for each package.
const LISTS: &str = "/var/lib/dpkg/info";
/// Checksums of files that packages make with ucf.
const UCF: &str = "/var/lib/ucf/hashfile";

/// Installed packages of the machine.
pub(in crate::parts::packages) struct InstalledPackages(pub Vec<StatusEntry>);

/// Returns the installed packages, read once until something is executed.
pub(in crate::parts::packages) async fn installed_packages(
    context: &Context<'_>,
) -> Result<Rc<InstalledPackages>, Failure> {
    let read = async || {
        let Some(status) = bytes(context.host, STATUS, MAX_STATUS_SIZE)? else {
            let message =
                "no package tool that ccm knows tells what packages brought from what a person made";
            return Err(
                Failure::new(FailureKind::Provider, message).with_hint("name the resources to export")
            );
        };
        Ok(InstalledPackages(installed_entries(&status)))
    };
    context.state_cache(read).await
}

/// Reads the lists of dpkg.
pub(super) async fn owned_paths(context: &Context<'_>) -> Result<OwnedPaths, Failure> {
    let host = context.host;
    let installed = installed_packages(context).await?;
    let mut paths = OwnedPaths::default();
    let is_list = |path: &Path| path.extension().is_some_and(|ending| ending == "list");
    let step = |path: &Path, _| if is_list(path) { WalkStep::List } else { WalkStep::Skip };
    let lists = host.files.walk(Path::new(LISTS), &step).map_err(|error| file_failure(&error))?;
    for list in lists.into_iter().flatten() {
        let path = Path::new(LISTS).join(&list.path);
        let listed = host.files.content(&path, MAX_LIST).map_err(|error| file_failure(&error))?;
        let listed = listed.unwrap_or_default();
        let lines = listed.split(|byte| *byte == b'\n').filter(|line| line.starts_with(ETC.as_bytes()));
        paths.owned.extend(lines.filter_map(|line| Some(str::from_utf8(line).ok()?.to_owned())));
    }
    for entry in &installed.0 {
        let package = Rc::from(&*entry.name);
        for (path, digest) in &entry.conffiles {
            paths.add_conffile(path, &package, digest);
        }
    }
    // Packages make these files with a tool that asks before it replaces a changed one.
    let ucf = bytes(host, UCF, MAX_LIST)?.unwrap_or_default();
    for line in String::from_utf8_lossy(&ucf).lines() {
        if let Some((digest, path)) = line.split_once(' ') {
            let conffile = Conffile { package: None, digest: digest.to_owned() };
            paths.conffiles.insert(path.trim().to_owned(), conffile);
        }
    }
    Ok(paths)
}

pub(super) fn package_of(path: &str, files: &dyn Files) -> Result<Option<String>, Failure> {
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
