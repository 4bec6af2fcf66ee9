//! A real server of OpenSSH with several names.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use ccm_testkit::{Scratch, needs_root, shell, skipped};

use crate::stand_in::{document, host, manifest, push, site};

const DAEMON: &str = "/usr/sbin/sshd";
/// Starts the daemon for one connection, with a place of its own for the directory that it demands in /run.
const START: &str =
    r#"mount -t tmpfs tmpfs /run && mkdir -m 0755 /run/sshd && exec /usr/sbin/sshd -i -f "$0" -E "$0.log""#;

/// Daemon on the loopback interface, until it is dropped.
struct Server {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts it. Each name is a host with a state of its own.
    fn start(scratch: &Scratch) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let ccm = env!("CARGO_BIN_EXE_ccm");
        let top = scratch.path().display();
        scratch.write_program(
            "session",
            &format!(
                "#!/bin/sh\nmkdir -p {top}/hosts/$NAME/bin {top}/hosts/$NAME/home\nln -sf {ccm} {top}/hosts/$NAME/bin/ccm\n\
                 export HOME={top}/hosts/$NAME/home CCM_STATE_DIR={top}/hosts/$NAME/state PATH={top}/hosts/$NAME/bin:$PATH\n\
                 mkdir -p {top}/data {top}/hosts/$NAME/data {top}/hosts/$NAME/ssh\n\
                 exec unshare --mount sh -c \"mount --bind {top}/hosts/$NAME/data {top}/data && \
                 mount --bind {top}/hosts/$NAME/ssh /etc/ssh && $SSH_ORIGINAL_COMMAND\"\n"
            ),
        );
        shell(
            &format!(
                "mkdir -m 0700 ssh && cd ssh && for key in host user; do ssh-keygen -q -t ed25519 -N '' -f $key; done
                cp user.pub authorized
                for name in web1 web2 web3; do echo \"$name $(cat host.pub)\"; done > known
                echo \"liar1 $(cat user.pub)\" >> known
                printf '%s\\n' \"HostKey $PWD/host\" \"AuthorizedKeysFile $PWD/authorized\" 'StrictModes no' 'UsePAM no' \
                    'PermitRootLogin yes' 'PasswordAuthentication no' 'AcceptEnv NAME' 'ForceCommand {top}/session' > daemon
                for name in web1 web2 web3 liar1 new1; do
                    printf 'Host %s\\n SetEnv NAME=%s\\n HostKeyAlias %s\\n' $name $name $name
                done > config
                printf '%s\\n' 'Host *' 'HostName 127.0.0.1' 'Port {}' 'User root' \"IdentityFile $PWD/user\" \
                    'IdentitiesOnly yes' \"UserKnownHostsFile $PWD/known\" 'GlobalKnownHostsFile /dev/null' \
                    'StrictHostKeyChecking ask' >> config",
                address.port()
            ),
            scratch.path(),
        );
        let ended = Arc::<AtomicBool>::default();
        let (is_ended, configuration) = (Arc::clone(&ended), scratch.path().join("ssh/daemon"));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if is_ended.load(Ordering::Relaxed) {
                    break;
                }
                let configuration = configuration.clone();
                // The thread ends with the connection of the client.
                std::thread::spawn(move || serve(stream, &configuration));
            }
        });
        Self { address, ended, thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(stream: TcpStream, configuration: &PathBuf) {
    let copy: OwnedFd = stream.try_clone().expect("a copy").into();
    let started = Command::new("unshare")
        .args(["--mount", "sh", "-c", START])
        .arg(configuration)
        .stdin(OwnedFd::from(stream))
        .stdout(copy)
        .stderr(Stdio::null())
        .status();
    drop(started);
}

/// Returns a call of `ccm push` by the real ssh.
fn by_ssh(scratch: &Scratch, words: &[&str]) -> ccm_testkit::Ccm {
    push(scratch, words).variable("CCM_SSH", &format!("ssh -F {}", scratch.at("ssh/config")))
}

fn can_serve() -> bool {
    if !needs_root() {
        return false;
    }
    if !Path::new(DAEMON).exists() {
        skipped("openssh-server is not installed");
        return false;
    }
    true
}

#[test]
fn a_server_with_several_names_gets_its_runs_and_no_wrong_key_is_accepted() {
    if !can_serve() {
        return;
    }
    let scratch = site(&["web1", "web2", "web3", "liar1", "new1"]);
    let _server = Server::start(&scratch);
    let called = by_ssh(&scratch, &["web*", "site/site.yaml"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stdout.starts_with("3 hosts: 1 change\n  "), "{}", called.shown());
    manifest(&scratch, "Hello");
    let called = by_ssh(&scratch, &["*", "site/site.yaml", "--json"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    let document = document(&called);
    for name in ["web1", "web2", "web3"] {
        assert_eq!(host(&document, name)["outcome"], "changed", "{}", called.shown());
        assert_eq!(scratch.read(&format!("hosts/{name}/data/motd")).as_deref(), Some("Hello\n"));
    }
    for name in ["liar1", "new1"] {
        let found = host(&document, name);
        assert_eq!(found["failure"]["kind"], "unreachable", "{found}");
        assert_eq!(found["failure"]["last_line"], "Host key verification failed.", "{found}");
        assert!(!scratch.has(&format!("hosts/{name}")));
    }
    let known = scratch.read("ssh/known").unwrap_or_default();
    assert_eq!(known.lines().count(), 4, "{known}");
    // No connection outlives the push.
    assert_eq!(shell(&format!("pgrep -f '[s]sh -F {}' || :", scratch.at("ssh/config")), scratch.path()), "");
}

#[test]
fn a_run_whose_connection_is_killed_finishes_and_is_recorded() {
    if !can_serve() {
        return;
    }
    let scratch = site(&["web1"]);
    let _server = Server::start(&scratch);
    let (begun, go) = (scratch.at("hosts/web1/begun"), scratch.at("go"));
    scratch.write_program(
        "waits",
        &format!("#!/bin/sh\n: >{begun}\nwhile [ ! -e {go} ]; do sleep 0.01; done\n"),
    );
    let waits = scratch.at("waits");
    scratch.write(
        "site/site.yaml",
        format!("ccm: {{name: site, resources: [{{exec: [{{'{waits}': {{}}}}]}}]}}\n"),
    );
    let running = by_ssh(&scratch, &["web1", "site/site.yaml", "--json"]).start();
    ccm_testkit::wait_until("the run has begun", || scratch.has("hosts/web1/begun"));
    shell(&format!("kill -KILL $(pgrep -f '[s]sh -F {}')", scratch.at("ssh/config")), scratch.path());
    let called = running.finish();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert_eq!(host(&document(&called), "web1")["failure"]["kind"], "died", "{}", called.shown());
    scratch.write("go", "");
    ccm_testkit::wait_until("the run is recorded", || {
        crate::groups::on_host(&scratch, "web1", &["history", "--json"]).contains("\"exit_code\": 0")
    });
}

#[test]
fn each_host_opens_what_is_encrypted_to_its_own_key() {
    const SECRET: &str = "s3cret-word-of-the-hosts";
    if !can_serve() {
        return;
    }
    let scratch = site(&["web1", "web2", "web3"]);
    let _server = Server::start(&scratch);
    shell(
        "for name in web1 web2 web3; do
            mkdir -p hosts/$name/ssh && chmod 700 hosts/$name/ssh
            ssh-keygen -q -t ed25519 -N '' -f hosts/$name/ssh/ssh_host_ed25519_key
        done",
        scratch.path(),
    );
    let encrypted = ccm_testkit::Ccm::new(env!("CARGO_BIN_EXE_ccm"), &scratch)
        .args(&["secret", "encrypt", "--as", "password"])
        .args(&["--to", &scratch.at("hosts/web1/ssh/ssh_host_ed25519_key.pub")])
        .args(&["--to", &scratch.at("hosts/web2/ssh/ssh_host_ed25519_key.pub")])
        .variable("HOME", &scratch.at("home"))
        .input(SECRET)
        .run();
    assert_eq!(encrypted.code, 0, "{}", encrypted.shown());
    scratch.write(
        "site/site.yaml",
        format!(
            "data:\n{}ccm: {{resources: [{{file: [{{{}: {{content: \"{{{{ Data.password }}}}\", mode: \"0600\"}}}}]}}]}}\n",
            encrypted.stdout,
            scratch.at("data/app.conf")
        ),
    );
    let called = by_ssh(&scratch, &["*", "site/site.yaml", "--json"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(!called.shown().contains(SECRET), "{}", called.shown());
    let document = document(&called);
    for name in ["web1", "web2"] {
        assert_eq!(host(&document, name)["outcome"], "changed", "{}", called.shown());
        assert_eq!(scratch.read(&format!("hosts/{name}/data/app.conf")).as_deref(), Some(SECRET));
    }
    // The third one is no recipient.
    assert_eq!(host(&document, "web3")["failure"]["kind"], "refused", "{}", called.shown());
    assert!(called.stdout.contains("is not encrypted to"), "{}", called.shown());
    assert!(!scratch.has("hosts/web3/data/app.conf"));
    let left = shell(&format!("grep -rlF {SECRET} . | grep -v /data/app.conf || :"), scratch.path());
    assert_eq!(left, "");
}
