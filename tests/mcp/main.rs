//! `ccm mcp` as clients of the Model Context Protocol see it.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod applying;
mod approvers;
mod bad_input;
mod client;
mod clients;
mod connections;
mod endings;
mod growth;
mod resources;
mod served_documents;
mod served_manifests;
mod service;
mod sessions;

use ccm_testkit::GovernedMachine;

/// Policy that runs what its guard allows, and asks for the rest.
const ON_ASK: &str = "callers: {tool: {approval: on_ask, tools: [governed-execute]}}\n";

/// Returns a machine with a policy; `None` where tests can't have one.
fn machine(settings: &str) -> Option<GovernedMachine> {
    GovernedMachine::new(env!("CARGO_BIN_EXE_ccm"), settings)
}
