//! The engine with fake resources. Tests check the list of events.
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod actions;
mod batch;
mod children;
mod claims;
mod earlier;
mod fake;
mod gate;
mod health;
mod invariants;
mod ledger;
mod monitor;
mod noop;
mod order;
mod prefetch;
mod reading;
mod refresh;
mod single;
mod stopping;
mod traced;
mod witness;
