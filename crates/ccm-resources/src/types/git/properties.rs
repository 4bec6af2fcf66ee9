//! The properties of a checkout, as the manifest writes them.

use ccm_model::{Diagnostic, DiagnosticKind, Node};
use ccm_properties::{Exposure, PropertyKind, PropertyValue, properties};

use super::remote::GitUrl;
use super::revision::GitRevision;
use crate::support::values::canonical_path::CanonicalPath;
use crate::support::values::principal::Principal;
use crate::support::values::timeout::Timeout;

properties! {
    /// Properties of a checkout; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct GitProperties {
        /// Directory of the checkout. The directory above has to exist.
        path: CanonicalPath { default: Some("the name of the resource"), foreign_names: &["dest", "target", "directory"] },
        /// Address of the repository: `https://`, `http://`, `ssh://`, `git://`, `file://`, `user@host:path` or the absolute
        /// path of a local repository. It must not contain a password.
        url: GitUrl { exposure: Exposure::File("use an SSH key of the user, or a credential helper of git"), foreign_names: &["source", "repo", "repository", "remote"] },
        /// Branch, tag or full commit. A branch is followed: each run updates the checkout to its latest commit. A tag or a
        /// commit stays. `refs/heads/NAME` and `refs/tags/NAME` name a branch and a tag without doubt.
        revision: GitRevision { default: Some("not managed; the default branch of the repository for a new checkout"), foreign_names: &["version", "branch", "tag", "rev", "ref"] },
        /// Number of commits to fetch from the history.
        depth: FetchDepth { default: Some("all") },
        /// Check out the submodules, too, with those in them.
        submodules: bool { default: Some("`false`"), foreign_names: &["recursive"] },
        /// User who runs git and owns the checkout, by name or number. Only root can set another user.
        user: Principal { default: Some("the user who runs ccm"), foreign_names: &["owner", "become_user"] },
        /// Discard local changes and local commits. Without it, a checkout with local changes is an error.
        force: bool { default: Some("`false`"), foreign_names: &["force_reset"] },
        /// Time limit of a call of git that transfers something; `0` means no limit.
        timeout: Timeout { default: Some("`1h`") },
    }
}

/// Number of commits of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FetchDepth(pub u32);

impl FetchDepth {
    const MAX: i64 = i32::MAX as i64;
}

impl PropertyValue for FetchDepth {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(1), max: Some(Self::MAX) };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let depth = i64::decode(node, errors)?;
        let number = u32::try_from(depth).ok().filter(|_| (1..=Self::MAX).contains(&depth));
        if number.is_none() {
            let message = format!("`depth` must be between 1 and {}, found {depth}", Self::MAX);
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message));
        }
        number.map(Self)
    }
}
