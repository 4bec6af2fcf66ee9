//! Spellings of paths: those that differ only in links on the way are one path.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::{Claim, ClaimKind, PathKind};

/// Maximum number of directories in a path that is resolved.
const MAX_DEPTH: usize = 100;
/// Maximum length of a path that is resolved, as in the kernel.
const MAX_PATH: usize = 4096;

type RealDirectory<'a> = Box<dyn Fn(&Path) -> Option<PathBuf> + 'a>;

/// Resolver of the directory parts of paths. It resolves each directory once.
pub struct PathSpellings<'a> {
    real_directory: RealDirectory<'a>,
    known: RefCell<HashMap<Rc<str>, DirectoryPart>>,
    /// The last directory that is as it is written: many paths have one directory.
    last: RefCell<Rc<str>>,
}

/// Directory part of a path.
#[derive(Clone)]
struct DirectoryPart {
    /// The directory without links; `None` if it is as it is written.
    real: Option<Rc<str>>,
    /// It could be resolved. Otherwise nothing below it is.
    is_found: bool,
}

impl<'a> PathSpellings<'a> {
    /// Makes the resolver. `real_directory` returns an existing directory without links, and `None` for one that does
    /// not exist or that a stranger could lead elsewhere.
    pub fn new(real_directory: impl Fn(&Path) -> Option<PathBuf> + 'a) -> Self {
        Self {
            real_directory: Box::new(real_directory),
            known: RefCell::default(),
            last: RefCell::new("".into()),
        }
    }

    /// Returns a path whose directory part has no links, as far as it exists. Only absolute paths are resolved.
    pub fn canonical<'p>(&self, path: &'p str) -> Cow<'p, str> {
        self.resolved_at(path, path.rfind('/').unwrap_or_default())
    }

    /// Returns all spellings of a path that a resolution of its directory part goes through, without duplicates: as it is
    /// written, and with the links of each part of it resolved.
    pub fn all<'p>(&self, path: &'p str) -> Vec<Cow<'p, str>> {
        let mut all = vec![Cow::Borrowed(path)];
        for (end, _) in path.match_indices('/') {
            let spelling = self.resolved_at(path, end);
            if !all.contains(&spelling) {
                all.push(spelling);
            }
        }
        all
    }

    /// Returns claims by the canonical spellings of their paths.
    pub fn claims<'c>(&self, mut claims: Vec<Claim<'c>>) -> Vec<Claim<'c>> {
        let is_part = |claim: &&Claim<'_>| claim.kind == ClaimKind::Path && claim.desired == PathKind::Part;
        let file = claims.iter().find(is_part).map(|claim| claim.key.clone());
        for claim in &mut claims {
            let canonical = match (claim.kind, &file) {
                (ClaimKind::Path | ClaimKind::MountPoint, _) => self.canonical(&claim.key),
                // The key begins with the path of the file.
                (ClaimKind::Line | ClaimKind::Setting, Some(file)) if claim.key.starts_with(&**file) => {
                    self.resolved_at(&claim.key, file.rfind('/').unwrap_or_default())
                }
                _ => continue,
            };
            if let Cow::Owned(canonical) = canonical {
                claim.written = Some(std::mem::replace(&mut claim.key, canonical.into()));
            }
        }
        claims
    }

    /// Returns a path with the directory before an index resolved.
    fn resolved_at<'p>(&self, path: &'p str, end: usize) -> Cow<'p, str> {
        let directory = &path[..end];
        if !directory.starts_with('/') || *directory == **self.last.borrow() {
            return path.into();
        }
        match self.directory(directory).real {
            Some(real) => below(&real, &path[end..]).into(),
            None => path.into(),
        }
    }

    fn directory(&self, written: &str) -> DirectoryPart {
        if let Some(known) = self.known.borrow().get(written) {
            return known.clone();
        }
        let Some((above, _)) = written.rsplit_once('/') else {
            return DirectoryPart { real: None, is_found: true };
        };
        if written.len() > MAX_PATH || written.matches('/').count() > MAX_DEPTH {
            return DirectoryPart { real: None, is_found: false };
        }
        let above_it = self.directory(above);
        let found = above_it.is_found.then(|| (self.real_directory)(Path::new(written))).flatten();
        let real = match found.as_deref().and_then(Path::to_str) {
            Some(real) => Some(real.into()).filter(|_| real != written),
            None => above_it.real.map(|real| below(&real, &written[above.len()..]).into()),
        };
        let directory = DirectoryPart { real, is_found: found.is_some() };
        let written: Rc<str> = written.into();
        if directory.real.is_none() {
            *self.last.borrow_mut() = Rc::clone(&written);
        }
        self.known.borrow_mut().insert(written, directory.clone());
        directory
    }
}

