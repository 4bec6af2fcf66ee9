//! Property values with a syntax of their own.

use ccm_properties::{PropertyKind, TextValue, ValueError};

use super::decide::Verb;

/// Command that a refresh runs for a running service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnRefresh(pub Verb);

impl OnRefresh {
    const WORDS: [&str; 3] = ["restart", "reload", "reload-or-restart"];
}

impl TextValue for OnRefresh {
    const KIND: PropertyKind = PropertyKind::Words(&Self::WORDS);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "restart" => Ok(Self(Verb::Restart)),
            "reload" => Ok(Self(Verb::Reload)),
            "reload-or-restart" => Ok(Self(Verb::ReloadOrRestart)),
            _ => Err(ValueError::not_one_of(text, &Self::WORDS)),
        }
    }
}
