//! Crates that the program is made of, as cargo resolves them for it.
//!
//! Tools for bills of materials read `cargo metadata`, which also lists what only tests and macros turn on: a fifth more
//! crates, such as `rsa`, which the program does not have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cargo;

/// Name and version of a crate.
pub(super) type CrateId = (String, String);

/// Crate that the program is made of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Component {
    /// Licences, as an expression.
    pub(super) license: Option<String>,
    /// SHA-256 of the crate in its registry; `None` for a crate of this workspace.
    pub(super) checksum: Option<String>,
    /// Directory of the sources.
    pub(super) directory: PathBuf,
    /// Crates that this one uses.
    pub(super) uses: BTreeSet<CrateId>,
}

/// Name of the crate with the program.
pub(super) const PROGRAM: &str = "ccm-cli";

/// Returns the crates of the program, with the program itself.
pub(super) fn of_program(root: &Path) -> Result<BTreeMap<CrateId, Component>, String> {
    let tree =
        ["tree", "--locked", "--package", PROGRAM, "--edges", "normal,no-proc-macro", "--prefix", "depth"];
    let platform = ["--target", super::build::TARGET];
    let mut components = from_tree(&cargo(root, &[&tree[..], &platform, &["--format", " {p}"]].concat())?);
    let metadata =
        ["metadata", "--locked", "--format-version", "1", "--filter-platform", super::build::TARGET];
    let metadata =
        serde_json::from_str::<Value>(&cargo(root, &metadata)?).map_err(|error| error.to_string())?;
    let lock = root.join("Cargo.lock");
    let lock = std::fs::read_to_string(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let checksums = checksums(&lock);
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |name: &str| package[name].as_str().map(str::to_owned);
        let (Some(name), Some(version), Some(manifest)) =
            (text("name"), text("version"), text("manifest_path"))
        else {
            continue;
        };
        let id = (name, version);
        if let Some(component) = components.get_mut(&id) {
            component.license = text("license").map(|license| license.replace('/', " OR "));
            Path::new(&manifest).parent().unwrap_or(root).clone_into(&mut component.directory);
            component.checksum = checksums.get(&id).cloned();
        }
    }
    Ok(components)
}

/// Reads the crates and their uses from lines of a depth and a crate.
fn from_tree(tree: &str) -> BTreeMap<CrateId, Component> {
    let mut components: BTreeMap<CrateId, Component> = BTreeMap::new();
    let mut above: Vec<CrateId> = Vec::new();
    for line in tree.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(depth), Some(name), Some(version)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Ok(depth) = depth.parse() else { continue };
        let id = (name.to_owned(), version.trim_start_matches('v').to_owned());
        above.truncate(depth);
        if let Some(user) = above.last() {
            components.entry(user.clone()).or_default().uses.insert(id.clone());
        }
        components.entry(id.clone()).or_default();
        above.push(id);
    }
    components
}

/// Reads the checksums of a `Cargo.lock`.
fn checksums(lock: &str) -> BTreeMap<CrateId, String> {
    let packages = lock.split("[[package]]").filter_map(|package| {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
            line.and_then(|value| value.strip_suffix('"')).map(str::to_owned)
        };
        Some(((value("name")?, value("version")?), value("checksum")?))
    });
    packages.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str, version: &str) -> CrateId {
        (name.to_owned(), version.to_owned())
    }

    #[test]
    fn tree_gives_crates_and_their_uses() {
        let tree =
            "0 ccm-cli v0.1.0 (/x)\n1 serde v1.0.2\n2 core v1.0.0\n1 tokio v1.5.0\n2 serde v1.0.2 (*)\n";
        let components = from_tree(tree);
        let uses = |name, version| {
            let uses = &components[&id(name, version)].uses;
            uses.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(components.len(), 4);
        assert_eq!(uses("ccm-cli", "0.1.0"), ["serde", "tokio"]);
        assert_eq!(uses("tokio", "1.5.0"), ["serde"]);
        assert_eq!(uses("serde", "1.0.2"), ["core"]);
    }

    #[test]
    fn checksums_are_read_from_the_lock() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry\"\n\
                    checksum = \"abc\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(checksums(lock), BTreeMap::from([(id("a", "1.0.0"), "abc".to_owned())]));
    }
}
