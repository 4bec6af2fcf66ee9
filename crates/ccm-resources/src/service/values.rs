//! Property values that are more than text: each is checked where it is read.

use ccm_model::{Text, closest, escape_control};
use schemars::json_schema;
use serde::de::{Deserialize, Deserializer, Error};

use super::decide::Verb;
use crate::inline_schema::inline_schema;

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

impl<'de> Deserialize<'de> for OnRefresh {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        match &*text {
            "restart" => Ok(Self::Restart),
            "reload" => Ok(Self::Reload),
            "reload-or-restart" => Ok(Self::ReloadOrRestart),
            _ => {
                let shown = escape_control(&text);
                let meant = closest(&text, Self::WORDS);
                let hint = meant.map(|word| format!("\nhint: did you mean `{word}`?")).unwrap_or_default();
                let message = format!(
                    "expected `restart`, `reload` or `reload-or-restart`, found the text \"{shown}\"{hint}"
                );
                Err(D::Error::custom(message))
            }
        }
    }
}

inline_schema! {
    OnRefresh => |_generator| json_schema!({ "enum": OnRefresh::WORDS });
}
