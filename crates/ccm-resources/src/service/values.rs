//! Property values that are more than text: each is checked where it is read.

use ccm_model::{closest, escape_control};
use ccm_properties::{PropertyKind, TextValue, ValueError};

use super::decide::Verb;

/// What a refresh does to a service that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnRefresh {
    /// It is stopped and started.
    #[default]
    Restart,
    /// It is asked to read its configuration again.
    Reload,
    /// The latter if it can, else the former.
    ReloadOrRestart,
}

impl OnRefresh {
    const WORDS: [&str; 3] = ["restart", "reload", "reload-or-restart"];

    pub(crate) fn verb(self) -> Verb {
        match self {
            Self::Restart => Verb::Restart,
            Self::Reload => Verb::Reload,
            Self::ReloadOrRestart => Verb::ReloadOrRestart,
        }
    }
}

impl TextValue for OnRefresh {
    const KIND: PropertyKind = PropertyKind::Words(&Self::WORDS);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "restart" => Ok(Self::Restart),
            "reload" => Ok(Self::Reload),
            "reload-or-restart" => Ok(Self::ReloadOrRestart),
            _ => {
                let shown = escape_control(text);
                let message = format!(
                    "expected `restart`, `reload` or `reload-or-restart`, found the text \"{shown}\""
                );
                Err(ValueError::new(message).with_suggestion(closest(text, Self::WORDS)))
            }
        }
    }
}
