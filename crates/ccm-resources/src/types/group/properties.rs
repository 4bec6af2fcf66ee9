//! The properties of a group, as the manifest writes them.

use ccm_properties::properties;

use crate::parts::accounts::{AccountId, AccountName};

properties! {
    /// Properties of a group; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct GroupProperties {
        /// Number of the group. A change does not give files to the new number.
        gid: AccountId { default: Some("not managed; the next free number for a new group"), foreign_names: &["id"] },
        /// Users that are members of the group.
        members: Vec<AccountName> { default: Some("not managed"), foreign_names: &["users"] },
        /// Remove members that are not in `members`.
        members_exclusive: bool { default: Some("`false`"), foreign_names: &["auth_membership", "membership"] },
        /// Give a new group a number from the range for the system. It has no effect on an existing group.
        system: bool { default: Some("`false`") },
    }
}
