//! Network interfaces.

use std::path::Path;

use ccm_check::{Attribute, Fact, FactError};
use ccm_host::{Interface, Machine as _, SystemMachine};

use super::observation::{no_attribute, unreadable};

/// Maximum length of the file with the largest packet.
const MAX_NUMBER: u64 = 64;

/// Interfaces of this machine, read once.
#[derive(Default)]
pub(super) struct Interfaces(Option<Result<Vec<Interface>, FactError>>);

impl Interfaces {
    /// Returns a value of an interface.
    pub(super) fn fact(&mut self, name: &str, attribute: Attribute) -> Result<Fact, FactError> {
        let read = || {
            let interfaces = SystemMachine.interfaces();
            interfaces.map_err(|error| unreadable(format!("the interfaces can't be read: {error}")))
        };
        let interfaces = self.0.get_or_insert_with(read).as_ref().map_err(Clone::clone)?;
        let found = interfaces.iter().find(|interface| interface.name == name);
        if attribute == Attribute::Exists {
            return Ok(found.is_some().into());
        }
        let found = found.ok_or_else(|| unreadable(format!("there is no interface {name}")))?;
        match attribute {
            Attribute::Addrs => {
                let addresses = found.addresses.iter();
                Ok(addresses.map(|(address, length)| format!("{address}/{length}")).collect())
            }
            Attribute::Mtu => {
                let path = Path::new("/sys/class/net").join(name).join("mtu");
                let bytes = SystemMachine.read(&path, MAX_NUMBER);
                let bytes = bytes.map_err(|error| unreadable(format!("\"{}\": {error}", path.display())))?;
                let number: Option<i64> = String::from_utf8_lossy(&bytes).trim().parse().ok();
                number
                    .map(Fact::from)
                    .ok_or_else(|| unreadable(format!("\"{}\" has no number", path.display())))
            }
            other => Err(no_attribute(other)),
        }
    }
}
