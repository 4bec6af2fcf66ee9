//! The desired user, complete and checked.

use ccm_model::{DiagnosticKind, Resource};
use ccm_properties::PropertyError;

use super::expiry::Expiry;
use super::properties::UserProperties;
use crate::parts::accounts::{PasswordHash, name_error};
use crate::support::values::canonical_path::CanonicalPath;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredUser {
    pub name: String,
    pub is_absent: bool,
    pub uid: Option<u32>,
    /// Primary group, by name or in digits.
    pub gid: Option<String>,
    pub groups: Option<Vec<String>>,
    pub groups_exclusive: bool,
    pub home: Option<String>,
    pub manage_home: bool,
    pub shell: Option<String>,
    pub comment: Option<String>,
    pub system: bool,
    pub password: Option<PasswordHash>,
    pub locked: Option<bool>,
    pub expires: Option<Expiry>,
    pub purge_keys: bool,
}

impl DesiredUser {
    /// Builds the user, or returns all errors.
    pub(crate) fn build(resource: &Resource, written: UserProperties) -> Result<Self, Vec<PropertyError>> {
        let mut errors: Vec<PropertyError> =
            name_error(&resource.id.name, "a user").map(PropertyError::of_name).into_iter().collect();
        if written.groups_exclusive == Some(true) && written.groups.is_none() {
            let hint = "write `groups`; an empty list removes the user from all groups but the primary one";
            errors.push(PropertyError::conflict(
                "groups_exclusive",
                "`groups_exclusive` needs `groups`",
                hint,
            ));
        }
        if written.locked == Some(false) && written.password_hash.as_ref().is_some_and(|hash| hash.0 == "!") {
            let message = "a user with the password `!` is locked";
            errors.push(PropertyError::conflict("locked", message, "write a hash, or remove `locked`"));
        }
        if written.purge_keys == Some(true) && resource.is_absent() {
            errors.push(PropertyError::not_with_absent(
                "purge_keys",
                "remove it, or remove the home with `manage_home`",
            ));
        }
        let comment = written.comment.map(|comment| comment.0);
        let texts = [
            ("home", written.home.as_ref().and_then(|CanonicalPath(path)| path.to_str())),
            ("shell", written.shell.as_ref().and_then(|CanonicalPath(path)| path.to_str())),
            ("comment", comment.as_deref()),
        ];
        for (property, text) in texts {
            let wrong = text.and_then(|text| text.chars().find(|c| *c == ':' || c.is_control()));
            if let Some(wrong) = wrong {
                let wrong = wrong.escape_debug();
                let message = format!("`{property}` contains `{wrong}`, which /etc/passwd can't hold");
                errors.push(PropertyError::new(DiagnosticKind::InvalidValue, property, message));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let path = |path: CanonicalPath| path.0.to_string_lossy().into_owned();
        Ok(Self {
            name: resource.id.name.to_string(),
            is_absent: resource.is_absent(),
            uid: written.uid.map(|uid| uid.0),
            gid: written.gid.map(|gid| gid.0),
            groups: written.groups.map(|groups| groups.into_iter().map(|group| group.0).collect()),
            groups_exclusive: written.groups_exclusive.unwrap_or_default(),
            home: written.home.map(path),
            manage_home: written.manage_home.unwrap_or_default(),
            shell: written.shell.map(path),
            comment,
            system: written.system.unwrap_or_default(),
            password: written.password_hash,
            locked: written.locked,
            expires: written.expires,
            purge_keys: written.purge_keys.unwrap_or_default(),
        })
    }
}
