//! Provider posix: the file `~/.ssh/authorized_keys`, written with the rights of its user.

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{AccountError, FileError};
use ccm_model::{Failure, FailureKind};

use super::decide::{DesiredKey, KeyState, new_content};
use crate::parts::ssh_keys::key_file::{file, read};
use crate::parts::ssh_keys::key_rights::{check_rights, without_rights};
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
            check_rights(account, context.host.files)?;
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
}
