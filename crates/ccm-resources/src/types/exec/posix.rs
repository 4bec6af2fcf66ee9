//! Provider posix: the command is split into words and started directly.

use ccm_engine::Suitability;

use super::provider::ExecProvider;

pub(crate) static POSIX: ExecProvider =
    ExecProvider { name: "posix", suitability: |_| Suitability::Suits(1) };
