//! The service of tools: other users call through a socket, with their own rights and under the policy of root.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use ccm_testkit::{Called, Ccm, GovernedMachine, OWN_MACHINE, RunningCcm, Scratch, shell, wait_until};
use serde_json::{Value, json};

use crate::approvers;
use crate::client::{LineClient, text};

/// Users of the machine. Their program is a copy that they can read.
const USERS: &str = "
echo 'agent:x:4401:4401::/var/lib/agent:/bin/sh' >> etc/passwd
echo 'bob:x:4402:4402::/var/lib/bob:/bin/sh' >> etc/passwd
echo 'carol:x:4403:4403::/var/lib/carol:/bin/sh' >> etc/passwd
echo 'dave:x:4404:4404::/var/lib/dave:/bin/sh' >> etc/passwd
echo 'agent:x:4401:' >> etc/group
mkdir -p lib/agent lib/work
chown 4401:4401 lib/agent lib/work
chmod 755 . lib";
const COPY: &str = "cp \"$0\" lib/ccm-binary
chmod 755 lib/ccm-binary
exec true";
pub(crate) const SOCKET: &str = "/var/lib/tool.sock";

/// Policy of the machine, whose workspace belongs to the user agent.
fn policy(settings: &str) -> String {
    format!("ccm_policy: 1\nworkspace: {{path: /var/lib/work, restrict: true}}\n{settings}")
}

pub(crate) const ON_ASK: &str =
    "callers: {tool: {approval: on_ask, tools: [governed-execute], users: [agent]}}\n";

/// Machine with a service of tools, which a process of ccm answers for each connection.
pub(crate) struct Service {
    pub(crate) machine: Arc<GovernedMachine>,
    has_ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
    processes: Arc<Mutex<Vec<RunningCcm>>>,
}

impl Service {
    pub(crate) fn new(settings: &str) -> Option<Self> {
        let machine = Arc::new(crate::machine("")?);
        shell(USERS, machine.scratch.path());
        let copied = machine.call(&[]).after_mounting(&format!("{OWN_MACHINE}\n{COPY}")).run();
        assert_eq!(copied.code, 0, "{}", copied.shown());
        machine.scratch.write("etc/ccm/policy.yaml", policy(settings));
        let socket = machine.scratch.path().join("lib/tool.sock");
        let listener = UnixListener::bind(&socket).expect("a socket");
        std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o666)).expect("a mode");
        let (has_ended, processes) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let accepting = std::thread::spawn({
            let (machine, has_ended, processes) =
                (Arc::clone(&machine), Arc::clone(&has_ended), Arc::clone(&processes));
            move || accept(&machine, &listener, &has_ended, &processes)
        });
        Some(Self { machine, has_ended, accepting: Some(accepting), processes })
    }

    /// Prepares a call of a user.
    pub(crate) fn call(&self, uid: u32, args: &[&str]) -> Ccm {
        let become_user = format!(
            "cd /\nexec setpriv --reuid={uid} --regid={uid} --clear-groups env HOME=/ /var/lib/ccm-binary \"$@\""
        );
        self.machine.call(args).after_mounting(&format!("{OWN_MACHINE}\n{become_user}"))
    }

    pub(crate) fn agent(&self, args: &[&str]) -> Called {
        self.call(4401, args).run()
    }

    /// Connects the user agent by `ccm mcp`.
    fn connect(&self) -> LineClient {
        self.connect_for(4401, "governed-execute")
    }

    /// Connects a user by `ccm mcp`, for a set of tools.
    pub(crate) fn connect_for(&self, uid: u32, set: &str) -> LineClient {
        let mut client = LineClient::of(self.call(uid, &["mcp", "--socket", SOCKET, "--set", set]));
        client.initialize("2025-11-25");
        client
    }

    /// Connects root without a program of ccm in between.
    pub(crate) fn connect_directly(&self) -> UnixStream {
        UnixStream::connect(self.machine.scratch.path().join("lib/tool.sock")).expect("a service")
    }

    /// Starts the service for one connection of root, with more options.
    pub(crate) fn serve(&self, options: &[&str]) -> (RunningCcm, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let args = [&["mcp", "--service", "--set", "governed-execute"], options].concat();
        let program = format!("{OWN_MACHINE}\ncd /\nexec /var/lib/ccm-binary \"$@\"");
        let call = self.machine.call(&args).after_mounting(&program).stdin(OwnedFd::from(theirs));
        (call.start(), ours)
    }

    pub(crate) fn log(&self) -> Vec<Value> {
        let lines = self.machine.audit_log();
        lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Returns the numbers of the processes that serve a connection.
    pub(crate) fn serving(&self) -> Vec<u32> {
        self.processes.lock().expect("processes").iter().map(RunningCcm::pid).collect()
    }
}

