//! Files with the authorized keys of a user.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ccm_engine::Context;
use ccm_host::{Account, FileError, Files, UserFile, UserFileContent};
use ccm_model::ClaimKind;

use super::UNKNOWN;
use super::key_line::KeyLine;
use crate::parts::text::{TextLines, lines};

/// Directory below the home directory.
const DIRECTORY: &str = ".ssh";

/// File that ccm writes keys to.
const FILE: &str = "authorized_keys";

/// Files that sshd reads keys from, unless it is set otherwise.
const FILES: [&str; 2] = [FILE, "authorized_keys2"];

/// Maximum size of such a file.
const MAX_FILE: u64 = 4 << 20;

/// Returns the file with the keys of a user.
pub(crate) fn file(account: &Account) -> UserFile<'_> {
    named(account, FILE)
}

fn named<'a>(account: &'a Account, name: &'a str) -> UserFile<'a> {
    UserFile { identity: &account.identity, home: &account.home, directory: DIRECTORY, name }
}

/// Reads the file with the keys of a user.
pub(crate) fn read(account: &Account, files: &dyn Files) -> Result<Option<UserFileContent>, FileError> {
    files.read_user_file(file(account), MAX_FILE)
}

/// Returns the files of the keys that other resources of the catalog manage, for users that exist.
pub(crate) fn key_files_of_others(context: &Context<'_>) -> Vec<PathBuf> {
    let claimed = context.claimed_keys(ClaimKind::AuthorizedKey);
    let users: BTreeSet<&str> = claimed.filter_map(|claim| Some(claim.split_once(' ')?.0)).collect();
    let accounts = users.into_iter().filter_map(|user| context.host.system.account(user).ok());
    accounts.map(|account| file(&account).path()).collect()
}

/// Keys of a user that resources of the catalog manage.
pub(crate) struct ManagedKeys {
    /// Type and key, with a blank between.
    keys: Vec<String>,
    /// True if a key is known only when its resource is reached.
    pub has_unknown: bool,
}

impl ManagedKeys {
    pub(crate) fn of_user(user: &str, context: &Context<'_>) -> Self {
        let claimed = context.claimed_keys(ClaimKind::AuthorizedKey);
        let of_user = claimed.filter_map(|claim| claim.split_once(' '));
        let keys: Vec<String> =
            of_user.filter(|(owner, _)| *owner == user).map(|(_, key)| key.to_owned()).collect();
        Self { has_unknown: keys.iter().any(|key| key == UNKNOWN), keys }
    }

    fn has(&self, line: &KeyLine<'_>) -> bool {
        let is_it = |(kind, blob): (&str, &str)| kind.as_bytes() == line.kind && blob.as_bytes() == line.blob;
        self.keys.iter().any(|key| key.split_once(' ').is_some_and(is_it))
    }

    /// Returns `true` for a line with a key that no resource manages.
    fn is_unmanaged(&self, line: &[u8]) -> bool {
        KeyLine::parse(line).is_some_and(|line| !self.has(&line))
    }
}

/// All files with the keys of a user.
pub(crate) struct KeyFiles(Vec<(&'static str, Vec<u8>)>);

impl KeyFiles {
    /// Reads the files; one that does not exist is left out. A user without a home directory has none.
    pub(crate) fn read(account: &Account, files: &dyn Files) -> Result<Self, FileError> {
        let mut found = Vec::new();
        for name in FILES {
            match files.read_user_file(named(account, name), MAX_FILE) {
                Ok(Some(file)) => found.push((name, file.content)),
                Ok(None) | Err(FileError::ParentMissing(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self(found))
    }

    /// Returns the paths of all such files, whether they exist or not.
    pub(crate) fn paths(account: &Account) -> impl Iterator<Item = PathBuf> + '_ {
        FILES.into_iter().map(|name| named(account, name).path())
    }

    /// Returns the number of keys that no resource manages.
    pub(crate) fn unmanaged(&self, managed: &ManagedKeys) -> usize {
        let all = self.0.iter().flat_map(|(_, content)| lines(content));
        all.filter(|line| managed.is_unmanaged(line)).count()
    }

    /// Removes the keys that no resource manages.
    pub(crate) fn purge(
        &self,
        account: &Account,
        managed: &ManagedKeys,
        files: &dyn Files,
    ) -> Result<(), FileError> {
        for (name, content) in &self.0 {
            let mut lines = TextLines::of(content);
            lines.set(|line| managed.is_unmanaged(line), None);
            let kept = lines.into_content();
            if kept != *content {
                files.write_user_file(named(account, name), &kept)?;
            }
        }
        Ok(())
    }
}
