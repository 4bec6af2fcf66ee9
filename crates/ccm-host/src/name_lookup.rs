//! Addresses of the names of hosts, as the C library finds them: in `/etc/hosts`, by name servers, and so on.

use std::ffi::CString;
use std::net::IpAddr;

use crate::raw;

/// Reason why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameLookupError {
    /// The name does not exist, or has no address.
    #[error("the name does not exist")]
    Unknown,
    /// The lookup failed, so that nothing is known about the name.
    #[error("the lookup failed: {0}")]
    Failed(String),
}

/// Returns the addresses of a name, each once. Waits for name servers as long as the C library does.
pub fn look_up_name(name: &str) -> Result<Vec<IpAddr>, NameLookupError> {
    let name = CString::new(name).map_err(|_| NameLookupError::Unknown)?;
    match raw::addresses_of(&name) {
        Ok(found) => {
            let mut addresses = Vec::with_capacity(found.len());
            for address in found {
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
            if addresses.is_empty() { Err(NameLookupError::Unknown) } else { Ok(addresses) }
        }
        Err(libc::EAI_NONAME | libc::EAI_NODATA) => Err(NameLookupError::Unknown),
        Err(code) => Err(NameLookupError::Failed(raw::lookup_error(code))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_in_their_order() {
        for (name, address) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("192.0.2.7", "192.0.2.7")] {
            assert_eq!(look_up_name(name), Ok(vec![address.parse().expect("an address")]), "{name}");
        }
        assert_eq!(look_up_name("a\0b"), Err(NameLookupError::Unknown));
    }
}
