//! What an earlier resource could have brought about.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::json::PathText;

/// Prerequisite that an earlier resource could have brought about to prevent a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Missing {
    /// A user or a group.
    Principal,
    /// A program of this name somewhere in the search path.
    Program(String),
    /// A systemd unit of this name.
    Unit(String),
    /// A systemd unit of this name that can be started: the existing one is masked or has an error.
    UsableUnit(String),
    /// A file or directory at this path, in place of nothing or of something else.
    Path(#[serde(with = "PathText")] PathBuf),
}

/// The kinds of [`Missing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissingKind {
    /// A user or a group.
    Principal,
    /// A program in the search path.
    Program,
    /// A unit.
    Unit,
    /// A unit that can be started.
    UsableUnit,
    /// Something at a path.
    Path,
}

impl MissingKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Principal, Self::Program, Self::Unit, Self::UsableUnit, Self::Path];

    /// Returns `true` if removing something could provide it, because it may be in the way.
    pub fn may_be_by_removal(self) -> bool {
        matches!(self, Self::UsableUnit | Self::Path)
    }
}

impl Missing {
    /// The kind of what is missing.
    pub fn kind(&self) -> MissingKind {
        match self {
            Self::Principal => MissingKind::Principal,
            Self::Program(_) => MissingKind::Program,
            Self::Unit(_) => MissingKind::Unit,
            Self::UsableUnit(_) => MissingKind::UsableUnit,
            Self::Path(_) => MissingKind::Path,
        }
    }

    /// The names of files that would provide it, in whatever directory they are.
    pub fn file_names(&self) -> impl Iterator<Item = String> {
        let (name, template) = match self {
            Self::Principal | Self::Path(_) => (None, None),
            Self::Program(name) => (Some(name.clone()), None),
            Self::Unit(name) | Self::UsableUnit(name) => {
                // `a@b.service` is made from `a@.service`.
                let template = name.split_once('@').zip(name.rsplit_once('.'));
                let template = template.map(|((stem, _), (_, suffix))| format!("{stem}@.{suffix}"));
                (Some(name.clone()), template)
            }
        };
        name.into_iter().chain(template)
    }

    /// Returns `true` if a resource that manages this path could provide it.
    pub fn is_at(&self, managed: &Path) -> bool {
        match self {
            // A directory above it, the thing itself, or something in it that is in the way.
            Self::Path(path) => path.starts_with(managed) || managed.starts_with(path),
            _ => {
                managed.file_name().is_some_and(|found| self.file_names().any(|name| found == name.as_str()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_bring_a_unit() {
        for (unit, managed, expected) in [
            ("web.service", "/etc/systemd/system/web.service", true),
            ("web.service", "/etc/systemd/system/web.timer", false),
            ("web.service", "/etc/systemd/system", false),
            ("web@one.service", "/usr/lib/systemd/system/web@.service", true),
            ("web@one.service", "/usr/lib/systemd/system/web@one.service", true),
            ("web@one.service", "/usr/lib/systemd/system/web@two.service", false),
        ] {
            assert_eq!(
                Missing::Unit(unit.to_owned()).is_at(Path::new(managed)),
                expected,
                "{unit} {managed}"
            );
        }
    }
}
