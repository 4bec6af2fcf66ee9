//! Property values with a syntax of their own.

use ccm_properties::{PropertyKind, TextValue, ValueError};

use super::decide::UnitVerb;

/// Command that a refresh runs for a running service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnRefresh(pub UnitVerb);

impl OnRefresh {
    const WORDS: [&str; 3] = ["restart", "reload", "reload-or-restart"];
}

impl TextValue for OnRefresh {
    const KIND: PropertyKind = PropertyKind::Words(&Self::WORDS);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "restart" => Ok(Self(UnitVerb::Restart)),
            "reload" => Ok(Self(UnitVerb::Reload)),
            "reload-or-restart" => Ok(Self(UnitVerb::ReloadOrRestart)),
            _ => Err(ValueError::not_one_of(text, &Self::WORDS)),
        }
    }
}
