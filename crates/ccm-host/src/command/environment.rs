//! The environment that every command starts from.

use nix::unistd::{Uid, User};

const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const LANGUAGE: &str = "C.UTF-8";
const SHELL: &str = "/bin/sh";

/// The environment for the user that ccm runs as.
pub(super) fn of_this_user() -> Vec<(String, String)> {
    let uid = Uid::effective();
    // A user database that can't be asked is no reason to run nothing; the number says who it is as well.
    let user = User::from_uid(uid).ok().flatten();
    of(uid, user.as_ref())
}

fn of(uid: Uid, user: Option<&User>) -> Vec<(String, String)> {
    let or = |value: String, instead: &str| if value.is_empty() { instead.to_owned() } else { value };
    let number = uid.to_string();
    let name = user.map_or(number.clone(), |user| or(user.name.clone(), &number));
    let home = user.map_or_else(|| "/".to_owned(), |user| or(user.dir.to_string_lossy().into_owned(), "/"));
    let shell =
        user.map_or_else(|| SHELL.to_owned(), |user| or(user.shell.to_string_lossy().into_owned(), SHELL));
    [
        ("PATH", SEARCH_PATH.to_owned()),
        ("HOME", home),
        ("USER", name.clone()),
        ("LOGNAME", name),
        ("SHELL", shell),
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
            lines(&of(Uid::from_raw(4711), None)),
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
        let root = User::from_uid(Uid::from_raw(0)).expect("the user database").expect("root");
        let environment = lines(&of(root.uid, Some(&root)));
        assert!(environment.contains(&format!("HOME={}", root.dir.display())), "{environment:?}");
        assert!(environment.contains(&format!("USER={}", root.name)), "{environment:?}");
        let bare = User { shell: "".into(), ..root };
        assert!(lines(&of(bare.uid, Some(&bare))).contains(&"SHELL=/bin/sh".to_owned()));
    }
}
