//! Files, directories, links and devices.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ccm_check::{Attribute, Fact, FactError, Rule};
use ccm_host::{EntryInfo, EntryKind, Machine as _, SystemMachine, entry_at, read_pieces};
use ccm_model::{error_layers, hexadecimal};
use md5::Md5;
use sha2::{Digest, Sha256, Sha512};

use super::accounts::Accounts;
use super::observation::{no_attribute, unreadable};

/// Maximum length of contents in bytes. Digests have no limit but time.
const MAX_CONTENTS: usize = 16 << 20;

/// Values of the file that a rule is about.
pub(super) struct FileFacts {
    /// Ends the reading of a long file.
    is_stopped: Arc<AtomicBool>,
    current: Option<CurrentFile>,
}

/// File of the rule that is being judged.
struct CurrentFile {
    path: PathBuf,
    entry: Option<EntryInfo>,
    content: Option<Result<Content, FactError>>,
}

/// What one reading of a file has found, as far as the rule judges it.
#[derive(Clone)]
struct Content {
    text: Result<String, FactError>,
    md5: String,
    sha256: String,
    sha512: String,
}

impl FileFacts {
    pub(super) fn new(is_stopped: Arc<AtomicBool>) -> Self {
        Self { is_stopped, current: None }
    }

    /// Returns a value of a file. The first question of a rule is always whether the file exists.
    pub(super) fn fact(
        &mut self,
        rule: &Rule,
        path: &str,
        attribute: Attribute,
        directory: &Path,
        accounts: &mut Accounts,
    ) -> Result<Fact, FactError> {
        if attribute == Attribute::Exists {
            self.current = None;
            let path = absolute(path, directory, accounts)?;
            let entry = entry_at(&path).map_err(|error| unreadable(error.to_string()))?;
            self.current = Some(CurrentFile { path, entry, content: None });
            return Ok(entry.is_some().into());
        }
        let missing = || unreadable(format!("there is no file `{path}`"));
        let current = self.current.as_mut().ok_or_else(missing)?;
        let entry = current.entry.ok_or_else(missing)?;
        match attribute {
            Attribute::Mode => Ok((&*format!("{:04o}", entry.mode)).into()),
            Attribute::Owner => accounts.owner_name(entry.uid).map(|name| (&*name).into()),
            Attribute::Uid => Ok(i64::from(entry.uid).into()),
            Attribute::Group => accounts.group_name(entry.gid).map(|name| (&*name).into()),
            Attribute::Gid => Ok(i64::from(entry.gid).into()),
            Attribute::Size => Ok(i64::try_from(entry.size).unwrap_or(i64::MAX).into()),
            Attribute::Filetype => Ok(kind_name(entry.kind).into()),
            Attribute::LinkedTo if entry.kind == EntryKind::Link => {
                let target = SystemMachine.link(&current.path);
                let target = target.map_err(|error| unreadable(error.to_string()))?;
                Ok((&*target.to_string_lossy()).into())
            }
            Attribute::LinkedTo => Err(unreadable("it is no link")),
            _ => {
                let content =
                    current.content.get_or_insert_with(|| read(&current.path, rule, &self.is_stopped));
                let content = content.as_ref().map_err(Clone::clone)?;
                match attribute {
                    Attribute::Contains | Attribute::Contents => {
                        content.text.as_deref().map(Fact::from).map_err(Clone::clone)
                    }
                    Attribute::Md5 => Ok((&*content.md5).into()),
                    Attribute::Sha256 => Ok((&*content.sha256).into()),
                    Attribute::Sha512 => Ok((&*content.sha512).into()),
                    other => Err(no_attribute(other)),
                }
            }
        }
    }
}

/// Returns the path of a rule: with `~` for a home directory, and relative ones in the directory of the check.
fn absolute(path: &str, directory: &Path, accounts: &mut Accounts) -> Result<PathBuf, FactError> {
    let Some(rest) = path.strip_prefix('~') else { return Ok(directory.join(path)) };
    let (user, below) = rest.split_once('/').unwrap_or((rest, ""));
    let home = accounts.home_of(user)?;
    Ok(if below.is_empty() { home } else { home.join(below) })
}

fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Link => "symlink",
        EntryKind::Pipe => "pipe",
        EntryKind::Socket => "socket",
        EntryKind::BlockDevice => "block-device",
        EntryKind::CharacterDevice => "character-device",
    }
}

/// Reads a file once, links followed, for all attributes of a rule that need its content.
fn read(path: &Path, rule: &Rule, is_stopped: &AtomicBool) -> Result<Content, FactError> {
    let asserts = |attribute| rule.assertion(attribute).is_some();
    let wants_text = asserts(Attribute::Contents) || asserts(Attribute::Contains);
    let mut md5 = asserts(Attribute::Md5).then(Md5::new);
    let mut sha256 = asserts(Attribute::Sha256).then(Sha256::new);
    let mut sha512 = asserts(Attribute::Sha512).then(Sha512::new);
    let has_digest = md5.is_some() || sha256.is_some() || sha512.is_some();
    let (mut bytes, mut is_too_long) = (Vec::new(), false);
    let mut step = |piece: &[u8]| {
        if wants_text && !is_too_long {
            is_too_long = bytes.len() + piece.len() > MAX_CONTENTS;
            if is_too_long { bytes = Vec::new() } else { bytes.extend_from_slice(piece) }
        }
        if let Some(digest) = &mut md5 {
            digest.update(piece);
        }
        if let Some(digest) = &mut sha256 {
            digest.update(piece);
        }
        if let Some(digest) = &mut sha512 {
            digest.update(piece);
        }
        if is_stopped.load(Ordering::Relaxed) || is_too_long && !has_digest {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    read_pieces(path, &mut step).map_err(|error| unreadable(error_layers(&error).join(": ")))?;
    let text = if is_too_long {
        Err(unreadable(format!("the file is longer than {} MiB", MAX_CONTENTS >> 20)))
    } else {
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Content { text, md5: digits(md5), sha256: digits(sha256), sha512: digits(sha512) })
}

fn digits(digest: Option<impl Digest>) -> String {
    digest.map(|digest| hexadecimal(&digest.finalize())).unwrap_or_default()
}
