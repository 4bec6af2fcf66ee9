//! The resource types, a folder each, and the list of them.

mod apply;
#[cfg(feature = "archive")]
mod archive;
mod authorized_key;
mod block;
mod cron;
mod edited_text;
mod exec;
mod file;
mod git;
mod group;
mod host;
mod hostname;
mod kernel_module;
mod line;
mod locale;
mod mount;
mod package;
mod package_hold;
mod package_repository;
mod reboot;
mod scaffold;
mod service;
mod setting;
mod sysctl;
mod timer;
mod timezone;
mod user;

pub use exec::executor_names;

use ccm_engine::ResourceType;

pub use edited_text::edited_text;

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
