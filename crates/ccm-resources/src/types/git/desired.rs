//! The desired checkout, complete and checked.

use std::path::PathBuf;
use std::time::Duration;

use ccm_model::{DiagnosticKind, Resource};
use ccm_properties::PropertyError;

use super::properties::{FetchDepth, GitProperties};
use super::remote::GitUrl;
use super::revision::GitRevision;
use crate::support::values::canonical_path::{CanonicalPath, path_error};

/// Time limit of a call of git, unless the manifest has another.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredCheckout {
    pub path: PathBuf,
    pub is_absent: bool,
    /// `None` only if the checkout is to be absent.
    pub url: Option<GitUrl>,
    pub revision: Option<GitRevision>,
    pub depth: Option<u32>,
    pub submodules: bool,
    pub user: Option<String>,
    pub force: bool,
    /// Time limit of a transfer; `None` for no limit.
    pub timeout: Option<Duration>,
}

impl DesiredCheckout {
    pub(crate) fn build(resource: &Resource, written: GitProperties) -> Result<Self, Vec<PropertyError>> {
        let mut errors = Vec::new();
        let is_absent = resource.is_absent();
        let name = &*resource.id.name;
        if written.path.is_none()
            && let Some((message, hint)) = path_error(name, "checkout")
        {
            let error = PropertyError::new(DiagnosticKind::InvalidValue, "path", message);
            let hint = hint.map(|hint| format!("{hint}, or set `path`"));
            errors.push(hint.into_iter().fold(error, PropertyError::with_hint));
        }
        if written.url.is_none() && !is_absent {
            errors.push(PropertyError::missing("url", "write `url`, the address of the repository"));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let timeout = written.timeout.map_or(Some(DEFAULT_TIMEOUT), |timeout| timeout.0);
        Ok(Self {
            path: written.path.map_or_else(|| PathBuf::from(name), |CanonicalPath(path)| path),
            is_absent,
            url: written.url,
            revision: written.revision,
            depth: written.depth.map(|FetchDepth(depth)| depth),
            submodules: written.submodules.unwrap_or_default(),
            user: written.user.map(|user| user.0),
            force: written.force.unwrap_or_default(),
            timeout,
        })
    }
}
