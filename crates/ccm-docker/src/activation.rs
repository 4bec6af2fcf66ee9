//! Engines that systemd starts with the first connection to their socket.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{EngineAddress, Exit, Launch, Purpose};

use crate::executor::DockerExecutor;

/// Time in which systemd answers.
const QUICK: Duration = Duration::from_secs(10);

/// Returns `true` if a connection would start the Engine: systemd listens on its socket, and the Engine does not run.
/// Without systemd there is no such socket.
pub(crate) async fn would_start(executor: &DockerExecutor<'_>, address: &EngineAddress) -> bool {
    let EngineAddress::Unix(socket) = address else { return false };
    let launch = Launch { timeout: Some(QUICK), ..Launch::default() };
    let Ok(plan) = executor.inner.resolve(&launch, Purpose::Noop).await else { return false };
    let arguments = ["show", "--no-pager", "--property=Listen,SubState", "--", "*.socket"].map(str::to_owned);
    let Ok(command) = plan.command("systemctl", &arguments) else { return false };
    let shown = plan.run(&command, executor.cancellation, &mut |_, _| {}).await;
    match shown {
        Ok(shown) if shown.exit == Exit::Code(0) => {
            waits_at(&String::from_utf8_lossy(&shown.stdout.head), socket)
        }
        _ => false,
    }
}

/// Returns `true` if a unit listens on a socket, and its service does not run. The text is that of `systemctl show`,
/// with an empty line between two units.
fn waits_at(shown: &str, socket: &Path) -> bool {
    let socket = without_var(socket);
    shown.split("\n\n").any(|unit| {
        let listens = |line: &str| {
            let path = line.strip_prefix("Listen=").and_then(|value| value.strip_suffix(" (Stream)"));
            path.is_some_and(|path| without_var(Path::new(path)) == socket)
        };
        unit.lines().any(listens) && unit.lines().any(|line| line == "SubState=listening")
    })
}

/// Returns a path with `/run` in place of `/var/run`, which is a link to it.
fn without_var(path: &Path) -> PathBuf {
    path.strip_prefix("/var/run").map_or_else(|_| path.to_owned(), |rest| Path::new("/run").join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_waits_until_its_service_runs() {
        let shown = |state: &str| {
            format!(
                "Listen=/run/dbus/system_bus_socket (Stream)\nSubState=running\n\n\
                 Listen=127.0.0.1:2375 (Stream)\nListen=/run/docker.sock (Stream)\nSubState={state}\n\n\
                 Listen=/run/other.sock (Datagram)\nSubState=listening\n"
            )
        };
        for (state, socket, expected) in [
            ("listening", "/run/docker.sock", true),
            ("listening", "/var/run/docker.sock", true),
            ("running", "/run/docker.sock", false),
            ("dead", "/run/docker.sock", false),
            ("listening", "/run/podman/podman.sock", false),
            ("listening", "/run/other.sock", false),
            ("listening", "/run/dbus/system_bus_socket", false),
        ] {
            assert_eq!(waits_at(&shown(state), Path::new(socket)), expected, "{state} {socket}");
        }
        assert!(!waits_at("", Path::new("/run/docker.sock")));
    }
}
