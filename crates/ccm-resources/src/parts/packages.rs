//! Package tools: what they report about packages, and the commands that change them.

pub(crate) mod apt;
mod digits;
pub(crate) mod dnf;
mod evr;
mod installation;
mod made_by_hand;
mod names;
mod own_tool;
mod owned_paths;
mod package;
pub(crate) mod pacman;
mod tool;
mod tool_command;
mod version;

pub(crate) use apt::Apt;
pub(crate) use dnf::Dnf;
pub(crate) use installation::{Availability, Hold, Installation, Presence};
pub(crate) use made_by_hand::{ignores, ignores_path, manual_packages};
pub(crate) use names::{name_error, quoted_names, spellings, version_error};
pub(crate) use own_tool::OwnTool;
pub(crate) use owned_paths::{OwnedPaths, PathOrigin, owned_paths, package_of};
pub(crate) use package::{MAX_AGE_FOR_LATEST, Package, PackageEnsure, UpdateCache};
pub(crate) use pacman::Pacman;
pub(crate) use tool::{
    ChangeKind, HoldTool, IndexResponse, PackageTarget, Tool, check_database, index_age, is_index_outdated,
    outdate_index, own_refresh_is_older, refresh_is_older, remember_refresh, shared_database,
    sources_are_newer,
};
pub(crate) use tool_command::{CommandLimits, ToolCommand, run_waiting_for_locks};
pub(crate) use version::VersionScheme;
