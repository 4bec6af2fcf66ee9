//! Servers of repositories: git behind a web server, and a daemon of OpenSSH.

use std::fs;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use ccm_testkit::{WebRequest, WebStream, answer, shell};

const DAEMON: &str = "/usr/sbin/sshd";
/// Starts the daemon for one connection, with a place of its own for the directory that it demands in /run.
const START: &str =
    r#"mount -t tmpfs tmpfs /run && mkdir -m 0755 /run/sshd && exec /usr/sbin/sshd -i -f "$0" -E "$0.log""#;

/// Answers as the program of git for web servers does.
pub(crate) fn answer_as_git(top: &Path, request: &WebRequest, stream: &mut dyn WebStream) -> io::Result<()> {
    let mut words = request.line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let field = |name| request.field(name).unwrap_or_default();
    let length = field("content-length").parse().unwrap_or_default();
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let mut started = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", top)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", method)
        .env("CONTENT_TYPE", field("content-type"))
        .env("CONTENT_LENGTH", length.to_string())
        .env("HTTP_CONTENT_ENCODING", field("content-encoding"))
        .env("GIT_PROTOCOL", field("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = started.stdin.take() {
        input.write_all(&body)?;
    }
    let printed = started.wait_with_output()?.stdout;
    let end = printed.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(printed.len());
    let head = String::from_utf8_lossy(&printed[..end]).into_owned();
    let fields: Vec<(&str, &str)> = head.lines().filter_map(|line| line.split_once(": ")).collect();
    let status = fields.iter().find(|(name, _)| *name == "Status").map_or("200 OK", |(_, status)| status);
    answer(stream, status, &fields, printed.get(end + 4..).unwrap_or_default())
}

/// Daemon of OpenSSH on the loopback interface, with keys and a configuration of its own, until it is dropped.
pub(crate) struct SshServer {
    address: SocketAddr,
    directory: PathBuf,
    connections: Arc<AtomicUsize>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SshServer {
    pub(crate) fn is_installed() -> bool {
        Path::new(DAEMON).exists()
    }

    /// Starts it with its files in a directory.
    pub(crate) fn start(directory: &Path) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let port = address.port();
        shell(
            &format!(
                "mkdir -m 0700 ssh && cd ssh && for key in host user; do ssh-keygen -q -t ed25519 -N '' -f $key; done
                cp user.pub authorized
                echo \"[127.0.0.1]:{port} $(cat host.pub)\" > known
                printf '%s\\n' \"HostKey $PWD/host\" \"AuthorizedKeysFile $PWD/authorized\" 'StrictModes no' 'UsePAM no' \
                    'PermitRootLogin yes' 'PasswordAuthentication no' 'LogLevel VERBOSE' > daemon"
            ),
            directory,
        );
        let directory = directory.join("ssh");
        let (connections, ended) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (counted, is_ended, configuration) =
            (Arc::clone(&connections), Arc::clone(&ended), directory.join("daemon"));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if is_ended.load(Ordering::Relaxed) {
                    break;
                }
                counted.fetch_add(1, Ordering::Relaxed);
                let configuration = configuration.clone();
                // The thread ends with the connection of the client.
                std::thread::spawn(move || serve(stream, &configuration));
            }
        });
        Self { address, directory, connections, ended, thread: Some(thread) }
    }

    /// Returns the address of a repository of this machine.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("ssh://root@127.0.0.1:{}{path}", self.address.port())
    }

    /// Returns the variables with which git calls ssh with the key and the known daemon of the test.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let at = |name: &str| self.directory.join(name).display().to_string();
        let command = format!(
            "ssh -F none -i {} -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile={} -o GlobalKnownHostsFile=/dev/null \
             -o StrictHostKeyChecking=yes",
            at("user"),
            at("known")
        );
        vec![("GIT_SSH_COMMAND".to_owned(), command)]
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Knows the daemon by another key from now on.
    pub(crate) fn change_known_key(&self) {
        let known = fs::read_to_string(self.directory.join("known")).expect("a file");
        let place = known.split(' ').next().unwrap_or_default();
        let other = fs::read_to_string(self.directory.join("user.pub")).expect("a key");
        fs::write(self.directory.join("known"), format!("{place} {other}")).expect("written");
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(stream: TcpStream, configuration: &Path) -> io::Result<()> {
    let copy: OwnedFd = stream.try_clone()?.into();
    let mut started = Command::new("unshare")
        .args(["--mount", "sh", "-c", START])
        .arg(configuration)
        .stdin(OwnedFd::from(stream))
        .stdout(copy)
        .spawn()?;
    started.wait().map(drop)
}
