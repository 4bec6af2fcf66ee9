//! Claims of resources on the things that they manage.

use std::borrow::Cow;
use std::fmt;

/// Claim of a resource on a thing that it manages. Two exclusive claims on one thing are an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// Kind of the thing.
    pub kind: ClaimKind,
    /// Canonical name of the thing, the same for every type that claims it.
    pub key: Cow<'a, str>,
    /// Permission for other resources to manage the thing as well.
    pub sharing: Sharing,
    /// Desired content of a path. [`PathKind::Other`] for every other kind of thing.
    pub desired: PathKind,
}

/// Kind of a thing that a resource manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ClaimKind {
    /// A path of the file system, absolute and in its shortest form.
    Path,
    /// A systemd unit of the system, with its suffix.
    Unit,
    /// A package of the system.
    Package,
    /// A user of the system.
    User,
}

/// Number of resources that may manage a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One resource.
    Exclusive,
    /// Every resource that claims the thing as shared. Each manages a part of it.
    Shared,
}

/// Desired content of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A directory. Claims below the path need it.
    Directory,
    /// Absent: nothing at the path, and so nothing below.
    Nothing,
    /// Anything else.
    Other,
}

impl<'a> Claim<'a> {
    /// Builds the claim of one resource on a thing.
    pub fn exclusive(kind: ClaimKind, key: impl Into<Cow<'a, str>>) -> Self {
        Self { kind, key: key.into(), sharing: Sharing::Exclusive, desired: PathKind::Other }
    }

    /// Builds a claim on a part of a thing.
    pub fn shared(kind: ClaimKind, key: impl Into<Cow<'a, str>>) -> Self {
        Self { sharing: Sharing::Shared, ..Self::exclusive(kind, key) }
    }

    /// Builds the claim of one resource on a path.
    pub fn path(path: impl Into<Cow<'a, str>>, desired: PathKind) -> Self {
        Self { desired, ..Self::exclusive(ClaimKind::Path, path) }
    }

    /// Returns `true` for an exclusive claim on a path with this desired content.
    pub fn is_path_of(&self, desired: PathKind) -> bool {
        self.kind == ClaimKind::Path && self.sharing == Sharing::Exclusive && self.desired == desired
    }
}

impl fmt::Display for ClaimKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Path => "path",
            Self::Unit => "unit",
            Self::Package => "package",
            Self::User => "user",
        })
    }
}
