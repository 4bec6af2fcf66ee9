//! The files with the accounts of this machine, read once until something is executed.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::{FileError, FileStep};
use ccm_model::{Failure, FailureKind};

use super::password::PasswordField;

/// Maximum size of a file with accounts.
const MAX_FILE: u64 = 64 << 20;

const PASSWD: &str = "/etc/passwd";
const GROUP: &str = "/etc/group";
const SHADOW: &str = "/etc/shadow";

/// Password field of a user whose password is in `/etc/shadow`.
const IN_SHADOW: &str = "x";

/// Users and groups of `/etc/passwd` and `/etc/group`.
#[derive(Debug, Default)]
pub(crate) struct LocalAccounts {
    users: Vec<Rc<PasswdLine>>,
    groups: Vec<GroupLine>,
    user_names: HashMap<String, usize>,
    user_ids: HashMap<u32, usize>,
    group_names: HashMap<String, usize>,
    group_ids: HashMap<u32, usize>,
    /// Groups that list a user, by the name of the user.
    memberships: HashMap<String, Vec<usize>>,
}

/// Line of `/etc/passwd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PasswdLine {
    pub name: String,
    /// `None` if the password is in `/etc/shadow`.
    pub password: Option<PasswordField>,
    pub uid: u32,
    pub gid: u32,
    pub comment: String,
    pub home: String,
    pub shell: String,
}

/// Line of `/etc/group`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupLine {
    pub name: String,
    pub gid: u32,
    pub members: Vec<String>,
}

/// Line of `/etc/shadow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShadowLine {
    pub password: PasswordField,
    /// Day on which the account expires, since 1970.
    pub expires: Option<i64>,
}

/// Passwords of `/etc/shadow`, by the names of the users.
#[derive(Debug, Default)]
pub(crate) struct ShadowPasswords(HashMap<String, ShadowLine>);

impl LocalAccounts {
    /// Returns the accounts, which are read again after a command was executed.
    pub(crate) async fn of(context: &Context<'_>) -> Result<Rc<Self>, Failure> {
        context
            .state_cache(async || {
                let passwd = read(Path::new(PASSWD), context)?;
                let group = read(Path::new(GROUP), context)?;
                Ok(Self::parse(&passwd, &group))
            })
            .await
    }

    fn parse(passwd: &str, group: &str) -> Self {
        let mut accounts = Self {
            users: passwd.lines().filter_map(PasswdLine::parse).map(Rc::new).collect(),
            groups: group.lines().filter_map(GroupLine::parse).collect(),
            ..Self::default()
        };
        accounts.user_names.reserve(accounts.users.len());
        accounts.user_ids.reserve(accounts.users.len());
        // The first of several lines counts, as it does for the C library.
        for (index, user) in accounts.users.iter().enumerate() {
            accounts.user_names.entry(user.name.clone()).or_insert(index);
            accounts.user_ids.entry(user.uid).or_insert(index);
        }
        for (index, group) in accounts.groups.iter().enumerate() {
            accounts.group_names.entry(group.name.clone()).or_insert(index);
            accounts.group_ids.entry(group.gid).or_insert(index);
            for member in &group.members {
                accounts.memberships.entry(member.clone()).or_default().push(index);
            }
        }
        accounts
    }

    /// Returns all users, in the order of the file.
    pub(crate) fn users(&self) -> impl Iterator<Item = &PasswdLine> {
        self.users.iter().map(|user| &**user)
    }

    /// Returns all groups, in the order of the file.
    pub(crate) fn groups(&self) -> &[GroupLine] {
        &self.groups
    }

    pub(crate) fn user(&self, name: &str) -> Option<&Rc<PasswdLine>> {
        self.user_names.get(name).map(|index| &self.users[*index])
    }

    pub(crate) fn user_of(&self, uid: u32) -> Option<&PasswdLine> {
        self.user_ids.get(&uid).map(|index| &*self.users[*index])
    }

    pub(crate) fn group(&self, name: &str) -> Option<&GroupLine> {
        self.group_names.get(name).map(|index| &self.groups[*index])
    }

    pub(crate) fn group_of(&self, gid: u32) -> Option<&GroupLine> {
        self.group_ids.get(&gid).map(|index| &self.groups[*index])
    }

    /// Returns the groups with a number. Several names may have one number.
    pub(crate) fn groups_with(&self, gid: u32) -> impl Iterator<Item = &GroupLine> {
        self.groups.iter().filter(move |group| group.gid == gid)
    }

    /// Returns the groups that list a user.
    pub(crate) fn groups_of(&self, user: &str) -> impl Iterator<Item = &GroupLine> {
        self.memberships.get(user).into_iter().flatten().map(|index| &self.groups[*index])
    }

