//! What several resource types share: texts, trees, packages, schedules, accounts, keys, units, mounts.

pub(crate) mod accounts;
pub(crate) mod backup;
#[cfg(feature = "archive")]
pub(crate) mod checksum_list;
pub(crate) mod crontabs;
pub(crate) mod diff;
pub(crate) mod later_commands;
pub(crate) mod mounts;
pub(crate) mod packages;
pub(crate) mod parameter_key;
pub(crate) mod path_walk;
pub(crate) mod schedule;
pub(crate) mod ssh_keys;
pub(crate) mod systemd;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod unread_names;
pub(crate) mod validator;
#[cfg(feature = "archive")]
pub(crate) mod web;
