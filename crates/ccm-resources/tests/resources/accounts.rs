//! Users, groups and keys with the tools of this machine, on copies of its files in a mount namespace.

mod converging;
mod errors;
mod groups;
mod keys;
mod machine;
mod users;
