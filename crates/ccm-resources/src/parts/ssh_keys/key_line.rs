//! Lines of a file with authorized keys.

use super::key_options;
use super::public_key::SshPublicKey;

/// Line with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyLine<'a> {
    /// Options in front of the key; empty if there are none.
    pub options: &'a str,
    pub kind: &'a str,
    pub blob: &'a str,
    pub comment: &'a str,
}

impl<'a> KeyLine<'a> {
    /// Parses a line; `None` for a comment, an empty line, and a line that is no key.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (first, _) = line.split_at(line.find([' ', '\t']).unwrap_or(line.len()));
        let (options, rest) = if SshPublicKey::is_type(first) {
            ("", line)
        } else {
            let (options, rest) = line.split_at(key_options::length(line));
            (options, rest.trim_start())
        };
        let (kind, rest) = word(rest);
        let (blob, comment) = word(rest);
        (SshPublicKey::is_type(kind) && !blob.is_empty()).then_some(Self { options, kind, blob, comment })
    }

    pub(crate) fn has(&self, key: &SshPublicKey) -> bool {
        self.kind == key.kind && self.blob == key.blob
    }
}

/// Splits a text behind its first word.
fn word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_at(text.find([' ', '\t']).unwrap_or(text.len()));
    (word, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed() {
        let parsed = |line| {
            KeyLine::parse(line).map(|line: KeyLine<'_>| [line.options, line.kind, line.blob, line.comment])
        };
        for (line, expected) in [
            ("ssh-rsa AAAA", Some(["", "ssh-rsa", "AAAA", ""])),
            ("  ssh-rsa\tAAAA  ada at web \r", Some(["", "ssh-rsa", "AAAA", "ada at web"])),
            ("no-pty,from=\"a b\" ssh-rsa AAAA c", Some(["no-pty,from=\"a b\"", "ssh-rsa", "AAAA", "c"])),
            (
                "command=\"ssh-rsa \\\"x\\\"\" ssh-dss AAAA",
                Some(["command=\"ssh-rsa \\\"x\\\"\"", "ssh-dss", "AAAA", ""]),
            ),
            ("cert-authority ssh-rsa AAAA", Some(["cert-authority", "ssh-rsa", "AAAA", ""])),
            ("", None),
            ("# ssh-rsa AAAA", None),
            ("garbage", None),
            ("no-pty ssh-rsa", None),
        ] {
            assert_eq!(parsed(line), expected, "{line}");
        }
    }
}
