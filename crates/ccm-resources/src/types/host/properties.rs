//! The properties of a host, as the manifest writes them.

use std::net::IpAddr;

use ccm_properties::{Exposure, PropertyKind, TextKind, TextValue, ValueError, properties};

/// Maximum length of a name in bytes.
const MAX_NAME: usize = 253;

properties! {
    /// Properties of a host; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct HostProperties {
        /// Address of the host, of IPv4 or IPv6. With `ensure: absent` only lines with an address of its kind are removed.
        ip: IpAddress { required: true, foreign_names: &["address"] },
        /// Other names of the host, in this order. An empty list removes them.
        host_aliases: Vec<HostName> { exposure: Exposure::File("leave the value out: every user can read /etc/hosts"), default: Some("not managed"), foreign_names: &["aliases"] },
    }
}

/// Address of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IpAddress(pub IpAddr);

impl TextValue for IpAddress {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        text.parse().map(Self).map_err(|_| {
            ValueError::new(format!("`{}` is not an IP address", text.escape_debug()))
                .with_hint("write an address like `192.0.2.10` or `2001:db8::10`")
        })
    }
}

/// Name of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostName(pub String);

impl TextValue for HostName {
    const KIND: PropertyKind = PropertyKind::TEXT;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match name_error(text) {
            None => Ok(Self(text.to_owned())),
            Some(message) => Err(ValueError::new(message)),
        }
    }
}

/// Returns the error in the name of a host.
pub(super) fn name_error(name: &str) -> Option<String> {
    let shown = name.escape_debug();
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if name.is_empty() {
        Some("the name of the host is empty".to_owned())
    } else if name.parse::<IpAddr>().is_ok() {
        Some(format!("`{shown}` is an address, not the name of a host"))
    } else if let Some(wrong) = name.chars().find(|c| !is_allowed(*c)) {
        let wrong = wrong.escape_debug();
        Some(format!("`{shown}` contains `{wrong}`, which is not allowed in the name of a host"))
    } else if name.len() > MAX_NAME {
        Some(format!("the name of the host is longer than {MAX_NAME} bytes"))
    } else if name.split('.').any(|part| part.is_empty() || part.starts_with('-') || part.ends_with('-')) {
        Some(format!("`{shown}` is not the name of a host: a part is empty, or begins or ends with a dash"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::name_error;

    #[test]
    fn names_that_no_resolver_takes_are_refused() {
        for name in ["db", "db.example.com", "DB-1", "a_b", "1a", "xn--mnchen-3ya.example"] {
            assert_eq!(name_error(name), None, "{name}");
        }
        let long = "a".repeat(254);
        for name in ["", "192.0.2.1", "::1", "a b", "a\n", "a#b", "a..b", "-a", "a-", ".a", "ä", &long] {
            assert!(name_error(name).is_some(), "{name}");
        }
    }
}
