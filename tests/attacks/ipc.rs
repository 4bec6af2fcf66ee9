//! Probes of memory, semaphores and queues that processes share.

use libc::{c_int, c_long};

use crate::calls::{Argument, Attempt, attempt, open, path, room};
use crate::probe::{NamedAttempt, Probe, Promise};

/// Calls by the number of something outside. An unknown number means that it is hidden.
fn by_number(number: c_long, arguments: &[&dyn Argument]) -> Attempt {
    attempt(number, arguments).map_err(|errno| match errno {
        libc::EINVAL | libc::EIDRM => libc::ENOENT,
        other => other,
    })
}

const STATE: c_int = libc::IPC_STAT;

pub(crate) fn probes() -> Vec<Probe> {
    let closed: [NamedAttempt; 12] = [
        ("attach memory", |target| by_number(libc::SYS_shmat, &[&target.shared[0], &0, &libc::SHM_RDONLY])),
        ("look at memory", |target| by_number(libc::SYS_shmctl, &[&target.shared[0], &STATE, &room()])),
        ("look at semaphores", |target| {
            by_number(libc::SYS_semctl, &[&target.shared[1], &0, &STATE, &room()])
        }),
        ("read a semaphore", |target| by_number(libc::SYS_semctl, &[&target.shared[1], &0, &12])),
        ("test a semaphore", |target| {
            by_number(libc::SYS_semop, &[&target.shared[1], &[0_u16, 0, 0o4000], &1])
        }),
        ("look at a queue", |target| by_number(libc::SYS_msgctl, &[&target.shared[2], &STATE, &room()])),
        ("receive from a queue", |target| {
            let flags = libc::IPC_NOWAIT;
            by_number(libc::SYS_msgrcv, &[&target.shared[2], &room(), &8, &0, &flags])
        }),
        ("list memory", |_| listed("shm")),
        ("list semaphores", |_| listed("sem")),
        ("list queues", |_| listed("msg")),
        ("open POSIX memory", |target| open(format!("/dev/shm/{}", target.name()), libc::O_RDWR).map(drop)),
        ("open a POSIX queue", |target| {
            attempt(libc::SYS_mq_open, &[&path(target.name()), &libc::O_RDONLY, &0, &0])
        }),
    ];
    let probe = |(name, attempt): (&str, _)| {
        let promise = if name.starts_with("list") { Promise::Hidden } else { Promise::Closed };
        let probe = Probe::new(format!("{name} outside"), promise, attempt);
        if name.contains("POSIX queue") { probe.if_present() } else { probe }
    };
    let own: [NamedAttempt; 3] = [
        ("memory", |_| attempt(libc::SYS_shmget, &[&libc::IPC_PRIVATE, &4096, &0o600])),
        ("semaphores", |_| attempt(libc::SYS_semget, &[&libc::IPC_PRIVATE, &1, &0o600])),
        ("a queue", |_| attempt(libc::SYS_msgget, &[&libc::IPC_PRIVATE, &0o600])),
    ];
    let own = own.map(|(name, attempt)| {
        // Outside, it would stay.
        Probe::new(format!("make {name} of its own"), Promise::OwnWithNamespaces, attempt).only_inside()
    });
    let shared_pages = Probe::new("share memory with its children", Promise::Open, |_| {
        attempt(libc::SYS_memfd_create, &[&path("memory"), &0])
    });
    closed.map(probe).into_iter().chain(own).chain([shared_pages]).collect()
}

/// Fails, as if it were refused, if the list of everything that is shared is empty.
fn listed(kind: &str) -> Attempt {
    let list = std::fs::read_to_string(format!("/proc/sysvipc/{kind}")).map_err(|_| libc::ENOENT)?;
    if list.lines().count() > 1 { Ok(()) } else { Err(libc::ENOENT) }
}
