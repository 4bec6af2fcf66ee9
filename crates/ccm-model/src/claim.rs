//! Claims of resources on the objects that they manage.

use std::borrow::Cow;
use std::fmt;

/// Claim of a resource on an object that it manages. Claims of two resources on one object are an error,
/// unless both are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// Kind of the object.
    pub kind: ClaimKind,
    /// Canonical name of the object, the same for every type that claims it.
    pub key: Cow<'a, str>,
    /// The key as the manifest spells it, if [`PathSpellings`](crate::PathSpellings) found another spelling.
    pub written: Option<Cow<'a, str>>,
    /// Permission for other resources to manage the object as well.
    pub sharing: Sharing,
    /// Desired content of a path. [`PathKind::Other`] for every other kind of object.
    pub desired: PathKind,
}

/// Kind of an object that a resource manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ClaimKind {
    /// A path of the file system, absolute and without `.`, `..`, `//` or a slash at its end.
    Path,
    /// A systemd unit of the system, with its suffix.
    Unit,
    /// A package of the system.
    Package,
    /// The hold of a package.
    PackageHold,
    /// A user of the system.
    User,
    /// A group of the system.
    Group,
    /// The number of a user, in digits.
    UserId,
    /// The number of a group, in digits.
    GroupId,
    /// A public key that may log in as a user: name of the user, type of the key, and the key, with blanks between.
    AuthorizedKey,
    /// A parameter of the kernel, with slashes between its parts.
    KernelParameter,
    /// A module of the kernel, with `_` in place of `-`.
    KernelModule,
    /// A directory that a file system is mounted on.
    MountPoint,
    /// A host of `/etc/hosts`, in lower case.
    Host,
    /// A line of a file: its path and its text.
    Line,
    /// A setting of a file: its path, section and key.
    Setting,
    /// A job of the crontab of a user: name of the user and name of the job, with a colon and a blank between.
    CrontabJob,
}

/// Number of resources that may manage an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One resource.
    Exclusive,
    /// Every resource that claims the object as shared. Each manages a part of it.
    Shared,
}

/// Desired content of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A directory, which is made with those above it. Claims below the path need it.
    Directory,
    /// A link, which may lead to a directory. Claims below the path need it.
    Link,
    /// Absent: neither the path nor anything below it.
    Nothing,
    /// A part of a file. The resource comes after one that claims the whole file as shared.
    Part,
    /// Anything else.
    Other,
}

impl<'a> Claim<'a> {
    /// Builds the claim of one resource on an object.
    pub fn exclusive(kind: ClaimKind, key: impl Into<Cow<'a, str>>) -> Self {
        Self { kind, key: key.into(), written: None, sharing: Sharing::Exclusive, desired: PathKind::Other }
    }

    /// Builds a claim on a part of an object.
    pub fn shared(kind: ClaimKind, key: impl Into<Cow<'a, str>>) -> Self {
        Self { sharing: Sharing::Shared, ..Self::exclusive(kind, key) }
    }

    /// Builds the claim of one resource on a path.
    pub fn path(path: impl Into<Cow<'a, str>>, desired: PathKind) -> Self {
        Self { desired, ..Self::exclusive(ClaimKind::Path, path) }
    }

    /// Builds a claim on a part of a file, at this path.
    pub fn part_of_file(path: impl Into<Cow<'a, str>>) -> Self {
        Self { desired: PathKind::Part, ..Self::shared(ClaimKind::Path, path) }
    }

    /// Returns the key as the manifest spells it.
    pub fn as_written(&self) -> &str {
        self.written.as_deref().unwrap_or(&self.key)
    }

    /// Returns the spellings of the key beside the canonical one: that of this claim, and that of another one.
    pub fn other_spellings<'s>(&'s self, of_other: &'s str) -> Vec<&'s str> {
        let mut spellings = vec![self.as_written(), of_other];
        spellings.retain(|spelling| *spelling != self.key);
        spellings.dedup();
        spellings
    }

    /// Returns `true` for an exclusive claim on a path that claims below it need.
    pub fn holds_paths(&self) -> bool {
        self.is_path_of(PathKind::Directory) || self.is_path_of(PathKind::Link)
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
            Self::PackageHold => "package hold",
            Self::User => "user",
            Self::Group => "group",
            Self::UserId => "user ID",
            Self::GroupId => "group ID",
            Self::AuthorizedKey => "authorized key",
            Self::KernelParameter => "kernel parameter",
            Self::KernelModule => "kernel module",
            Self::MountPoint => "mount point",
            Self::Host => "host",
            Self::Line => "line",
            Self::Setting => "setting",
            Self::CrontabJob => "crontab job",
        })
    }
}
