//! Addresses that a connection reaches.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ccm_check::{Attribute, Fact, FactError, IpVersion, Protocol, Transport};
use ccm_fetch::{resolve_name, try_tcp, try_udp};
use ccm_host::{CancellationLevel, NameLookupError};

use super::CheckScope;
use super::observation::{Observation, no_attribute, stopped, unreadable, within};

/// Address of a rule.
pub(super) struct Target<'r> {
    pub(super) protocol: Protocol,
    /// Host and port.
    pub(super) address: &'r str,
    /// Address that the connection comes from.
    pub(super) from: Option<&'r str>,
}

/// Result of the attempt to connect.
pub(super) struct Reachability {
    is_reachable: bool,
    warning: Option<String>,
}

impl Observation for Reachability {
    fn fact(&self, attribute: Attribute) -> Result<Fact, FactError> {
        match attribute {
            Attribute::Reachable => Ok(Fact { warning: self.warning.clone(), ..self.is_reachable.into() }),
            other => Err(no_attribute(other)),
        }
    }
}

impl Target<'_> {
    /// Connects to the first address of the host that answers. What is refused or silent is not reachable.
    pub(super) async fn observe(
        &self,
        limit: Duration,
        scope: &CheckScope<'_>,
    ) -> Result<Reachability, FactError> {
        let (host, port) = self.address.rsplit_once(':').unwrap_or((self.address, ""));
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port: u16 = port.parse().map_err(|_| unreadable(format!("`{}` has no port", self.address)))?;
        let from = self.from.map(|from| {
            from.parse::<IpAddr>().map_err(|_| unreadable(format!("`local-address` {from} is no address")))
        });
        let from = from.transpose()?;
        let addresses = match within(limit, scope, resolve_name(host)).await? {
            Ok(addresses) => addresses,
            Err(NameLookupError::Unknown) => {
                let warning = Some(format!("the name {host} does not exist"));
                return Ok(Reachability { is_reachable: false, warning });
            }
            Err(error) => return Err(unreadable(format!("{host}: {error}"))),
        };
        let is_meant = |address: &IpAddr| match self.protocol.version {
            None => from.is_none_or(|from| from.is_ipv4() == address.is_ipv4()),
            Some(IpVersion::V4) => address.is_ipv4(),
            Some(IpVersion::V6) => address.is_ipv6(),
        };
        let attempts = async {
            for address in addresses.into_iter().filter(is_meant) {
                let to = SocketAddr::new(address, port);
                let attempt = match self.protocol.transport {
                    Transport::Tcp => try_tcp(to, from).await,
                    Transport::Udp => try_udp(to, from).await,
                };
                match attempt {
                    Ok(()) => return Ok(true),
                    // Nothing was tried from an address that this machine does not have.
                    Err(error) if error.kind() == std::io::ErrorKind::AddrNotAvailable => {
                        return Err(unreadable(format!("no connection can be made from here: {error}")));
                    }
                    Err(_) => {}
                }
            }
            Ok(false)
        };
        tokio::select! {
            biased;
            is_reachable = attempts => Ok(Reachability { is_reachable: is_reachable?, warning: None }),
            () = scope.cancellation.reached(CancellationLevel::Stop) => Err(stopped()),
            () = scope.host.clock.wait(limit) => Ok(Reachability { is_reachable: false, warning: None }),
        }
    }
}
