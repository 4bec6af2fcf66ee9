//! The properties of a user, as the manifest writes them.

use ccm_properties::{Exposure, Text, properties};

use super::expiry::Expiry;
use crate::parts::accounts::{AccountId, AccountName, PasswordHash};
use crate::support::values::canonical_path::CanonicalPath;
use crate::support::values::principal::Principal;

properties! {
    /// Properties of a user; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct UserProperties {
        /// Number of the user. A user with running processes is not renumbered. Files outside of the home directory
        /// keep the old number.
        uid: AccountId { default: Some("not managed; the next free number for a new user"), foreign_names: &["id"] },
        /// Primary group, by name or number. The group has to exist.
        gid: Principal {
            default: Some("not managed; for a new user the group with the name of the user"),
            foreign_names: &["group", "primary_group"],
        },
        /// Groups that the user is a member of, besides the primary one. They have to exist.
        groups: Vec<AccountName> { default: Some("not managed") },
        /// Remove the user from groups that are not in `groups`.
        groups_exclusive: bool { default: Some("`false`"), foreign_names: &["membership"] },
        /// Home directory.
        home: CanonicalPath { default: Some("not managed; `/home/NAME` for a new user, if the tools are not set otherwise") },
        /// Make the home directory with the files of `/etc/skel`, move it when `home` changes, and remove it with the user.
        manage_home: bool { default: Some("`false`"), foreign_names: &["managehome", "create_home", "createhome", "move_home"] },
        /// Login shell.
        shell: CanonicalPath { default: Some("not managed") },
        /// Description, such as the full name.
        comment: Text { exposure: Exposure::File("leave the value out: every user can read /etc/passwd"), default: Some("not managed"), foreign_names: &["gecos", "fullname"] },
        /// Give a new user a number from the range for the system. It has no effect on an existing user.
        system: bool { default: Some("`false`") },
        /// Hash of the password, as `openssl passwd -6` prints it; `*` for a user without a password. It is never shown.
        password_hash: PasswordHash { default: Some("not managed"), secret: true, foreign_names: &["password"] },
        /// Lock the password, so that nobody can log in with it. Keys of SSH still work.
        locked: bool { default: Some("not managed"), foreign_names: &["password_lock"] },
        /// First day on which the user can't log in any more, as `YYYY-MM-DD`, or `never`.
        expires: Expiry { default: Some("not managed"), foreign_names: &["expiry", "expire"] },
        /// Remove keys from `~/.ssh/authorized_keys` that no `authorized_key` of the manifest has.
        purge_keys: bool { default: Some("`false`"), foreign_names: &["purge_ssh_keys"] },
    }
}
