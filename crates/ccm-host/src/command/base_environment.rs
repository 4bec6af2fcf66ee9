//! The base environment of commands.

use std::path::Path;

use crate::account::{Account, AccountDatabases, UserEntry};

/// Search path of commands that are given none.
pub const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const LANGUAGE: &str = "C.UTF-8";
const SHELL: &str = "/bin/sh";

/// Returns the directories in which an environment searches programs, `PATH`; `None` if it has none.
pub fn search_path(environment: &[(String, String)]) -> Option<&str> {
    environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| &**path)
}

/// Returns the base environment of the user who runs ccm.
pub(super) fn of_this_user(accounts: &AccountDatabases) -> Vec<(String, String)> {
    let uid = rustix::process::geteuid().as_raw();
    // Without a user database commands still run; the number takes the place of the name.
    let user = accounts.user_of(uid).ok().flatten();
    of(uid, user.as_ref())
}

/// Returns the base environment of an account.
pub(crate) fn of_account(account: &Account) -> Vec<(String, String)> {
    variables_of(&account.name, &account.home.to_string_lossy(), &account.shell.to_string_lossy())
}

fn of(uid: u32, user: Option<&UserEntry>) -> Vec<(String, String)> {
    let number = uid.to_string();
    let name = user.map(|user| user.name.as_str()).filter(|name| !name.is_empty()).unwrap_or(&number);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let home = user.map(|user| text(&user.home)).unwrap_or_default();
    let shell = user.map(|user| text(&user.shell)).unwrap_or_default();
    variables_of(name, &home, &shell)
}

fn variables_of(name: &str, home: &str, shell: &str) -> Vec<(String, String)> {
    let or =
        |value: &str, instead: &str| if value.is_empty() { instead.to_owned() } else { value.to_owned() };
    [
        ("PATH", SEARCH_PATH.to_owned()),
        ("HOME", or(home, "/")),
        ("USER", name.to_owned()),
        ("LOGNAME", name.to_owned()),
        ("SHELL", or(shell, SHELL)),
        ("LANG", LANGUAGE.to_owned()),
        ("LC_ALL", LANGUAGE.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(environment: &[(String, String)]) -> Vec<String> {
        environment.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn a_user_without_an_entry_is_its_number() {
        assert_eq!(
            lines(&of(4711, None)),
            [
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME=/",
                "USER=4711",
                "LOGNAME=4711",
                "SHELL=/bin/sh",
                "LANG=C.UTF-8",
                "LC_ALL=C.UTF-8",
            ]
        );
    }

    #[test]
    fn a_known_user_has_its_own_home_and_shell() {
        let root = AccountDatabases::of_this_machine().user_of(0).expect("a result").expect("root");
        let environment = lines(&of(root.uid, Some(&root)));
        assert!(environment.contains(&format!("HOME={}", root.home.display())), "{environment:?}");
        assert!(environment.contains(&format!("USER={}", root.name)), "{environment:?}");
        let bare = UserEntry { shell: "".into(), ..root };
        assert!(lines(&of(bare.uid, Some(&bare))).contains(&"SHELL=/bin/sh".to_owned()));
    }
}
