//! All hosts of a push, in the order of its schedule.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use ccm_host::{Command, PipedProcess};
use tokio::io::AsyncReadExt as _;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinSet, LocalSet};

use crate::connection::{Connector, HostEnd, HostTask, InterruptLevel};
use crate::inventory::Host;
use crate::names::HostName;
use crate::schedule::{NextHost, Schedule};

/// Maximum number of handshakes at once with one server of `ssh`, whether it is a host or a jump host. A server refuses some
/// from the tenth on.
const HANDSHAKES: usize = 8;
/// Maximum length of what `ssh -G` prints.
const MAX_CONFIGURATION: u64 = 1 << 20;

/// Host of a push, with the first line that it gets.
#[derive(Clone, Debug)]
pub struct PushHost {
    /// Name.
    pub name: HostName,
    /// What is known of it.
    pub host: Host,
    /// First line.
    pub request: String,
}

/// Event of a push.
pub enum FleetEvent {
    /// A host begins.
    Begun(usize),
    /// A resource of a host is done.
    Progress(usize),
    /// A host has ended.
    Ended(usize, Box<HostEnd>),
}

/// Hosts, and the connections to them.
pub struct Fleet {
    /// Connections.
    pub connector: Connector,
    /// Hosts, in their order.
    pub hosts: Vec<PushHost>,
    /// Asks `ssh` for jump hosts, which another program might not know.
    pub asks_ssh: bool,
    /// Limits of handshakes.
    pub handshakes: RefCell<HashMap<String, Arc<Semaphore>>>,
}

impl Fleet {
    /// Pushes to all hosts. `on_event` returns `true` if the host that has ended counts as failed.
    pub async fn run(
        self,
        mut schedule: Schedule,
        mut interrupts: watch::Receiver<InterruptLevel>,
        on_event: Rc<RefCell<dyn FnMut(FleetEvent) -> bool>>,
    ) -> Schedule {
        let fleet = Rc::new(self);
        let local = LocalSet::new();
        let driven = async {
            let mut running = JoinSet::new();
            loop {
                match schedule.next_host() {
                    NextHost::Begin(at) => {
                        (on_event.borrow_mut())(FleetEvent::Begun(at));
                        let (fleet, interrupts) = (Rc::clone(&fleet), interrupts.clone());
                        let on_event = Rc::clone(&on_event);
                        running.spawn_local(async move {
                            let end = Box::new(fleet.push(at, interrupts, &on_event).await);
                            (on_event.borrow_mut())(FleetEvent::Ended(at, end))
                        });
                    }
                    NextHost::Wait => tokio::select! {
                        biased;
                        Ok(()) = interrupts.changed() => schedule.interrupt(),
                        // A task that panics has failed.
                        ended = running.join_next() => {
                            schedule.ended(ended.is_none_or(|ended| ended.unwrap_or(true)));
                        }
                    },
                    NextHost::Done => break,
                }
            }
        };
        local.run_until(driven).await;
        schedule
    }

    async fn push(
        &self,
        at: usize,
        interrupts: watch::Receiver<InterruptLevel>,
        on_event: &Rc<RefCell<dyn FnMut(FleetEvent) -> bool>>,
    ) -> HostEnd {
        let PushHost { name, host, request } = &self.hosts[at];
        let words = self.connector.ssh.words(name, host);
        let server = self.server(name, host).await;
        let new = || Arc::new(Semaphore::new(HANDSHAKES));
        let handshakes = Arc::clone(self.handshakes.borrow_mut().entry(server).or_insert_with(new));
        let task = HostTask { words, request: request.clone(), handshakes, interrupts };
        let on_progress = || {
            (on_event.borrow_mut())(FleetEvent::Progress(at));
        };
        self.connector.push(&task, &on_progress).await
    }

    /// Returns a name of the server whose handshakes count: the jump host, or else the host itself.
    async fn server(&self, name: &HostName, host: &Host) -> String {
        let own = || {
            let port = host.port.map_or(String::new(), |port| port.to_string());
            format!("{} {port}", host.address.as_ref().unwrap_or(name))
        };
        if !self.asks_ssh {
            return own();
        }
        let words = self.connector.ssh.question(name, host);
        let command = Command {
            args: words.iter().skip(1).map(Into::into).collect(),
            environment: self.connector.environment.clone(),
            ..Command::new(&self.connector.program)
        };
        let Ok((_process, pipes)) = PipedProcess::start(&command) else { return own() };
        let mut printed = Vec::new();
        let read = pipes.stdout.take(MAX_CONFIGURATION).read_to_end(&mut printed).await;
        read.ok().and_then(|_| server_of(&String::from_utf8_lossy(&printed))).unwrap_or_else(own)
    }
}

/// Returns the server that the output of `ssh -G` leads to first.
fn server_of(configuration: &str) -> Option<String> {
    let value = |key: &str| {
        let mut lines = configuration.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(found, value)| *found == key && *value != "none").map(|(_, value)| value.trim())
    };
    if let Some(jump) = value("proxyjump") {
        // The first of several is the one that this machine connects to.
        return Some(format!("jump {}", jump.split(',').next().unwrap_or(jump)));
    }
    if let Some(command) = value("proxycommand") {
        return Some(format!("command {command}"));
    }
    Some(format!("{} {}", value("hostname")?, value("port").unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handshakes_count_for_the_server_that_is_met_first() {
        for (configuration, expected) in [
            ("hostname web1\nport 22\n", Some("web1 22")),
            ("hostname web1\nport 22\nproxyjump none\n", Some("web1 22")),
            ("hostname web1\nport 22\nproxyjump ada@gate:22,inner\n", Some("jump ada@gate:22")),
            ("hostname web1\nproxycommand nc -X gate %h\n", Some("command nc -X gate %h")),
            ("", None),
        ] {
            assert_eq!(server_of(configuration).as_deref(), expected);
        }
    }
}
