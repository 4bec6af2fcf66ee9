//! Callers of tools.

use serde::{Deserialize, Serialize};

/// Caller of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCaller {
    /// Way in which the call came.
    pub kind: CallerKind,
    /// Name of the user, or the number of one without a name.
    pub user: String,
    /// Number of the user.
    pub uid: u32,
    /// Process that called.
    pub pid: i32,
    /// Name of the client, as the client itself says. It proves nothing.
    pub client: Option<String>,
    /// Connection of the client. Calls of one connection see each other's processes; without a connection, all calls of
    /// the user do.
    pub connection: Option<String>,
}

/// Way in which a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallerKind {
    /// The command line.
    Cli,
    /// The Model Context Protocol.
    Mcp,
}

impl ToolCaller {
    /// Returns `true` if both callers see the same processes and intents.
    pub fn is_same(&self, other: &Self) -> bool {
        self.uid == other.uid && self.connection == other.connection
    }
}
