//! The Model Context Protocol in front of governed tools.
//!
//! [`serve`] speaks the protocol with one client over a reader and a writer, such as standard input and output. Each tool
//! of a [`ToolBroker`](ccm_tool::ToolBroker) is a tool of the protocol, with its hints and schemas; documents that tools
//! read are resources as well. A call that needs an approval is answered at once with the id of its intent.
//!
//! A broker stays on a thread of its own, so that a long call delays neither another call nor the end of the connection.
//! When the client closes its side, or cancels a call, the commands of its calls end as at their time limit, and their
//! end is recorded.
//!
//! This crate must never decide whether a call is allowed, and must never run anything except through the broker.

mod broker_thread;
mod calls;
mod content;
mod lines;
mod message;
mod outline;
mod requests;
mod resources;
mod server;
mod transport;

pub use server::{ConnectionLimits, McpError, McpSettings, serve};
