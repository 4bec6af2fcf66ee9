//! A Docker daemon of the test's own, with its own network, mounts, data and socket.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use serde_json::Value;

use super::http::request;
use super::image::{IMAGE, busybox_image};
use crate::privilege::{is_root, skipped};
use crate::scratch::Scratch;
use crate::wait::wait_until;

/// A running daemon. It is stopped, with everything that it started, when the last user of it is dropped.
#[derive(Debug)]
pub struct Dockerd {
    directory: Scratch,
    child: Mutex<Child>,
    group: String,
    /// Keeps the thread alive that started the daemon, because the daemon is told of its end.
    keeper: Option<(std::sync::mpsc::Sender<()>, thread::JoinHandle<()>)>,
}

/// Starts a program that is ended with this process, whatever ends it.
fn spawn_bound(
    mut command: Command,
) -> io::Result<(Child, (std::sync::mpsc::Sender<()>, thread::JoinHandle<()>))> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    // The signal comes with the end of the thread, not of the process.
    let keeper = thread::spawn(move || {
        let _sent = sender.send(command.spawn());
        // The channel is closed at the end.
        let _closed = ended.recv();
    });
    let child = receiver.recv().map_err(|_| io::Error::other("the thread ended"))??;
    Ok((child, (end, keeper)))
}

impl Dockerd {
    /// Returns a daemon that the tests of this process share. Prints a reason and returns `None` where none can run.
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Dockerd>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Some(running);
        }
        let started = Arc::new(Self::start(&[])?);
        *shared = Arc::downgrade(&started);
        Some(started)
    }

    /// Starts a daemon with more arguments. Prints a reason and returns `None` where none can run.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let image = Self::prerequisites()?;
        Self::start_with(&image, "", arguments)
    }

    /// Starts a daemon whose data is on a disk of this size, such as `24m`. Prints a reason and returns `None` where
    /// none can run.
    pub fn start_on_small_disk(size: &str) -> Option<Self> {
        let image = Self::prerequisites()?;
        // In the mounts of the daemon alone.
        Self::start_with(
            &image,
            &format!("mkdir \"$DATA\" && mount -t tmpfs -o size={size} tmpfs \"$DATA\" &&"),
            &[],
        )
    }

    fn start_with(image: &[u8], preparation: &str, arguments: &[&str]) -> Option<Self> {
        let daemon = Self::spawn("overlay2", preparation, arguments);
        let daemon = daemon.or_else(|| Self::spawn("vfs", preparation, arguments));
        let Some(daemon) = daemon else {
            skipped("a Docker daemon does not start on this machine");
            return None;
        };
        daemon.import(IMAGE, image);
        Some(daemon)
    }

    fn prerequisites() -> Option<Vec<u8>> {
        if !is_root() {
            skipped("only root can start a Docker daemon");
            return None;
        }
        let has = |name: &str| {
            ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
                .iter()
                .any(|directory| Path::new(directory).join(name).exists())
        };
        if let Some(missing) = ["dockerd", "unshare", "setpriv"].into_iter().find(|name| !has(name)) {
            skipped(&format!("there is no {missing}"));
            return None;
        }
        let image = busybox_image();
        if image.is_none() {
            skipped("there is no /bin/busybox (of busybox-static)");
        }
        image
    }

    fn spawn(storage: &str, preparation: &str, arguments: &[&str]) -> Option<Self> {
        let directory = Scratch::new();
        let at = |name: &str| directory.at(name);
        let group = format!("ccm-test-{}", directory.path().file_name()?.to_string_lossy());
        let log = std::fs::File::create(directory.path().join("log")).ok()?;
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM", "unshare", "--net", "--mount", "--", "/bin/sh", "-c"])
            .arg(format!("ip link set lo up 2>/dev/null; {preparation} exec dockerd \"$@\""))
            .arg("dockerd")
            .args(["--iptables=false", "--ip-masq=false", "--ip6tables=false"])
            .args(["--storage-driver", storage])
            .args(["--host", &format!("unix://{}", at("docker.sock"))])
            .args(["--data-root", &at("data"), "--exec-root", &at("exec"), "--pidfile", &at("pid")])
            .args(["--cgroup-parent", &format!("/{group}")])
            // A group that exists everywhere; the socket is opened to it.
            .args(["--group", "root"])
            .args(arguments)
            .env("DATA", at("data"))
            .env_remove("DOCKER_HOST")
            .stdin(Stdio::null())
            .stdout(log.try_clone().ok()?)
            .stderr(log);
        let (child, keeper) = spawn_bound(command).ok()?;
        let mut daemon = Self { directory, child: Mutex::new(child), group, keeper: Some(keeper) };
        let mut is_dead = false;
        wait_until("the Docker daemon answers or ends", || {
            is_dead = daemon.child().try_wait().is_ok_and(|status| status.is_some());
            is_dead || daemon.request("GET", "/_ping", "", b"").is_some_and(|(status, _)| status == 200)
        });
        if is_dead {
            daemon.keeper = None;
            return None;
        }
        Some(daemon)
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the daemon's process.
    pub fn pid(&self) -> u32 {
        self.child().id()
    }

    /// Returns the path of its socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("docker.sock")
    }

    /// Returns the address of its socket, as a manifest writes it.
    pub fn host(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// Returns the log, for a test that fails.
    pub fn log(&self) -> String {
        self.directory.read("log").unwrap_or_default()
    }

    /// Ends the daemon at once, as a crash would. Its containers are left running.
    pub fn kill(&self) {
        let mut child = self.child();
        let _dead = child.kill();
        let _reaped = child.wait();
    }

    /// Sends a request, and returns status and body; `None` if the daemon does not answer.
    pub fn request(
        &self,
        method: &str,
        target: &str,
        content_type: &str,
        body: &[u8],
    ) -> Option<(u16, Vec<u8>)> {
        request(&self.socket(), method, target, content_type, body)
    }

    /// Imports an image from the archive of a root directory.
    pub fn import(&self, name: &str, archive: &[u8]) {
        let (repository, tag) = name.rsplit_once(':').unwrap_or((name, "latest"));
        let target = format!("/images/create?fromSrc=-&repo={repository}&tag={tag}");
        let imported = self.request("POST", &target, "application/x-tar", archive);
        let text =
            imported.as_ref().map(|(_, body)| String::from_utf8_lossy(body).into_owned()).unwrap_or_default();
        assert!(
            imported.is_some_and(|(status, _)| status == 200) && !text.contains("\"error\""),
            "the image could not be imported: {text}\n{}",
            self.log()
        );
    }

    /// Returns an answer as JSON.
    pub fn json(&self, target: &str) -> Value {
        let (_, body) =
            self.request("GET", target, "", b"").unwrap_or_else(|| panic!("no answer\n{}", self.log()));
        serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{target}: {error}"))
    }

    /// Returns the containers with a label, or all of them.
    pub fn containers(&self, label: Option<&str>) -> Vec<Value> {
        let filter = label.map(|label| format!("&filters=%7B%22label%22%3A%5B%22{label}%22%5D%7D"));
        let listed = self.json(&format!("/containers/json?all=1{}", filter.unwrap_or_default()));
        listed.as_array().cloned().unwrap_or_default()
    }
}

