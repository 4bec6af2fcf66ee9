//! Present state of resources: what `ccm resource` shows and writes as a manifest.

mod document;
mod guard;
mod manifest;
mod reading;
mod reproduction;
mod selection;
#[cfg(test)]
mod tests;
mod text;

use std::io;
use std::path::PathBuf;

use ccm_engine::{ExportedState, NotExported};
use ccm_host::RunnerError;
use ccm_model::{Failure, ManifestErrors, ResourceId};

use crate::session::Session;

pub use document::{PRESENT_STATE_PROTOCOL, present_state_schema};
pub use manifest::{ExportedManifest, ManifestOptions};

/// What to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceSelection {
    /// Resources of one type.
    OfType {
        /// Name of the type.
        type_name: String,
        /// Names of the resources; empty for all of the type.
        names: Vec<String>,
        /// Read what belongs to them as well: package, changed files, units, user.
        with_related: bool,
    },
    /// What a person made or changed after the installation of the system.
    MadeByHand,
}

/// Error of reading the present state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// There is no such type.
    #[error("unknown resource type `{name}`")]
    UnknownType {
        /// The name.
        name: String,
        /// The nearest type.
        nearest: Option<&'static str>,
        /// All types.
        known: Vec<&'static str>,
    },
    /// The type can't list its resources, or has nothing to read.
    #[error("resources of the type `{type_name}` can't be listed: {reason}")]
    NotListed {
        /// Name of the type.
        type_name: String,
        /// The reason.
        reason: NotExported,
    },
    /// Commands can't be started.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The reading ended with an error inside of ccm.
    #[error("the present state can't be read: {}", .0.one_line())]
    Internal(Box<Failure>),
    /// The directory of the files can't be made.
    #[error("the directory \"{}\" can't be made", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file can't be written.
    #[error("\"{}\" can't be written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The manifest that was written has errors, which is an error of ccm.
    #[error("internal error: the exported resources make no valid manifest")]
    Invalid(ManifestErrors),
}

/// State of the resources that were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PresentState {
    /// The resources, in the order in which a manifest has them.
    pub resources: Vec<PresentResource>,
    /// What could not be seen.
    pub unseen: Vec<Unseen>,
}

/// Resource as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentResource {
    /// Type and name.
    pub id: ResourceId,
    /// State of the resource.
    pub state: ResourcePresence,
    /// Resources that come before this one.
    pub require: Vec<ResourceId>,
    /// Resources that come before this one, and whose change triggers a refresh of this one.
    pub subscribe: Vec<ResourceId>,
}

/// State of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourcePresence {
    /// The resource exists.
    Present(ExportedState),
    /// The resource does not exist.
    Absent,
    /// The state is not exported.
    NotExported(NotExported),
}

/// Resources of a type that could not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// Name of the type.
    pub type_name: String,
    /// The reason.
    pub reason: NotExported,
}

impl Session {
    /// Returns the type with a name.
    fn type_named(&self, name: &str) -> Result<&'static dyn ccm_engine::ResourceType, ResourceError> {
        self.types.iter().copied().find(|found| found.name() == name).ok_or_else(|| {
            let known = self.type_names();
            let nearest = ccm_model::closest(name, known.iter().copied());
            ResourceError::UnknownType { name: name.to_owned(), nearest, known }
        })
    }
}