fn accept(
    machine: &GovernedMachine,
    listener: &UnixListener,
    has_ended: &AtomicBool,
    processes: &Mutex<Vec<RunningCcm>>,
) {
    let program = format!("{OWN_MACHINE}\ncd /\nexec /var/lib/ccm-binary \"$@\"");
    for connection in listener.incoming() {
        if has_ended.load(Ordering::SeqCst) {
            return;
        }
        let connection = OwnedFd::from(connection.expect("a connection"));
        let args = ["mcp", "--service", "--set", "governed-execute", "--set", "apply"];
        let process = machine.call(&args).after_mounting(&program).stdin(connection).start();
        processes.lock().expect("processes").push(process);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::SeqCst);
        let _woken = UnixStream::connect(self.machine.scratch.path().join("lib/tool.sock"));
        if let Some(accepting) = self.accepting.take() {
            let _ended = accepting.join();
        }
    }
}

#[test]
fn a_user_calls_with_its_own_rights_under_the_policy_of_root() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let mut client = service.connect();
    let who = client.call("exec", json!({"command": "id", "args": ["-u"]}));
    assert_eq!(text(&who), "4401\n", "{who}");
    let script = "umask 077\necho one > made\nid -un";
    let made = client.call("bash", json!({"script": script}));
    assert_eq!(text(&made), "agent\n", "{made}");
    let owner = std::fs::metadata(service.machine.scratch.path().join("lib/work/made")).expect("a file");
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&owner), 4401);
    // What root alone may read stays unread, and what the policy denies does not run.
    let secret = service.machine.scratch.write("lib/work/secret", "of root");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    let unread = client.call("exec", json!({"command": "cat", "args": ["secret"]}));
    assert!(text(&unread).contains("Permission denied"), "{unread}");
    let refused = client.call("exec", json!({"command": "sudo ls"}));
    assert_eq!(refused["structuredContent"]["status"], "denied", "{refused}");
    let outside = client.call("exec", json!({"command": "ls", "workingDir": "/etc"}));
    assert!(text(&outside).contains("path outside working dir"), "{outside}");
    assert_eq!(client.close().code, 0);

    let log = service.log();
    let of_calls: Vec<&Value> =
        log.iter().filter(|line| line["type"] == "intent" || line["type"] == "refused").collect();
    assert!(of_calls.len() >= 5, "{log:#?}");
    for line in of_calls {
        assert_eq!((&line["by"]["user"], &line["by"]["uid"]), (&json!("agent"), &json!(4401)), "{line}");
    }
}

