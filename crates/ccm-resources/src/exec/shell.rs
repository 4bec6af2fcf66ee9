//! Provider shell: the whole command is given to `/bin/sh -c`. Posix suits every host and has a better
//! priority, so that shell is used only if a resource names it.

use std::path::Path;

use ccm_engine::Suitability;
use ccm_host::Host;

use super::provider::ExecProvider;

/// Provider that starts commands through the shell.
pub(crate) static SHELL: ExecProvider = ExecProvider { name: "shell", suitability };

fn suitability(host: Host<'_>) -> Suitability {
    match host.files.exists(Path::new("/bin/sh")) {
        Ok(true) => Suitability::Suits(99),
        Ok(false) => Suitability::Unsuitable("there is no /bin/sh".to_owned()),
        Err(error) => Suitability::Unsuitable(format!("/bin/sh can't be inspected: {error}")),
    }
}
