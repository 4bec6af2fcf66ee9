//! Runs of a manifest on many machines over OpenSSH: the inventory, the connections, and groups of the same changes.
//!
//! # Data flow
//!
//! ```text
//! hosts.yaml ─▶ Inventory ─┐
//! `web*,@eu` ──────────────┴▶ Selection ─▶ Fleet, by its Schedule ─▶ ssh HOST ccm source receive
//!                                            │                              │ lines of strangers
//!                                            └─ HostEnd ◀─ Transcript ◀─────┘
//!                                                 │
//!                                                 └─▶ ChangeSets
//! ```
//!
//! Names of hosts are data of strangers: a [`HostName`] holds nothing that means something to `ssh` or a shell. So is what
//! hosts print: a [`Transcript`] is bounded, and holds events and nothing else.
//!
//! This crate must never speak to a host in another way than by the user's own `ssh`, and must never write a text for people.

mod change_sets;
mod connection;
mod facts;
mod fleet;
mod inventory;
mod names;
#[cfg(test)]
mod sample_lines;
mod schedule;
mod selection;
mod ssh;
mod transcript;
pub mod wire;

pub use change_sets::{ChangeSet, ChangeSets, HostChanges};
pub use connection::{Connector, EndCause, HostEnd, HostTask, InterruptLevel, PushContent};
pub use facts::Facts;
pub use fleet::{Fleet, FleetEvent, PushHost};
pub use inventory::{Host, Inventory, InventoryError, MAX_HOSTS, MAX_INVENTORY};
pub use names::{GroupName, HostName, NameError, UserName};
pub use schedule::{FailureLimit, Halt, NextHost, Schedule};
pub use selection::{Selection, SelectionError};
pub use ssh::{Rights, SSH, SshCommand};
pub use transcript::{HostStep, ResourceOutput, Transcript, TranscriptError};