#[test]
fn tools_that_read_read_what_the_user_may_read() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let scratch = &service.machine.scratch;
    let own = "ccm:\n  name: own\n  resources:\n    - file: [{/var/lib/work/a: {content: one}}]\n";
    scratch.write("lib/work/own.yaml", own);
    let secret = scratch.write("lib/work/secret.yaml", "password: hunter2\n");
    std::fs::set_permissions(secret, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    shell("mkfifo -m 666 pipe.yaml", &scratch.path().join("lib/work"));
    let mut client = service.connect();
    let valid = client.call("validate", json!({"manifest": "/var/lib/work/own.yaml"}));
    assert_eq!(valid["structuredContent"]["valid"], true, "{valid}");
    let graph = client.call("graph", json!({"manifest": "/var/lib/work/own.yaml"}));
    assert!(text(&graph).contains("file#/var/lib/work/a"), "{graph}");
    for tool in ["validate", "noop", "graph"] {
        let unread = client.call(tool, json!({"manifest": "/var/lib/work/secret.yaml"}));
        assert!(text(&unread).contains("Permission denied"), "{tool}: {unread}");
        assert!(!unread.to_string().contains("hunter2"), "{tool}: {unread}");
        for path in ["/var/lib/work/pipe.yaml", "/dev/stdin", "/dev/null"] {
            let unread = client.call(tool, json!({ "manifest": path }));
            assert!(text(&unread).contains("it is not a regular file"), "{tool}: {unread}");
        }
    }
    let facts = client.call("facts", json!({}));
    assert!(facts["structuredContent"]["facts"]["host"].is_object(), "{facts}");
    // The runs of root are not those of the user.
    for tool in ["history", "status"] {
        let shown = client.call(tool, json!({}));
        assert_eq!(shown["structuredContent"]["status"], "done", "{shown}");
    }
    let judged = client.call("policy_explain", json!({"command": "rm -rf build"}));
    assert_eq!(judged["structuredContent"]["verdict"], "ask", "{judged}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn an_answer_shows_nothing_of_directories_that_the_user_may_not_enter() {
    let Some(service) = Service::new(ON_ASK) else { return };
    approvers::add(&service.machine);
    let script = "
mkdir -m 700 lib/secret
ln -s /nonexist/name lib/secret/link
echo 'echo x' > lib/secret/file
mkdir lib/secret/directory
mkfifo lib/secret/pipe";
    shell(script, service.machine.scratch.path());
    let answer = |command: &str, name: &str| {
        let called = service.agent(&["tool", "--socket", SOCKET, "exec", command]);
        let text = format!("{}{}", called.stdout, called.stderr);
        let of_call = |line: &&str| !line.contains("intent") && !line.contains("approve with");
        let lines: Vec<String> =
            text.lines().filter(of_call).map(|line| line.replace(name, "NAME")).collect();
        (called.code, lines)
    };
    for command in [
        "tee /var/lib/secret/NAME",
        "sh /var/lib/secret/NAME",
        ". /var/lib/secret/NAME",
        "/var/lib/secret/NAME",
    ] {
        let missing = answer(&command.replace("NAME", "missing"), "missing");
        for name in ["link", "file", "directory", "pipe"] {
            let found = answer(&command.replace("NAME", name), name);
            assert_eq!(found, missing, "{command} {name}");
        }
    }
}

#[test]
fn the_command_line_calls_the_service() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let listed = service.agent(&["tool", "list", "--socket", SOCKET]);
    assert!(listed.code == 0 && listed.stdout.contains("\nbash "), "{}", listed.shown());
    let done = service.agent(&["tool", "exec", "--socket", SOCKET, "--", "id", "-u"]);
    assert_eq!((done.code, &*done.stdout), (0, "4401\n"), "{}", done.shown());
    let failed = service.agent(&["tool", "exec", "--socket", SOCKET, "exit 3"]);
    assert_eq!(failed.code, 4, "{}", failed.shown());
    let denied = service.agent(&["tool", "exec", "--socket", SOCKET, "sudo", "ls"]);
    assert!(denied.code == 5 && denied.stderr.contains("instead:"), "{}", denied.shown());
    let input = r#"{"command": "echo", "args": ["one"]}"#;
    let json = service.call(4401, &["tool", "exec", "--socket", SOCKET, "--json", "-"]).input(input).run();
    let printed: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((json.code, &printed["stdout"]), (0, &json!("one\n")), "{}", json.shown());
    let bad = service.call(4401, &["tool", "exec", "--socket", SOCKET, "--json", "-"]).input("{}").run();
    assert!(bad.code == 64 && bad.stdout.contains("add `command`"), "{}", bad.shown());
    // The service takes shorter messages than the command line.
    let long = json!({"command": "x".repeat(3 << 20)}).to_string();
    let long = service.call(4401, &["tool", "exec", "--socket", SOCKET, "--json", "-"]).input(long).run();
    assert_eq!(long.code, 64, "{}", long.shown());
    let printed: Value = serde_json::from_str(&long.stdout).expect("JSON");
    let error = printed["error"].as_str().expect("a text");
    assert!(error.ends_with("; the limit is 2097152") && printed["instead"][0].is_string(), "{printed}");
    let refused = service.log().into_iter().filter(|line| line["type"] == "refused").collect::<Vec<_>>();
    assert!(refused.last().is_some_and(|line| line.to_string().contains(error)), "{refused:#?}");
    let missing = service.agent(&["tool", "exec", "--socket", "/no/socket", "true"]);
    assert_eq!(missing.code, 1, "{}", missing.shown());
    assert!(
        missing.stderr.contains("the service of tools at /no/socket can't be reached"),
        "{}",
        missing.shown()
    );
    let socket = service.machine.scratch.path().join("lib/tool.sock");
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    let closed = service.agent(&["tool", "exec", "--socket", SOCKET, "true"]);
    assert_eq!(closed.code, 1, "{}", closed.shown());
    assert!(closed.stderr.contains("or call your own tools with `--local`"), "{}", closed.shown());
}

