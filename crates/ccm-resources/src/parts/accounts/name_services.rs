//! Name services that know an account, besides the files of this machine.

use std::path::Path;
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{Exit, Role};

use crate::support::output_tail::text;
use crate::support::program::Program;

const CONFIGURATION: &str = "/etc/nsswitch.conf";
const MAX_CONFIGURATION: u64 = 1 << 20;

/// Services that read the files of this machine.
const FILES: [&str; 2] = ["files", "compat"];

/// Time for an answer. A server that can't be reached takes long.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Database of the name services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccountDatabase {
    Users,
    Groups,
}

impl AccountDatabase {
    fn name(self) -> &'static str {
        match self {
            Self::Users => "passwd",
            Self::Groups => "group",
        }
    }

    /// Returns the first name service besides the files of this machine that has an entry with this name. A service that
    /// can't be queried counts as one without the entry.
    pub(crate) async fn other_service_with(self, name: &str, context: &Context<'_>) -> Option<String> {
        let configuration =
            context.host.files.content(Path::new(CONFIGURATION), MAX_CONFIGURATION).ok()??;
        for service in other_services(&String::from_utf8_lossy(&configuration), self.name()) {
            let query = Program::new("getent").with(["-s", &*service, self.name(), name]).time_limit(TIMEOUT);
            let Ok(finished) = query.finish(Role::Query, context).await else { return None };
            let answer = text(&finished.stdout);
            if finished.exit == Exit::Code(0) && answer.split(':').next() == Some(name) {
                return Some(service);
            }
        }
        None
    }
}

/// Returns the warning that an entry stays known after the local one is removed.
pub(crate) fn still_known(what: &str, name: &str, service: Option<&str>) -> String {
    let source = service
        .map_or_else(|| "a name service".to_owned(), |service| format!("the name service `{service}`"));
    format!("{source} still has the {what} `{name}`: ccm removes only what is in the files of this machine")
}

/// Returns the services of a database, without those for files and without actions such as `[NOTFOUND=return]`.
fn other_services(configuration: &str, database: &str) -> Vec<String> {
    let services = configuration.lines().find_map(|line| {
        let (name, services) = line.split('#').next()?.split_once(':')?;
        (name.trim() == database).then_some(services)
    });
    let mut rest = services.unwrap_or_default().to_owned();
    while let Some((start, end)) = rest.find('[').zip(rest.find(']')).filter(|(start, end)| start < end) {
        rest.replace_range(start..=end, " ");
    }
    rest.split_ascii_whitespace().filter(|service| !FILES.contains(service)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_those_besides_files() {
        let services =
            |line: &str| other_services(&format!("group: x\n{line}\nshadow: y\n"), "passwd").join(" ");
        for (line, expected) in [
            ("passwd: files", ""),
            ("passwd:", ""),
            ("", ""),
            ("passwd: compat systemd # sss", "systemd"),
            (" passwd :files  [NOTFOUND=return SUCCESS=continue] sss systemd", "sss systemd"),
            ("passwd: files[SUCCESS=merge]ldap", "ldap"),
            ("passwd: files ] [ ldap", "] [ ldap"),
        ] {
            assert_eq!(services(line), expected, "{line}");
        }
    }
}
