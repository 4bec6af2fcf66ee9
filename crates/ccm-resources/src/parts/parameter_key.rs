//! Names of kernel parameters.

use std::fmt;
use std::path::{Path, PathBuf};

/// Directory with the parameters.
const PARAMETERS: &str = "/proc/sys";

/// Name of a kernel parameter, with slashes between its parts. A part may contain dots, such as that of a network
/// interface.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ParameterKey(String);

impl ParameterKey {
    /// Reads a name as sysctl does: its first separator decides whether dots or slashes separate its parts.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let separator = name.chars().find(|c| matches!(c, '.' | '/'))?;
        let key: String = match separator {
            '/' => name.to_owned(),
            _ => name
                .chars()
                .map(|c| match c {
                    '.' => '/',
                    '/' => '.',
                    other => other,
                })
                .collect(),
        };
        let is_valid = |part: &str| {
            !matches!(part, "" | "." | "..")
                && !part.contains(|c: char| {
                    c.is_whitespace() || c.is_control() || matches!(c, '=' | '*' | '?' | '[')
                })
        };
        let is_option = key.starts_with('-');
        (!is_option && key.split('/').all(is_valid)).then_some(Self(key))
    }

    /// Returns the file of the kernel.
    pub(crate) fn path(&self) -> PathBuf {
        Path::new(PARAMETERS).join(&self.0)
    }

    /// Returns the kernel module that brings the parameter, as far as ccm knows.
    pub(crate) fn module(&self) -> Option<&'static str> {
        match &*self.0 {
            key if key.starts_with("net/bridge/") => Some("br_netfilter"),
            key if key.starts_with("net/netfilter/nf_conntrack_") || key == "net/nf_conntrack_max" => {
                Some("nf_conntrack")
            }
            _ => None,
        }
    }
}

/// The name with slashes.
impl fmt::Display for ParameterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_separator_decides() {
        for (name, key) in [
            ("net.ipv4.ip_forward", Some("net/ipv4/ip_forward")),
            ("net/ipv4/conf/eth0.1/forwarding", Some("net/ipv4/conf/eth0.1/forwarding")),
            ("net.ipv4.conf.eth0/1.forwarding", Some("net/ipv4/conf/eth0.1/forwarding")),
            ("swappiness", None),
            ("", None),
            ("-vm.swappiness", None),
            ("vm..swappiness", None),
            ("vm.swappiness.", None),
            ("/proc/sys/vm/swappiness", None),
            ("vm/../kernel/x", None),
            ("net.ipv4.conf.*.forwarding", None),
            ("vm.swap piness", None),
            ("vm.swappiness=1", None),
        ] {
            assert_eq!(ParameterKey::parse(name).map(|key| key.to_string()).as_deref(), key, "{name}");
        }
    }
}
