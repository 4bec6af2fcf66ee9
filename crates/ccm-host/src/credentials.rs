//! Credentials that systemd hands to the process.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::configuration::{ConfigurationDirectory, ConfigurationError};
use crate::environment::variable;

/// Variable with the directory of the credentials.
const DIRECTORY_VARIABLE: &str = "CREDENTIALS_DIRECTORY";
/// Maximum size of a credential in bytes, the limit of systemd.
const MAX_SIZE: u64 = 1 << 20;
/// Maximum length of a name in bytes, that of a file name.
const MAX_NAME: usize = 255;

/// Error of reading a credential.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The name can't be that of a file in a directory.
    #[error("`{}` can't be the name of a credential", .0.escape_debug())]
    Name(String),
    /// The process has no credentials.
    #[error("there are no credentials, because {DIRECTORY_VARIABLE} is not set")]
    NotSet,
    /// The variable does not hold an absolute path.
    #[error("there are no credentials, because {DIRECTORY_VARIABLE} is not an absolute path")]
    Relative,
    /// The directory does not exist.
    #[error("there are no credentials, because \"{}\" does not exist", .0.display())]
    NoDirectory(PathBuf),
    /// There is no credential of this name.
    #[error("there is no credential `{name}` in \"{}\"", directory.display())]
    Missing {
        /// The name.
        name: String,
        /// Directory of the credentials.
        directory: PathBuf,
    },
    /// The directory or the file can't be used.
    #[error("the credential `{name}` can't be read")]
    Unreadable {
        /// The name.
        name: String,
        /// Cause.
        source: ConfigurationError,
    },
    /// The content is not text.
    #[error("the credential `{name}` is not UTF-8 text")]
    NotText {
        /// The name.
        name: String,
    },
    /// The file that a service gets the credential from does not exist.
    #[error("there is no file \"{}\" for the credential `{name}`", path.display())]
    NoFile {
        /// The name.
        name: String,
        /// Path of the file.
        path: PathBuf,
    },
    /// A service that is to be written does not get the credential.
    #[error("the service gets no credential `{name}`")]
    NotGiven {
        /// The name.
        name: String,
    },
    /// Only the service can read the credential, for example because it is encrypted.
    #[error("only the service can read the credential `{name}`")]
    OfService {
        /// The name.
        name: String,
    },
}

impl CredentialError {
    /// Returns advice on what to do about the error.
    pub fn hint(&self) -> Option<String> {
        let load = |name: &str| format!("`LoadCredential={name}:PATH` or `SetCredential={name}:VALUE`");
        match self {
            Self::Name(_) => Some("use the name that the unit gives, without a directory".to_owned()),
            Self::NotSet | Self::Relative | Self::NoDirectory(_) => Some(format!(
                "let systemd start ccm from a unit with {}, or set {DIRECTORY_VARIABLE} to a directory of files for a test",
                load("NAME")
            )),
            Self::Missing { name, .. } => Some(format!("add {} to the unit", load(name))),
            Self::NoFile { .. } => Some("check the path".to_owned()),
            Self::NotGiven { name } => {
                Some(format!("add `--credential {name}=PATH` with the path of its file"))
            }
            Self::Unreadable { .. } | Self::NotText { .. } | Self::OfService { .. } => None,
        }
    }
}

/// Reads a credential of the process: a regular file in the directory that the variable `CREDENTIALS_DIRECTORY`
/// names. A line end at the end of the file is removed. No link is followed, and as root a file that another user
/// may have written is an error.
pub fn credential(name: &str) -> Result<String, CredentialError> {
    let directory = variable(DIRECTORY_VARIABLE).ok_or(CredentialError::NotSet)?;
    credential_in(Path::new(&directory), name)
}

/// Reads the credential that a service gets from a file, with the rules of [`credential`] for the file. Links to it are
/// followed, as systemd follows them.
pub fn credential_of_file(name: &str, path: &Path) -> Result<String, CredentialError> {
    check_name(name)?;
    let missing = || CredentialError::NoFile { name: name.to_owned(), path: path.to_owned() };
    let unreadable = |source| CredentialError::Unreadable { name: name.to_owned(), source };
    let found = path.canonicalize().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing(),
        _ => unreadable(ConfigurationError::Read { path: path.to_owned(), source }),
    })?;
    let (Some(directory), Some(file)) = (found.parent(), found.file_name()) else { return Err(missing()) };
    let directory = ConfigurationDirectory::open(directory).map_err(unreadable)?.ok_or_else(missing)?;
    let bytes = directory.read(file, MAX_SIZE).map_err(unreadable)?;
    text_of(name, bytes.ok_or_else(missing)?)
}

fn credential_in(directory: &Path, name: &str) -> Result<String, CredentialError> {
    check_name(name)?;
    if directory.is_relative() {
        return Err(CredentialError::Relative);
    }
    let unreadable = |source| CredentialError::Unreadable { name: name.to_owned(), source };
    let opened = ConfigurationDirectory::open(directory).map_err(unreadable)?;
    let opened = opened.ok_or_else(|| CredentialError::NoDirectory(directory.to_owned()))?;
    let bytes = opened.read(OsStr::new(name), MAX_SIZE).map_err(unreadable)?;
    let missing = || CredentialError::Missing { name: name.to_owned(), directory: directory.to_owned() };
    text_of(name, bytes.ok_or_else(missing)?)
}

