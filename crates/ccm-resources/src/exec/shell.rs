//! Provider shell: the command is given whole to `/bin/sh -c`. Posix suits every host and
//! comes before it, so it is used only if a resource names it.

use std::path::Path;

use ccm_engine::Suitability;
use ccm_host::Host;

use super::provider::OnThisHost;

/// Starts commands through the shell.
pub(crate) static SHELL: OnThisHost = OnThisHost { name: "shell", suitability };

fn suitability(host: Host<'_>) -> Suitability {
    match host.files.exists(Path::new("/bin/sh")) {
        Ok(true) => Suitability::Suits(99),
        Ok(false) => Suitability::Unsuitable("there is no /bin/sh".to_owned()),
        Err(error) => Suitability::Unsuitable(format!("/bin/sh can't be looked at: {error}")),
    }
}
