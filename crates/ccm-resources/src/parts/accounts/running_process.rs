//! Process that keeps a user from being changed, and the unit of systemd that it belongs to.

use std::path::Path;

use ccm_host::read_at_most;

use crate::parts::text::shown;

/// Maximum size of a file about a process.
const MAX_FILE: u64 = 64 << 10;

/// Text before the number of the process in the errors of userdel and usermod.
const USED_BY: &str = "is currently used by process ";

/// Finds the number of the process in the error of a tool.
pub(crate) fn blocking_process(stderr: &str) -> Option<u32> {
    let (_, rest) = stderr.split_once(USED_BY)?;
    rest.split(|byte: char| !byte.is_ascii_digit()).next()?.parse().ok()
}

/// Returns the advice for a process of a user who is to be changed.
pub(crate) fn process_hint(process: u32) -> String {
    let read = |file: &str| {
        let path = format!("/proc/{process}/{file}");
        let bytes = read_at_most(Some(Path::new(&path)), MAX_FILE).ok()?;
        Some(shown(&bytes))
    };
    let name = read("comm").map(|name| name.trim_end().escape_debug().to_string());
    let cgroups = read("cgroup").unwrap_or_default();
    hint(process, name.as_deref(), unit(&cgroups))
}

fn hint(process: u32, name: Option<&str>, unit: Option<&str>) -> String {
    let named = name.map(|name| format!(" ({name})")).unwrap_or_default();
    match unit {
        Some(unit) if unit.starts_with("session-") || unit.starts_with("user@") => {
            format!("log the user out: process {process}{named} belongs to `{unit}`; then run ccm again")
        }
        Some(unit) => format!(
            "stop `{unit}`, to which process {process}{named} belongs, with a `service` resource that this one requires"
        ),
        None => format!("log the user out, or end process {process}{named}, then run ccm again"),
    }
}

/// Returns the unit in the list of the control groups of a process. A unit may have groups of its own below.
fn unit(cgroups: &str) -> Option<&str> {
    let paths = cgroups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        ["", "name=systemd"].contains(&controllers).then_some(path)
    });
    let is_unit =
        |name: &&str| name.rsplit_once('.').is_some_and(|(_, kind)| ["service", "scope"].contains(&kind));
    paths.flat_map(|path| path.split('/')).find(is_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_process_and_its_unit() {
        for (cgroups, expected) in [
            (
                "0::/system.slice/shop.service\n",
                "stop `shop.service`, to which process 7 (shopd) belongs, with a `service` resource that this one requires",
            ),
            (
                "12:pids:/other.service\n1:name=systemd:/system.slice/db@main.service/worker\n",
                "stop `db@main.service`, to which process 7 (shopd) belongs, with a `service` resource that this one requires",
            ),
            (
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n",
                "log the user out: process 7 (shopd) belongs to `user@1000.service`; then run ccm again",
            ),
            (
                "0::/user.slice/user-1000.slice/session-3.scope\n",
                "log the user out: process 7 (shopd) belongs to `session-3.scope`; then run ccm again",
            ),
            ("0::/\n", "log the user out, or end process 7 (shopd), then run ccm again"),
            ("", "log the user out, or end process 7 (shopd), then run ccm again"),
        ] {
            assert_eq!(hint(7, Some("shopd"), unit(cgroups)), expected, "{cgroups}");
        }
    }

    #[test]
    fn the_process_is_found_in_the_errors_of_the_tools() {
        let told = "userdel: user eve is currently used by process 4711\n";
        assert_eq!(blocking_process(told), Some(4711));
        assert_eq!(blocking_process("usermod: user ada is currently used by process 1"), Some(1));
        assert_eq!(blocking_process("userdel: user eve is currently logged in"), None);
    }
}
