//! Rules by which a package is decided.

use std::fmt;

use ccm_engine::Rule;

/// Rule that applied to a package. Versions are as people write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageRule {
    /// This version is installed.
    Installed(String),
    /// This version is installed, and is the latest that is known.
    Latest(String),
    /// This version is installed, and the index does not know the package.
    NotInIndex { installed: String, name: String },
    /// This version is installed, and the index is too old to know the latest.
    StaleIndex(String),
    /// This version is installed, and a newer one is there.
    Outdated { installed: String, latest: String },
    /// Another version than the one asked for is installed.
    OtherVersion { installed: String, desired: String },
    /// It is not installed.
    NotInstalled,
    /// It is not installed, but has left configuration files.
    OnlyConfigFilesKept,
    /// It is not installed, and its configuration files are to go.
    ConfigFilesLeft,
    /// It is installed in part: the status that the package tool names.
    Unfinished(String),
    /// Something of it is there although it is to be absent: the status that the package tool names.
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
                write!(formatter, "version {version} is installed, and nothing newer is there")
            }
            Self::NotInIndex { installed, name } => {
                write!(formatter, "version {installed} is installed, and the index has no `{name}`")
            }
            Self::StaleIndex(version) => write!(
                formatter,
                "version {version} is installed, and the index is too old to say whether that is the latest"
            ),
            Self::Outdated { installed, latest } => {
                write!(formatter, "version {installed} is installed, and {latest} is the latest")
            }
            Self::OtherVersion { installed, desired } => {
                write!(formatter, "version {installed} is installed, not {desired}")
            }
            Self::NotInstalled => formatter.write_str("it is not installed"),
            Self::OnlyConfigFilesKept => {
                formatter.write_str("it is not installed, but for its configuration files")
            }
            Self::ConfigFilesLeft => formatter.write_str("its configuration files are still there"),
            Self::Unfinished(status) => write!(formatter, "it is not wholly installed: it is {status}"),
            Self::UnfinishedThere(status) => write!(formatter, "something of it is there: it is {status}"),
        }
    }
}
