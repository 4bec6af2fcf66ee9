//! Files that the tools for accounts replace.

use std::path::Path;

use ccm_host::Files;
use ccm_model::Failure;

use crate::support::file_failure::check_replaceable_by_program;

/// Pair of files: what everybody may read, and the passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccountFile {
    Passwd,
    Shadow,
    Group,
    GroupShadow,
}

impl AccountFile {
    /// Files with groups.
    pub(crate) const GROUPS: [Self; 2] = [Self::Group, Self::GroupShadow];
    /// Files with users.
    pub(crate) const USERS: [Self; 2] = [Self::Passwd, Self::Shadow];

    fn path(self) -> &'static Path {
        Path::new(match self {
            Self::Passwd => "/etc/passwd",
            Self::Shadow => "/etc/shadow",
            Self::Group => "/etc/group",
            Self::GroupShadow => "/etc/gshadow",
        })
    }
}

/// Returns the failure of a change that the tools can't make, because they can't replace a file. They name a lock instead,
/// which ccm would wait for.
pub(crate) fn check_account_files(
    changed: impl IntoIterator<Item = AccountFile>,
    files: &dyn Files,
) -> Result<(), Failure> {
    // Passwords may be in the other file of the pair.
    let changed = changed.into_iter().map(AccountFile::path);
    changed
        .filter(|path| files.exists(path).unwrap_or(false))
        .try_for_each(|path| check_replaceable_by_program(path, files))
}
