//! A fake Engine, for faults that a real one does not have on demand.

use std::collections::BTreeMap;
use std::io::{BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::http::{ReadRequest, answer, read_request};
use crate::scratch::Scratch;

/// Engine on a socket of its own. Its containers all run the same [`FakeCommand`], and nothing in fact.
#[derive(Debug)]
pub struct FakeEngine {
    directory: Scratch,
    shared: Arc<EngineThreads>,
}

/// Answer to a request that a test replaces.
#[derive(Clone, Debug)]
pub enum FakeAnswer {
    /// Status and body.
    Json(u16, Value),
    /// These bytes, after which the connection is closed.
    Bytes(Vec<u8>),
    /// The connection is closed without an answer.
    Hangup,
    /// None, while the connection stays open.
    Silence,
}

/// Command in the containers of a [`FakeEngine`].
#[derive(Clone, Debug, Default)]
pub struct FakeCommand {
    /// Frames of the stream: the kind, 1 for standard output, and the content.
    pub frames: Vec<(u8, Vec<u8>)>,
    /// Exit code.
    pub code: i64,
    /// The command runs until it is signalled.
    pub hangs: bool,
    /// The command ignores every signal but KILL.
    pub ignores_signals: bool,
    /// The kernel killed it for its memory.
    pub oom_killed: bool,
}

impl FakeCommand {
    /// Returns a command that prints a text and ends with a code.
    pub fn prints(text: &str, code: i64) -> Self {
        Self { frames: vec![(1, text.into())], code, ..Self::default() }
    }
}

#[derive(Debug, Default)]
struct Container {
    labels: Value,
    has_started: bool,
    /// Exit code, once it has ended.
    code: Option<i64>,
}

#[derive(Debug, Default)]
struct FakeEngineState {
    containers: BTreeMap<String, Container>,
    command: FakeCommand,
    answers: Vec<(String, FakeAnswer)>,
    requests: Vec<(String, Value)>,
    inputs: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct EngineThreads {
    state: Mutex<FakeEngineState>,
    changed: Condvar,
    is_stopping: AtomicBool,
}

impl EngineThreads {
    fn state(&self) -> MutexGuard<'_, FakeEngineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a container has reached a state. Returns `false` if it is gone or the Engine stops.
    fn wait_for(&self, name: &str, is_reached: impl Fn(&Container) -> bool) -> bool {
        let mut state = self.state();
        loop {
            if self.is_stopping.load(Ordering::Acquire) {
                return false;
            }
            match state.containers.get(name) {
                None => return false,
                Some(container) if is_reached(container) => return true,
                Some(_) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl FakeEngine {
    /// Starts an Engine whose containers run this command.
    pub fn start(command: FakeCommand) -> Self {
        let directory = Scratch::new();
        let socket = directory.path().join("engine.sock");
        let listener =
            UnixListener::bind(&socket).unwrap_or_else(|error| panic!("{}: {error}", socket.display()));
        let shared = Arc::new(EngineThreads::default());
        shared.state().command = command;
        let engine = Self { directory, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.is_stopping.load(Ordering::Acquire) {
                    break;
                }
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        engine
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("engine.sock")
    }

    /// Answers requests that begin so, such as `POST /containers/create` or `POST /containers/*/start`, in another
    /// way. The last answer counts.
    pub fn answer(&self, request: &str, answer: FakeAnswer) {
        self.shared.state().answers.insert(0, (request.to_owned(), answer));
    }

    /// Replaces the command of containers that start later.
    pub fn run(&self, command: FakeCommand) {
        self.shared.state().command = command;
    }

    /// Adds a container with labels that runs already.
    pub fn add(&self, name: &str, labels: Value) {
        let container = Container { labels, has_started: true, ..Container::default() };
        self.shared.state().containers.insert(name.to_owned(), container);
    }

    /// Ends a container from outside.
    pub fn end(&self, name: &str, code: i64) {
        if let Some(container) = self.shared.state().containers.get_mut(name) {
            container.code.get_or_insert(code);
        }
        self.shared.changed.notify_all();
    }

    /// Removes a container from outside.
    pub fn remove(&self, name: &str) {
        self.shared.state().containers.remove(name);
        self.shared.changed.notify_all();
    }

    /// Returns the names of the containers.
    pub fn containers(&self) -> Vec<String> {
        self.shared.state().containers.keys().cloned().collect()
    }

    /// Returns the requests so far, without the version of the API: `POST /containers/create?name=x`.
    pub fn requests(&self) -> Vec<String> {
        self.shared.state().requests.iter().map(|(line, _)| line.clone()).collect()
    }

    /// Returns the bodies of the requests that begin so.
    pub fn bodies(&self, request: &str) -> Vec<Value> {
        let state = self.shared.state();
        let own = state.requests.iter().filter(|(line, _)| line.starts_with(request));
        own.map(|(_, body)| body.clone()).collect()
    }

    /// Returns what commands read as standard input.
    pub fn inputs(&self) -> Vec<String> {
        self.shared.state().inputs.iter().map(|input| String::from_utf8_lossy(input).into_owned()).collect()
    }
}

impl Drop for FakeEngine {
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.changed.notify_all();
        // Wakes the thread that waits for connections.
        let _woken = UnixStream::connect(self.socket());
    }
}

fn serve(stream: UnixStream, shared: &EngineThreads) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    let Some(request) = read_request(&mut reader) else { return };
    let ReadRequest { method, target, body, .. } = request;
    // The version, as in `/v1.41/containers`.
    let target = match target.strip_prefix("/v").and_then(|rest| rest.split_once('/')) {
        Some((version, rest)) if version.starts_with(|first: char| first.is_ascii_digit()) => {
            format!("/{rest}")
        }
        _ => target,
    };
    let line = format!("{method} {target}");
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let replaced = {
        let mut state = shared.state();
        state.requests.push((line.clone(), body.clone()));
        state.answers.iter().find(|(pattern, _)| is_like(&line, pattern)).map(|(_, answer)| answer.clone())
    };
    // Whoever asked may have gone.
    let mut send = |bytes: &[u8]| drop(writer.write_all(bytes));
    match replaced {
        Some(FakeAnswer::Json(status, body)) => {
            return send(&answer(status, &[("Api-Version", "1.41")], body.to_string().as_bytes()));
        }
        Some(FakeAnswer::Bytes(bytes)) => return send(&bytes),
        Some(FakeAnswer::Hangup) => return,
        Some(FakeAnswer::Silence) => {
            // The connection is open until the other side closes it.
            let _end = reader.read_to_end(&mut Vec::new());
            return;
        }
        None => {}
    }
    if method == "POST" && target.contains("/attach?") {
        send(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
        let reads = target.contains("stdin=1");
        let name = target.split('/').nth(2).unwrap_or_default();
        stream_output(&mut reader, &mut writer, name, reads, shared);
        return;
    }
    send(&default_answer(&method, &target, &body, shared));
}

/// Returns the answer of a request that no test replaced.
fn default_answer(method: &str, target: &str, body: &Value, shared: &EngineThreads) -> Vec<u8> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let json = |status, body: Value| answer(status, &[("Api-Version", "1.41")], body.to_string().as_bytes());
    let no_container = || json(404, json!({"message": "No such container"}));
    match (method, &*parts) {
        ("GET", ["_ping"]) => answer(200, &[("Api-Version", "1.41")], b"OK"),
        ("GET", ["images", ..]) => json(200, json!({"Id": "sha256:0", "Config": {"Env": ["PATH=/bin"]}})),
        ("POST", ["images", "create"]) => json(200, json!({"status": "done"})),
        ("POST", ["containers", "create"]) => {
            let name = parameter(query, "name").to_owned();
            let labels = body["Labels"].clone();
            shared.state().containers.insert(name.clone(), Container { labels, ..Container::default() });
            json(201, json!({"Id": name, "Warnings": []}))
        }
        ("GET", ["containers", "json"]) => json(200, listed(shared)),
        ("GET", ["events"]) => json(200, json!(null)),
        ("POST", ["containers", name, "start"]) => {
            let mut state = shared.state();
            let code = (!state.command.hangs).then_some(state.command.code);
            if let Some(container) = state.containers.get_mut(*name) {
                container.has_started = true;
                container.code = code;
            }
            drop(state);
            shared.changed.notify_all();
            answer(204, &[], b"")
        }
        ("POST", ["containers", name, "wait"]) => {
            let ended = shared.wait_for(name, |container| container.has_started && container.code.is_some());
            let code = shared.state().containers.get(*name).and_then(|container| container.code);
            code.filter(|_| ended).map_or_else(no_container, |code| json(200, json!({"StatusCode": code})))
        }
        ("POST", ["containers", name, "kill"]) => {
            let kills = parameter(query, "signal") == "SIGKILL";
            let mut state = shared.state();
            let ends = kills || !state.command.ignores_signals;
            if let Some(container) = state.containers.get_mut(*name).filter(|_| ends) {
                container.code.get_or_insert(if kills { 137 } else { 143 });
            }
            drop(state);
            shared.changed.notify_all();
            answer(204, &[], b"")
        }
        ("GET", ["containers", name, "json"]) => {
            let state = shared.state();
            let found = state.containers.get(*name).map(|container| {
                json!({"State": {
                    "Running": container.has_started && container.code.is_none(), "Error": "",
                    "OOMKilled": state.command.oom_killed, "StartedAt": "2026-01-01T00:00:00Z",
                }})
            });
            drop(state);
            found.map_or_else(no_container, |found| json(200, found))
        }
        ("DELETE", ["containers", name]) => {
            let removed = shared.state().containers.remove(*name);
            shared.changed.notify_all();
            removed.map_or_else(no_container, |_| answer(204, &[], b""))
        }
        _ => json(404, json!({"message": "page not found"})),
    }
}

/// Writes the output of a container once it runs, and closes the stream at its end.
fn stream_output(
    reader: &mut BufReader<UnixStream>,
    writer: &mut UnixStream,
    name: &str,
    reads: bool,
    shared: &EngineThreads,
) {
    if !shared.wait_for(name, |container| container.has_started) {
        return;
    }
    let frames = shared.state().command.frames.clone();
    for (kind, content) in frames {
        let length = u32::try_from(content.len()).unwrap_or(u32::MAX).to_be_bytes();
        let head = [&[kind, 0, 0, 0][..], &length].concat();
        if writer.write_all(&head).and_then(|()| writer.write_all(&content)).is_err() {
            return;
        }
    }
    if reads {
        let mut input = Vec::new();
        let _end = reader.read_to_end(&mut input);
        shared.state().inputs.push(input);
    }
    shared.wait_for(name, |container| container.code.is_some());
    let _closed = writer.shutdown(std::net::Shutdown::Both);
}

fn listed(shared: &EngineThreads) -> Value {
    let state = shared.state();
    let all = state.containers.iter().map(|(name, container)| {
        let running = container.has_started && container.code.is_none();
        json!({
            "Id": name, "Names": [format!("/{name}")], "Labels": container.labels,
            "State": if running { "running" } else { "exited" },
        })
    });
    all.collect()
}

/// Returns `true` if a request begins like a pattern, in which `*` stands for any part of the path.
fn is_like(request: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => request.starts_with(pattern),
        Some((before, after)) => request.strip_prefix(before).is_some_and(|rest| rest.contains(after)),
    }
}

fn parameter<'q>(query: &'q str, name: &str) -> &'q str {
    let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    found.unwrap_or_default()
}
