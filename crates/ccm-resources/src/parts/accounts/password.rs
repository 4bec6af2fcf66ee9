//! Passwords, as `/etc/shadow` has them.

use std::fmt;

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Mark in front of a password that is locked.
const LOCK: char = '!';

/// Password that a manifest gives: a hash, or `*` or `!` for none that could ever match.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PasswordHash(pub String);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasswordHash")
    }
}

impl TextValue for PasswordHash {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^(\\$[^:\\s]+|[*!])$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        // The message never shows the text, which may be a password.
        let hint = "write the output of `openssl passwd -6`, or `\"*\"` for a user without a password";
        if text.contains([':', '\0']) || text.contains(char::is_whitespace) {
            let message = "a password hash contains neither a colon nor a blank";
            return Err(ValueError::new(message).with_hint(hint));
        }
        if text != "*" && text != "!" && !(text.starts_with('$') && text[1..].contains('$')) {
            let message = "expected the hash of a password, which begins with `$`";
            return Err(ValueError::new(message).with_hint(hint));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Password field of a user.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct PasswordField(String);

impl fmt::Debug for PasswordField {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PasswordField").field("is_locked", &self.is_locked()).finish_non_exhaustive()
    }
}

impl PasswordField {
    pub(crate) fn new(field: &str) -> Self {
        Self(field.to_owned())
    }

    pub(crate) fn as_text(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.0.starts_with(LOCK)
    }

    /// Returns `true` for a locked field with nothing behind the lock, as a new user has it.
    pub(crate) fn is_only_locked(&self) -> bool {
        self.is_locked() && self.unlocked().is_empty()
    }

    /// Returns the field without all locks: usually one, two on a new user of the Red Hat family.
    pub(crate) fn unlocked(&self) -> &str {
        self.0.trim_start_matches(LOCK)
    }

    /// Returns `true` if the field holds this password, locked or not.
    pub(crate) fn has(&self, hash: &PasswordHash) -> bool {
        let hash = Self::new(&hash.0);
        if hash.is_only_locked() { self.is_only_locked() } else { self.unlocked() == hash.unlocked() }
    }

    /// Returns the field with another password. A password that was locked stays locked unless `locked` is given.
    pub(crate) fn replaced(&self, hash: &PasswordHash, locked: Option<bool>) -> Self {
        let hash = Self::new(&hash.0);
        let is_locked = locked.unwrap_or(self.is_locked() && !self.is_only_locked());
        if is_locked && !hash.is_locked() { Self(format!("{LOCK}{}", hash.0)) } else { hash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_compared_without_their_lock() {
        for (field, hash, expected) in [
            ("$6$a$b", "$6$a$b", true),
            ("!$6$a$b", "$6$a$b", true),
            ("!!$6$a$b", "$6$a$b", true),
            ("$6$a$c", "$6$a$b", false),
            ("", "$6$a$b", false),
            ("!", "$6$a$b", false),
            ("", "!", false),
            ("!", "!", true),
            ("!!", "!", true),
            ("*", "!", false),
            ("*", "*", true),
            ("!*", "*", true),
            ("", "*", false),
        ] {
            let has = PasswordField::new(field).has(&PasswordHash(hash.to_owned()));
            assert_eq!(has, expected, "{field} {hash}");
        }
    }

    #[test]
    fn lock_survives_a_new_password() {
        let replaced = |field: &str, hash: &str, locked| {
            PasswordField::new(field).replaced(&PasswordHash(hash.to_owned()), locked).0
        };
        assert_eq!(replaced("$6$a$b", "$6$c$d", None), "$6$c$d");
        assert_eq!(replaced("!$6$a$b", "$6$c$d", None), "!$6$c$d");
        assert_eq!(replaced("!", "$6$c$d", None), "$6$c$d");
        assert_eq!(replaced("!!", "$6$c$d", None), "$6$c$d");
        assert_eq!(replaced("!$6$a$b", "$6$c$d", Some(false)), "$6$c$d");
        assert_eq!(replaced("", "$6$c$d", Some(true)), "!$6$c$d");
        assert_eq!(replaced("", "!", Some(true)), "!");
    }

    #[test]
    fn cleartext_is_refused_and_not_shown() {
        for text in ["hunter22", "a b", "$6", "$6$a:b", "", "x", "!!"] {
            let error = PasswordHash::from_text(text).map_err(|error| error.to_string()).expect_err(text);
            assert!(!error.contains("hunter22"), "{error}");
        }
        for text in ["$6$salt$hash", "$y$j9T$a$b", "*", "!"] {
            assert!(PasswordHash::from_text(text).is_ok(), "{text}");
        }
    }
}
