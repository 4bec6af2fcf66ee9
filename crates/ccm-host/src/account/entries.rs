//! Lines of the databases of users and groups, as `/etc/passwd` and `/etc/group` have them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::files::is_absence;

/// Maximum length of a line. A longer one is cut: a group may have any number of members.
const MAX_LINE: u64 = 1 << 20;

/// User in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserEntry {
    /// Name.
    pub name: String,
    /// Number.
    pub uid: u32,
    /// Number of the primary group.
    pub gid: u32,
    /// Home directory.
    pub home: PathBuf,
    /// Login shell.
    pub shell: PathBuf,
}

impl UserEntry {
    /// Parses a line; `None` if the line is no entry.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = fields(line)?;
        let (name, _password) = (fields.next()?, fields.next()?);
        let (uid, gid, _comment) = (number(fields.next()?)?, number(fields.next()?)?, fields.next());
        let mut path = || PathBuf::from(OsStr::from_bytes(fields.next().unwrap_or_default()));
        Some(Self { name: text(name), uid, gid, home: path(), shell: path() })
    }
}

/// Group in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupEntry {
    pub(crate) name: String,
    pub(crate) gid: u32,
}

impl GroupEntry {
    /// Parses a line; `None` if the line is no entry.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        Self::with_members(line).map(|(entry, _)| entry)
    }

    /// Returns the group of a line that lists this user as a member.
    pub(super) fn of_member(line: &[u8], user: &str) -> Option<Self> {
        let (entry, members) = Self::with_members(line)?;
        members.split(|byte| *byte == b',').any(|member| member == user.as_bytes()).then_some(entry)
    }

    /// Returns the members of a line about this group.
    pub(super) fn members_of(line: &[u8], gid: u32) -> Option<Vec<String>> {
        let (entry, members) = Self::with_members(line)?;
        (entry.gid == gid).then(|| members.split(|byte| *byte == b',').map(text).collect())
    }

    fn with_members(line: &[u8]) -> Option<(Self, &[u8])> {
        let mut fields = fields(line)?;
        let (name, _password, gid) = (fields.next()?, fields.next()?, number(fields.next()?)?);
        Some((Self { name: text(name), gid }, fields.next().unwrap_or_default()))
    }
}

/// Splits a line into its fields. Comments, and lines that refer to a directory service (`+` or `-` in front),
/// are no entries.
fn fields(line: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let line = line.trim_ascii_start();
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    match line.first() {
        None | Some(b'#' | b'+' | b'-' | b':') => None,
        Some(_) => Some(line.split(|byte| *byte == b':')),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn number(digits: &[u8]) -> Option<u32> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

/// Calls a function with each line of a file until the function returns `Break`. A file that does not exist has
/// no lines.
pub(super) fn each_line(
    path: &Path,
    mut visit: impl FnMut(&[u8]) -> std::ops::ControlFlow<()>,
) -> io::Result<()> {
    let mut reader = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(error) if is_absence(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if !line.ends_with(b"\n") {
            reader.skip_until(b'\n')?;
        }
        if visit(&line).is_break() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn user_is_parsed_from_its_line() {
        let user = |line: &str| UserEntry::parse(line.as_bytes()).map(|user| format!("{user:?}"));
        let ada = UserEntry {
            name: "ada".to_owned(),
            uid: 1000,
            gid: 100,
            home: "/home/ada".into(),
            shell: "/bin/bash".into(),
        };
        for line in ["ada:x:1000:100:Ada:/home/ada:/bin/bash\n", "  ada::1000:100::/home/ada:/bin/bash:more"]
        {
            assert_eq!(user(line), Some(format!("{ada:?}")), "{line:?}");
        }
        let bare = UserEntry { home: PathBuf::new(), shell: PathBuf::new(), ..ada };
        assert_eq!(user("ada:x:1000:100\n"), Some(format!("{bare:?}")));
        for line in [
            "",
            "\n",
            "# ada:x:1000:100::/:/bin/sh",
            "+ada:x:1000:100::/:/bin/sh",
            "+::::::",
            "-ada:x:1000:100::/:/bin/sh",
            ":x:1000:100::/:/bin/sh",
            "ada:x:1000",
            "ada:x::100::/:/bin/sh",
            "ada:x:-1:100::/:/bin/sh",
            "ada:x:+1:100::/:/bin/sh",
            "ada:x:4294967296:100::/:/bin/sh",
            "ada",
        ] {
            assert_eq!(user(line), None, "{line:?}");
        }
    }

    #[test]
    fn membership_is_a_whole_name() {
        let groups = |user: &str| {
            ["adm:x:4:ada,bob\n", "sudo:x:27:\n", "ad:x:5:adalbert", "six:x:6", "bad:x:y:ada", "#c:x:7:ada"]
                .iter()
                .filter_map(|line| GroupEntry::of_member(line.as_bytes(), user))
                .map(|group| (group.name, group.gid))
                .collect::<Vec<_>>()
        };
        assert_eq!(groups("ada"), [("adm".to_owned(), 4)]);
        assert_eq!(groups("adalbert"), [("ad".to_owned(), 5)]);
        assert_eq!(groups("b"), []);
    }

    #[test]
    fn long_line_is_cut_and_the_next_one_is_read() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = scratch.path().join("group");
        let long = "m,".repeat(usize::try_from(MAX_LINE).expect("a length"));
        std::fs::write(&path, format!("big:x:1:{long}\nada:x:2:\nlast:x:3:")).expect("a file");
        let mut found = Vec::new();
        let visit = |line: &[u8]| {
            found.extend(GroupEntry::parse(line).map(|group| (group.name, group.gid)));
            ControlFlow::Continue(())
        };
        each_line(&path, visit).expect("lines");
        let expected = [("big", 1), ("ada", 2), ("last", 3)].map(|(name, gid)| (name.to_owned(), gid));
        assert_eq!(found, expected);
        each_line(&scratch.path().join("missing"), |_| unreachable!("a line")).expect("no lines");
    }
}
