//! What this process must not print, wherever it prints something.

use std::sync::LazyLock;

use ccm_redaction::Secrets;

static SECRETS: LazyLock<Secrets> = LazyLock::new(Secrets::new);

/// All that is known to be secret by now.
pub(crate) fn secrets() -> &'static Secrets {
    &SECRETS
}
