//! Taking on a user, and giving up capabilities.

use std::io;

use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities, capabilities_secure_bits,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits, set_no_new_privs,
};

use super::step;
use crate::{Identity, StartError, raw};

/// Leaves the session keyring of ccm for an empty one. A change of user would keep it, and with it the keys
/// and tickets of the former user.
///
/// This comes before the change of user: afterwards, a user without room for keys could not be taken on.
pub(super) fn leave_session_keyring() -> io::Result<()> {
    raw::join_new_session_keyring().or_else(|error| match error.raw_os_error() {
        // The kernel has no keyrings, or a filter around ccm refuses the call. The command inherits the
        // filter, so it can't use a key either.
        Some(libc::ENOSYS | libc::EPERM) => Ok(()),
        _ => Err(error),
    })
}

/// Takes on that user, with these groups and no other.
pub(super) fn take_on(identity: &Identity) -> Result<(), StartError> {
    let groups: Vec<Gid> = identity.groups.iter().map(|gid| Gid::from_raw(*gid)).collect();
    let (uid, gid) = (Uid::from_raw(identity.uid), Gid::from_raw(identity.gid));
    setgroups(&groups).map_err(step("user", "the groups of the user can't be set"))?;
    setresgid(gid, gid, gid).map_err(step("group", "the group can't be set"))?;
    setresuid(uid, uid, uid).map_err(step("user", "the user can't be set"))
}

/// Keeps every program that starts from here on from getting a capability, whether from its file or because the user is
/// root, until this process enters another namespace of users. This process keeps its own.
pub(super) fn forbid_capabilities() -> io::Result<()> {
    let own = capabilities(None)?;
    if !own.effective.contains(CapabilitySet::SETPCAP) {
        return Ok(());
    }
    for number in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // The number is above those that this kernel has.
            Err(Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let root_is_nothing = CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED;
    Ok(set_capabilities_secure_bits(capabilities_secure_bits()? | root_is_nothing)?)
}

/// Keeps every program that starts from here on from getting a privilege of its file. This process keeps its capabilities
/// for the steps to come.
pub(super) fn forbid_new() -> io::Result<()> {
    // Kernels before 4.3 have no ambient set.
    let _best_effort = clear_ambient_capability_set();
    Ok(set_no_new_privs(true)?)
}

/// Drops every capability.
pub(super) fn drop_all() -> io::Result<()> {
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}
