//! Ports of this machine, from the tables of the kernel.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::Path;

use ccm_check::{Attribute, Fact, FactError, IpVersion, Protocol, Transport};
use ccm_host::{Machine as _, SystemMachine};

use super::observation::{no_attribute, unreadable};

/// Maximum length of a table.
const MAX_TABLE: u64 = 256 << 20;
/// State of a socket that waits for connections.
const LISTEN: &[u8] = b"0A";
/// State of a socket that is connected to nothing.
const CLOSE: &[u8] = b"07";

/// Sockets that wait for somebody, by protocol. Each table is read once.
#[derive(Default)]
pub(super) struct PortTables(HashMap<&'static str, Result<PortTable, FactError>>);

/// Addresses of the sockets of one protocol, by port.
#[derive(Debug, Default, PartialEq, Eq)]
struct PortTable(HashMap<u16, Vec<IpAddr>>);

impl PortTables {
    /// Returns a value of a port. A dual-stack socket is one of IPv6, as the kernel has it.
    pub(super) fn fact(
        &mut self,
        protocol: Protocol,
        port: u16,
        attribute: Attribute,
    ) -> Result<Fact, FactError> {
        let path = match (protocol.transport, protocol.version) {
            (Transport::Tcp, None | Some(IpVersion::V4)) => "/proc/net/tcp",
            (Transport::Tcp, Some(IpVersion::V6)) => "/proc/net/tcp6",
            (Transport::Udp, None | Some(IpVersion::V4)) => "/proc/net/udp",
            (Transport::Udp, Some(IpVersion::V6)) => "/proc/net/udp6",
        };
        let state = if protocol.transport == Transport::Tcp { LISTEN } else { CLOSE };
        let table = self.0.entry(path).or_insert_with(|| PortTable::read(path, state));
        let addresses = table.as_ref().map_err(Clone::clone)?.0.get(&port);
        match attribute {
            Attribute::Listening => Ok(addresses.is_some().into()),
            Attribute::Ip => Ok(addresses.into_iter().flatten().map(ToString::to_string).collect()),
            other => Err(no_attribute(other)),
        }
    }
}

impl PortTable {
    fn read(path: &'static str, state: &[u8]) -> Result<Self, FactError> {
        match SystemMachine.read(Path::new(path), MAX_TABLE) {
            Ok(bytes) => Ok(Self::parse(&bytes, state)),
            // A kernel without IPv6 has no such sockets.
            Err(error) if error.kind() == ErrorKind::NotFound && path.ends_with('6') => Ok(Self::default()),
            Err(error) => Err(unreadable(format!("\"{path}\": {error}"))),
        }
    }

    /// Reads the rows of sockets in a state.
    fn parse(table: &[u8], state: &[u8]) -> Self {
        let mut ports: HashMap<u16, Vec<IpAddr>> = HashMap::new();
        // The first line has the titles.
        for row in table.split(|byte| *byte == b'\n').skip(1) {
            let mut fields = row.split(|byte| *byte == b' ').filter(|field| !field.is_empty()).skip(1);
            let (Some(local), Some(_remote), Some(found)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if found != state {
                continue;
            }
            if let Some((address, port)) = socket_address(local) {
                let addresses = ports.entry(port).or_default();
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
        }
        Self(ports)
    }
}

/// Reads an address and a port in hexadecimal digits. The kernel prints each four bytes of an address as a number of the
/// machine.
fn socket_address(text: &[u8]) -> Option<(IpAddr, u16)> {
    let (address, port) = std::str::from_utf8(text).ok()?.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| -> Option<[u8; 4]> {
        let digits = address.get(at * 8..at * 8 + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    let address = match address.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let mut bytes = [0; 16];
            for (at, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(at)?);
            }
            IpAddr::from(bytes)
        }
        _ => return None,
    };
    Some((address, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1267 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 00000000:1267 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
   2: 0100007F:1268 0100007F:1267 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0
   3: 0100007F:126A 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4 1 0 100 0 0 10 0
   4: nonsense:126B 00000000:0000 0A
half a row
";

    #[test]
    fn listening_sockets_have_their_addresses() {
        let bytes = TCP.as_bytes();
        if cfg!(target_endian = "big") {
            return;
        }
        let table = PortTable::parse(bytes, LISTEN);
        let addresses = ["127.0.0.1", "0.0.0.0"].map(|text| text.parse().expect("an address"));
        assert_eq!(table, PortTable(HashMap::from([(0x1267, addresses.to_vec())])));
        assert_eq!(PortTable::parse(bytes, CLOSE).0.keys().collect::<Vec<_>>(), [&0x126a]);
        for (text, address) in [
            ("00000000000000000000000001000000:0050", Some("::1")),
            ("B80D0120000000000000000001000000:0050", Some("2001:db8::1")),
            ("00000000000000000000000000000000:0050", Some("::")),
            ("0100007F", None),
            ("0100007F:", None),
            ("0100007:0050", None),
        ] {
            let expected = address.map(|address| (address.parse().expect("an address"), 80));
            assert_eq!(socket_address(text.as_bytes()), expected, "{text}");
        }
    }
}
