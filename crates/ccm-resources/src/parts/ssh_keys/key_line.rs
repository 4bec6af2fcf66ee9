//! Lines of a file with authorized keys.

use super::key_options;
use super::public_key::SshPublicKey;

/// Line with a key. Comment and options may be of any encoding, of which sshd takes no notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyLine<'a> {
    /// Options in front of the key; empty if there are none.
    pub options: &'a [u8],
    pub kind: &'a [u8],
    pub blob: &'a [u8],
    pub comment: &'a [u8],
}

impl<'a> KeyLine<'a> {
    /// Parses a line; `None` for a comment, an empty line, and a line that is no key.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return None;
        }
        let (options, rest) = if SshPublicKey::is_type(word(line).0) {
            (&[][..], line)
        } else {
            let (options, rest) = line.split_at(key_options::length(line));
            (options, rest.trim_ascii_start())
        };
        let (kind, rest) = word(rest);
        let (blob, comment) = word(rest);
        (SshPublicKey::is_type(kind) && !blob.is_empty()).then_some(Self { options, kind, blob, comment })
    }

    pub(crate) fn has(&self, key: &SshPublicKey) -> bool {
        self.kind == key.kind.as_bytes() && self.blob == key.blob.as_bytes()
    }
}

/// Splits a text behind its first word.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| matches!(byte, b' ' | b'\t'));
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (word, rest.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed() {
        let parsed = |line: &'static str| {
            let line = KeyLine::parse(line.as_bytes())?;
            Some(
                [line.options, line.kind, line.blob, line.comment]
                    .map(|part| str::from_utf8(part).expect("text")),
            )
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
        let line = KeyLine::parse(b"command=\"caf\xe9\" ssh-rsa AAAA caf\xe9\0").expect("a key");
        assert_eq!(
            (line.options, line.blob, line.comment),
            (&b"command=\"caf\xe9\""[..], &b"AAAA"[..], &b"caf\xe9\0"[..])
        );
    }
}
