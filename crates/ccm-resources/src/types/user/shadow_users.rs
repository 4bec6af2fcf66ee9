//! Provider shadow: useradd, usermod, userdel and chpasswd.

use std::path::Path;
use std::time::UNIX_EPOCH;

use ccm_engine::{Context, ManagedExtent, Provider, ReadPurpose};
use ccm_host::{AccountError, FileError, FileKind, Files, InspectOptions, PathTrust, TreeSize};
use ccm_model::{Failure, FailureKind, MissingPrerequisite};

use super::changed_paths::check_changes;
use super::changes::{create, modify, password};
use super::decide::UserDifference;
use super::desired::DesiredUser;
use super::expiry::Expiry;
use super::home::{NOT_MADE, PARENT_HINT, make, process_of};
use super::shells::Shells;
use super::state::{PrimaryGroup, UserState};
use crate::parts::accounts::lookup::Accounts;
use crate::parts::accounts::{
    AccountDatabase, AccountTool, LocalAccounts, PasswdLine, PasswordField, ShadowPasswords, process_hint,
};
use crate::parts::path_walk::{FOR_PROGRAM, WalkedPath};
use crate::parts::ssh_keys::key_file::{KeyFiles, ManagedKeys};
use crate::parts::ssh_keys::key_rights::without_rights;
use crate::support::file_failure::file_failure;
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};
use crate::support::secret_content::mark_secret;
use crate::support::values::principal::UNKNOWN_ID;

/// Maximum number of entries of a home directory that are counted.
const MAX_COUNTED: u64 = 1_000_000;

pub(crate) struct ShadowUsers;

