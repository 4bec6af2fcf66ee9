//! systemd: its unit files, and calls of its tools.

pub(crate) mod failure_actions;
pub(crate) mod install_section;
pub(crate) mod one_command;
pub(crate) mod systemctl;
pub(crate) mod unit_check;
pub(crate) mod unit_words;
pub(crate) mod units;

use std::path::Path;

use ccm_engine::Suitability;
use ccm_host::Host;

/// Directory that exists while systemd is the first process.
pub const SYSTEMD_RUNNING: &str = "/run/systemd/system";

/// Returns the suitability of systemd: it is the first process.
pub(crate) fn suitability(host: Host<'_>) -> Suitability {
    match host.files.is_directory(Path::new(SYSTEMD_RUNNING)) {
        Ok(true) => Suitability::Suits(1),
        Ok(false) => {
            Suitability::Unsuitable(format!("it is not running: \"{SYSTEMD_RUNNING}\" does not exist"))
        }
        Err(error) => Suitability::Unsuitable(format!("cannot read \"{SYSTEMD_RUNNING}\": {error}")),
    }
}
