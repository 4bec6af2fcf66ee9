//! Files, a process, sockets and shared memory for the probes.

use std::fs::{self, Permissions};
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use ccm_testkit::Scratch;
use libc::{c_int, c_long};

use crate::calls::{call, path};

/// Number of the user nobody, and of the group of that user.
pub(crate) const NOBODY: u32 = 65534;

/// Targets of the probes, as they know them.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Directory with `work`, `read` and `write`, which are open, and `outside`, which is not.
    pub(crate) root: PathBuf,
    pub(crate) is_inside: bool,
    /// Process outside, of the same user.
    pub(crate) peer: c_int,
    /// TCP port outside.
    pub(crate) port: u16,
    /// Shared memory, semaphores and queue of messages outside.
    pub(crate) shared: [c_int; 3],
}

impl Target {
    pub(crate) fn encode(&self) -> String {
        let [memory, semaphores, queue] = self.shared;
        let numbers = [self.is_inside.into(), self.peer, self.port.into(), memory, semaphores, queue];
        let numbers = numbers.map(|number: c_int| number.to_string()).join(" ");
        format!("{numbers} {}", self.root.display())
    }

    pub(crate) fn decode(text: &str) -> Self {
        let mut parts = text.splitn(7, ' ');
        let mut number =
            || parts.next().and_then(|part| part.parse::<c_int>().ok()).expect("a number of the target");
        let (is_inside, peer, port) = (number() == 1, number(), number());
        let shared = [number(), number(), number()];
        let port = u16::try_from(port).expect("a port");
        Self { is_inside, peer, port, shared, root: parts.next().expect("a directory").into() }
    }

    /// Returns the name of the abstract socket, the POSIX shared memory and the POSIX queue outside.
    pub(crate) fn name(&self) -> String {
        self.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root.join("outside").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> PathBuf {
        self.root.join("read").join(name)
    }

    pub(crate) fn write(&self, name: &str) -> PathBuf {
        self.root.join("write").join(name)
    }
}

/// Everything that the probes aim at. It is removed with this value.
pub(crate) struct Ground {
    pub(crate) target: Target,
    scratch: Scratch,
    peer: Child,
    _port: TcpListener,
    _sockets: [UnixListener; 2],
}

const REMOVE: c_int = 0;
const ALL: c_int = 0o666;
/// Names below each directory whose content must stay.
const CONTENTS: [&str; 4] = ["outside/secret", "outside/doomed", "read/file", "read/doomed"];

impl Ground {
    /// Makes everything, for a sandbox of that user; `None` is the user of this process.
    pub(crate) fn new(user: Option<u32>) -> Self {
        let scratch = Scratch::new();
        for content in CONTENTS {
            scratch.write(content, content);
        }
        scratch.write("work/own", "own\n");
        scratch.write("write/file", "file\n");
        scratch.write("write/fixed/file", "fixed\n");
        scratch.write_program("outside/tool", "#!/bin/sh\nexit 0\n");
        let at = |name: &str| scratch.path().join(name);
        for name in ["outside/empty", "read/empty"] {
            fs::create_dir(at(name)).expect("a directory");
        }
        for name in ["outside/link", "read/link", "write/link"] {
            symlink(at("outside/secret"), at(name)).expect("a link");
        }
        for name in ["outside/secret", "read/file"] {
            // Not every file system has attributes.
            let _ =
                call(libc::SYS_setxattr, &[&path(at(name)), &path("user.secret"), &path("hidden"), &6, &0]);
        }
        let sockets = {
            let name = scratch.path().file_name().map(|name| name.to_string_lossy().into_owned());
            let address = SocketAddr::from_abstract_name(name.unwrap_or_default()).expect("a name");
            let by_name = UnixListener::bind_addr(&address).expect("a socket");
            [UnixListener::bind(at("outside/socket")).expect("a socket"), by_name]
        };
        fs::set_permissions(at("outside/socket"), Permissions::from_mode(0o666)).expect("a mode");
        let port = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut command = std::process::Command::new("cat");
        // It ends with this process. The group of this process has the number 0 if it began outside of a container, and
        // 0 stands for the group of the attacker.
        command.current_dir(scratch.path()).env("SECRET", "of-the-peer").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        if let Some(user) = user {
            command.uid(user).gid(user);
            give(scratch.path(), user).expect("files of the user");
        }
        let peer = command.spawn().expect("a process");
        let target = Target {
            root: scratch.path().to_owned(),
            is_inside: true,
            peer: c_int::try_from(peer.id()).expect("a number"),
            port: port.local_addr().expect("an address").port(),
            shared: shared(),
        };
        let ground = Self { target, scratch, peer, _port: port, _sockets: sockets };
        fs::write(ground.posix_memory(), "secret\n").expect("shared memory");
        let queue = path(ground.target.name());
        // Not every kernel has such queues.
        let flags = libc::O_CREAT | libc::O_RDWR;
        let _ = call(libc::SYS_mq_open, &[&queue, &flags, &ALL, &0]);
        ground
    }

    fn posix_memory(&self) -> PathBuf {
        Path::new("/dev/shm").join(self.target.name())
    }

    /// Returns everything that a probe changed outside.
    pub(crate) fn damage(&mut self) -> Vec<String> {
        let mut damage = Vec::new();
        for content in CONTENTS {
            if self.scratch.read(content).as_deref() != Some(content) {
                damage.push(format!("{content} was changed"));
            }
        }
        for (directory, expected) in [("outside", 6), ("read", 4)] {
            let names = fs::read_dir(self.scratch.path().join(directory)).expect("a directory");
            let names: Vec<_> = names.flatten().map(|entry| entry.file_name()).collect();
            if names.len() != expected {
                damage.push(format!("{directory} holds {names:?}"));
            }
        }
        if self.peer.try_wait().is_ok_and(|status| status.is_some()) {
            damage.push("the process outside has ended".to_owned());
        }
        damage
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let [memory, semaphores, queue] = self.target.shared;
        let remove: c_long = libc::IPC_RMID.into();
        let _ = call(libc::SYS_shmctl, &[&memory, &remove]);
        let _ = call(libc::SYS_semctl, &[&semaphores, &REMOVE, &remove]);
        let _ = call(libc::SYS_msgctl, &[&queue, &remove]);
        let _ = call(libc::SYS_mq_unlink, &[&path(self.target.name())]);
        let _ = fs::remove_file(self.posix_memory());
        let _ = self.peer.kill();
        let _ = self.peer.wait();
    }
}

/// Makes shared memory, semaphores and a queue of messages that every user may use.
fn shared() -> [c_int; 3] {
    let flags = ALL | libc::IPC_CREAT;
    let private = libc::IPC_PRIVATE;
    let made = [
        call(libc::SYS_shmget, &[&private, &4096, &flags]),
        call(libc::SYS_semget, &[&private, &1, &flags]),
        call(libc::SYS_msgget, &[&private, &flags]),
    ];
    made.map(|id| id.map_or(-1, |id| c_int::try_from(id).expect("a number")))
}

/// Changes the owner of everything below a directory.
fn give(directory: &Path, user: u32) -> io::Result<()> {
    chown(directory, Some(user), Some(user))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            give(&entry.path(), user)?;
        } else {
            std::os::unix::fs::lchown(entry.path(), Some(user), Some(user))?;
        }
    }
    Ok(())
}
