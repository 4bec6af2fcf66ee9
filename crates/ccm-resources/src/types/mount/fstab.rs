//! The file `/etc/fstab`, read once until something is executed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::unescape;
use ccm_model::Failure;

use crate::parts::text::TextFile;

pub(super) const FSTAB: &str = "/etc/fstab";

/// Options of a line that has none.
pub(super) const DEFAULTS: &str = "defaults";

/// Lines by mount point.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fstab {
    pub file: TextFile,
    lines: HashMap<Vec<u8>, Vec<FstabLine>>,
}

/// Line of a mount. The fields have no escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FstabLine {
    pub device: Vec<u8>,
    pub mount_point: Vec<u8>,
    pub fstype: Vec<u8>,
    pub options: Vec<u8>,
    pub dump: u8,
    pub pass: u8,
}

impl Fstab {
    /// Returns the file, which is read again after a command was executed.
    pub(super) async fn of(context: &Context<'_>) -> Result<Rc<Self>, Failure> {
        context.state_cache(async || Ok(Self::parse(TextFile::read(Path::new(FSTAB), context)?))).await
    }

    pub(super) fn parse(file: TextFile) -> Self {
        let mut lines: HashMap<Vec<u8>, Vec<FstabLine>> = HashMap::new();
        for line in file.iter().filter_map(FstabLine::parse) {
            lines.entry(line.mount_point.clone()).or_default().push(line);
        }
        Self { file, lines }
    }

    /// Returns all lines, in the order of the file.
    pub(super) fn all(&self) -> Vec<FstabLine> {
        self.file.iter().filter_map(FstabLine::parse).collect()
    }

    /// Returns the spelling of a mount point that has lines: the given one, else another one of the same directory.
    /// `real` returns a path without links.
    pub(super) fn spelling<'f>(&'f self, mount_point: &'f str, real: impl Fn(&str) -> PathBuf) -> &'f str {
        if self.lines.contains_key(mount_point.as_bytes()) {
            return mount_point;
        }
        let directory = real(mount_point);
        // A mount point that is no text has no other spelling that a manifest could name.
        let spellings = self.lines.keys().filter_map(|spelling| str::from_utf8(spelling).ok());
        spellings.filter(|spelling| real(spelling) == directory).min().unwrap_or(mount_point)
    }

    /// Returns the lines of a mount point.
    pub(super) fn lines(&self, mount_point: &str) -> &[FstabLine] {
        self.lines.get(mount_point.as_bytes()).map_or(&[], Vec::as_slice)
    }

    /// Returns the content with a line in place of all lines of a mount point; `None` removes them.
    pub(super) fn with(&self, mount_point: &str, new: Option<&FstabLine>) -> Vec<u8> {
        let new = new.map(FstabLine::to_bytes);
        let mut lines = self.file.lines();
        let is_its = |line: FstabLine| line.mount_point == mount_point.as_bytes();
        lines.set(|line| FstabLine::parse(line).is_some_and(is_its), new.as_deref());
        lines.into_content()
    }
}

impl FstabLine {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let first = fields.next().filter(|first| !first.starts_with(b"#"))?;
        let mut mount_point = unescape(fields.next()?);
        // A slash at the end means the same directory.
        if mount_point.len() > 1 && mount_point.ends_with(b"/") {
            mount_point.pop();
        }
        let fstype = unescape(fields.next()?);
        let options = fields.next().map_or_else(|| DEFAULTS.into(), unescape);
        let mut number = || {
            let field = fields.next().and_then(|field| str::from_utf8(field).ok());
            field.and_then(|field| field.parse().ok()).unwrap_or_default()
        };
        Some(Self { device: unescape(first), mount_point, fstype, options, dump: number(), pass: number() })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut line = Vec::new();
        for field in [&self.device, &self.mount_point, &self.fstype, &self.options] {
            for byte in field {
                match byte {
                    // These would end the field.
                    b' ' | b'\t' | b'\n' | b'\r' | b'\\' | b'#' => {
                        line.extend(format!("\\{byte:03o}").bytes());
                    }
                    byte => line.push(*byte),
                }
            }
            line.push(b'\t');
        }
        line.extend(format!("{} {}", self.dump, self.pass).bytes());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# /dev/x /srv ext4 defaults 0 0\nUUID=a / ext4 errors=remount-ro 0 1\n\n\
        /dev/b  /srv/\text4\nnas:/c /srv/c\\040d nfs ro 0 0 # more\n/dev/d /srv ext4 ro 1 2\nnone swap\n";

    #[test]
    fn mounts_are_found_by_their_directory() {
        let fstab = Fstab::parse(TextFile::of(FILE));
        assert_eq!((fstab.lines("/srv").len(), fstab.lines("/").len()), (2, 1));
        let line = &fstab.lines("/srv")[0];
        assert_eq!((&*line.device, &*line.options), (&b"/dev/b"[..], &b"defaults"[..]));
        assert_eq!((line.dump, line.pass), (0, 0));
        assert_eq!(fstab.lines("/srv/c d")[0].device, b"nas:/c");
        assert_eq!(fstab.lines("/")[0].pass, 1);
    }

    #[test]
    fn mount_has_one_line_afterwards() {
        let fstab = Fstab::parse(TextFile::of(FILE));
        let line = FstabLine { pass: 2, ..fstab.lines("/srv")[1].clone() };
        let expected = FILE
            .replace("/dev/b  /srv/\text4", "/dev/d\t/srv\text4\tro\t1 2")
            .replace("/dev/d /srv ext4 ro 1 2\n", "");
        let with = |mount_point, new| String::from_utf8(fstab.with(mount_point, new)).expect("text");
        assert_eq!(with("/srv", Some(&line)), expected);
        let new = FstabLine { mount_point: b"/a b".to_vec(), ..line.clone() };
        assert_eq!(with("/a b", Some(&new)), format!("{FILE}/dev/d\t/a\\040b\text4\tro\t1 2\n"));
        assert_eq!(with("/nowhere", None), FILE);
        assert_eq!(Fstab::parse(TextFile::of(with("/a b", Some(&new)))).lines("/a b"), [new]);
    }

    #[test]
    fn fields_of_any_encoding_stay() {
        let fstab = Fstab::parse(TextFile::of(b"# caf\xe9\n//nas/a /srv cifs user=\xe9,x=\\351 # \xe9\n"));
        let line = FstabLine { device: b"//nas/b".to_vec(), ..fstab.lines("/srv")[0].clone() };
        let expected = b"# caf\xe9\n//nas/b\t/srv\tcifs\tuser=\xe9,x=\xe9\t0 0\n";
        assert_eq!(fstab.with("/srv", Some(&line)), expected);
    }
}
