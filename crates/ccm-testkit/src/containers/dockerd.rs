//! A Docker daemon of the test's own, with its own network, mounts, data and socket.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::Value;

use super::http::request;
use super::image::{IMAGE, busybox_image};
use super::service::{OWN_GROUP, TestService};
use crate::privilege::needs_root;
use crate::scratch::Scratch;
use crate::skip::skipped;
use crate::wait::wait_until;

/// A running daemon. It is stopped, with everything that it started, when the last user of it is dropped.
#[derive(Debug)]
pub struct Dockerd {
    service: Mutex<TestService>,
    directory: Scratch,
}

impl Dockerd {
    /// Returns a daemon that the tests of this process share. Records a skip and returns `None` where none can run.
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

    /// Starts a daemon with more arguments. Records a skip and returns `None` where none can run.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let image = Self::prerequisites()?;
        Self::start_with(&image, "", arguments)
    }

    /// Starts a daemon whose data is on a disk of this size, such as `24m`. Records a skip and returns `None` where
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
            skipped("a Docker daemon does not start here");
            return None;
        };
        daemon.import(IMAGE, image);
        Some(daemon)
    }

    fn prerequisites() -> Option<Vec<u8>> {
        if !needs_root() {
            return None;
        }
        let has = |name: &str| {
            ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
                .iter()
                .any(|directory| Path::new(directory).join(name).exists())
        };
        if let Some(missing) = ["dockerd", "unshare", "setpriv"].into_iter().find(|name| !has(name)) {
            skipped(&format!("{missing} is not installed"));
            return None;
        }
        let image = busybox_image();
        if image.is_none() {
            skipped("busybox-static is not installed");
        }
        image
    }

    fn spawn(storage: &str, preparation: &str, arguments: &[&str]) -> Option<Self> {
        let directory = Scratch::new();
        let at = |name: &str| directory.at(name);
        let group = format!("{OWN_GROUP}{}", directory.path().file_name()?.to_string_lossy());
        let script = format!("{preparation} exec dockerd \"$@\"");
        let (host, data, exec) = (format!("unix://{}", at("docker.sock")), at("data"), at("exec"));
        let (pid, parent) = (at("pid"), format!("/{group}"));
        let own = [
            "--iptables=false",
            "--ip6tables=false",
            "--ip-masq=false",
            "--storage-driver",
            storage,
            "--host",
            &host,
            "--data-root",
            &data,
            "--exec-root",
            &exec,
            "--pidfile",
            &pid,
            "--cgroup-parent",
            &parent,
            // A group that every machine has; the socket is opened to it.
            "--group",
            "root",
        ];
        let arguments = [&own, arguments].concat();
        let service =
            TestService::start(&script, &arguments, &[("DATA", &data)], directory.path(), &group).ok()?;
        let daemon = Self { service: Mutex::new(service), directory };
        let mut is_dead = false;
        wait_until("the Docker daemon answers or ends", || {
            is_dead = daemon.service().has_ended();
            is_dead || daemon.request("GET", "/_ping", "", b"").is_some_and(|(status, _)| status == 200)
        });
        (!is_dead).then_some(daemon)
    }

    fn service(&self) -> MutexGuard<'_, TestService> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the daemon's process.
    pub fn pid(&self) -> u32 {
        self.service().child.id()
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
        self.service().kill();
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
        // A container that is left running would outlive the daemon.
        let listed = self.request("GET", "/containers/json?all=1", "", b"");
        let containers =
            listed.map(|(_, body)| serde_json::from_slice::<Vec<Value>>(&body).unwrap_or_default());
        for container in containers.into_iter().flatten() {
            let id = container["Id"].as_str().unwrap_or_default();
            let _removed = self.request("DELETE", &format!("/containers/{id}?force=1"), "", b"");
        }
    }
}
