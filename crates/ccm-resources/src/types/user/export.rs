//! Export of users.

use std::path::Path;

use ccm_engine::{Context, Export, ExportRemark, ExportedState, InstanceScope, Instances, NotExported};

use super::UserType;
use super::expiry::Expiry;
use crate::parts::accounts::{LocalAccounts, PasswdLine, PasswordField, ShadowPasswords};
use crate::support::export::{is_personal, no_form};
use crate::support::values::canonical_path::is_canonical;

/// Password field of a user who can't have a password.
const NO_PASSWORD: &str = "*";

impl Export for UserType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let accounts = LocalAccounts::of(context).await?;
        let is_listed = |user: &&PasswdLine| scope == InstanceScope::All || is_personal(user.uid);
        Ok(accounts.users().filter(is_listed).map(|user| user.name.clone()).collect::<Vec<_>>().into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let accounts = LocalAccounts::of(context).await?;
        let Some(user) = accounts.user(name) else {
            return match context.host.system.account(name) {
                Ok(_) => {
                    Err(no_form(format!("user `{name}` comes from a name service, not from /etc/passwd")))
                }
                Err(_) => Ok(None),
            };
        };
        let has_personal_id = is_personal(user.uid);
        let mut state = ExportedState::default();
        state = if has_personal_id {
            state.with("uid", user.uid)
        } else {
            state.read_only("uid", user.uid.to_string())
        };
        let primary =
            accounts.group_of(user.gid).map_or_else(|| user.gid.to_string(), |group| group.name.clone());
        let groups: Vec<&str> = accounts
            .groups_of(name)
            .filter(|group| group.gid != user.gid)
            .map(|group| &*group.name)
            .collect();
        state = state.with("gid", primary);
        state = state.with_some("groups", Some(groups).filter(|groups| !groups.is_empty()));
        state = path(state, "home", &user.home);
        let has_home = context.host.files.is_directory(Path::new(&user.home)).unwrap_or(false);
        state = state.with_some("manage_home", (has_home && has_personal_id).then_some(true));
        state = path(state, "shell", &user.shell);
        state = state.with_some("comment", Some(&*user.comment).filter(|comment| !comment.is_empty()));
        state = state.with_some("system", (!has_personal_id && user.uid != 0).then_some(true));
        Ok(Some(login(state, user, context).await))
    }
}

/// Adds a path, if a manifest can have it.
fn path(state: ExportedState, property: &'static str, path: &str) -> ExportedState {
    match path {
        "" => state,
        path if is_canonical(path) => state.with(property, path),
        path => state.read_only(property, path),
    }
}

/// Adds password, lock and expiry, of which only root knows.
async fn login(state: ExportedState, user: &PasswdLine, context: &Context<'_>) -> ExportedState {
    let shadow = match ShadowPasswords::of(context).await {
        Ok(shadow) => shadow,
        Err(failure) => {
            let unread = |property| ExportRemark::Unread { property, reason: failure.one_line() };
            return state.remark(unread("password_hash")).remark(unread("locked")).remark(unread("expires"));
        }
    };
    let line = shadow.of_user(&user.name);
    let in_shadow = line.map(|line| line.password.clone()).unwrap_or_default();
    let password = user.password.clone().unwrap_or(in_shadow);
    let expires = line.and_then(|line| line.expires).filter(|day| *day > 0);
    let state = with_password(state, &password);
    state.with_some("expires", expires.map(|day| Expiry(Some(day)).to_string()))
}

fn with_password(state: ExportedState, password: &PasswordField) -> ExportedState {
    if password.is_only_locked() {
        // A new user is locked as well.
        return state;
    }
    let state = match password.unlocked() {
        "" => return state.read_only("password_hash", "empty: nobody is asked for a password"),
        NO_PASSWORD => state.with("password_hash", NO_PASSWORD),
        _ => state.remark(ExportRemark::Secret { property: "password_hash" }),
    };
    state.with_some("locked", password.is_locked().then_some(true))
}
