//! Provider shell: the whole command is given to `/bin/sh -c`. Posix has a better priority, so that only
//! resources that name shell use it.

use std::path::Path;

use ccm_engine::Suitability;
use ccm_host::Host;

pub(crate) const NAME: &str = "shell";

pub(crate) fn suitability(host: Host<'_>) -> Suitability {
    match host.files.exists(Path::new("/bin/sh")) {
        Ok(true) => Suitability::Suits(99),
        Ok(false) => Suitability::Unsuitable("there is no /bin/sh".to_owned()),
        Err(error) => Suitability::Unsuitable(format!("/bin/sh can't be inspected: {error}")),
    }
}
