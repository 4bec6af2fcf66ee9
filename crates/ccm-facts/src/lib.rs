//! What is true of this machine, gathered by subtree and only when it is asked for.
//!
//! [`gather`] asks the kernel through `ccm_host::Machine` and gives JSON under the names that [`reference()`]
//! lists; [`Subtree`] tells what a path needs. [`CustomFacts`] finds the files in which users write facts of
//! their own, and leaves reading their text to others. A source that can't be read is a [`Warning`], never
//! the end of a run.

mod cpu;
mod custom;
mod gather;
mod host;
mod memory;
mod network;
mod partition;
mod reader;
mod reference;
mod share;
mod subtree;
#[cfg(test)]
mod tests;
mod warning;

pub use custom::{CustomFacts, CustomFile};
pub use gather::gather;
pub use reference::{Fact, FactKind, reference};
pub use subtree::{Subtree, Subtrees};
pub use warning::Warning;
