//! Mounted file systems.

use std::path::Path;

use ccm_check::{Attribute, Fact, FactError};
use ccm_host::{Machine as _, Space, SystemMachine};
use ccm_model::normalize;

use super::observation::{no_attribute, unreadable};
use crate::parts::mounts::MountTable;

/// Mounted file systems, read once.
#[derive(Default)]
pub(super) struct Mounts(Option<Result<MountTable, FactError>>);

impl Mounts {
    /// Returns a value of the file system on a directory.
    pub(super) fn fact(
        &mut self,
        path: &str,
        attribute: Attribute,
        directory: &Path,
    ) -> Result<Fact, FactError> {
        let read = || MountTable::read().map_err(|failure| unreadable(failure.one_line()));
        let table = self.0.get_or_insert_with(read).as_ref().map_err(Clone::clone)?;
        let path = normalize(&directory.join(path));
        let found = path.to_str().and_then(|path| table.on(path));
        if attribute == Attribute::Exists {
            return Ok(found.is_some().into());
        }
        let found =
            found.ok_or_else(|| unreadable(format!("nothing is mounted on \"{}\"", path.display())))?;
        let options = |text: &str| Ok(text.split(',').map(str::to_owned).collect());
        match attribute {
            Attribute::Opts => options(&found.options),
            Attribute::VfsOpts => options(&found.super_options),
            Attribute::Source => Ok((&*found.source).into()),
            Attribute::Filesystem => Ok((&*found.fstype).into()),
            Attribute::Usage => {
                let space = SystemMachine.space(&path);
                let space = space.map_err(|error| unreadable(format!("\"{}\": {error}", path.display())))?;
                Ok(percent_used(space).into())
            }
            other => Err(no_attribute(other)),
        }
    }
}

/// Returns the part of the blocks that is in use, in per cent, rounded.
fn percent_used(space: Space) -> i64 {
    let (total, used) = (u128::from(space.total), u128::from(space.total.saturating_sub(space.free)));
    let percent = (used * 200 + total).checked_div(total * 2);
    percent.and_then(|percent| i64::try_from(percent).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_rounded() {
        for (total, free, percent) in [
            (0, 0, 0),
            (100, 100, 0),
            (100, 0, 100),
            (1000, 504, 50),
            (1000, 505, 50),
            (1000, 506, 49),
            (8, 5, 38),
        ] {
            assert_eq!(percent_used(Space { total, free, ..Space::default() }), percent, "{total} {free}");
        }
    }
}
