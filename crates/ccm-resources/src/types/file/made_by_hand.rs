//! Files below `/etc` that a person made, changed or removed, and the crontabs of users.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ccm_engine::{Context, Instances, NotExported};
use ccm_host::{TreeEntryKind, WalkStep};

use super::export::unnameable;
use crate::parts::crontabs::crontabs;
use crate::parts::packages::{OwnedPaths, PathOrigin, ignores_path, owned_paths};
use crate::support::file_failure::file_failure;

/// Directory with the settings of the machine.
const SETTINGS: &str = "/etc";

/// Directory whose links say which units are enabled or masked.
const UNIT_LINKS: &str = "/etc/systemd";

/// Maximum depth of directories.
const MAX_DEPTH: usize = 32;

/// Returns the paths, each directory before what is in it.
pub(super) async fn made_by_hand(context: &Context<'_>) -> Result<Instances, NotExported> {
    let owned = owned_paths(context).await?;
    let mut found = BTreeSet::new();
    let mut unseen = Vec::new();
    let mut directories = vec![PathBuf::from(SETTINGS)];
    while let Some(directory) = directories.pop() {
        let entries = match context.host.files.walk(&directory, &|_, _| WalkStep::List) {
            Ok(entries) => entries.unwrap_or_default(),
            Err(error) => {
                unseen.push(file_failure(&error).into());
                continue;
            }
        };
        for entry in entries {
            let path = directory.join(&entry.path);
            if ignores_path(&path) {
                continue;
            }
            match entry.kind {
                TreeEntryKind::Directory { is_mount: false } if path.components().count() < MAX_DEPTH => {
                    directories.push(path);
                }
                TreeEntryKind::Link(_) if path.starts_with(UNIT_LINKS) => {}
                TreeEntryKind::File | TreeEntryKind::Link(_)
                    if owned.origin(&path, context) != PathOrigin::Shipped =>
                {
                    add(&mut found, path, &owned, &mut unseen);
                }
                _ => {}
            }
        }
    }
    for path in removed(&owned, context) {
        found.insert(path);
    }
    for path in crontabs(context, &mut unseen) {
        add(&mut found, path, &owned, &mut unseen);
    }
    let names = found.into_iter().filter_map(|path| path.into_os_string().into_string().ok());
    Ok(Instances { names: names.collect(), unseen })
}

/// Adds a path, with the directories above it that no package brings.
fn add(found: &mut BTreeSet<PathBuf>, path: PathBuf, owned: &OwnedPaths, unseen: &mut Vec<NotExported>) {
    if path.to_str().is_none() {
        unseen.push(unnameable(&path));
        return;
    }
    let above = path
        .ancestors()
        .skip(1)
        .take_while(|above| above.starts_with(SETTINGS) && *above != Path::new(SETTINGS));
    found.extend(above.filter(|above| !owned.has(above)).map(Path::to_owned));
    found.insert(path);
}

/// Returns the configuration files of packages that somebody removed.
fn removed(owned: &OwnedPaths, context: &Context<'_>) -> Vec<PathBuf> {
    let paths = owned.shipped_conffiles().map(Path::new);
    let is_gone = |path: &&Path| {
        !ignores_path(path)
            && !context.host.files.exists(path).unwrap_or(true)
            && path.parent().is_some_and(|above| context.host.files.is_directory(above).unwrap_or(false))
    };
    paths.filter(is_gone).map(Path::to_owned).collect()
}
