//! What an earlier resource could have brought about.

use std::path::{Path, PathBuf};

/// What an earlier resource could have brought about to prevent a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A user or a group, which no file brings.
    Principal,
    /// A program of this name somewhere in the search path.
    Program(String),
    /// The unit of systemd of this name, which is a file in one of many directories.
    Unit(String),
    /// One of this name that can be started: the one that is there is masked, or holds a mistake.
    UsableUnit(String),
    /// Something else at this path, or something at all.
    Path(PathBuf),
}

impl Missing {
    /// Tells whether removing something could bring it about, because it may be in the way.
    pub fn may_be_by_removal(&self) -> bool {
        matches!(self, Self::UsableUnit(_) | Self::Path(_))
    }

    /// Tells whether a resource that manages this path could bring it about.
    pub fn is_at(&self, managed: &Path) -> bool {
        match self {
            Self::Principal => false,
            Self::Program(name) => managed.file_name().is_some_and(|found| found == name.as_str()),
            Self::Unit(name) | Self::UsableUnit(name) => managed.file_name().is_some_and(|found| {
                // `a@b.service` is made from `a@.service`.
                let template = name.split_once('@').zip(name.rsplit_once('.'));
                let template = template.map(|((stem, _), (_, suffix))| format!("{stem}@.{suffix}"));
                found == name.as_str() || template.is_some_and(|template| found == template.as_str())
            }),
            // A directory above it, the thing itself, or something in it that is in the way.
            Self::Path(path) => path.starts_with(managed) || managed.starts_with(path),
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
