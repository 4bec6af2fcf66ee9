//! Directories that a user may not enter or write.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::ClosedDirectory;
use crate::account::{Identity, seeing_as};

/// Returns the first directory on the way that the user may not enter, or the last one if the user may not write there.
pub(super) fn find(identity: &Identity, directory: &Path, writes: bool) -> Option<ClosedDirectory> {
    if identity.uid == geteuid().as_raw() {
        return None;
    }
    let closed = |path: &Path, access: Access| {
        matches!(accessat(CWD, path, access, AtFlags::EACCESS), Err(Errno::ACCESS | Errno::PERM))
    };
    let look = || {
        let above: Vec<&Path> = directory.ancestors().collect();
        let mut above = above.into_iter().rev();
        let not_entered = above.find(|path| closed(path, Access::EXEC_OK));
        let not_written = || (writes && closed(directory, Access::WRITE_OK)).then_some(directory);
        not_entered.or_else(not_written).map(Path::to_owned)
    };
    let path: PathBuf = seeing_as(identity, look).ok().flatten()?;
    let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&path).ok()?);
    Some(ClosedDirectory { path, owner })
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir_all, set_permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use ccm_testkit::{Scratch, needs_root};

    use super::*;

    #[test]
    fn the_first_closed_directory_is_found() {
        if !needs_root() {
            return;
        }
        let scratch = Scratch::new();
        let [outer, inner] = ["outer", "outer/inner"].map(|name| scratch.path().join(name));
        create_dir_all(&inner).expect("directories");
        let mode = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
        mode(scratch.path(), 0o755);
        let user = Identity { uid: 54321, gid: 54322, groups: vec![54322, 54323] };
        let found = |writes| find(&user, &inner, writes).map(|closed| (closed.path, closed.owner));
        for (outer_mode, inner_mode, group, entered, written) in [
            (0o755, 0o755, 0, None, Some(&inner)),
            (0o755, 0o777, 0, None, None),
            (0o755, 0o770, 54323, None, None),
            (0o755, 0o750, 54323, None, Some(&inner)),
            (0o755, 0o700, 0, Some(&inner), Some(&inner)),
            (0o700, 0o777, 0, Some(&outer), Some(&outer)),
        ] {
            mode(&outer, outer_mode);
            chown(&inner, None, Some(group)).expect("a group");
            mode(&inner, inner_mode);
            let root = |path: Option<&PathBuf>| path.map(|path| (path.clone(), 0));
            assert_eq!((found(false), found(true)), (root(entered), root(written)), "{inner_mode:o}");
        }
        let own = Identity::own().expect("an identity");
        assert_eq!(find(&own, &inner, true), None);
    }
}
