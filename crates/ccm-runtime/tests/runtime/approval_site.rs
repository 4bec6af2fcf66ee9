//! A machine with approvers, whose clock and boot a test changes.

#![allow(clippy::panic, reason = "a test ends with its first error")]

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use ccm_host::{Interface, Kernel, Machine, Space};
use ccm_model::{Failure, FailureKind, Outcome};
use ccm_runtime::approval::{ApprovalLimits, ApprovalState, ApproveError, ListedIntent};
use ccm_runtime::{Clock, Config, Doors, Local, PolicySource, RunMode, Session, SigningKey, SystemDoors};
use ccm_testkit::Scratch;

use crate::{config, manifest_of, run};

/// Machine with approvers, each with a key.
pub(crate) struct Site {
    pub(crate) scratch: Scratch,
    /// Time and boot of the machine beside the true ones.
    moved: Arc<MovedMachine>,
}

/// Time that has passed, and another boot.
#[derive(Debug, Default)]
struct MovedMachine {
    /// Seconds by which the clock was set.
    clock: AtomicI64,
    /// Seconds since the boot.
    since_boot: AtomicU64,
    boot: Mutex<Option<String>>,
}

/// Doors with a clock and a boot that a test changes.
struct MovedDoors(Arc<MovedMachine>);

struct MovedClock(Arc<MovedMachine>);

impl Clock for MovedClock {
    fn now(&self) -> SystemTime {
        let (now, seconds) = (SystemDoors.clock().now(), self.0.clock.load(Ordering::Relaxed));
        let moved = Duration::from_secs(seconds.unsigned_abs());
        if seconds < 0 { now - moved } else { now + moved }
    }

    fn monotonic(&self) -> Duration {
        SystemDoors.clock().monotonic()
    }

    fn wait(&self, duration: Duration) -> Local<'_, ()> {
        Box::pin(async move {
            ccm_host::after(Some(duration)).await;
        })
    }
}

/// Machine that was started at another time.
struct Rebooted(Box<dyn Machine>, Arc<MovedMachine>);

impl Machine for Rebooted {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let boot = self.1.boot.lock().expect("a boot").clone();
        match boot.filter(|_| path == Path::new("/proc/sys/kernel/random/boot_id")) {
            Some(boot) => Ok(boot.into_bytes()),
            None => self.0.read(path, limit),
        }
    }

    fn read_start(&self, path: &Path, length: u64) -> io::Result<Vec<u8>> {
        self.0.read_start(path, length)
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.exists(path)
    }

    fn link(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.link(path)
    }

    fn processes(&self) -> io::Result<u64> {
        self.0.processes()
    }

    fn kernel(&self) -> Kernel {
        self.0.kernel()
    }

    fn since_boot(&self) -> Duration {
        self.0.since_boot() + Duration::from_secs(self.1.since_boot.load(Ordering::Relaxed))
    }

    fn page_size(&self) -> u64 {
        self.0.page_size()
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        self.0.space(path)
    }

    fn interfaces(&self) -> io::Result<Vec<Interface>> {
        self.0.interfaces()
    }
}

impl Doors for MovedDoors {
    fn clock(&self) -> Box<dyn Clock> {
        Box::new(MovedClock(Arc::clone(&self.0)))
    }

    fn machine(&self) -> Box<dyn Machine> {
        Box::new(Rebooted(SystemDoors.machine(), Arc::clone(&self.0)))
    }
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

pub(crate) fn failure(outcome: &Outcome) -> Option<&Failure> {
    match outcome {
        Outcome::Failed(failure) => Some(failure),
        _ => None,
    }
}

impl Site {
    pub(crate) fn new(approvers: &[&str]) -> Self {
        let site = Self { scratch: Scratch::new(), moved: Arc::default() };
        let lines: Vec<String> =
            approvers.iter().map(|name| format!("{name} {}", site.make_key(name))).collect();
        let text = lines.concat();
        site.scratch.write("etc/approvers", text);
        site.policy("rules: [{name: touches, match: {program: touch}, ask: true}]\n");
        site
    }

    /// Makes a key, and returns its public line.
    pub(crate) fn make_key(&self, name: &str) -> String {
        let key = self.scratch.path().join(name);
        // A name may begin with the type of its key.
        let kind = name.split('-').next().filter(|kind| ["ecdsa", "rsa"].contains(kind));
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", kind.unwrap_or("ed25519"), "-N", "", "-C", name, "-f"])
            .arg(&key)
            .status();
        assert!(made.expect("ssh-keygen").success());
        std::fs::read_to_string(key.with_extension("pub")).expect("a key")
    }

    /// Lets the keys of these people count no more.
    pub(crate) fn revoke(&self, names: &[&str]) {
        let public = |name: &&str| self.scratch.read(&format!("{name}.pub")).expect("a key");
        self.scratch.write("etc/approvers.revoked", names.iter().map(public).collect::<String>());
        set_mode(&self.scratch.path().join("etc/approvers.revoked"), 0o644);
    }

