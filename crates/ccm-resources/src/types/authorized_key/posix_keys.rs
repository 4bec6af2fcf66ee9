//! Provider posix: the file `~/.ssh/authorized_keys`, written with the rights of its user.

use std::io;
use std::path::PathBuf;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{Account, AccountError, FileError, Files, InspectOptions};
use ccm_model::{Failure, FailureKind, MissingPrerequisite};

use super::decide::{DesiredKey, KeyState, new_content};
use crate::parts::accounts::lookup::Accounts;
use crate::parts::ssh_keys::key_file::{file, read};
use crate::parts::text::check_encoding;
use crate::support::file_failure::{check_replaceable_by_program, file_failure};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};

pub(crate) struct PosixKeys;

impl Provider<Object<DesiredKey>> for PosixKeys {
    async fn status(
        &self,
        key: &DesiredKey,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<KeyState, Failure> {
        let account = match context.host.system.account(&key.user) {
            Ok(account) => account,
            Err(AccountError::NoUser { .. }) => return Ok(KeyState::default()),
            Err(error) => return Err(Failure::from_error(FailureKind::Read, &error)),
        };
        let mut state = KeyState { is_private: true, ..KeyState::default() };
        match read(&account, context.host.files) {
            Ok(Some(found)) => {
                state.is_private = found.is_private;
                // The lines of a key that is to be revoked are found by their bytes, whatever else somebody wrote.
                if !key.is_absent {
                    check_encoding(format_args!("\"{}\"", file(&account).path().display()), &found.content)?;
                }
                state.content = Some(found.content);
            }
            Ok(None) => {}
            Err(FileError::ParentMissing(_)) => state.home_missing = true,
            Err(error @ FileError::IsLink(_)) => {
                let hint = "replace the link with a directory or file: ccm follows no link to a file of keys";
                return Err(file_failure(&error).with_hint(hint));
            }
            Err(error) => return Err(without_rights(&error, &account, context.host.files)),
        }
        state.account = Some(account);
        let is_changed = !matches!(key.plan(&state), ObjectPlan::Keep { .. } | ObjectPlan::Fail(_));
        if let Some(account) = state.account.as_ref().filter(|_| reading.is_before() && is_changed) {
            check_replaceable_by_program(&file(account).path(), context.host.files)?;
        }
        Ok(state)
    }

    async fn execute(
        &self,
        key: &DesiredKey,
        state: &KeyState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let account = match key.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Create(_) | ObjectPlan::Change(_) | ObjectPlan::Remove => state.account.as_ref(),
        };
        let Some(account) = account else { return Ok(()) };
        let files = context.host.files;
        // The decision on the state may have been approved as it is.
        let again = read(account, files).map_err(|error| file_failure(&error))?;
        if again.map(|found| found.content) != state.content {
            return Err(file_failure(&FileError::Changed(file(account).path())));
        }
        files
            .write_user_file(file(account), &new_content(key, state))
            .map_err(|error| without_rights(&error, account, files))
    }

    async fn preflight(
        &self,
        _: &DesiredKey,
        state: &KeyState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        let Some(account) = state.account.as_ref().filter(|account| account.identity.uid != 0) else {
            return Ok(Vec::new());
        };
        let Some(directory) = Obstacle::find(account, context.host.files).filter(|found| !found.is_open)
        else {
            return Ok(Vec::new());
        };
        let owner = Accounts::of(context).await.user_name(directory.owner);
        let message = format!(
            "\"{}\" belongs to `{owner}`, and ccm writes keys with the rights of `{}`",
            directory.path.display(),
            account.name
        );
        let missing = MissingPrerequisite::Path(directory.path.clone());
        Err(Failure::conflict(message).with_missing(missing).with_hint(directory.hint(account)))
    }
}

/// Directory of somebody else in which the user can't write keys.
struct Obstacle {
    path: PathBuf,
    owner: u32,
    /// The directory of keys, and not the home directory above it.
    is_for_keys: bool,
    /// Others than the owner may write.
    is_open: bool,
}

impl Obstacle {
    /// Finds the directory of keys, or the home directory in which it would be made.
    fn find(account: &Account, files: &dyn Files) -> Option<Self> {
        let keys = file(account).path().parent()?.to_owned();
        let directory = |path: PathBuf, is_for_keys| {
            let target = files.inspect(&path, InspectOptions::default()).ok()?.target?;
            let is_open = target.mode & 0o022 != 0;
            Some(Self { path, owner: target.uid, is_for_keys, is_open })
        };
        let found = directory(keys, true).or_else(|| directory(account.home.clone(), false))?;
        (found.owner != account.identity.uid).then_some(found)
    }

    fn hint(&self, account: &Account) -> String {
        let Account { name, .. } = account;
        if self.is_for_keys {
            return format!("run `chown {name}: {}`", self.path.display());
        }
        format!("make \"{}/.ssh\" with a `file` resource and `owner: {name}`", self.path.display())
    }
}

/// Returns the failure of reading or writing keys, with a hint if the user lacks the rights.
fn without_rights(error: &FileError, account: &Account, files: &dyn Files) -> Failure {
    let is_denied =
        matches!(error, FileError::Step { source, .. } if source.kind() == io::ErrorKind::PermissionDenied);
    let obstacle = Obstacle::find(account, files).filter(|_| is_denied);
    let failure = file_failure(error);
    match obstacle {
        Some(obstacle) => failure.with_hint(obstacle.hint(account)),
        None => failure,
    }
}
