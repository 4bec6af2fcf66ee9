//! A client that writes and reads lines.
#![expect(clippy::needless_pass_by_value, reason = "tests build messages in place")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use ccm_testkit::{Called, Ccm, GovernedMachine, RunningCcm, on_this_machine};
use serde_json::{Value, json};

/// Client of a running `ccm mcp`.
pub(crate) struct LineClient {
    ccm: RunningCcm,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: i64,
    /// Notifications since the last look.
    pub(crate) notifications: Vec<Value>,
}

impl LineClient {
    /// Starts `ccm mcp` with the tools that run commands. Nothing is sent yet.
    pub(crate) fn start(machine: &GovernedMachine) -> Self {
        Self::start_with(machine, &["--set", "governed-execute"])
    }

    pub(crate) fn start_with(machine: &GovernedMachine, args: &[&str]) -> Self {
        Self::of(machine.call(&[&["mcp"], args].concat()))
    }

    /// Starts a call that speaks the protocol.
    pub(crate) fn of(call: Ccm) -> Self {
        let mut ccm = call.open_input().start();
        let stdin = ccm.take_stdin();
        let stdout = BufReader::new(ccm.take_stdout().expect("an output"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { ccm, stdin, lines, next: 0, notifications: Vec::new() }
    }

    /// Starts `ccm mcp`, and agrees on a version of the protocol that begins with a handshake.
    pub(crate) fn connect(machine: &GovernedMachine) -> Self {
        let mut client = Self::start(machine);
        client.initialize("2025-11-25");
        client
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "lines", "version": "1"},
        });
        let answer = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        answer
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("an open input");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("a reading server");
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(format!("{message}\n").as_bytes());
    }

    /// Sends a request, and returns its number.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.write(format!("{message}\n").as_bytes());
        self.next
    }

    /// Returns the next message; `None` at the end of the output.
    pub(crate) fn next_message(&self) -> Option<Value> {
        // Only a hanging server takes this long.
        let line = self.lines.recv_timeout(on_this_machine(Duration::from_secs(60)));
        match line {
            Ok(line) => Some(serde_json::from_str(&line).expect("standard output has only JSON")),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => unreachable!("the server does not answer"),
        }
    }

    /// Waits for the answer to a request. Notifications before it are kept.
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.next_message().expect("an answer before the end");
            if message["id"] == id {
                return message;
            }
            if message.get("method").is_some() {
                self.notifications.push(message);
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Calls a tool, and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].take()
    }

    /// Calls a tool, and waits until its command has printed a line. Returns the number of the request.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> (i64, String) {
        let meta = json!({"progressToken": "token"});
        let id = self.send("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}));
        loop {
            let message = self.next_message().expect("a notification before the end");
            assert_eq!(message["method"], "notifications/progress", "{message}");
            let text = message["params"]["message"].as_str().expect("a text").to_owned();
            if text != "started" {
                return (id, text);
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.ccm.pid()
    }

    pub(crate) fn signal(&self, name: &str) {
        self.ccm.signal(name);
    }

    /// Closes the input, and waits for the end.
    pub(crate) fn close(mut self) -> Called {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for the end. Further messages are read and left out.
    pub(crate) fn wait(self) -> Called {
        while self.next_message().is_some() {}
        // The input is open until ccm has ended.
        let Self { ccm, stdin, .. } = self;
        let called = ccm.finish();
        drop(stdin);
        called
    }
}

/// Returns the text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| unreachable!("no text in {result}"))
}
