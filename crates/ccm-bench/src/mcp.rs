//! Calls through `ccm mcp`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use ccm_host::{Cancellation, Exit, Runner as _, Sandbox, SystemRunner};
use ccm_testkit::{GovernedMachine, RunningCcm};

use crate::binary;
use crate::measure::{median, millis, number_within, per, per_within, time};

const COUNT: u32 = 50;
const ROUNDS: usize = 9;

const HELLO: &str = r#"{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}}"#;
const LIST: &str = r#"{"jsonrpc": "2.0", "id": 0, "method": "tools/list"}"#;
const CALL: &str = r#"{"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": {"name": "exec", "arguments": {"command": "true", "args": []}}}"#;

/// Client that waits for each answer.
struct BenchClient {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl BenchClient {
    fn request(&mut self, request: &str) -> String {
        writeln!(self.stdin, "{request}").and_then(|()| self.stdin.flush()).expect("a reading server");
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).expect("an answer");
        assert!(answer.contains("\"result\""), "{answer}");
        answer
    }
}

/// Compares a call of `exec` with the sandboxed command alone. The audit log lies in memory, where a sync costs nothing.
pub(crate) fn run(scratch: &Path) {
    let Some(ccm) = binary::ccm_for("mcp") else { return };
    start(&ccm);
    let settings = "callers: {tool: {approval: on_ask, tools: [governed-execute]}}\n";
    let Some(machine) = GovernedMachine::in_memory(&ccm.display().to_string(), settings) else { return };
    let mut server: RunningCcm = machine.call(&["mcp", "--set", "governed-execute"]).open_input().start();
    let stdin = server.take_stdin().expect("an input");
    let stdout = BufReader::new(server.take_stdout().expect("an output"));
    let mut client = BenchClient { stdin, stdout };
    client.request(HELLO);

    let workdir = scratch.canonicalize().expect("its path");
    let sandbox = Sandbox { private: Some(workdir.clone()), ..Sandbox::new(workdir.clone()) };
    let sandboxed =
        ccm_host::Command { sandbox: Some(sandbox), cwd: workdir, ..ccm_host::Command::new("/bin/true") };
    let runner = SystemRunner::new().expect("a runner").with_launcher(ccm);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut taken: [Vec<Duration>; 2] = Default::default();
    for _ in 0..ROUNDS {
        taken[0].push(time(1, || {
            for _ in 0..COUNT {
                let answer = client.request(CALL);
                assert!(answer.contains("\"exitCode\":0"), "{answer}");
            }
        }));
        taken[1].push(time(1, || {
            for _ in 0..COUNT {
                let never = Cancellation::never();
                let finished = runtime.block_on(runner.run(&sandboxed, &never, &mut |_, _| {}));
                assert_eq!(finished.expect("a command").exit, Exit::Code(0));
            }
        }));
    }
    let [called, alone] = taken.map(|mut taken| median(&mut taken));
    per("mcp: exec of true, each", called, COUNT);
    per_within("  extra time for the call, each", called.saturating_sub(alone), COUNT, 3_000.0);
    drop(client);
    server.finish();
}

/// Measures the time from the start to the list of tools, on this machine.
fn start(ccm: &Path) {
    let took = time(21, || {
        let mut server = Command::new(ccm)
            .args(["mcp", "--state-dir", "/nonexistent"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ccm");
        let stdin = server.stdin.take().expect("an input");
        let stdout = BufReader::new(server.stdout.take().expect("an output"));
        let mut client = BenchClient { stdin, stdout };
        client.request(HELLO);
        client.request(LIST);
        drop(client);
        assert!(server.wait().expect("an end").success());
    });
    number_within("mcp: from the start to the list of tools, and the end", millis(took), "ms", 20.0);
}
