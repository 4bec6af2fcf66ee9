//! What a package tool reports about a package.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Installation {
    pub presence: Presence,
    /// Architecture of the installed package.
    pub arch: Option<String>,
    /// Hold that forbids to change the package.
    pub hold: Option<Hold>,
    /// Other architectures that are installed instead.
    pub elsewhere: Vec<String>,
}

/// Degree to which a package is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Not at all.
    #[default]
    Gone,
    /// Removed except for its configuration files.
    ConfigFiles,
    /// Partially, with the status of the package tool.
    Unfinished(String),
    Installed(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// Description of what holds the package.
    pub by: String,
    /// Hint for releasing the hold.
    pub release: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Availability {
    /// Not queried because it does not matter.
    #[default]
    NotQueried,
    Unknown,
    /// Virtual: only provided by other packages.
    Virtual {
        /// Providing packages, sorted.
        by: Vec<String>,
    },
    Versions {
        /// Version installed by default; `None` if all are excluded.
        candidate: Option<String>,
        all: Vec<String>,
    },
}
