//! Reading of commits: what was signed, and by which signature.

/// Name of the header with the signature.
const SIGNATURE: &[u8] = b"gpgsig";

/// Commit, split into what was signed and its signature.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommitText {
    /// The bytes that were signed: the commit without the header.
    pub(crate) signed: Vec<u8>,
    /// Signature.
    pub(crate) signature: String,
}

/// Reason for which a commit has no signature that can be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Nobody has signed it.
    #[error("it is not signed")]
    Unsigned,
    /// It has several signatures.
    #[error("it has more than one signature")]
    Several,
    /// It is no commit.
    #[error("it can't be read")]
    Unreadable,
}

impl CommitText {
    /// Reads a commit as git stores it. A commit has exactly one signature, which no other header stands beside.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, CommitError> {
        if !bytes.starts_with(b"tree ") {
            return Err(CommitError::Unreadable);
        }
        let mut signed = Vec::with_capacity(bytes.len());
        let mut signature: Option<Vec<u8>> = None;
        let mut is_in_signature = false;
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        for line in lines.by_ref() {
            if line == b"\n" {
                signed.extend(line);
                break;
            }
            if let Some(continued) = line.strip_prefix(b" ") {
                match signature.as_mut().filter(|_| is_in_signature) {
                    Some(signature) => signature.extend(continued),
                    None => signed.extend(line),
                }
                continue;
            }
            is_in_signature = line.starts_with(SIGNATURE);
            if !is_in_signature {
                signed.extend(line);
                continue;
            }
            // A header such as `gpgsig-sha256` is a signature of other bytes.
            let value = line[SIGNATURE.len()..].strip_prefix(b" ").ok_or(CommitError::Several)?;
            if signature.replace(value.to_owned()).is_some() {
                return Err(CommitError::Several);
            }
        }
        signed.extend(lines.flatten());
        let signature = signature.ok_or(CommitError::Unsigned)?;
        let signature = String::from_utf8(signature).map_err(|_| CommitError::Unreadable)?;
        Ok(Self { signed, signature })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_has_one_signature() {
        let head = "tree 1\nparent 2\nauthor a\ncommitter c\n";
        let rest = "\nsubject\n\ngpgsig no\n";
        let signature = "gpgsig -----BEGIN\n abc\n \n -----END\n";
        let tag = "mergetag object 3\n gpgsig in it\n type commit\n";
        let expected = |signed: String| {
            let signature = "-----BEGIN\nabc\n\n-----END\n".to_owned();
            Ok(CommitText { signed: signed.into_bytes(), signature })
        };
        for (text, found) in [
            (format!("{head}{rest}"), Err(CommitError::Unsigned)),
            (format!("{head}{signature}{rest}"), expected(format!("{head}{rest}"))),
            (format!("{head}{signature}{tag}{rest}"), expected(format!("{head}{tag}{rest}"))),
            (
                format!("{head}{tag}{signature}encoding x\n{rest}"),
                expected(format!("{head}{tag}encoding x\n{rest}")),
            ),
            (format!("{head}{signature}{signature}{rest}"), Err(CommitError::Several)),
            (format!("{head}{signature}gpgsig-sha256 x\n{rest}"), Err(CommitError::Several)),
            (format!("{head}gpgsig-sha256 x\n{rest}"), Err(CommitError::Several)),
            (format!("{head}{tag}{rest}"), Err(CommitError::Unsigned)),
            (format!("{signature}{head}{rest}"), Err(CommitError::Unreadable)),
            (format!("{head}{signature}"), expected(head.to_owned())),
            (String::new(), Err(CommitError::Unreadable)),
        ] {
            assert_eq!(CommitText::parse(text.as_bytes()), found, "{text}");
        }
    }
}
