//! The file `/etc/fstab`, read once until something is executed.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_model::Failure;

use crate::parts::mounts::unescaped;
use crate::support::system_file::{edited, read};

pub(super) const FSTAB: &str = "/etc/fstab";

/// Options of a line that has none.
pub(super) const DEFAULTS: &str = "defaults";

/// Lines by mount point.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fstab {
    /// `None` if the file does not exist.
    pub content: Option<String>,
    lines: HashMap<String, Vec<FstabLine>>,
}

/// Line of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FstabLine {
    pub device: String,
    pub mount_point: String,
    pub fstype: String,
    pub options: String,
    pub dump: u8,
    pub pass: u8,
}

impl Fstab {
    /// Returns the file, which is read again after a command was executed.
    pub(super) async fn of(context: &Context<'_>) -> Result<Rc<Self>, Failure> {
        context.state_cache(async || Ok(Self::parse(read(Path::new(FSTAB), context)?))).await
    }

    pub(super) fn parse(content: Option<String>) -> Self {
        let mut lines: HashMap<String, Vec<FstabLine>> = HashMap::new();
        for line in content.iter().flat_map(|content| content.lines()).filter_map(FstabLine::parse) {
            lines.entry(line.mount_point.clone()).or_default().push(line);
        }
        Self { content, lines }
    }

    /// Returns the lines of a mount point.
    pub(super) fn lines(&self, mount_point: &str) -> &[FstabLine] {
        self.lines.get(mount_point).map_or(&[], Vec::as_slice)
    }

    /// Returns the content with a line in place of all lines of a mount point; `None` removes them.
    pub(super) fn with(&self, mount_point: &str, new: Option<&FstabLine>) -> String {
        let old = self.content.as_deref().unwrap_or_default();
        let mut new_line = new.map(FstabLine::to_string);
        let mut is_written = false;
        let edit = |text: &str| {
            FstabLine::parse(text).is_some_and(|line| line.mount_point == mount_point).then(|| {
                is_written = true;
                new_line.take().unwrap_or_default()
            })
        };
        let content = edited(old, edit, String::new);
        match new {
            Some(line) if !is_written => edited(&content, |_| None, || line.to_string()),
            _ => content,
        }
    }
}

impl FstabLine {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_whitespace();
        let first = fields.next().filter(|first| !first.starts_with('#'))?;
        let mount_point = unescaped(fields.next()?);
        // A slash at the end means the same directory.
        let mount_point = match mount_point.strip_suffix('/') {
            Some("") | None => mount_point,
            Some(path) => path.to_owned(),
        };
        let fstype = unescaped(fields.next()?);
        let options = fields.next().map_or_else(|| DEFAULTS.to_owned(), unescaped);
        let mut number = || fields.next().and_then(|field| field.parse().ok()).unwrap_or_default();
        Some(Self { device: unescaped(first), mount_point, fstype, options, dump: number(), pass: number() })
    }
}

/// Encodes what would end a field.
fn escape(field: &str) -> String {
    let mut escaped = String::with_capacity(field.len());
    for c in field.chars() {
        match c {
            ' ' => escaped.push_str("\\040"),
            '\t' => escaped.push_str("\\011"),
            '\\' => escaped.push_str("\\134"),
            '#' => escaped.push_str("\\043"),
            c => escaped.push(c),
        }
    }
    escaped
}

impl fmt::Display for FstabLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [device, mount_point, fstype, options] =
            [&self.device, &self.mount_point, &self.fstype, &self.options].map(|field| escape(field));
        write!(formatter, "{device}\t{mount_point}\t{fstype}\t{options}\t{} {}", self.dump, self.pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# /dev/x /srv ext4 defaults 0 0\nUUID=a / ext4 errors=remount-ro 0 1\n\n\
        /dev/b  /srv/\text4\nnas:/c /srv/c\\040d nfs ro 0 0 # more\n/dev/d /srv ext4 ro 1 2\nnone swap\n";

    #[test]
    fn mounts_are_found_by_their_directory() {
        let fstab = Fstab::parse(Some(FILE.to_owned()));
        assert_eq!((fstab.lines("/srv").len(), fstab.lines("/").len()), (2, 1));
        let line = &fstab.lines("/srv")[0];
        assert_eq!((&*line.device, &*line.options, line.dump, line.pass), ("/dev/b", "defaults", 0, 0));
        assert_eq!(fstab.lines("/srv/c d")[0].device, "nas:/c");
        assert_eq!(fstab.lines("/")[0].pass, 1);
    }

    #[test]
    fn mount_has_one_line_afterwards() {
        let fstab = Fstab::parse(Some(FILE.to_owned()));
        let line = FstabLine { pass: 2, ..fstab.lines("/srv")[1].clone() };
        let expected = FILE
            .replace("/dev/b  /srv/\text4", "/dev/d\t/srv\text4\tro\t1 2")
            .replace("/dev/d /srv ext4 ro 1 2\n", "");
        assert_eq!(fstab.with("/srv", Some(&line)), expected);
        let new = FstabLine { mount_point: "/a b".to_owned(), ..line };
        assert_eq!(fstab.with("/a b", Some(&new)), format!("{FILE}/dev/d\t/a\\040b\text4\tro\t1 2\n"));
        assert_eq!(fstab.with("/nowhere", None), FILE);
        assert_eq!(Fstab::parse(Some(fstab.with("/a b", Some(&new)))).lines("/a b"), [new]);
    }
}
