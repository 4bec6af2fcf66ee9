//! Helpers of the exports of types.

use ccm_engine::{NotExported, NotExportedKind};

/// Smallest and largest number of accounts that people make. Smaller numbers belong to the system, and larger ones to
/// nobody or to name services.
const PERSONAL_IDS: std::ops::RangeInclusive<u32> = 1000..=59_999;

/// Returns `true` for the number of a user or group that a person made.
pub(crate) fn is_personal(id: u32) -> bool {
    PERSONAL_IDS.contains(&id)
}

/// Returns the reason of a state that no resource of the type describes.
pub(crate) fn no_form(reason: impl Into<String>) -> NotExported {
    NotExported::new(NotExportedKind::NoForm, reason)
}

/// Returns the reason of a type that can't list its resources.
pub(crate) fn no_list(reason: impl Into<String>) -> NotExported {
    NotExported::new(NotExportedKind::NoList, reason)
}

/// Implements the export of a type whose resources leave no state that could be told from others.
macro_rules! without_state {
    ($of:ty, $reason:literal, $hint:literal) => {
        impl ccm_engine::Export for $of {
            async fn instances(
                &self,
                scope: ccm_engine::InstanceScope,
                _: &mut ccm_engine::Context<'_>,
            ) -> Result<ccm_engine::Instances, ccm_engine::NotExported> {
                match scope {
                    ccm_engine::InstanceScope::MadeByHand => Ok(ccm_engine::Instances::default()),
                    ccm_engine::InstanceScope::All => Err($crate::support::export::no_state($reason, $hint)),
                }
            }

            async fn export(
                &self,
                _: &str,
                _: &mut ccm_engine::Context<'_>,
            ) -> Result<Option<ccm_engine::ExportedState>, ccm_engine::NotExported> {
                Err($crate::support::export::no_state($reason, $hint))
            }
        }
    };
}

pub(crate) use without_state;

/// Returns the reason of a type whose resources have no state of their own.
pub(crate) fn no_state(reason: &str, hint: &str) -> NotExported {
    NotExported::new(NotExportedKind::NoState, reason).with_hint(hint)
}
