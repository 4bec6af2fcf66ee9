//! Gathering of facts.

use ccm_host::{Clock, Machine};
use serde_json::{Map, Value};
use tracing::debug;

use crate::reader::FactReader;
use crate::{Subtree, Subtrees, Warning, cpu, host, memory, network, partition};

/// Gathers the facts of some subtrees. A fact whose source can't be read is null or an empty list, with a
/// warning. Nothing here waits for the network; [`Subtree::PartitionUsage`] queries only local file systems.
pub fn gather(machine: &dyn Machine, clock: &dyn Clock, subtrees: Subtrees) -> (Value, Vec<Warning>) {
    let mut reader = FactReader::new(machine);
    let mut facts = Map::new();
    let mut mounts = None;
    for subtree in Subtree::ALL.into_iter().filter(|subtree| subtrees.contains(*subtree)) {
        debug!(subtree = %subtree.path().join("."), "gathering facts");
        let value = match subtree {
            Subtree::HostInfo => host::info(&mut reader, clock),
            Subtree::CpuInfo => cpu::info(&mut reader),
            Subtree::MemoryVirtual => memory::virtual_memory(&mut reader),
            Subtree::MemorySwap => memory::swap(&mut reader),
            Subtree::Network => network::network(&mut reader),
            Subtree::PartitionList => {
                partition::list(&mut reader, mounts.get_or_insert_with(partition::Mounts::default))
            }
            Subtree::PartitionUsage => {
                partition::usage(&mut reader, mounts.get_or_insert_with(partition::Mounts::default))
            }
        };
        put(&mut facts, subtree.path(), value);
    }
    (Value::Object(facts), reader.warnings)
}

/// Inserts a value at a path, creating the maps on the way.
fn put(facts: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => {
            facts.insert((*name).to_owned(), value);
        }
        [name, rest @ ..] => {
            let inner = facts.entry(*name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}
