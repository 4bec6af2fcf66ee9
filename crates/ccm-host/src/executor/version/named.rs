//! Paths of a version that a text names: a file alone, or a directory with all that is in it.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

const DIRECTORY_MODE: u32 = 0o755;
const FILE_MODE: u32 = 0o644;
const PROGRAM_MODE: u32 = 0o755;
/// Right of the owner to execute.
const EXECUTABLE: u32 = 0o100;

/// Directory of a version, and its path as texts have it.
pub(super) struct NamedPaths {
    version: PathBuf,
    /// The path; `None` if it is not UTF-8, so that no text can have it.
    text: Option<String>,
}

/// Path of a version that stands in a text.
struct Mention {
    /// Place in the text.
    at: usize,
    /// Path in the version that is copied; `None` of one that does not exist.
    path: Option<PathBuf>,
}

impl NamedPaths {
    pub(super) fn of(version: &Path) -> Self {
        Self { version: version.to_owned(), text: version.to_str().map(str::to_owned) }
    }

    pub(super) fn version(&self) -> &Path {
        &self.version
    }

    /// Adds the paths that a text names. Returns `true` if it names the version at all.
    pub(super) fn find(&self, text: &str, found: &mut BTreeSet<PathBuf>) -> bool {
        let mentions = self.mentions(text);
        let is_named = !mentions.is_empty();
        found.extend(mentions.into_iter().filter_map(|mention| mention.path));
        is_named
    }

    /// Returns the text with another directory in place of the version.
    pub(super) fn replaced(&self, text: &str, other: &Path) -> String {
        let Some(version) = &self.text else { return text.to_owned() };
        let mut replaced = String::new();
        let mut rest = 0;
        for mention in self.mentions(text) {
            replaced += &text[rest..mention.at];
            replaced += &other.to_string_lossy();
            rest = mention.at + version.len();
        }
        replaced + &text[rest..]
    }

    /// Copies a path of the version into a directory that stands in place of it. A link on the way is followed, if it stays
    /// in the version.
    pub(super) fn copy(&self, path: &Path, into: &Path) -> io::Result<()> {
        let from = self.version.join(path).canonicalize()?;
        if !from.starts_with(self.version.canonicalize()?) {
            return Ok(());
        }
        let to = into.join(path);
        if from.is_dir() {
            return copy_directory(&from, &to);
        }
        if let Some(above) = to.parent() {
            make_directory(above)?;
        }
        copy_file(&from, &to)
    }

    fn mentions(&self, text: &str) -> Vec<Mention> {
        let Some(version) = &self.text else { return Vec::new() };
        let found = text.match_indices(&**version).filter(|(at, _)| ends_name(&text[at + version.len()..]));
        found.map(|(at, _)| Mention { at, path: self.longest(&text[at + version.len()..]) }).collect()
    }

    /// Returns the longest path that exists at the beginning of a text; `None` if the text goes on with another name.
    fn longest(&self, text: &str) -> Option<PathBuf> {
        // A shell has `"VERSION"/bin/tool` for one word.
        let unquoted = text.strip_prefix(['"', '\'']).filter(|rest| rest.starts_with('/'));
        let (mut path, mut rest) = (PathBuf::new(), unquoted.unwrap_or(text));
        while let Some(after) = rest.strip_prefix('/') {
            rest = after;
            if rest.starts_with('/') {
                continue;
            }
            if let Some(after) = rest.strip_prefix('.').filter(|after| ends_name(after)) {
                rest = after;
                continue;
            }
            let directory = self.version.join(&path);
            let names = fs::read_dir(directory).into_iter().flatten().flatten();
            let names = names.filter_map(|entry| entry.file_name().into_string().ok());
            let begins = |name: &String| rest.strip_prefix(&**name).is_some_and(ends_name);
            match names.filter(begins).max_by_key(String::len) {
                Some(name) => {
                    path.push(&name);
                    rest = &rest[name.len()..];
                }
                None if ends_name(rest) => break,
                None => return None,
            }
        }
        Some(path)
    }
}

/// Returns `true` if a name of a file ends before this text.
fn ends_name(text: &str) -> bool {
    let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
    !text.starts_with(goes_on)
}

fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    make_directory(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, copy, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy_directory(&source, &copy)?;
        } else if kind.is_file() {
            copy_file(&source, &copy)?;
        } else if kind.is_symlink() && copy.symlink_metadata().is_err() {
            symlink(fs::read_link(&source)?, &copy)?;
        }
    }
    Ok(())
}

