//! Origin of this process: user, terminal and systemd unit.

use std::io::{self, IsTerminal as _, Read as _};

use ccm_model::StartedBy;
use nix::unistd::getuid;

use crate::account::AccountDatabases;
use crate::environment::variable;

/// Maximum length of a name from the environment.
const MAX_NAME_LENGTH: usize = 256;
/// Maximum size of the list of control groups that is read.
const MAX_LIST_BYTES: u64 = 64 << 10;

/// Returns the user, terminal and systemd unit of this process.
///
/// `INVOCATION_ID` alone does not prove that a unit started the process: shells of a desktop inherit the
/// variable. A process in a terminal has no unit.
pub fn started_by() -> StartedBy {
    let uid = getuid();
    // A lookup may ask a directory service, and runs of the timer are runs of root.
    let user = if uid.is_root() {
        Some("root".to_owned())
    } else {
        AccountDatabases::of_this_machine().user_of(uid.as_raw()).ok().flatten().map(|user| user.name)
    };
    let terminal = terminal();
    let invocation_id = named("INVOCATION_ID").filter(|_| terminal.is_none());
    let unit = invocation_id.is_some().then(own_unit).flatten();
    StartedBy { uid: uid.as_raw(), user, sudo_user: named("SUDO_USER"), unit, invocation_id, terminal }
}

/// Returns a variable of the environment that can be a name.
fn named(variable_name: &str) -> Option<String> {
    let value = variable(variable_name)?.into_string().ok()?;
    (value.len() <= MAX_NAME_LENGTH && !value.contains(char::is_control)).then_some(value)
}

/// Returns the path of the terminal of standard input or standard error.
fn terminal() -> Option<String> {
    let descriptor = match (io::stdin().is_terminal(), io::stderr().is_terminal()) {
        (true, _) => 0,
        (false, true) => 2,
        (false, false) => return None,
    };
    let path = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    Some(path.to_string_lossy().into_owned())
}

fn own_unit() -> Option<String> {
    let mut list = String::new();
    let file = std::fs::File::open("/proc/self/cgroup").ok()?;
    file.take(MAX_LIST_BYTES).read_to_string(&mut list).ok()?;
    unit_of(&list)
}

/// Returns the service in a list of control groups, the format of `/proc/self/cgroup`.
fn unit_of(list: &str) -> Option<String> {
    let path = list.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        rest.strip_prefix(':').or_else(|| rest.strip_prefix("name=systemd:"))
    })?;
    // A service may divide its own group. A scope below a service is a login or a container.
    let (unit, kind) = path.rsplit('/').find_map(|name| {
        let (_, kind) = name.rsplit_once('.')?;
        matches!(kind, "service" | "scope").then_some((name, kind))
    })?;
    (kind == "service").then(|| unit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_read_from_the_control_groups() {
        for (list, expected) in [
            ("0::/system.slice/ccm-apply@site.service\n", Some("ccm-apply@site.service")),
            ("0::/system.slice/cron.service/part\n", Some("cron.service")),
            ("0::/user.slice/user-1000.slice/session-3.scope\n", None),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n", None),
            ("5:memory:/x\n1:name=systemd:/system.slice/a.service\n0::/\n", Some("a.service")),
            ("0::/\n", None),
            ("", None),
            ("damaged", None),
        ] {
            assert_eq!(unit_of(list).as_deref(), expected, "{list:?}");
        }
    }
}
