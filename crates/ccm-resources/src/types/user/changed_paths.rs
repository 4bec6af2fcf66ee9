//! Checks before a change of a user that every file can be changed.

use std::path::Path;

use ccm_engine::Context;
use ccm_host::ChangedPart;
use ccm_model::{Failure, MissingPrerequisite};

use super::decide::UserDifference;
use super::desired::DesiredUser;
use super::home::NOT_MADE;
use super::state::UserState;
use crate::parts::accounts::{AccountFile, LocalAccounts, check_account_files};
use crate::parts::ssh_keys::key_file::KeyFiles;
use crate::parts::ssh_keys::key_rights::check_rights;
use crate::support::file_failure::{check_replaceable_by_program, check_writable};
use crate::support::object_plan::{ObjectPlan, ObjectType};

/// Returns the failure of a change that a file system or a flag of a file prevents.
pub(super) async fn check_changes(
    user: &DesiredUser,
    state: &UserState,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let files = context.host.files;
    let plan = user.plan(state);
    let changed = match &plan {
        ObjectPlan::Keep { .. } | ObjectPlan::Fail(_) => return Ok(()),
        ObjectPlan::Remove => {
            let local = LocalAccounts::of(context).await?;
            let is_member = local.groups_of(&user.name).next().is_some();
            AccountFile::USERS.into_iter().chain(of_groups(is_member)).collect()
        }
        ObjectPlan::Create(_) => {
            let has_members = user.groups.as_ref().is_some_and(|groups| !groups.is_empty());
            let makes_group = user.gid.is_none() && !state.has_own_group;
            AccountFile::USERS.into_iter().chain(of_groups(has_members || makes_group)).collect()
        }
        ObjectPlan::Change(differences) => differences.iter().flat_map(files_of).collect::<Vec<_>>(),
    };
    check_account_files(changed, files)?;
    if let Some(home) = made_home(user, state) {
        check_writable(Path::new(home), ChangedPart::NewDirectory, files).or_else(
            |failure| match &failure.missing {
                Some(missing) if matches!(**missing, MissingPrerequisite::Writable(_)) => {
                    Err(failure.because_of(NOT_MADE))
                }
                // Other obstacles are found where the directory is made.
                _ => Ok(()),
            },
        )?;
    }
    let purges = plan.differences().iter().any(|found| matches!(found, UserDifference::Keys(_)));
    if purges && let Ok(account) = context.host.system.account(&user.name) {
        check_rights(&account, files)?;
        KeyFiles::paths(&account).try_for_each(|path| check_replaceable_by_program(&path, files))?;
    }
    Ok(())
}

fn of_groups(is_changed: bool) -> impl Iterator<Item = AccountFile> {
    AccountFile::GROUPS.into_iter().filter(move |_| is_changed)
}

fn files_of(difference: &UserDifference) -> Vec<AccountFile> {
    match difference {
        UserDifference::Groups { .. } => AccountFile::GROUPS.into(),
        UserDifference::Password | UserDifference::Locked { .. } | UserDifference::Expires { .. } => {
            vec![AccountFile::Shadow]
        }
        UserDifference::Uid { .. }
        | UserDifference::Gid { .. }
        | UserDifference::Home { .. }
        | UserDifference::Shell { .. }
        | UserDifference::Comment { .. } => vec![AccountFile::Passwd],
        UserDifference::NoHome | UserDifference::Keys(_) => Vec::new(),
    }
}

/// Returns the home directory that a change makes, or moves another one to.
fn made_home<'a>(user: &'a DesiredUser, state: &'a UserState) -> Option<&'a str> {
    if !user.manage_home || user.is_absent || state.desired_home_exists {
        return None;
    }
    let found = state.found.as_ref().map(|found| &*found.home);
    match user.home.as_deref() {
        Some(desired) if Some(desired) != found => Some(desired),
        _ => found.filter(|_| !state.home_exists),
    }
    .or(user.home.as_deref().filter(|_| !state.home_exists))
}
