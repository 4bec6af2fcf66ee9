//! Words of a command line that somebody can paste.

use std::borrow::Cow;

/// A word as a shell has to be given it, so that it stays one.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+:@%,=".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        for (text, expected) in [
            ("/etc/ccm/site.yaml", "/etc/ccm/site.yaml"),
            ("/srv/grün.yaml", "/srv/grün.yaml"),
            ("/srv/my site.yaml", "'/srv/my site.yaml'"),
            ("/srv/$(id);&.yaml", "'/srv/$(id);&.yaml'"),
            ("/srv/it's", r"'/srv/it'\''s'"),
            ("~/a", "'~/a'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
