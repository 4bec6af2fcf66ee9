//! Graphs of resources: against naive oracles, and large ones.

mod groups;
mod properties;
mod sizes;
