//! Provider posix: the command is split into words and started directly.

use ccm_engine::Suitability;

use super::provider::OnThisHost;

/// Starts commands directly; works everywhere.
pub(crate) static POSIX: OnThisHost = OnThisHost { name: "posix", suitability: |_| Suitability::Suits(1) };
