//! Rules of Landlock: what may be read and written, whatever is mounted where.

use std::io;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, PathBeneath, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetStatus, Scope,
};

use super::grants::{Access, Grants};

/// Lets the rules hold for this process and all that it starts. They also keep it from mounting, and from
/// looking into processes outside.
pub(super) fn restrict(version: u32, grants: &Grants) -> io::Result<()> {
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
    for grant in &grants.grants {
        let of_file = AccessFs::from_file(abi);
        let of_device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        let mut access = match grant.access {
            Access::Read => AccessFs::from_read(abi),
            Access::Write => AccessFs::from_all(abi),
            Access::Device => of_device & AccessFs::from_all(abi),
        };
        if !grant.is_directory {
            access &= of_file;
        }
        rules = rules.add_rule(PathBeneath::new(&grant.file, access)).map_err(refuse)?;
    }
    match rules.restrict_self().map_err(refuse)?.ruleset {
        RulesetStatus::NotEnforced => Err(io::Error::other("the kernel has not taken the rules on")),
        _ => Ok(()),
    }
}
