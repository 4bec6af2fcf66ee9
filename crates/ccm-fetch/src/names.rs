//! Names of hosts to addresses, on a thread of its own.

use std::net::IpAddr;

use ccm_host::{NameLookupError, look_up_name};
use tokio::sync::oneshot;

/// Returns the addresses of a name. A lookup can't be interrupted: when the future is dropped, its thread ends once the C
/// library gives up.
pub async fn resolve_name(name: &str) -> Result<Vec<IpAddr>, NameLookupError> {
    if let Ok(address) = name.parse() {
        return Ok(vec![address]);
    }
    let (sender, result) = oneshot::channel();
    let name = name.to_owned();
    let thread = std::thread::Builder::new().name("name lookup".to_owned());
    let started = thread.spawn(move || {
        // An error means that nobody waits any more.
        let _ = sender.send(look_up_name(&name));
    });
    let failed = |reason: String| NameLookupError::Failed(reason);
    started.map_err(|error| failed(error.to_string()))?;
    result.await.unwrap_or_else(|_| Err(failed("its thread ended".to_owned())))
}
