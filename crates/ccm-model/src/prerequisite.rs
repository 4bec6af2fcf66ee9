//! Prerequisites that a resource lacks.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::json::PathText;

/// Prerequisite that an earlier resource could have provided to prevent a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum MissingPrerequisite {
    /// A user or a group of this name.
    Principal(String),
    /// A program of this name somewhere in the search path.
    Program(String),
    /// A usable unit of this name, or of its template.
    Unit(String),
    /// A file or directory at this path, in place of nothing or of something else.
    Path(#[serde(with = "PathText")] PathBuf),
    /// An installed package of this name.
    Package(String),
    /// No hold on the package of this name.
    NoHold(String),
    /// No file system mounted on this path.
    NoMount(#[serde(with = "PathText")] PathBuf),
    /// A file system at or above this path that lets it be changed.
    Writable(#[serde(with = "PathText")] PathBuf),
}
