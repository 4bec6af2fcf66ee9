//! Rules of the package decision.

use std::fmt;

use ccm_engine::Rule;

/// Rule that decided about a package. Versions are in their displayed form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageRule {
    /// Installed in this version.
    Installed(String),
    /// Installed in the latest known version.
    Latest(String),
    /// Installed, but not in the index.
    NotInIndex { installed: String, name: String },
    /// Installed, but the index is too old to show the latest version.
    StaleIndex(String),
    /// Installed, and a newer version is available.
    Outdated { installed: String, latest: String },
    /// Installed in another version than the desired one.
    OtherVersion { installed: String, desired: String },
    /// Not installed.
    NotInstalled,
    /// Not installed; configuration files remain, which is fine.
    OnlyConfigFilesKept,
    /// Not installed; configuration files remain and must be removed.
    ConfigFilesLeft,
    /// Partially installed, with the status of the package tool.
    Unfinished(String),
    /// Partially installed but to be absent, with the status of the package tool.
    UnfinishedThere(String),
}

impl Rule for PackageRule {
    fn name(&self) -> &'static str {
        match self {
            Self::Installed(_) => "installed",
            Self::Latest(_) => "latest",
            Self::NotInIndex { .. } => "not_in_index",
            Self::StaleIndex(_) => "stale_index",
            Self::Outdated { .. } => "outdated",
            Self::OtherVersion { .. } => "other_version",
            Self::NotInstalled => "not_installed",
            Self::OnlyConfigFilesKept => "only_config_files_kept",
            Self::ConfigFilesLeft => "config_files_left",
            Self::Unfinished(_) | Self::UnfinishedThere(_) => "unfinished",
        }
    }
}

impl fmt::Display for PackageRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed(version) => write!(formatter, "version {version} is installed"),
            Self::Latest(version) => {
                write!(formatter, "version {version} is installed, the latest")
            }
            Self::NotInIndex { installed, name } => {
                write!(formatter, "version {installed} is installed, but `{name}` is not in the index")
            }
            Self::StaleIndex(version) => write!(
                formatter,
                "version {version} is installed, but the index is too old to show the latest"
            ),
            Self::Outdated { installed, latest } => {
                write!(formatter, "version {installed} is installed, {latest} is available")
            }
            Self::OtherVersion { installed, desired } => {
                write!(formatter, "version {installed} is installed, not {desired}")
            }
            Self::NotInstalled => formatter.write_str("it is not installed"),
            Self::OnlyConfigFilesKept => {
                formatter.write_str("it is not installed, only its configuration files are left")
            }
            Self::ConfigFilesLeft => formatter.write_str("its configuration files are left"),
            Self::Unfinished(status) => write!(formatter, "it is only partially installed ({status})"),
            Self::UnfinishedThere(status) => write!(formatter, "it is partially installed ({status})"),
        }
    }
}
