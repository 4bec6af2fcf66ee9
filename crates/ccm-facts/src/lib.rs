//! System facts, gathered by subtree and only on request.
//!
//! [`gather`] reads them and returns JSON under the names in [`reference()`]; [`Subtree`] maps paths to
//! subtrees. [`CustomFacts`] reads files of custom facts, whose text the caller parses. A source that can't
//! be read is a [`Warning`], and never ends a run.
//!
//! This crate must never run a command, change anything, or gather what nobody asked for.

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
