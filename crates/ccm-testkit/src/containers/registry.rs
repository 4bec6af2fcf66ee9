//! A registry on loopback, in the network of a test's own daemon.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ccm_model::encode_base64;
use nix::sched::{CloneFlags, setns};
use serde_json::json;

use super::dockerd::Dockerd;
use super::http::{answer, read_request};

/// Registry with one image of one layer. It has every name and tag but those that begin with `missing`.
#[derive(Debug)]
pub struct Registry {
    address: SocketAddr,
    daemon: u32,
    requests: Arc<Mutex<Vec<String>>>,
}

struct Blobs {
    /// Header that every request needs; `None` for a registry that is open.
    authorization: Option<String>,
    layer: Vec<u8>,
    config: Vec<u8>,
    manifest: Vec<u8>,
}

impl Registry {
    /// Starts a registry that speaks the distribution API, with the archive of a root directory as its image.
    pub fn start(daemon: &Dockerd, archive: Vec<u8>) -> Self {
        Self::start_with(daemon, archive, None)
    }

    /// Starts a registry that needs a login.
    pub fn start_private(daemon: &Dockerd, archive: Vec<u8>, user: &str, password: &str) -> Self {
        let login = encode_base64(format!("{user}:{password}").as_bytes());
        Self::start_with(daemon, archive, Some(format!("Basic {login}")))
    }

    fn start_with(daemon: &Dockerd, archive: Vec<u8>, authorization: Option<String>) -> Self {
        let digest = |bytes: &[u8]| format!("sha256:{}", ccm_host::sha256(bytes));
        let config = json!({
            "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }, "os": "linux", "config": {"Env": ["FROM=registry"]},
            "rootfs": {"type": "layers", "diff_ids": [digest(&archive)]},
        });
        let config = config.to_string().into_bytes();
        let manifest = json!({
            "schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {
                "mediaType": "application/vnd.docker.container.image.v1+json", "size": config.len(),
                "digest": digest(&config),
            },
            "layers": [{
                "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", "size": archive.len(),
                "digest": digest(&archive),
            }],
        });
        let manifest = manifest.to_string().into_bytes();
        let blobs = Arc::new(Blobs { authorization, layer: archive, config, manifest });
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (sender, receiver) = mpsc::channel();
        let (pid, log) = (daemon.pid(), Arc::clone(&requests));
        thread::spawn(move || {
            let listener = in_network_of(pid, || TcpListener::bind("127.0.0.1:0"));
            let listener = listener.unwrap_or_else(|error| panic!("no listener: {error}"));
            let _sent = sender.send(listener.local_addr());
            for stream in listener.incoming().flatten() {
                let (blobs, log) = (Arc::clone(&blobs), Arc::clone(&log));
                thread::spawn(move || serve(stream, &blobs, &log));
            }
        });
        let address = receiver.recv().unwrap_or_else(|error| panic!("{error}"));
        let address = address.unwrap_or_else(|error| panic!("{error}"));
        Self { address, daemon: pid, requests }
    }

    /// Returns the name of an image in this registry.
    pub fn image(&self, name: &str) -> String {
        format!("127.0.0.1:{}/{name}", self.address.port())
    }

    /// Returns the requests, as `GET /v2/`, with ` login` behind those that had one.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of the daemon in whose network the registry is.
    pub fn daemon(&self) -> u32 {
        self.daemon
    }
}

/// Runs a function in the network of a process. The thread stays there.
fn in_network_of<T>(pid: u32, function: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
    let network = File::open(format!("/proc/{pid}/ns/net"))?;
    setns(network, CloneFlags::CLONE_NEWNET)?;
    function()
}

fn serve(stream: TcpStream, blobs: &Blobs, log: &Mutex<Vec<String>>) {
    const MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
    let Ok(mut writer) = stream.try_clone() else { return };
    let Some(request) = read_request(&mut BufReader::new(stream)) else { return };
    let sign = if request.authorization.is_some() { " login" } else { "" };
    let line = format!("{} {}{sign}", request.method, request.target);
    log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    let digest = |bytes: &[u8]| format!("sha256:{}", ccm_host::sha256(bytes));
    let target = &request.target;
    let is_open = blobs.authorization.is_none() || blobs.authorization == request.authorization;
    let (status, kind, body): (_, _, &[u8]) = if !is_open {
        let error = br#"{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}"#;
        (401, "application/json", error)
    } else if target.contains("/missing") {
        (404, "application/json", br#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}"#)
    } else if target == "/v2/" {
        (200, "application/json", b"{}")
    } else if target.contains("/manifests/") {
        (200, MANIFEST, &blobs.manifest)
    } else if target.ends_with(&digest(&blobs.config)) {
        (200, "application/octet-stream", &blobs.config)
    } else if target.ends_with(&digest(&blobs.layer)) {
        (200, "application/octet-stream", &blobs.layer)
    } else {
        (404, "application/json", b"{}")
    };
    let digest = digest(body);
    // Only an answer with the status 401 asks for a login.
    let headers = [
        ("Content-Type", kind),
        ("Docker-Content-Digest", &digest),
        ("Docker-Distribution-Api-Version", "registry/2.0"),
        ("Www-Authenticate", "Basic realm=\"test\""),
    ];
    let bytes = answer(status, &headers, body);
    let head = bytes.len() - body.len();
    let sent = if request.method == "HEAD" { &bytes[..head] } else { &bytes[..] };
    // The daemon may end the connection early.
    let _sent = writer.write_all(sent);
}
