//! Runs of a manifest on many machines over OpenSSH: the inventory, the selection of hosts, and the report.
//!
//! # Data flow
//!
//! ```text
//! hosts.yaml ─▶ Inventory ─┐
//! `web*,@eu` ──────────────┴▶ Selection: (HostName, Host) in their order
//! ```
//!
//! Names of hosts are data of strangers: a [`HostName`] holds nothing that means something to `ssh` or a shell.
//!
//! This crate must never speak to a host in another way than by the user's own `ssh`.

mod inventory;
mod names;
mod selection;

pub use inventory::{Host, Inventory, InventoryError, MAX_HOSTS, MAX_INVENTORY};
pub use names::{GroupName, HostName, NameError, UserName};
pub use selection::{Selection, SelectionError};
