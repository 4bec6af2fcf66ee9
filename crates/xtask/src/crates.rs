//! Picture and list of the crates of the workspace, from the metadata that cargo prints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::{cargo, cell};

/// Crate of the workspace.
#[derive(Default)]
struct Member {
    description: String,
    /// Crates of the workspace on which this one depends, except for its tests.
    dependencies: BTreeSet<String>,
}

type Members = BTreeMap<String, Member>;

/// Returns a picture of all crates and their dependencies, and a table with their descriptions. A crate stands behind
/// all that depend on it in the picture, and before them in the table.
pub(crate) fn list(root: &Path) -> Result<String, String> {
    let metadata = cargo(root, &["metadata", "--no-deps", "--format-version", "1"])?;
    let metadata = serde_json::from_str::<Value>(&metadata).map_err(|error| error.to_string())?;
    let members = members(&metadata);
    let order = order(&members);
    let mut text = "```mermaid\nflowchart TD\n".to_owned();
    for name in order.iter().rev() {
        let dependencies = nearest(name, &members);
        let dependencies: Vec<&str> = dependencies.into_iter().map(short).collect();
        if !dependencies.is_empty() {
            text += &format!("    {} --> {}\n", short(name), dependencies.join(" & "));
        }
    }
    text += "```\n\n| Crate | Content |\n|---|---|\n";
    for name in order {
        let description = cell(&members[name].description);
        text += &format!("| [{name}](../../crates/{name}) | {description} |\n");
    }
    Ok(text)
}

/// Reads the crates of the workspace.
fn members(metadata: &Value) -> Members {
    let packages = || metadata["packages"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = packages().map(|package| text(&package["name"])).collect();
    let member = |package: &Value| {
        let all = package["dependencies"].as_array().into_iter().flatten();
        let normal = all.filter(|dependency| dependency["kind"].is_null());
        let dependencies = normal.map(|dependency| text(&dependency["name"]));
        let dependencies = dependencies.filter(|name| names.contains(name)).collect();
        Member { description: text(&package["description"]), dependencies }
    };
    packages().map(|package| (text(&package["name"]), member(package))).collect()
}

/// Returns the names of all crates, each behind those on which it depends.
fn order(members: &Members) -> Vec<&str> {
    let mut order: Vec<&str> = members.keys().map(String::as_str).collect();
    order.sort_by_key(|name| depth(name, members));
    order
}

/// Returns the number of crates on the longest way down from a crate.
fn depth(name: &str, members: &Members) -> usize {
    members[name].dependencies.iter().map(|below| depth(below, members) + 1).max().unwrap_or(0)
}

/// Returns the dependencies of a crate that no other one of its dependencies has.
fn nearest<'m>(name: &str, members: &'m Members) -> Vec<&'m str> {
    let direct = &members[name].dependencies;
    let is_indirect = |below: &str| direct.iter().any(|other| reaches(other, below, members));
    direct.iter().map(String::as_str).filter(|below| !is_indirect(below)).collect()
}

/// Returns `true` if a crate depends on another one, directly or not.
fn reaches(name: &str, other: &str, members: &Members) -> bool {
    members[name].dependencies.iter().any(|below| below == other || reaches(below, other, members))
}

/// Returns the name of a crate in the picture.
fn short(name: &str) -> &str {
    name.strip_prefix("ccm-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tests_and_indirect_dependencies_are_left_out() {
        let dependency = |name: &str, kind: Option<&str>| json!({"name": name, "kind": kind});
        let package = |name: &str, dependencies: Value| json!({"name": name, "dependencies": dependencies});
        let members = members(&json!({"packages": [
            package("cli", json!([dependency("model", None), dependency("run", None), dependency("clap", None)])),
            package("model", json!([dependency("kit", Some("dev"))])),
            package("run", json!([dependency("host", None)])),
            package("host", json!([dependency("model", None)])),
            package("kit", json!([dependency("host", None)])),
        ]}));
        assert_eq!(order(&members), ["model", "host", "kit", "run", "cli"]);
        assert_eq!(nearest("cli", &members), ["run"]);
        assert_eq!(nearest("model", &members), Vec::<&str>::new());
    }
}