#[test]
fn a_call_that_waits_is_resumed_by_a_later_command() {
    let settings = "callers: {tool: {tools: [governed-execute], users: [agent]}}\n";
    let Some(service) = Service::new(settings) else { return };
    approvers::add(&service.machine);
    let asked = service.agent(&["tool", "exec", "--socket", SOCKET, "touch", "made"]);
    assert_eq!(asked.code, 7, "{}", asked.shown());
    let code = asked.stderr.split('(').nth(1).and_then(|rest| rest.get(..4)).expect("a code").to_owned();
    let resume = || service.agent(&["tool", "resume", "--socket", SOCKET, &code]);
    let early = resume();
    assert_eq!(early.code, 7, "{}", early.shown());
    // The intent is the user's alone.
    let foreign = service.call(0, &["tool", "resume", "--socket", SOCKET, &code]).run();
    assert_ne!(foreign.code, 0, "{}", foreign.shown());
    approvers::approve(&service.machine, &code);
    let done = resume();
    assert_eq!(done.code, 0, "{}", done.shown());
    assert!(service.machine.scratch.has("lib/work/made"));
    assert_eq!(resume().code, 7, "an approval counts once");
}

#[test]
fn a_user_whom_the_policy_does_not_name_is_refused() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let refused = service.call(4402, &["tool", "exec", "--socket", SOCKET, "true"]).run();
    assert_eq!(refused.code, 5, "{}", refused.shown());
    assert!(refused.stderr.contains("the policy does not let user bob call tools"), "{}", refused.shown());
    // A user without an account is nobody whom a command could run as.
    let unknown = service.call(4499, &["tool", "exec", "--socket", SOCKET, "true"]).run();
    assert_eq!(unknown.code, 1, "{}", unknown.shown());
    let expected = "this machine has no user with the number 4499";
    assert!(unknown.stderr.contains(expected), "{}", unknown.shown());
    // Not the code of a service that fails.
    let processes: Vec<RunningCcm> = service.processes.lock().expect("processes").drain(..).collect();
    let codes: Vec<i32> = processes.into_iter().map(|process| process.finish().code).collect();
    assert_eq!(codes, [0, 5]);
    let log = service.log();
    let refused = log.iter().find(|line| line["type"] == "refused").expect("a record");
    assert_eq!(refused["by"]["user"], "bob", "{refused}");
}

#[test]
fn a_rule_can_be_about_a_user() {
    let settings = format!(
        "{ON_ASK}rules:\n  - name: no lists\n    match: {{program: ls}}\n    when: caller.user == \"agent\"\n    deny: true\n"
    );
    let Some(service) = Service::new(&settings.replace(", users: [agent]", "")) else { return };
    let denied = service.agent(&["tool", "exec", "--socket", SOCKET, "ls"]);
    assert!(denied.code == 5 && denied.stderr.contains("no lists"), "{}", denied.shown());
    let other = service.call(0, &["tool", "exec", "--socket", SOCKET, "ls"]).run();
    assert_eq!(other.code, 0, "{}", other.shown());
}

#[test]
fn a_client_asks_for_no_more_than_the_sets_it_needs() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let mut client = LineClient::of(service.call(4401, &["mcp", "--socket", SOCKET]));
    client.initialize("2025-11-25");
    let refused = client.call("exec", json!({"command": "true"}));
    assert!(text(&refused).contains("are not offered here"), "{refused}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_peer_that_goes_ends_its_commands() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let script = json!({"script": "sleep 1000 &\necho $$ $!\nwait"});
    for signal in ["KILL", "TERM"] {
        let mut client = service.connect();
        let (_, line) = client.begin("bash", script.clone());
        let line = line.trim_start_matches("EXTERNAL_UNTRUSTED: ");
        let processes: Vec<PathBuf> = line.split(' ').map(|pid| Path::new("/proc").join(pid)).collect();
        assert_eq!(processes.len(), 2, "{line}");
        client.signal(signal);
        client.wait();
        for process in processes {
            wait_until("the processes of the call end", || !process.exists());
        }
    }
    // The service has recorded both when its processes have ended.
    for process in service.processes.lock().expect("processes").drain(..) {
        process.finish();
    }
    let outcomes = service.log().iter().filter(|line| line["outcome"] == "cancelled").count();
    assert_eq!(outcomes, 2);
}

