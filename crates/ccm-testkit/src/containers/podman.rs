//! A Podman service of the test's own, which speaks the same API.

use std::process::{Child, Command, Stdio};

use super::http::request;
use super::image::{IMAGE, busybox_image};
use crate::privilege::{is_root, skipped};
use crate::scratch::Scratch;
use crate::wait::wait_until;

/// A running service. It is stopped when it is dropped.
#[derive(Debug)]
pub struct PodmanService {
    directory: Scratch,
    child: Child,
}

impl PodmanService {
    /// Starts a service. Prints a reason and returns `None` where none can run.
    pub fn start() -> Option<Self> {
        if !is_root() {
            skipped("this test starts a Podman service as root only");
            return None;
        }
        let Some(image) = busybox_image() else {
            skipped("there is no /bin/busybox (of busybox-static)");
            return None;
        };
        if !std::path::Path::new("/usr/bin/podman").exists() {
            skipped("there is no podman");
            return None;
        }
        let directory = Scratch::new();
        let log = std::fs::File::create(directory.path().join("log")).ok()?;
        let child = Command::new("unshare")
            .args([
                "--net",
                "--mount",
                "--",
                "/bin/sh",
                "-c",
                "ip link set lo up; exec podman \"$@\"",
                "podman",
            ])
            .args(["--root", &directory.at("root"), "--runroot", &directory.at("run")])
            .args(["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file"])
            .args(["--tmpdir", &directory.at("tmp")])
            .args(["system", "service", "--time", "0", &format!("unix://{}", directory.at("podman.sock"))])
            .stdin(Stdio::null())
            .stdout(log.try_clone().ok()?)
            .stderr(log)
            .spawn()
            .ok()?;
        let mut service = Self { directory, child };
        let mut is_dead = false;
        wait_until("the Podman service answers or ends", || {
            is_dead = service.child.try_wait().is_ok_and(|status| status.is_some());
            is_dead || service.request("GET", "/_ping", b"").is_some_and(|(status, _)| status == 200)
        });
        if is_dead {
            skipped(&format!("a Podman service does not start on this machine: {}", service.log()));
            return None;
        }
        let (repository, tag) = IMAGE.split_once(':')?;
        let target = format!("/images/create?fromSrc=-&repo={repository}&tag={tag}");
        let imported = service.request("POST", &target, &image);
        let is_imported = imported.as_ref().is_some_and(|(status, body)| {
            *status == 200 && !String::from_utf8_lossy(body).contains("\"error\"")
        });
        assert!(is_imported, "the image could not be imported: {imported:?}\n{}", service.log());
        Some(service)
    }

    /// Returns the path of its socket.
    pub fn socket(&self) -> std::path::PathBuf {
        self.directory.path().join("podman.sock")
    }

    /// Returns the log, for a test that fails.
    pub fn log(&self) -> String {
        self.directory.read("log").unwrap_or_default()
    }

    /// Sends a request, and returns status and body; `None` if the service does not answer.
    pub fn request(&self, method: &str, target: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        request(&self.socket(), method, target, "application/x-tar", body)
    }
}

impl Drop for PodmanService {
    fn drop(&mut self) {
        let pid = self.child.id().to_string();
        let _signalled = Command::new("kill").args(["-TERM", &pid]).stderr(Stdio::null()).status();
        let _reaped = self.child.wait();
    }
}
