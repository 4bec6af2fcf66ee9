//! Sources that are honest, gone, broken or hostile, on disks and web servers.
#![expect(clippy::disallowed_methods, reason = "tests make and spoil releases themselves")]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod accepted;
mod branch_site;
mod branches;
mod git_servers;
mod hostile;
mod hostile_branches;
mod site;
mod waves;
