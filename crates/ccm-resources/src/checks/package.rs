//! Installed packages, as the package tool of the machine knows them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use ccm_check::{Attribute, Fact, FactError};

use super::CheckScope;
use super::observation::{Observation, no_attribute, unreadable, within};
use crate::parts::packages::{Apt, Dnf, Pacman, Presence, Tool};
use crate::support::program::ProgramScope;

/// Package of a rule.
pub(super) struct InstalledPackage(Option<String>);

impl Observation for InstalledPackage {
    fn fact(&self, attribute: Attribute) -> Result<Fact, FactError> {
        match attribute {
            Attribute::Installed => Ok(self.0.is_some().into()),
            Attribute::Versions => Ok(self.0.iter().cloned().collect()),
            other => Err(no_attribute(other)),
        }
    }
}

/// Databases of the package tools.
#[derive(Default)]
pub(super) struct Packages(RefCell<Option<Rc<Database>>>);

enum Database {
    Apt(<Apt as Tool>::Database),
    Dnf(<Dnf as Tool>::Database),
    Pacman(<Pacman as Tool>::Database),
}

impl Packages {
    /// Reads the database again with the next question, for a rule that is tried again.
    pub(super) fn invalidate(&self) {
        self.0.take();
    }

    /// Finds a package. The database is read once; one that can't be read is tried again.
    pub(super) async fn observe(
        &self,
        name: &str,
        limit: Duration,
        scope: &CheckScope<'_>,
    ) -> Result<InstalledPackage, FactError> {
        let known = self.0.borrow().clone();
        let database = match known {
            Some(database) => database,
            None => Rc::new(within(limit, scope, Database::read(scope)).await??),
        };
        self.0.replace(Some(Rc::clone(&database)));
        let found = match &*database {
            Database::Apt(database) => Apt.find(database, name),
            Database::Dnf(database) => Dnf.find(database, name),
            Database::Pacman(database) => Pacman.find(database, name),
        };
        Ok(InstalledPackage(match found.presence {
            // No epoch is one of 0, and tools do not print it.
            Presence::Installed(version) => {
                Some(version.strip_prefix("0:").map(str::to_owned).unwrap_or(version))
            }
            _ => None,
        }))
    }
}

impl Database {
    async fn read(scope: &CheckScope<'_>) -> Result<Self, FactError> {
        use ccm_engine::Suitability::Suits;
        let host = scope.host;
        let programs = ProgramScope::from(scope);
        let read = if matches!(Apt.suitability(host), Suits(_)) {
            Apt.read(programs).await.map(Self::Apt)
        } else if matches!(Dnf.suitability(host), Suits(_)) {
            Dnf.read(programs).await.map(Self::Dnf)
        } else if matches!(Pacman.suitability(host), Suits(_)) {
            Pacman.read(programs).await.map(Self::Pacman)
        } else {
            let reason = "this machine has no package tool that ccm knows: apt, dnf or pacman";
            return Err(FactError::Unsupported(reason.to_owned()));
        };
        read.map_err(|failure| unreadable(failure.one_line()))
    }
}