    /// Signs a text with the key of somebody.
    pub(crate) fn sign(&self, name: &str, namespace: &str, text: &str) -> String {
        self.scratch.write("statement", text);
        let signed = Command::new("ssh-keygen")
            .args(["-q", "-Y", "sign", "-n", namespace, "-f"])
            .arg(self.scratch.path().join(name))
            .stdin(std::fs::File::open(self.scratch.path().join("statement")).expect("a file"))
            .output()
            .expect("ssh-keygen");
        String::from_utf8(signed.stdout).expect("text")
    }

    pub(crate) fn put_into_inbox(&self, text: &str) {
        self.scratch.write(&format!("approvals/inbox/{}", self.inbox().len()), text);
    }

    /// Returns the names of the files of the inbox.
    pub(crate) fn inbox(&self) -> Vec<std::ffi::OsString> {
        let inbox = self.scratch.path().join("approvals/inbox");
        let entries = std::fs::read_dir(inbox).expect("the inbox");
        entries.map(|entry| entry.expect("an entry").file_name()).collect()
    }

    pub(crate) fn policy(&self, sections: &str) {
        self.scratch.write("etc/policy.yaml", format!("ccm_policy: 1\n{sections}"));
        for (name, mode) in [("etc/policy.yaml", 0o644), ("etc/approvers", 0o644), ("etc", 0o755)] {
            set_mode(&self.scratch.path().join(name), mode);
        }
    }

    pub(crate) fn session(&self) -> Session {
        let root = self.scratch.path().canonicalize().expect("a path");
        Session::open(Config {
            policy: PolicySource::Directory(root.join("etc")),
            approvals: Some(root.join("approvals")),
            doors: Box::new(MovedDoors(Arc::clone(&self.moved))),
            ..config(&self.scratch)
        })
    }

    /// Returns a manifest of an exec with these properties.
    pub(crate) fn manifest(&self, properties: &str) -> PathBuf {
        let made = self.scratch.at("made");
        manifest_of(&self.scratch, &format!("    - exec: [{{'touch {made}': {{cwd: /, {properties}}}}}]\n"))
    }

    /// Returns a manifest that runs a command.
    pub(crate) fn exec(&self, command: &str) -> PathBuf {
        manifest_of(&self.scratch, &format!("    - exec: [{{it: {{command: {command}, cwd: /}}}}]\n"))
    }

    /// Applies a manifest. Returns the code of the request and the error, if an approval is needed.
    pub(crate) fn apply(&self, manifest: &Path) -> Result<(), (Option<String>, String)> {
        self.run(manifest, RunMode::Apply)
    }

    pub(crate) fn run(&self, manifest: &Path, mode: RunMode) -> Result<(), (Option<String>, String)> {
        let (outcomes, _) = run(&self.session(), manifest, mode);
        match outcomes.iter().find_map(failure) {
            None => Ok(()),
            Some(failure) => {
                assert_eq!(failure.kind, FailureKind::ApprovalRequired, "{failure:?}");
                let code = failure.intent.as_ref().map(|intent| intent.0[..4].to_owned());
                Err((code, format!("{}; {}", failure.chain.join(": "), failure.hints.join("; "))))
            }
        }
    }

    /// Applies a manifest, and returns the code of the request that then waits.
    pub(crate) fn waits(&self, manifest: &Path) -> (String, String) {
        let (code, text) = self.apply(manifest).expect_err("a question");
        (code.unwrap_or_else(|| panic!("{text}")), text)
    }

    pub(crate) fn approve(&self, code: &str, name: &str) -> Result<ApprovalState, ApproveError> {
        let key = SigningKey::File(self.scratch.path().join(name));
        let approved = self.session().governance().approve_request(code, &key, &ApprovalLimits::default())?;
        approved.state.ok_or(ApproveError::OwnerOnly)
    }

    pub(crate) fn approved(&self, code: &str) {
        let state = self.approve(code, "alice").expect("an approval");
        assert!(matches!(state, ApprovalState::Approved { .. }), "{state:?}");
    }

    /// Returns the intents that can still be approved or used.
    pub(crate) fn requests(&self) -> Vec<ListedIntent> {
        let mut requests = self.session().governance().approval_requests().expect("requests");
        requests.retain(|listed| listed.state.is_live());
        requests
    }

    /// Sets the clock.
    pub(crate) fn wait(&self, seconds: i64) {
        self.moved.clock.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Lets time pass since the boot, but not by the clock.
    pub(crate) fn pass(&self, seconds: u64) {
        self.moved.since_boot.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Starts the machine again.
    pub(crate) fn boot(&self, id: &str) {
        *self.moved.boot.lock().expect("a boot") = Some(id.to_owned());
    }
}
