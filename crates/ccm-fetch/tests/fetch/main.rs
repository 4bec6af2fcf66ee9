//! Downloads from servers that are slow, silent, broken or hostile, and archives, most of which attack.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the machine themselves"
)]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod archive;
mod http;
