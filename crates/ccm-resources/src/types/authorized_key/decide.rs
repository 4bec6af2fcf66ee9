//! The pure decision about an authorized key.

use ccm_engine::{Described, Undescribed};
use ccm_host::Account;
use ccm_model::{Failure, MissingPrerequisite, Resource};
use ccm_properties::PropertyError;

use super::properties::AuthorizedKeyProperties;
use crate::parts::ssh_keys::key_line::KeyLine;
use crate::parts::ssh_keys::public_key::SshPublicKey;
use crate::parts::text::{self, TextLines, shown};
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// The desired key, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredKey {
    /// Comment of the key.
    pub name: String,
    pub is_absent: bool,
    pub user: String,
    pub key: Option<SshPublicKey>,
    /// Options with commas between; `None` if they are not managed.
    pub options: Option<String>,
}

impl DesiredKey {
    pub(crate) fn build(
        resource: &Resource,
        written: AuthorizedKeyProperties,
    ) -> Result<Self, Vec<PropertyError>> {
        let name = resource.id.name.to_string();
        let is_absent = resource.is_absent();
        let mut errors = Vec::new();
        if name.chars().any(char::is_control) || name.trim() != name {
            let message = "the comment of a key is one line without blanks around it";
            errors.push(PropertyError::of_name(message));
        }
        if written.key.is_none() && !is_absent {
            errors.push(PropertyError::missing("key", "write `key`, like `ssh-ed25519 AAAA…`"));
        }
        let Some(user) = written.user else {
            errors.push(PropertyError::missing("user", "write `user`, who may log in with the key"));
            return Err(errors);
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let options = written
            .options
            .map(|options| options.into_iter().map(|option| option.0).collect::<Vec<_>>().join(","));
        Ok(Self { name, is_absent, user: user.0, key: written.key, options })
    }

    /// Returns `true` for a line with this key.
    fn is_in(&self, line: &KeyLine<'_>) -> bool {
        match &self.key {
            Some(key) => line.has(key),
            None => line.comment == self.name.as_bytes(),
        }
    }
}

/// Keys of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyState {
    /// `None` if the user does not exist.
    pub account: Option<Account>,
    /// Content of the file with the keys; `None` if it does not exist.
    pub content: Option<Vec<u8>>,
    /// True if nobody but the user may write the file.
    pub is_private: bool,
    pub home_missing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyDifference {
    Options {
        from: String,
        to: String,
    },
    Comment {
        from: String,
        to: String,
    },
    /// Number of lines with the key.
    Lines(usize),
    /// Others may write the file, so that sshd ignores it.
    NotPrivate,
    /// A new key for a user.
    User(String),
}

impl ObjectDifference for KeyDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Options { .. } => "options",
            Self::Comment { .. } => "comment",
            Self::Lines(_) => "lines",
            Self::NotPrivate => "permissions",
            Self::User(_) => "user",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        let shown = |text: &str| Some(if text.is_empty() { "none" } else { text }.to_owned());
        match self {
            Self::Options { from, to } | Self::Comment { from, to } => (shown(from), shown(to)),
            Self::Lines(count) => (Some(count.to_string()), Some("1".to_owned())),
            Self::NotPrivate => (None, None),
            Self::User(user) => (None, Some(user.clone())),
        }
    }
}

impl ObjectType for DesiredKey {
    type State = KeyState;
    type Difference = KeyDifference;
    type Effect = ();

    fn plan(&self, state: &KeyState) -> ObjectPlan<KeyDifference> {
        let Some(account) = &state.account else {
            return if self.is_absent {
                ObjectPlan::Keep { exists: false }
            } else {
                ObjectPlan::Fail(no_user(&self.user))
            };
        };
        let mut found = lines(self, state);
        let first = found.next();
        if self.is_absent {
            return if first.is_some() { ObjectPlan::Remove } else { ObjectPlan::Keep { exists: false } };
        }
        if state.home_missing {
            let home = &account.home;
            let message =
                format!("the home directory \"{}\" of user `{}` does not exist", home.display(), self.user);
            let failure = Failure::conflict(message).of_property("user");
            return ObjectPlan::Fail(
                failure
                    .with_missing(MissingPrerequisite::Principal(self.user.clone()))
                    .with_hint("set `manage_home: true` on the user, or make the directory"),
            );
        }
        let Some(line) = first else {
            return ObjectPlan::Create(vec![KeyDifference::User(self.user.clone())]);
        };
        let mut differences = Vec::new();
        if let Some(to) = self.options.as_ref().filter(|to| to.as_bytes() != line.options) {
            differences.push(KeyDifference::Options { from: shown(line.options), to: to.clone() });
        }
        if line.comment != self.name.as_bytes() {
            differences.push(KeyDifference::Comment { from: shown(line.comment), to: self.name.clone() });
        }
        let others = found.count();
        if others > 0 {
            differences.push(KeyDifference::Lines(others + 1));
        }
        if !state.is_private {
            differences.push(KeyDifference::NotPrivate);
        }
        ObjectPlan::of_existing(differences)
    }

    fn shown(&self) -> String {
        format!("key `{}` of user `{}`", self.name, self.user)
    }

    fn undescribed(&self, state: &KeyState) -> Undescribed {
        Undescribed::found(&state.content)
    }

    fn describe(&self, state: &KeyState) -> Described {
        let ensure = if lines(self, state).next().is_some() { "present" } else { "absent" };
        Described::new(ensure).with("user", self.user.as_str())
    }
}

/// Returns the lines with the key.
fn lines<'s>(key: &'s DesiredKey, state: &'s KeyState) -> impl Iterator<Item = KeyLine<'s>> {
    let lines = text::lines(state.content.as_deref().unwrap_or_default());
    lines.filter_map(KeyLine::parse).filter(|line| key.is_in(line))
}

/// Returns the new content of the file: the key in its place or at the end, and in one line.
pub(crate) fn new_content(key: &DesiredKey, state: &KeyState) -> Vec<u8> {
    let old_options = lines(key, state).next().map(|line| line.options).unwrap_or_default();
    let new = (!key.is_absent).then(|| desired_line(key, old_options));
    let mut lines = TextLines::of(state.content.as_deref().unwrap_or_default());
    lines.set(|line| KeyLine::parse(line).is_some_and(|line| key.is_in(&line)), new.as_deref());
    lines.into_content()
}

fn desired_line(key: &DesiredKey, old_options: &[u8]) -> Vec<u8> {
    let options = key.options.as_deref().map_or(old_options, str::as_bytes);
    let public = key.key.as_ref().map(SshPublicKey::to_string).unwrap_or_default();
    let words = [options, public.as_bytes(), key.name.as_bytes()];
    let words: Vec<&[u8]> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(&b' ')
}

fn no_user(user: &str) -> Failure {
    Failure::conflict(format!("user `{user}` does not exist"))
        .of_property("user")
        .with_missing(MissingPrerequisite::Principal(user.to_owned()))
        .with_hint(format!("add a `user` resource for `{user}`"))
}

#[cfg(test)]
mod tests;
