//! A Podman service of the test's own, which speaks the same API.

use super::http::request;
use super::image::{IMAGE, busybox_image};
use super::service::TestService;
use crate::privilege::needs_root;
use crate::scratch::Scratch;
use crate::skip::skipped;
use crate::wait::wait_until;

/// A running service. It is stopped when it is dropped.
#[derive(Debug)]
pub struct PodmanService {
    _service: TestService,
    directory: Scratch,
}

impl PodmanService {
    /// Starts a service. Records a skip and returns `None` where none can run.
    pub fn start() -> Option<Self> {
        if !needs_root() {
            return None;
        }
        let Some(image) = busybox_image() else {
            skipped("busybox-static is not installed");
            return None;
        };
        if !std::path::Path::new("/usr/bin/podman").exists() {
            skipped("podman is not installed");
            return None;
        }
        let directory = Scratch::new();
        // The defaults are more than an unprivileged machine allows.
        let limits = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n";
        let configuration = directory.write("containers.conf", limits);
        let (root, run, temporary) = (directory.at("root"), directory.at("run"), directory.at("tmp"));
        let address = format!("unix://{}", directory.at("podman.sock"));
        let arguments = [
            "--root",
            &root,
            "--runroot",
            &run,
            "--tmpdir",
            &temporary,
            "--storage-driver",
            "vfs",
            "--cgroup-manager",
            "cgroupfs",
            "--events-backend",
            "file",
            "system",
            "service",
            "--time",
            "0",
            &address,
        ];
        let configuration = configuration.display().to_string();
        let variables = [("CONTAINERS_CONF", &*configuration)];
        let started = TestService::start(
            "exec podman \"$@\"",
            &arguments,
            &variables,
            directory.path(),
            "libpod_parent",
        );
        let mut service = started.ok()?;
        let socket = directory.path().join("podman.sock");
        let mut is_dead = false;
        wait_until("the Podman service answers or ends", || {
            let answer = request(&socket, "GET", "/_ping", "", b"");
            is_dead = service.has_ended();
            is_dead || answer.is_some_and(|(status, _)| status == 200)
        });
        let service = Self { _service: service, directory };
        if is_dead {
            skipped(&format!("a Podman service does not start here: {}", service.log()));
            return None;
        }
        // Podman takes no `tag` beside the name.
        let target = format!("/images/create?fromSrc=-&repo={IMAGE}");
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