impl Provider<Object<DesiredUser>> for ShadowUsers {
    async fn status(
        &self,
        user: &DesiredUser,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<UserState, Failure> {
        let state = read_state(user, context).await?;
        if reading.is_before() {
            check_changes(user, &state, context).await?;
        }
        Ok(state)
    }

    async fn execute(
        &self,
        user: &DesiredUser,
        state: &UserState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        match user.plan(state) {
            ObjectPlan::Keep { .. } => Ok(()),
            ObjectPlan::Fail(failure) => Err(failure),
            ObjectPlan::Remove => remove(user, context).await,
            ObjectPlan::Create(_) => {
                add(user, state, context).await?;
                complete(user, context).await.map_err(|failure| Failure { changed: true, ..failure })
            }
            ObjectPlan::Change(differences) => change(user, state, &differences, context).await,
        }
    }

    async fn preflight(
        &self,
        user: &DesiredUser,
        state: &UserState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        check_processes(user, state, context)?;
        // A home directory can't be made if the directory above does not exist.
        let home =
            user.home.as_ref().filter(|_| user.manage_home && !user.is_absent && !state.desired_home_exists);
        let above = home.and_then(|home| Path::new(home).parent());
        match above.filter(|above| !context.would_be_directory(above)) {
            Some(above) if !context.host.files.is_directory(above).unwrap_or(true) => {
                let failure = FileError::ParentMissing(above.to_owned()).failure();
                Err(failure.with_hint(PARENT_HINT))
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns the failure of userdel or usermod for a user with processes. An earlier resource may stop their service.
fn check_processes(user: &DesiredUser, state: &UserState, context: &Context<'_>) -> Result<(), Failure> {
    let Some(found) = &state.found else { return Ok(()) };
    let plan = user.plan(state);
    let moves = plan.differences().iter().any(|found| matches!(found, UserDifference::Home { .. }));
    if plan != ObjectPlan::Remove && !moves {
        return Ok(());
    }
    let Some(process) = process_of(found.uid, context)? else { return Ok(()) };
    let message = format!("user `{}` is used by process {process}", user.name);
    let missing = MissingPrerequisite::Principal(user.name.clone());
    Err(Failure::conflict(message).with_missing(missing).with_hint(process_hint(process)))
}

async fn read_state(user: &DesiredUser, context: &Context<'_>) -> Result<UserState, Failure> {
    let local = LocalAccounts::of(context).await?;
    let mut state = UserState { found: local.user(&user.name).cloned(), ..UserState::default() };
    if state.found.is_none() {
        state.of_service = match context.host.system.account(&user.name) {
            Ok(account) => Some(account),
            Err(AccountError::NoUser { .. }) => None,
            Err(error) => return Err(Failure::from_error(FailureKind::Read, &error)),
        };
    }
    let files = context.host.files;
    if user.is_absent {
        let removed = state.found.as_ref().filter(|_| user.manage_home).map(|found| &*found.home);
        state.home_refusal = home_refusal(removed, files);
        state.removed_home = removed_home(user, &state, files);
        if state.exists() {
            state.remaining_service = AccountDatabase::Users.other_service_with(&user.name, context).await;
        }
        return Ok(state);
    }
    state.shell_exists = match &user.shell {
        Some(shell) => Shells::of(context).await.has(shell),
        None => true,
    };
    if user.expires.is_some() {
        state.now = context.host.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    }
    read_groups(user, &local, &mut state, context).await?;
    let own_uid = state.found.as_ref().map(|found| found.uid);
    if let Some(uid) = user.uid.filter(|uid| own_uid != Some(*uid) && state.of_service.is_none()) {
        let owner = local.user_of(uid).map(|owner| owner.name.clone());
        state.uid_owner = if owner.is_some() {
            owner
        } else {
            let name = Accounts::of(context).await.user_name(uid);
            (*name != *uid.to_string()).then(|| name.to_string())
        };
        if let Some(own) = own_uid {
            state.process = process_of(own, context)?;
            state.process_hint = state.process.map(process_hint);
        }
    }
    if let Some(found) = &state.found {
        let is_shadow_managed = user.password.is_some() || user.locked.is_some() || user.expires.is_some();
        if is_shadow_managed {
            let shadow = ShadowPasswords::of(context).await.map_err(|failure| {
                failure.because_of("the password of the user can't be read").with_hint("run ccm as root")
            })?;
            let line = shadow.of_user(&user.name);
            let in_shadow = line.map(|line| line.password.clone()).unwrap_or_default();
            state.password = found.password.clone().unwrap_or(in_shadow);
            state.expires = Some(Expiry(line.and_then(|line| line.expires)));
        }
    }
    if let Some(hash) = &user.password {
        mark_secret(hash.0.as_bytes(), context.secrets);
        if state.password.as_text() != hash.0 {
            mark_secret(state.password.as_text().as_bytes(), context.secrets);
        }
    }
    if user.manage_home || user.purge_keys {
        let of_service = state.of_service.as_ref().map(|found| &*found.home);
        let home = state.found.as_ref().map(|found| Path::new(&found.home)).or(of_service);
        let home = home.filter(|home| !home.as_os_str().is_empty());
        let is_directory = |path: &Path| files.is_directory(path).unwrap_or(false);
        state.home_exists = home.is_some_and(is_directory);
        state.desired_home_exists = match user.home.as_deref().map(Path::new) {
            Some(desired) if Some(desired) != home => is_directory(desired),
            _ => state.home_exists,
        };
        let desired = user.home.as_deref().map(Path::new);
        if let Some(desired) = desired.filter(|desired| user.manage_home && Some(*desired) != home) {
            let uid = user.uid.or(state.found.as_ref().map(|found| found.uid));
            state.desired_home_owner = owner_besides(uid, desired, context).await;
        }
        if state.moves_home(user) {
            state.home_refusal = home_refusal(home.into_iter().chain(desired), files);
        } else if user.manage_home && !state.home_exists && !state.desired_home_exists {
            // ccm makes it, with what it has opened on the way.
            let made = desired.or(home).map(|home| WalkedPath::of(home, PathTrust::default(), files));
            let refusal = made.and_then(|made| made.refusal);
            state.home_refusal = refusal.map(|refusal| refusal.because_of(NOT_MADE));
        }
    }
    if user.purge_keys && state.exists() && (state.home_exists || state.of_service.is_some()) {
        let managed = ManagedKeys::of_user(&user.name, context);
        state.has_late_keys = managed.has_unknown;
        let account = context.host.system.account(&user.name).map_err(|error| account_failure(&error))?;
        let key_files =
            KeyFiles::read(&account, files).map_err(|error| without_rights(&error, &account, files))?;
        state.unmanaged_keys = key_files.unmanaged(&managed);
    }
    Ok(state)
}

/// Returns the size of the home directory that userdel removes: one that belongs to the user.
fn removed_home(user: &DesiredUser, state: &UserState, files: &dyn Files) -> Option<TreeSize> {
    let found = state.found.as_ref().filter(|_| user.manage_home && state.home_refusal.is_none())?;
    let home = Path::new(&found.home);
    let target = files.inspect(home, InspectOptions::default()).ok().filter(|info| !info.link)?.target?;
    let is_own = matches!(target.kind, FileKind::Directory { .. }) && target.uid == found.uid;
    is_own.then(|| files.tree_size(home, MAX_COUNTED))
}

/// Returns the owner of an existing home directory, if that is not this user and no other resource manages the directory.
async fn owner_besides(uid: Option<u32>, home: &Path, context: &Context<'_>) -> Option<String> {
    let target = context.host.files.inspect(home, InspectOptions::default()).ok()?.target?;
    let is_managed = || {
        let beside = home.parent().map(|above| context.managed_below(above));
        beside
            .into_iter()
            .flatten()
            .filter(|managed| managed.extent != ManagedExtent::Existence)
            .any(|managed| home.ends_with(&managed.path) && managed.path.components().count() == 1)
    };
    if Some(target.uid) == uid || is_managed() {
        return None;
    }
    Some(Accounts::of(context).await.user_name(target.uid).to_string())
}

/// Returns the failure of giving these directories to a tool, because a stranger could lead the tool elsewhere.
fn home_refusal<P: AsRef<Path>>(homes: impl IntoIterator<Item = P>, files: &dyn Files) -> Option<Failure> {
    let refusal = |home: P| WalkedPath::of(home.as_ref(), FOR_PROGRAM, files).refusal;
    let hint = "leave out `manage_home`, and move or remove the home directory by hand";
    let refused = |refusal| Failure { hints: vec![hint.to_owned()], ..refusal };
    homes.into_iter().find_map(refusal).map(|refusal| refused(refusal).of_property("home"))
}

fn account_failure(error: &AccountError) -> Failure {
    Failure::from_error(FailureKind::Read, error)
}

async fn read_groups(
    user: &DesiredUser,
    local: &LocalAccounts,
    state: &mut UserState,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let accounts = Accounts::of(context).await;
    let lookup = |group: &str| accounts.group(group).map_err(|error| file_failure(&error));
    if let Some(gid) = &user.gid {
        let is_number = gid.bytes().all(|byte| byte.is_ascii_digit());
        let number = match local.group(gid).map(|group| group.gid) {
            Some(gid) => Some(gid),
            None if is_number => {
                let number = gid.parse().unwrap_or(u32::MAX);
                let exists = local.group_of(number).is_some() || *accounts.group_name(number) != **gid;
                exists.then_some(number)
            }
            None => lookup(gid)?,
        };
        // In noop, a group that is made before the user has no number yet.
        let number = number.or_else(|| context.would_be_principal(gid).then_some(UNKNOWN_ID));
        state.primary_group = number.map_or(PrimaryGroup::Missing, PrimaryGroup::Found);
    }
    // Every user is a member of the primary group, whether the group lists the user or not.
    let primary = match state.primary_group {
        PrimaryGroup::Found(gid) => Some(gid),
        PrimaryGroup::NotManaged | PrimaryGroup::Missing => {
            let of_service = state.of_service.as_ref().map(|found| found.identity.gid);
            state.found.as_ref().map(|found| found.gid).or(of_service)
        }
    };
    let listed = local.groups_of(&user.name).filter(|group| Some(group.gid) != primary);
    state.groups = listed.map(|group| group.name.clone()).collect();
    let primary = primary.into_iter().flat_map(|gid| local.groups_with(gid));
    state.primary_names = primary.map(|group| group.name.clone()).collect();
    for group in user.groups.iter().flatten().filter(|group| local.group(group).is_none()) {
        match lookup(group)? {
            None if context.would_be_principal(group) => {}
            None => state.missing_groups.push(group.clone()),
            Some(_) => state.service_groups.push(group.clone()),
        }
    }
    state.has_own_group = local.group(&user.name).is_some();
    Ok(())
}

/// Removes the user. userdel leaves a home directory that does not belong to the user.
async fn remove(user: &DesiredUser, context: &mut Context<'_>) -> Result<(), Failure> {
    let remove = AccountTool::new("userdel").with(user.manage_home.then_some("--remove"));
    let Err(failure) = remove.with(["--", &user.name]).run(context).await else { return Ok(()) };
    match LocalAccounts::of(context).await {
        Ok(local) if local.user(&user.name).is_none() => {
            context.warn(format!("the user was removed, but {}", failure.one_line()));
            Ok(())
        }
        _ => Err(failure),
    }
}

/// Makes the user with the home directory. After a failure nothing is left of them.
async fn add(user: &DesiredUser, state: &UserState, context: &mut Context<'_>) -> Result<(), Failure> {
    let made = create(user, state).run(context).await;
    let unknown = |failure| Failure { changed: true, ..failure };
    let found = match LocalAccounts::of(context).await {
        Ok(local) => local.user(&user.name).cloned(),
        Err(failure) => return Err(unknown(made.err().unwrap_or(failure))),
    };
    let made = match (&made, &found) {
        // Some versions of useradd report success when the disk is full, so the directory is made here.
        (Ok(()), Some(found)) if user.manage_home && !has_home(found, context) => {
            make(found, context.host.files)
        }
        _ => made,
    };
    let Err(failure) = made else { return Ok(()) };
    let remove = AccountTool::new("userdel").with(["--", &user.name]);
    let is_clean = found.is_none() || remove.run(context).await.is_ok();
    Err(Failure { changed: failure.changed || !is_clean, ..failure })
}

fn has_home(user: &PasswdLine, context: &Context<'_>) -> bool {
    context.host.files.is_directory(Path::new(&user.home)).unwrap_or(true)
}

/// Changes what useradd left open: the password, keys in a home directory that existed before, and what some versions
/// ignore, such as the expiry of a user of the system.
async fn complete(user: &DesiredUser, context: &mut Context<'_>) -> Result<(), Failure> {
    let state = read_state(user, context).await?;
    match user.plan(&state) {
        ObjectPlan::Change(differences) => change(user, &state, &differences, context).await,
        ObjectPlan::Fail(failure) => Err(failure),
        ObjectPlan::Keep { .. } | ObjectPlan::Create(_) | ObjectPlan::Remove => Ok(()),
    }
}

async fn change(
    user: &DesiredUser,
    state: &UserState,
    differences: &[UserDifference],
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let mut changed = false;
    if let Some(tool) = modify(user, state, differences) {
        tool.run(context).await?;
        changed = true;
    }
    let after =
        |changed: bool| move |failure: Failure| Failure { changed: failure.changed || changed, ..failure };
    let new_password = password(user, state, differences);
    let sets_password = new_password.is_some();
    set_password(user, new_password, context).await.map_err(after(changed))?;
    changed |= sets_password;
    let moves = differences.iter().any(|found| matches!(found, UserDifference::Home { .. }));
    let has_home = if moves { state.home_exists || state.desired_home_exists } else { state.home_exists };
    if user.manage_home && !has_home {
        let local = LocalAccounts::of(context).await.map_err(after(changed))?;
        if let Some(found) = local.user(&user.name) {
            make(found, context.host.files).map_err(after(changed))?;
            changed = true;
        }
    }
    if differences.iter().any(|found| matches!(found, UserDifference::Keys(_))) {
        purge(user, context).map_err(after(changed))?;
    }
    Ok(())
}

async fn set_password(
    user: &DesiredUser,
    password: Option<PasswordField>,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let Some(password) = password else { return Ok(()) };
    mark_secret(password.as_text().as_bytes(), context.secrets);
    let line = format!("{}:{}\n", user.name, password.as_text());
    AccountTool::new("chpasswd").with(["--encrypted"]).with_secret(&line).run(context).await
}

/// Removes the keys that no resource has.
fn purge(user: &DesiredUser, context: &Context<'_>) -> Result<(), Failure> {
    let managed = ManagedKeys::of_user(&user.name, context);
    let account = context.host.system.account(&user.name).map_err(|error| account_failure(&error))?;
    let files = context.host.files;
    let key_files = KeyFiles::read(&account, files).map_err(|error| file_failure(&error))?;
    key_files.purge(&account, &managed, files).map_err(|error| file_failure(&error))
}
