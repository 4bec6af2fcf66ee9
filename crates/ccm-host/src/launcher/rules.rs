//! Rules of Landlock, which limit reading and writing whatever the mounts are.

use std::io;
use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, PathBeneath, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetStatus, Scope,
};

use super::allowlist::{Allowlist, PathAccess};

/// Puts the rules into force for this process and all processes that it starts. They also forbid mounting and
/// access to processes outside. With `executables`, no other file can be executed.
pub(super) fn restrict(
    version: u32,
    allowlist: &Allowlist,
    executables: Option<&[OwnedFd]>,
) -> io::Result<()> {
    let abi = match version {
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        _ => ABI::V6,
    };
    let refuse = |error: landlock::RulesetError| io::Error::other(error);
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(abi)).map_err(refuse)?;
    if !Scope::from_all(abi).is_empty() {
        rules = rules.scope(Scope::from_all(abi)).map_err(refuse)?;
    }
    let mut rules = rules.create().map_err(refuse)?;
    for path in &allowlist.paths {
        let of_file = AccessFs::from_file(abi);
        let of_device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        let mut access = match path.access {
            PathAccess::Read => AccessFs::from_read(abi),
            PathAccess::Write | PathAccess::Private => AccessFs::from_all(abi),
            PathAccess::Device => of_device & AccessFs::from_all(abi),
        };
        if !path.is_directory {
            access &= of_file;
        }
        if executables.is_some() {
            access &= !BitFlags::from(AccessFs::Execute);
        }
        rules = rules.add_rule(PathBeneath::new(&path.file, access)).map_err(refuse)?;
    }
    for file in executables.unwrap_or_default() {
        rules = rules.add_rule(PathBeneath::new(file, AccessFs::Execute)).map_err(refuse)?;
    }
    match rules.restrict_self().map_err(refuse)?.ruleset {
        RulesetStatus::NotEnforced => Err(io::Error::other("the kernel did not apply the rules")),
        _ => Ok(()),
    }
}
