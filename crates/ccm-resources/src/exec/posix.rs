//! Provider posix: the command is split into words and started directly.

use ccm_engine::Suitability;

use super::provider::ExecProvider;

/// Provider that starts commands directly. It suits every host.
pub(crate) static POSIX: ExecProvider =
    ExecProvider { name: "posix", suitability: |_| Suitability::Suits(1) };
