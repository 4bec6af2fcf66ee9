//! Pages of records that were written for a test.
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod hostile;
mod markup;
mod record;
mod runs;