impl Drop for Dockerd {
    fn drop(&mut self) {
        for container in self
            .request("GET", "/containers/json?all=1", "", b"")
            .into_iter()
            .flat_map(|(_, body)| serde_json::from_slice::<Vec<Value>>(&body).unwrap_or_default())
        {
            let id = container["Id"].as_str().unwrap_or_default();
            let _removed = self.request("DELETE", &format!("/containers/{id}?force=1"), "", b"");
        }
        let pid = self.pid();
        let _signalled =
            Command::new("kill").args(["-TERM", &pid.to_string()]).stderr(Stdio::null()).status();
        let _reaped = self.child().wait();
        // Containers of a daemon that was killed outlive it, with their helpers.
        end_leftovers(&self.directory.path().display().to_string());
        drop(self.keeper.take().map(|(end, keeper)| {
            drop(end);
            keeper.join()
        }));
        remove_groups(&self.group);
    }
}

/// Kills the processes that name a directory in their arguments: helpers of containers, and containerd.
fn end_leftovers(directory: &str) {
    let own = std::process::id();
    let processes = || {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(move |pid| *pid != own)
    };
    let names_directory = |pid: &u32| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).contains(directory)
    };
    let helpers: Vec<u32> = processes().filter(names_directory).collect();
    let parent = |pid: u32| {
        let row = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        row.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let below: Vec<u32> =
        processes().filter(|pid| parent(*pid).is_some_and(|parent| helpers.contains(&parent))).collect();
    for pid in helpers.iter().chain(&below) {
        let _gone = Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status();
    }
    wait_until("the helpers of containers are gone", || !processes().any(|pid| names_directory(&pid)));
}

/// Removes the control groups of the daemon's containers.
fn remove_groups(group: &str) {
    let controllers = std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    let roots = controllers.map(|entry| entry.path()).chain([PathBuf::from("/sys/fs/cgroup")]);
    for root in roots {
        let path = root.join(group);
        let below = std::fs::read_dir(&path).into_iter().flatten().flatten();
        for child in below.filter(|entry| entry.path().is_dir()) {
            let _removed = std::fs::remove_dir(child.path());
        }
        let _removed = std::fs::remove_dir(path);
    }
}
