//! Services of a test's own, and the end of everything that they started.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use crate::wait::wait_until;

/// Beginning of the names of control groups that belong to one service.
pub(super) const OWN_GROUP: &str = "ccm-test-";

/// Program that is ended with this process, whatever ends it, or with this value.
#[derive(Debug)]
pub(super) struct TestService {
    pub(super) child: Child,
    /// Keeps the thread alive that started the program: the kernel signals the program at the end of the thread.
    keeper: Option<(mpsc::Sender<()>, thread::JoinHandle<()>)>,
    directory: String,
    group: String,
}

impl TestService {
    /// Starts a program in a network and with mounts of its own: shell commands that end with `exec`. The program
    /// names `directory` in its arguments, as everything does that it starts, and uses the control group `group`.
    pub(super) fn start(
        script: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
        directory: &Path,
        group: &str,
    ) -> io::Result<Self> {
        let log = std::fs::File::create(directory.join("log"))?;
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM", "unshare", "--net", "--mount", "--", "/bin/sh", "-c"])
            .arg(format!("ip link set lo up 2>/dev/null; {script}"))
            .arg("service")
            .args(arguments)
            .env_remove("DOCKER_HOST")
            .envs(variables.iter().copied())
            // The helper of Podman writes a file into its working directory when memory ends.
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let (sender, receiver) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let keeper = thread::spawn(move || {
            let _sent = sender.send(command.spawn());
            // The channel is closed at the end of the service.
            let _closed = ended.recv();
        });
        let child = receiver.recv().map_err(|_| io::Error::other("the thread ended"))??;
        Ok(Self {
            child,
            keeper: Some((end, keeper)),
            directory: directory.display().to_string(),
            group: group.to_owned(),
        })
    }

    /// Returns `true` if the program has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Ends the program at once, as a crash would.
    pub(super) fn kill(&mut self) {
        let _dead = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl Drop for TestService {
    fn drop(&mut self) {
        signal("TERM", self.child.id());
        let _reaped = self.child.wait();
        end_leftovers(&self.directory);
        if let Some((end, keeper)) = self.keeper.take() {
            drop(end);
            let _ended = keeper.join();
        }
        remove_groups(&self.group);
    }
}

fn signal(name: &str, pid: u32) {
    let _gone =
        Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Kills the processes that name a directory in their arguments, and their children: containers and their helpers
/// outlive a service that was killed.
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
    let parent = |pid: u32| {
        let row = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        row.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let helpers: Vec<u32> = processes().filter(names_directory).collect();
    let is_child = |pid: &u32| parent(*pid).is_some_and(|parent| helpers.contains(&parent));
    let children: Vec<u32> = processes().filter(is_child).collect();
    helpers.iter().chain(&children).for_each(|pid| signal("KILL", *pid));
    wait_until("the helpers of containers are gone", || !processes().any(|pid| names_directory(&pid)));
}

/// Removes the control groups below a group, and the group itself. One that another service uses stays.
fn remove_groups(group: &str) {
    let controllers = std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    let roots = controllers.map(|entry| entry.path()).chain([PathBuf::from("/sys/fs/cgroup")]);
    for path in roots.map(|root| root.join(group)) {
        // A process that was killed stays in its group until it has ended.
        if group.starts_with(OWN_GROUP) {
            wait_until("the control groups are empty", || is_empty(&path));
        }
        remove_group(&path);
    }
}

fn is_empty(path: &Path) -> bool {
    let processes = std::fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    processes.is_empty() && groups_below(path).iter().all(|below| is_empty(below))
}

fn groups_below(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn remove_group(path: &Path) {
    for below in groups_below(path) {
        remove_group(&below);
    }
    let _removed = std::fs::remove_dir(path);
}