/// Makes a directory and those above it, whatever the umask.
fn make_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        make_directory(above)?;
    }
    fs::DirBuilder::new().mode(DIRECTORY_MODE).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE))
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    let is_program = from.metadata()?.permissions().mode() & EXECUTABLE != 0;
    fs::set_permissions(to, Permissions::from_mode(if is_program { PROGRAM_MODE } else { FILE_MODE }))
}

#[cfg(test)]
mod tests {
    use ccm_testkit::Scratch;

    use super::*;

    fn version() -> (Scratch, NamedPaths) {
        let scratch = Scratch::new();
        for (path, content) in [
            ("version/bin/tool", "tool"),
            ("version/bin/tool.sh", "script"),
            ("version/bin/lib/one", "one"),
            ("version/a b", "blank"),
            ("version/secret", "secret"),
            ("outside", "outside"),
        ] {
            scratch.write(path, content);
        }
        symlink("bin/tool", scratch.path().join("version/link")).expect("a link");
        symlink("../outside", scratch.path().join("version/away")).expect("a link");
        fs::set_permissions(scratch.at("version/bin/tool"), Permissions::from_mode(0o700)).expect("a mode");
        let named = NamedPaths::of(&scratch.path().join("version"));
        (scratch, named)
    }

    #[test]
    fn a_text_names_files_alone_and_directories_with_all_in_them() {
        let (_scratch, named) = version();
        let text = named.text.clone().expect("text");
        for (written, expected) in [
            ("nothing", None),
            ("@/bin/tool", Some(&["bin/tool"][..])),
            ("sh @/bin/tool.sh --x", Some(&["bin/tool.sh"])),
            ("'@/bin/tool';x", Some(&["bin/tool"])),
            ("\"@\"/bin/tool", Some(&["bin/tool"])),
            ("\"@\" /bin/tool", Some(&[""])),
            ("@", Some(&[""])),
            ("@/", Some(&[""])),
            ("@/*", Some(&[""])),
            ("@/$name", Some(&[""])),
            ("@//bin/./tool", Some(&["bin/tool"])),
            ("@/bin/lib:/usr/bin", Some(&["bin/lib"])),
            ("@/bin/*.sh", Some(&["bin"])),
            ("@/a b", Some(&["a b"])),
            ("cat @/secret @/bin/lib/one", Some(&["bin/lib/one", "secret"])),
            // Nothing of the version is shown for a name that does not exist, or leads out.
            ("@/bin/tools", Some(&[])),
            ("@/missing", Some(&[])),
            ("@/../outside", Some(&[])),
            // Another path that begins alike.
            ("@.release", None),
            ("@2/bin", None),
        ] {
            let mut found = BTreeSet::new();
            let is_named = named.find(&written.replace('@', &text), &mut found);
            assert_eq!(is_named, expected.is_some(), "{written}");
            let expected: BTreeSet<PathBuf> =
                expected.unwrap_or_default().iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{written}");
            let replaced = named.replaced(&written.replace('@', &text), Path::new("/copy"));
            let copy = if is_named { "/copy" } else { &*text };
            assert_eq!(replaced, written.replace('@', copy), "{written}");
        }
    }

    #[test]
    fn copies_hold_what_was_named_and_nothing_else() {
        let modes = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        for (path, there, missing) in [
            ("bin/tool", &["bin/tool"][..], &["bin/lib", "bin/tool.sh", "secret"][..]),
            ("bin", &["bin/tool", "bin/tool.sh", "bin/lib/one"], &["secret", "a b"]),
            ("", &["bin/lib/one", "secret", "a b", "link"], &["away"]),
            ("link", &["link"], &["bin", "secret"]),
            ("away", &[], &["away"]),
        ] {
            let (scratch, named) = version();
            let copies = scratch.path().join("elsewhere/copies");
            fs::create_dir_all(&copies).expect("a directory");
            named.copy(Path::new(path), &copies).expect("copied");
            // Again, beside what is there.
            named.copy(Path::new(path), &copies).expect("copied");
            for name in there {
                assert!(copies.join(name).is_file(), "{path}: {name}");
            }
            for name in missing {
                assert!(!copies.join(name).exists(), "{path}: {name}");
            }
            if copies.join("bin/tool").exists() {
                assert_eq!((modes(&copies.join("bin")), modes(&copies.join("bin/tool"))), (0o755, 0o755));
            }
        }
    }
}
