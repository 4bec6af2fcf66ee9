//! Resource types of ccm, a folder each: properties, state, decision and a file per provider.
//! Adding a type touches its own folder and its line in [`types`].

mod accounts;
mod apply;
#[cfg(feature = "archive")]
mod archive;
mod authorized_key;
mod block;
mod canonical_path;
mod checksum;
mod cron;
#[cfg(test)]
mod decision_table;
mod exec;
mod file;
mod file_part;
mod git;
mod group;
mod host;
mod hostname;
mod kernel_module;
mod line;
mod local_accounts;
mod locale;
mod mount;
mod mount_table;
mod no_properties;
mod notes;
mod object_plan;
mod output_tail;
mod package;
mod package_hold;
mod package_repository;
mod principal;
mod reboot;
mod scaffold;
mod schedule;
mod service;
mod setting;
mod sysctl;
mod system_file;
mod system_tool;
mod systemd_words;
mod timer;
mod timezone;
mod tree;
mod user;
mod validator;
#[cfg(feature = "archive")]
mod web;

use ccm_engine::ResourceType;

pub use notes::notes;
pub use schedule::{Schedule, ScheduleError};
pub use systemd_words::systemd_word;
pub use tree::glob::IgnoredPaths;

/// All resource types. Nothing registers itself anywhere else.
pub fn types() -> Vec<&'static dyn ResourceType> {
    vec![
        &exec::ExecType,
        &file::FileType,
        &line::LineType,
        &block::BlockType,
        &setting::SettingType,
        #[cfg(feature = "archive")]
        &archive::ArchiveType,
        &scaffold::ScaffoldType,
        &git::GitType,
        &group::GroupType,
        &user::UserType,
        &authorized_key::AuthorizedKeyType,
        &package_repository::PackageRepositoryType,
        &sysctl::SysctlType,
        &host::HostType,
        &hostname::HostnameType,
        &timezone::TimezoneType,
        &locale::LocaleType,
        &mount::MountType,
        &kernel_module::KernelModuleType,
        &package::PackageType,
        &package_hold::PackageHoldType,
        &service::ServiceType,
        &timer::TimerType,
        &cron::CronType,
        &reboot::RebootType,
        &apply::ApplyType,
    ]
}
