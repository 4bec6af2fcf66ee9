//! Parameters of the kernel, as `sysctl` names them.

use ccm_check::{Attribute, Fact, FactError};
use ccm_host::{Machine as _, SystemMachine};

use super::observation::{no_attribute, unreadable};
use crate::parts::parameter_key::ParameterKey;

/// Maximum length of a value.
const MAX_VALUE: u64 = 64 << 10;

/// Returns the value of a parameter.
pub(super) fn fact(name: &str, attribute: Attribute) -> Result<Fact, FactError> {
    if attribute != Attribute::Value {
        return Err(no_attribute(attribute));
    }
    let key = ParameterKey::parse(name);
    let key =
        key.ok_or_else(|| unreadable(format!("`{}` is no name of a parameter", name.escape_debug())))?;
    let path = key.path();
    let bytes = SystemMachine.read(&path, MAX_VALUE);
    let bytes = bytes.map_err(|error| unreadable(format!("\"{}\": {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).trim().into())
}