#[test]
fn limits_of_the_policy_hold_for_all_processes_together() {
    let settings = format!("{ON_ASK}limits: {{calls: 5/1h, parallel: 2}}\n");
    let Some(service) = Service::new(&settings) else { return };
    let (mut first, mut second) = (service.connect(), service.connect());
    let endless = json!({"command": "echo $$; exec sleep 1000"});
    let begun = [first.begin("exec", endless.clone()), second.begin("exec", endless)];
    let third = service.agent(&["tool", "exec", "--socket", SOCKET, "true"]);
    assert_eq!(third.code, 5, "{}", third.shown());
    assert!(third.stderr.contains("the limit of 2 calls at the same time is reached"), "{}", third.shown());
    // A killed process does not count any more.
    for process in service.serving() {
        shell(&format!("kill -KILL {process}"), service.machine.scratch.path());
    }
    first.wait();
    second.wait();
    let codes: Vec<i32> =
        (0..4).map(|_| service.agent(&["tool", "exec", "--socket", SOCKET, "true"]).code).collect();
    assert_eq!(codes, [0, 0, 0, 5]);
    // Nobody ends what a killed process leaves; systemd does with the unit of the connection.
    for (_, line) in begun {
        let process = line.trim_start_matches("EXTERNAL_UNTRUSTED: ");
        shell(&format!("kill -KILL {process}"), service.machine.scratch.path());
    }
}

#[test]
fn many_calls_through_the_service_grow_nothing() {
    let Some(service) = Service::new(ON_ASK) else { return };
    // `CCM_TEST_LONG` makes them as many as a week brings.
    let calls = match std::env::var_os("CCM_TEST_LONG") {
        Some(_) => 10_000,
        None => 60,
    };
    let mut client = service.connect();
    let size = |pid: u32| {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a process").count();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        (descriptors, resident.trim().trim_end_matches(" kB").parse::<u64>().expect("a number"))
    };
    let call = |client: &mut LineClient, number: u32| {
        let result = client.call("exec", json!({"command": "echo", "args": [number.to_string()]}));
        assert!(
            result["isError"] == false && text(&result) == format!("{number}\n"),
            "call {number}: {result}"
        );
        if number.is_multiple_of(10) {
            let explained = client.call("policy_explain", json!({"command": "ls"}));
            assert_eq!(explained["isError"], false, "{explained}");
        }
    };
    (0..30).for_each(|number| call(&mut client, number));
    let pid = service.serving()[0];
    let before = size(pid);
    (0..calls).for_each(|number| call(&mut client, number));
    let after = size(pid);
    assert_eq!(before.0, after.0, "open files");
    let grown = after.1.saturating_sub(before.1);
    assert!(grown < 2048, "memory grew by {grown} KiB: {before:?} {after:?}");
    assert_eq!(client.close().code, 0);
}

/// Starts the service for one connection of this user, who need not be root.
fn own_service(scratch: &Scratch) -> (RunningCcm, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let state = scratch.path().join("state").display().to_string();
    let args = ["mcp", "--service", "--state-dir", &state];
    let ccm = Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch).args(&args).stdin(OwnedFd::from(theirs)).start();
    (ccm, ours)
}

#[test]
fn an_ordinary_user_can_serve_itself() {
    let scratch = Scratch::new();
    let (service, mut stream) = own_service(&scratch);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "own", "version": "1"}}});
    let explain = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "explain", "arguments": {"name": "file.mode"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    write!(stream, "{hello}\n{initialized}\n{explain}\n").expect("a reading service");
    let mut lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
    assert!(lines.next().expect("a line").expect("text").contains("\"serverInfo\""));
    assert!(lines.next().expect("a line").expect("text").contains("explanation"));
    stream.shutdown(std::net::Shutdown::Write).expect("an open connection");
    assert_eq!(lines.next().map(|line| line.is_ok()), None);
    let ended = service.finish();
    assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.shown());
}

#[test]
fn a_peer_that_closes_at_once_or_sends_no_protocol_is_let_go() {
    let scratch = Scratch::new();
    let (service, stream) = own_service(&scratch);
    drop(stream);
    assert_eq!(service.finish().code, 0);
    let (service, mut stream) = own_service(&scratch);
    stream
        .write_all("x".repeat(100_000).as_bytes())
        .and_then(|()| stream.write_all(b"\n{}\n"))
        .expect("a reading service");
    stream.shutdown(std::net::Shutdown::Write).expect("an open connection");
    let mut answers = String::new();
    stream.read_to_string(&mut answers).expect("an end");
    assert_eq!(service.finish().code, 0);
}

#[test]
fn the_service_needs_a_connection() {
    let scratch = Scratch::new();
    let refused = Ccm::new(env!("CARGO_BIN_EXE_ccm"), &scratch).args(&["mcp", "--service"]).run();
    assert_eq!(refused.code, 64, "{}", refused.shown());
    assert!(
        refused.stderr.contains("standard input is no connection of a Unix socket"),
        "{}",
        refused.shown()
    );
}