/// Returns a path below a directory. The path begins with a slash.
fn below(directory: &str, path: &str) -> String {
    format!("{}{path}", directory.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Returns the directories of a machine with the links `/var/run` to `/run`, `/lib` to `/usr/lib` and `/all` to `/`.
    fn directory(path: &Path) -> Option<PathBuf> {
        let real = match path.to_str()? {
            "/var/run" => "/run",
            "/lib" | "/run/app/lib" => "/usr/lib",
            "/var/run/app" => "/run/app",
            "/all" => "/",
            real @ ("/run" | "/run/app" | "/usr" | "/usr/lib" | "/var" | "/etc") => real,
            _ => return None,
        };
        Some(real.into())
    }

    #[test]
    fn paths_have_one_canonical_spelling() {
        let spellings = PathSpellings::new(directory);
        for (path, canonical) in [
            ("/etc/hosts", "/etc/hosts"),
            ("/var/run/x", "/run/x"),
            ("/var/run", "/var/run"),
            ("/lib/systemd/x", "/usr/lib/systemd/x"),
            ("/var/run/new/deep/x", "/run/new/deep/x"),
            ("/run/app/lib/x", "/usr/lib/x"),
            ("/all/x", "/x"),
            ("/all/new/x", "/new/x"),
            ("/gone/x", "/gone/x"),
            ("/", "/"),
            ("/x", "/x"),
            ("", ""),
            ("relative/x", "relative/x"),
            ("../x", "../x"),
        ] {
            assert_eq!(spellings.canonical(path), canonical, "{path}");
        }
        for long in [
            "/a".repeat(100_000),
            format!("/var/run/{}/x", "a".repeat(5000)),
            format!("/var/run{}", "/a".repeat(101)),
        ] {
            assert_eq!(spellings.canonical(&long), *long);
        }
    }

    #[test]
    fn all_spellings_of_a_path_are_known() {
        let mut links = PathSpellings::new(|path| match path.to_str()? {
            "/var/run/tree" => Some("/run/tree".into()),
            "/var/run/tree/link" | "/run/tree/link" => Some("/srv".into()),
            _ => directory(path),
        });
        assert_eq!(links.all("/var/run/tree/link/f"), ["/var/run/tree/link/f", "/run/tree/link/f", "/srv/f"]);
        links = PathSpellings::new(directory);
        assert_eq!(links.all("/etc/x"), ["/etc/x"]);
        assert_eq!(links.all("x"), ["x"]);
    }

    #[test]
    fn each_directory_is_resolved_once() {
        let asked = Cell::new(0);
        let spellings = PathSpellings::new(|path| {
            asked.set(asked.get() + 1);
            directory(path)
        });
        for number in 0..5000 {
            let path = format!("/etc/{number}");
            assert_eq!(spellings.canonical(&path), *path);
        }
        assert_eq!(asked.get(), 1);
    }

    #[test]
    fn claims_keep_what_was_written() {
        let spellings = PathSpellings::new(directory);
        let claims = vec![
            Claim::exclusive(ClaimKind::Line, "/var/run/f: a"),
            Claim::part_of_file("/var/run/f"),
            Claim::exclusive(ClaimKind::MountPoint, "/var/run/m"),
            Claim::exclusive(ClaimKind::Unit, "/var/run/u"),
        ];
        let claims = spellings.claims(claims);
        let shown: Vec<_> = claims.iter().map(|claim| (&*claim.key, claim.written.as_deref())).collect();
        assert_eq!(
            shown,
            [
                ("/run/f: a", Some("/var/run/f: a")),
                ("/run/f", Some("/var/run/f")),
                ("/run/m", Some("/var/run/m")),
                ("/var/run/u", None),
            ]
        );
    }
}
