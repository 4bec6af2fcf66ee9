//! systemd: calls of its tools, and words of its unit files.

pub(crate) mod systemctl;
pub(crate) mod words;

use std::path::Path;

use ccm_engine::Suitability;
use ccm_host::Host;

/// Exists while systemd is the first process.
const BOOTED: &str = "/run/systemd/system";

/// Returns the suitability of systemd: it is the first process.
pub(crate) fn suitability(host: Host<'_>) -> Suitability {
    match host.files.is_directory(Path::new(BOOTED)) {
        Ok(true) => Suitability::Suits(1),
        Ok(false) => Suitability::Unsuitable(format!("it is not running: \"{BOOTED}\" does not exist")),
        Err(error) => Suitability::Unsuitable(format!("cannot read \"{BOOTED}\": {error}")),
    }
}
