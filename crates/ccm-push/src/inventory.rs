//! Inventory: the hosts that a push can reach, with what is known of each.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU16;

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::facts::Facts;
use crate::names::{GroupName, HostName, UserName};

/// Maximum number of hosts of an inventory.
pub const MAX_HOSTS: usize = 100_000;
/// Maximum size of an inventory in bytes.
pub const MAX_INVENTORY: usize = 32 << 20;

/// Hosts in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    #[serde(deserialize_with = "hosts")]
    hosts: IndexMap<HostName, Host>,
}

/// What is known of a host.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Name or address to connect to, in place of the name.
    pub address: Option<HostName>,
    /// User to log in, in place of that of the configuration of `ssh`.
    pub user: Option<UserName>,
    /// Port, in place of that of the configuration of `ssh`.
    pub port: Option<NonZeroU16>,
    /// Facts of the machine, as `--fact` gives them.
    pub facts: Facts,
    /// Groups that the host is in.
    pub groups: Vec<GroupName>,
}

/// Error of an inventory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InventoryError {
    /// It is larger than [`MAX_INVENTORY`].
    #[error("an inventory has at most {} MiB", MAX_INVENTORY >> 20)]
    TooLarge,
    /// It is not YAML, or not an inventory.
    #[error("{message}")]
    Read {
        /// What is wrong, without its place.
        message: String,
        /// Line and column, both from 1.
        place: Option<(usize, usize)>,
    },
}

impl Inventory {
    /// Reads an inventory in YAML, of which JSON is a part.
    pub fn read(text: &str) -> Result<Self, InventoryError> {
        if text.len() > MAX_INVENTORY {
            return Err(InventoryError::TooLarge);
        }
        serde_yaml::from_str(text).map_err(|error| {
            let place = error.location().map(|place| (place.line(), place.column()));
            let message = error.to_string();
            // The reader ends its messages with the place.
            let end = place.map(|(line, column)| format!(" at line {line} column {column}"));
            let message =
                end.and_then(|end| message.strip_suffix(&end).map(str::to_owned)).unwrap_or(message);
            InventoryError::Read { message, place }
        })
    }

    /// Returns the hosts in the order in which they are written.
    pub fn hosts(&self) -> impl Iterator<Item = (&HostName, &Host)> {
        self.hosts.iter()
    }

    /// Returns what is known of a host.
    pub fn host(&self, name: &str) -> Option<(&HostName, &Host)> {
        self.hosts.get_key_value(&HostName::parse(name).ok()?)
    }

    /// Returns all groups, sorted.
    pub fn groups(&self) -> Vec<&GroupName> {
        let mut groups: Vec<&GroupName> = self.hosts.values().flat_map(|host| &host.groups).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }
}

/// Reads what is written of a host whose name is wrong. The reader knows the line of a value, and not that of a name.
struct WrongName(String);

impl<'d> DeserializeSeed<'d> for WrongName {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'d> Visitor<'d> for WrongName {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "another host: {}", self.0)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Err(E::custom(self.0))
    }

    fn visit_map<A: MapAccess<'d>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom(self.0))
    }
}

/// Reads the hosts. A host that is written twice is an error, and one without anything is known by its name alone.
fn hosts<'d, D: Deserializer<'d>>(deserializer: D) -> Result<IndexMap<HostName, Host>, D::Error> {
    struct Hosts<'d>(PhantomData<&'d ()>);

    impl<'d> Visitor<'d> for Hosts<'d> {
        type Value = IndexMap<HostName, Host>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a map of hosts by their names, such as `web1: {address: 192.0.2.1}`")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(IndexMap::new())
        }

        fn visit_map<A: MapAccess<'d>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut hosts = IndexMap::new();
            while let Some(name) = entries.next_key::<String>()? {
                let name = match HostName::parse(&name) {
                    Ok(name) => name,
                    Err(error) => {
                        entries.next_value_seed(WrongName(error.to_string()))?;
                        continue;
                    }
                };
                if hosts.len() == MAX_HOSTS {
                    return Err(A::Error::custom(format_args!("an inventory has at most {MAX_HOSTS} hosts")));
                }
                match hosts.entry(name) {
                    Entry::Vacant(entry) => {
                        entry.insert(entries.next_value::<Option<Host>>()?.unwrap_or_default());
                    }
                    Entry::Occupied(entry) => {
                        let message = format!("the host {} is written twice", entry.key());
                        entries.next_value_seed(WrongName(message))?;
                    }
                }
            }
            Ok(hosts)
        }
    }

    deserializer.deserialize_any(Hosts(PhantomData))
}

#[cfg(test)]
mod tests;
