//! References of a checkout, read from the files of its repository.

use std::io::ErrorKind;
use std::path::Path;

use ccm_fetch::is_git_commit;
use ccm_host::{FileError, FileStep, Files};

/// Maximum size of a file with one reference.
const MAX_LOOSE: u64 = 1 << 10;

/// Maximum size of the file with all other references.
const MAX_PACKED: u64 = 16 << 20;

/// Beginning of the first line of the file with packed references.
const PACKED_HEADER: &str = "# pack-refs with:";

/// Word of that line: every tag object has the commit that it names below it.
const PEELED: &str = "fully-peeled";

/// Content of a file of the repository.
enum Stored {
    Missing,
    Text(String),
    /// The file can't be read, or is too large.
    Unreadable,
}

/// Returns the commits of references; `None` if only git can tell them. `head` is the commit of the checkout: what
/// another hash names, a commit or a tag object, is known only for packed references.
pub(super) fn stored_references(
    repository: &Path,
    names: &[&str],
    head: Option<&str>,
    files: &dyn Files,
) -> Option<Vec<Option<String>>> {
    // The references are in another format.
    if files.exists(&repository.join("reftable")).unwrap_or(true) {
        return None;
    }
    let mut packed = None;
    let mut commits = Vec::with_capacity(names.len());
    for name in names {
        match read(&repository.join(name), MAX_LOOSE, files) {
            Stored::Text(text) if head == Some(text.trim_end()) => commits.push(head.map(str::to_owned)),
            Stored::Text(_) | Stored::Unreadable => return None,
            Stored::Missing => {
                let text =
                    packed.get_or_insert_with(|| read(&repository.join("packed-refs"), MAX_PACKED, files));
                let found = match text {
                    Stored::Missing => PackedReference::Missing,
                    Stored::Text(text) => packed_reference(text, name),
                    Stored::Unreadable => PackedReference::Unknown,
                };
                commits.push(match found {
                    PackedReference::Commit(commit) => Some(commit),
                    PackedReference::Missing => None,
                    PackedReference::Unknown => return None,
                });
            }
        }
    }
    Some(commits)
}

/// Reference in the file with packed references.
#[derive(Debug, PartialEq, Eq)]
enum PackedReference {
    Commit(String),
    Missing,
    /// The file has a form that only git reads.
    Unknown,
}

/// Finds a reference in the text of the file with packed references.
fn packed_reference(text: &str, name: &str) -> PackedReference {
    let words = text.lines().next().and_then(|header| header.strip_prefix(PACKED_HEADER));
    if !words.is_some_and(|words| words.split(' ').any(|word| word == PEELED)) {
        return PackedReference::Unknown;
    }
    let mut lines = text.lines().skip(1);
    let Some(hash) = lines.find_map(|line| line.strip_suffix(name)?.strip_suffix(' ')) else {
        return PackedReference::Missing;
    };
    let commit = lines.next().and_then(|line| line.strip_prefix('^')).unwrap_or(hash);
    if is_git_commit(commit) { PackedReference::Commit(commit.to_owned()) } else { PackedReference::Unknown }
}

fn read(path: &Path, limit: u64, files: &dyn Files) -> Stored {
    match files.content(path, limit) {
        Ok(Some(bytes)) => String::from_utf8(bytes).map_or(Stored::Unreadable, Stored::Text),
        Err(FileError::Step { step: FileStep::Read, source, .. }) if source.kind() == ErrorKind::NotFound => {
            Stored::Missing
        }
        Err(FileError::ParentMissing(_)) => Stored::Missing,
        Ok(None) | Err(_) => Stored::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::{PackedReference, packed_reference};

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    #[test]
    fn packed_references_are_read_with_what_they_name() {
        let text = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{ONE} refs/heads/a\n{ONE} refs/tags/v1\n^{TWO}\n\
             {TWO} refs/tags/v2\n{ONE} refs/tags/x/v2\n"
        );
        for (name, expected) in [
            ("refs/heads/a", Some(ONE)),
            ("refs/tags/v1", Some(TWO)),
            ("refs/tags/v2", Some(TWO)),
            ("refs/tags/x/v2", Some(ONE)),
            ("refs/tags/v", None),
            ("tags/v2", None),
        ] {
            let expected = expected
                .map_or(PackedReference::Missing, |commit: &str| PackedReference::Commit(commit.to_owned()));
            assert_eq!(packed_reference(&text, name), expected, "{name}");
        }
    }

    #[test]
    fn files_of_another_form_are_left_to_git() {
        let line = format!("{ONE} refs/tags/v1\n");
        for text in [
            String::new(),
            line.clone(),
            format!("# pack-refs with: peeled \n{line}"),
            format!("# pack-refs with: not-fully-peeled \n{line}"),
            "# pack-refs with: peeled fully-peeled \nnonsense refs/tags/v1\n".to_owned(),
            format!("# pack-refs with: peeled fully-peeled \n{line}^nonsense\n"),
        ] {
            assert_eq!(packed_reference(&text, "refs/tags/v1"), PackedReference::Unknown, "{text}");
        }
    }
}