    /// Returns a user whose primary group has this number.
    pub(crate) fn with_primary_group(&self, gid: u32) -> Option<&PasswdLine> {
        self.users.iter().map(|user| &**user).find(|user| user.gid == gid)
    }
}

impl ShadowPasswords {
    /// Returns the passwords, which are read again after a command was executed.
    pub(crate) async fn of(context: &Context<'_>) -> Result<Rc<Self>, Failure> {
        context.state_cache(async || Ok(Self::parse(&read(Path::new(SHADOW), context)?))).await
    }

    fn parse(shadow: &str) -> Self {
        let mut lines = HashMap::new();
        for line in shadow.lines() {
            let mut fields = line.split(':');
            let (Some(name), Some(password)) = (fields.next(), fields.next()) else { continue };
            let expires = fields.nth(5).and_then(|days| days.parse().ok()).filter(|days| *days >= 0);
            let line = ShadowLine { password: PasswordField::new(password), expires };
            lines.entry(name.to_owned()).or_insert(line);
        }
        Self(lines)
    }

    pub(crate) fn of_user(&self, name: &str) -> Option<&ShadowLine> {
        self.0.get(name)
    }
}

impl PasswdLine {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = fields(line)?;
        let (name, password) = (fields.next()?, fields.next()?);
        let (uid, gid) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let mut text = || fields.next().unwrap_or_default().to_owned();
        let password = (password != IN_SHADOW).then(|| PasswordField::new(password));
        Some(Self { name: name.to_owned(), password, uid, gid, comment: text(), home: text(), shell: text() })
    }
}

impl GroupLine {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = fields(line)?;
        let (name, _password, gid) = (fields.next()?, fields.next()?, fields.next()?.parse().ok()?);
        let members = fields.next().unwrap_or_default().split(',').map(str::trim);
        let members = members.filter(|member| !member.is_empty()).map(str::to_owned).collect();
        Some(Self { name: name.to_owned(), gid, members })
    }
}

/// Splits a line into its fields. Comments, and lines that refer to a directory service (`+` or `-` in front), are no
/// entries.
fn fields(line: &str) -> Option<std::str::Split<'_, char>> {
    let is_entry = !line.is_empty() && !line.starts_with(['#', '+', '-', ':']);
    is_entry.then(|| line.split(':'))
}

/// Reads a file with accounts. A file that does not exist has none.
fn read(path: &Path, context: &Context<'_>) -> Result<String, Failure> {
    match context.host.files.content(path, MAX_FILE) {
        Ok(Some(bytes)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Ok(None) => {
            let message = format!("\"{}\" is larger than {} MiB", path.display(), MAX_FILE >> 20);
            Err(Failure::new(FailureKind::Read, message))
        }
        Err(FileError::Step { step: FileStep::Read, source, .. })
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(String::new())
        }
        Err(error) => Err(error.failure()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_name_and_number() {
        let accounts = LocalAccounts::parse(
            "root:x:0:0:root:/root:/bin/bash\n# no user\n+@netgroup\nada:x:1000:100:Ada,,,:/home/ada:/bin/sh\n\
             toor:x:0:0::/root:\nada:x:7:7::/:\nbad:x:no:0::/:\nold:$1$a$b:1001:100\n",
            "users:x:100:\nadm:x:4:ada,bob\nsudo:x:27:ada\nempty:x:5\nbad:x:\n",
        );
        let ada = accounts.user("ada").expect("a user");
        assert_eq!((ada.uid, ada.gid, &*ada.comment, &*ada.shell), (1000, 100, "Ada,,,", "/bin/sh"));
        assert_eq!(accounts.user_of(0).map(|user| &*user.name), Some("root"));
        assert_eq!(accounts.user("bad"), None);
        let old = accounts.user("old").expect("a user");
        assert!(old.password.is_some() && old.home.is_empty() && ada.password.is_none());
        assert_eq!(accounts.group("adm").map(|group| group.members.len()), Some(2));
        assert_eq!(accounts.group_of(5).map(|group| &*group.name), Some("empty"));
        let groups: Vec<&str> = accounts.groups_of("ada").map(|group| &*group.name).collect();
        assert_eq!(groups, ["adm", "sudo"]);
        assert_eq!(accounts.with_primary_group(100).map(|user| &*user.name), Some("ada"));
    }

    #[test]
    fn passwords_have_their_day_of_expiry() {
        let shadow = ShadowPasswords::parse("ada:!$6$a$b:19000:0:99999:7::20000:\nbob:*:19000::::::\nodd\n");
        assert_eq!(shadow.of_user("ada").and_then(|line| line.expires), Some(20_000));
        assert_eq!(shadow.of_user("bob").and_then(|line| line.expires), None);
        assert!(shadow.of_user("ada").expect("a line").password.is_locked());
        assert!(shadow.of_user("odd").is_none());
    }
}
