//! Place of the audit log, and the machine in it.

use std::path::{Path, PathBuf};

use ccm_audit::AuditedMachine;
use ccm_host::Machine;
use ccm_host::state::{StateError, default_state_directory};
use ccm_model::sha256;

use crate::governance::Governance;

/// Directory of the log in the default state directory.
const DIRECTORY: &str = "audit";
/// Maximum size of the files that name the machine and its boot.
const MAX_ID: u64 = 4096;

/// Place of the audit log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AuditSource {
    /// `/var/lib/ccm/audit` as root, else `ccm/audit` in `$XDG_STATE_HOME` or `~/.local/state`, whatever the state
    /// directory of the session is.
    #[default]
    System,
    /// Another directory.
    Directory(PathBuf),
}

impl Governance {
    /// Returns the path of the audit log, which need not exist.
    pub fn audit_path(&self) -> Result<PathBuf, StateError> {
        match &self.places.audit {
            AuditSource::System => Ok(default_state_directory()?.join(DIRECTORY)),
            AuditSource::Directory(path) => Ok(path.clone()),
        }
    }

    /// Returns the machine as the log names it.
    pub fn audited_machine(&self) -> AuditedMachine {
        audited_machine(self.doors.machine())
    }
}

fn audited_machine(machine: &dyn Machine) -> AuditedMachine {
    let text = |path: &str| {
        let text = machine.read(Path::new(path), MAX_ID).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.map(|text| text.trim().to_owned());
        text.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()))
    };
    // The id of the machine is not to be spread, so that the log holds one that is made of it.
    let id = text("/etc/machine-id").map_or_else(
        || "m-unknown".to_owned(),
        |id| format!("m-{}", &sha256(format!("ccm-audit {id}").as_bytes())[..16]),
    );
    let boot = text("/proc/sys/kernel/random/boot_id").unwrap_or_else(|| "unknown".to_owned());
    AuditedMachine { id, boot }
}
