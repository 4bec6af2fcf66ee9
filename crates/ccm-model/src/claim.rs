//! Claims of resources on the things that they manage.

use std::borrow::Cow;
use std::fmt;

/// A thing that a resource manages. Two exclusive claims on one thing are an error, whatever the types of the resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The kind of thing.
    pub kind: ClaimKind,
    /// The canonical name of the thing, the same for every type that claims it.
    pub key: Cow<'a, str>,
    /// Whether other resources may manage the thing as well.
    pub sharing: Sharing,
    /// What is to be at a path; [`PathKind::Other`] for every other kind of thing.
    pub desired: PathKind,
}

/// The kinds of things that resources manage.
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

/// Whether a thing may be managed by several resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// By one resource only.
    Exclusive,
    /// By every resource that claims it as shared: each manages a part of it.
    Shared,
}

/// What is to be at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A directory, which what is below it needs.
    Directory,
    /// Nothing, and so nothing below it.
    Nothing,
    /// Something else.
    Other,
}

impl<'a> Claim<'a> {
    /// Claims a thing for one resource.
    pub fn exclusive(kind: ClaimKind, key: impl Into<Cow<'a, str>>) -> Self {
        Self { kind, key: key.into(), sharing: Sharing::Exclusive, desired: PathKind::Other }
    }

    /// Claims a part of a thing.
    pub fn shared(kind: ClaimKind, key: impl Into<Cow<'a, str>>) -> Self {
        Self { sharing: Sharing::Shared, ..Self::exclusive(kind, key) }
    }

    /// Claims a path for one resource.
    pub fn path(path: impl Into<Cow<'a, str>>, desired: PathKind) -> Self {
        Self { desired, ..Self::exclusive(ClaimKind::Path, path) }
    }

    /// Returns `true` if this is an exclusive claim on a path at which that is to be.
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