/// Checks that a name can be that of a file in the directory of credentials.
fn check_name(name: &str) -> Result<(), CredentialError> {
    let is_name = !name.is_empty()
        && name.len() <= MAX_NAME
        && !matches!(name, "." | "..")
        && !name.contains(|part: char| part == '/' || part.is_control());
    if is_name { Ok(()) } else { Err(CredentialError::Name(name.chars().take(MAX_NAME).collect())) }
}

/// Returns the text of a credential, without a line end at its end.
fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, CredentialError> {
    let text = String::from_utf8(bytes);
    let mut text = text.map_err(|_| CredentialError::NotText { name: name.to_owned() })?;
    if text.ends_with('\n') {
        text.pop();
        text.truncate(text.strip_suffix('\r').unwrap_or(&text).len());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir().expect("a directory")
    }

    #[test]
    fn a_line_end_at_the_end_is_removed() {
        let scratch = scratch();
        for (content, expected) in [
            ("secret", "secret"),
            ("secret\n", "secret"),
            ("secret\r\n", "secret"),
            ("secret\n\n", "secret\n"),
            ("secret\r", "secret\r"),
            (" two\nlines \n", " two\nlines "),
            ("\n", ""),
            ("", ""),
        ] {
            std::fs::write(scratch.path().join("db"), content).expect("a file");
            assert_eq!(credential_in(scratch.path(), "db").expect("a credential"), expected, "{content:?}");
        }
    }

    #[test]
    fn errors_name_the_credential_and_the_way_out() {
        let scratch = scratch();
        let path = |name: &str| scratch.path().join(name);
        std::fs::write(path("text"), "x").expect("a file");
        std::fs::write(path("binary"), [0xff]).expect("a file");
        std::fs::write(path("long"), vec![b'x'; 1 + (1 << 20)]).expect("a file");
        std::fs::write(path("longest"), vec![b'x'; 1 << 20]).expect("a file");
        std::fs::create_dir(path("directory")).expect("a directory");
        symlink(path("text"), path("link")).expect("a link");
        let load = |name: &str| format!("LoadCredential={name}:PATH");
        for (name, message, hint) in [
            ("gone", "there is no credential `gone` in ", Some(load("gone"))),
            ("", "`` can't be the name of a credential", Some("without a directory".to_owned())),
            (".", "`.` can't be the name", Some(String::new())),
            ("..", "`..` can't be the name", Some(String::new())),
            ("a/b", "`a/b` can't be the name", Some(String::new())),
            ("/etc/passwd", "`/etc/passwd` can't be the name", Some(String::new())),
            ("a\nb", "`a\\nb` can't be the name", Some(String::new())),
            ("binary", "the credential `binary` is not UTF-8 text", None),
            ("long", "the credential `long` can't be read", None),
            ("directory", "the credential `directory` can't be read", None),
            ("link", "the credential `link` can't be read", None),
        ] {
            let error = credential_in(scratch.path(), name).expect_err(name);
            assert!(error.to_string().starts_with(message), "{error}");
            assert_eq!(error.hint().is_some(), hint.is_some(), "{name}");
            assert!(error.hint().unwrap_or_default().contains(&hint.unwrap_or_default()), "{name}");
        }
        assert_eq!(credential_in(scratch.path(), "longest").expect("a credential").len(), 1 << 20);
        for (directory, message) in [
            (Path::new("relative"), "is not an absolute path"),
            (&*path("gone"), "does not exist"),
            (&*path("text"), "can't be read"),
        ] {
            let error = credential_in(directory, "db").expect_err("an error");
            assert!(error.to_string().ends_with(message), "{error}");
        }
    }

    #[test]
    fn a_credential_of_a_service_is_read_from_its_file() {
        let scratch = scratch();
        let path = |name: &str| scratch.path().join(name);
        std::fs::write(path("db.txt"), "secret\n").expect("a file");
        std::fs::write(path("binary"), [0xff]).expect("a file");
        symlink("db.txt", path("link")).expect("a link");
        symlink("gone", path("dangling")).expect("a link");
        for file in ["db.txt", "link"] {
            assert_eq!(credential_of_file("db", &path(file)).expect("a credential"), "secret", "{file}");
        }
        for (name, file, message) in [
            ("db", "gone", "there is no file "),
            ("db", "dangling", "there is no file "),
            ("db", "db.txt/below", "there is no file "),
            ("db", "", "the credential `db` can't be read"),
            ("db", "binary", "the credential `db` is not UTF-8 text"),
            ("a/b", "db.txt", "`a/b` can't be the name of a credential"),
        ] {
            let error = credential_of_file(name, &path(file)).expect_err(file);
            assert!(error.to_string().starts_with(message), "{file}: {error}");
        }
    }
}
