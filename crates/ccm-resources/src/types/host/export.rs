//! Export of hosts.

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};

use super::HostType;
use super::hosts_file::HostsFile;

/// Names that every system has.
const OF_SYSTEM: [&str; 12] = [
    "localhost",
    "localhost.localdomain",
    "localhost4",
    "localhost6",
    "localhost6.localdomain6",
    "ip6-localhost",
    "ip6-loopback",
    "ip6-localnet",
    "ip6-mcastprefix",
    "ip6-allnodes",
    "ip6-allrouters",
    "ip6-allhosts",
];

/// Address that the installer of Debian gives to the name of the machine.
const OWN_ADDRESS: &str = "127.0.1.1";

impl Export for HostType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let file = HostsFile::of(context).await?;
        let mut names = file.names();
        if scope == InstanceScope::MadeByHand {
            let is_own = |name: &str| file.lines(name).iter().all(|line| line.ip.to_string() == OWN_ADDRESS);
            let is_of_system = |name: &str| OF_SYSTEM.iter().any(|known| known.eq_ignore_ascii_case(name));
            names.retain(|name| !is_of_system(name) && !is_own(name));
        }
        Ok(names.into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let file = HostsFile::of(context).await?;
        let [line, others @ ..] = file.lines(name) else { return Ok(None) };
        let aliases = Some(line.aliases.clone()).filter(|aliases| !aliases.is_empty());
        let state =
            ExportedState::default().with("ip", line.ip.to_string()).with_some("host_aliases", aliases);
        let others: Vec<String> = others.iter().map(|other| other.ip.to_string()).collect();
        Ok(Some(if others.is_empty() {
            state
        } else {
            state.read_only("other addresses", others.join(", "))
        }))
    }
}
