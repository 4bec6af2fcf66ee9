//! Calls of the tools that change a user.

use super::decide::UserDifference;
use super::desired::DesiredUser;
use super::expiry::Expiry;
use super::state::UserState;
use crate::parts::accounts::{AccountTool, PasswordField};

/// Returns the call that makes a user, without a home directory. Without a desired primary group, an existing group with the name of the user is
/// used: useradd would fail.
pub(crate) fn create(user: &DesiredUser, state: &UserState) -> AccountTool {
    let own_group = state.has_own_group.then_some(&user.name);
    let supplementary = user.groups.as_ref().filter(|groups| !groups.is_empty());
    let supplementary = supplementary.map(|groups| {
        let others = groups.iter().filter(|group| Some(*group) != user.gid.as_ref());
        others.map(String::as_str).collect::<Vec<_>>().join(",")
    });
    AccountTool::new("useradd")
        .with(user.system.then_some("--system"))
        .with_value("--uid", user.uid.map(|uid| uid.to_string()))
        .with_value("--gid", user.gid.as_ref().or(own_group))
        .with_value("--groups", supplementary.filter(|groups| !groups.is_empty()))
        .with_value("--home-dir", user.home.as_ref())
        .with(["--no-create-home"])
        .with_value("--shell", user.shell.as_ref())
        .with_value("--comment", user.comment.as_ref())
        .with_value("--expiredate", user.expires.filter(|day| day.0.is_some()).map(Expiry::argument))
        .with(["--", &user.name])
}

/// Returns the call that changes what usermod can change; `None` if it is nothing.
pub(crate) fn modify(
    user: &DesiredUser,
    state: &UserState,
    differences: &[UserDifference],
) -> Option<AccountTool> {
    let mut tool = AccountTool::new("usermod");
    for difference in differences {
        tool = match difference {
            UserDifference::Uid { to, .. } => tool.with_value("--uid", Some(to.to_string())),
            UserDifference::Gid { to, .. } => tool.with_value("--gid", Some(to.to_string())),
            UserDifference::Groups { to, .. } => tool.with_value("--groups", Some(to.join(","))),
            UserDifference::Home { to, .. } => {
                tool.with_value("--home", Some(to)).with(state.moves_home(user).then_some("--move-home"))
            }
            UserDifference::Shell { to, .. } => tool.with_value("--shell", Some(to)),
            UserDifference::Comment { to, .. } => tool.with_value("--comment", Some(to)),
            UserDifference::Expires { to, .. } => tool.with_value("--expiredate", Some(to.argument())),
            UserDifference::Locked { to, .. } if password(user, state, differences).is_none() => {
                tool.with([if *to { "--lock" } else { "--unlock" }])
            }
            UserDifference::Locked { .. }
            | UserDifference::NoHome
            | UserDifference::Password
            | UserDifference::Keys(_) => tool,
        };
    }
    tool.has_args().then(|| tool.with(["--", &user.name]))
}

/// Returns the password field to write; `None` if the password stays, or if usermod changes its lock.
pub(crate) fn password(
    user: &DesiredUser,
    state: &UserState,
    differences: &[UserDifference],
) -> Option<PasswordField> {
    if let Some(hash) = user.password.as_ref().filter(|_| differences.contains(&UserDifference::Password)) {
        return Some(state.password.replaced(hash, user.locked));
    }
    // usermod takes away one lock, and the tools of the Red Hat family write two.
    let unlocks = differences.iter().any(|found| matches!(found, UserDifference::Locked { to: false, .. }));
    let has_two = state.password.as_text().starts_with("!!");
    (unlocks && has_two).then(|| PasswordField::new(state.password.unlocked()))
}
