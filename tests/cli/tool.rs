//! `ccm tool`: governed tools from the command line, in their sandbox.

use ccm_testkit::{Called, Ccm, GovernedMachine, OWN_MACHINE, Scratch, needs_own_mounts, wait_until};
use serde_json::{Value, json};

use crate::ccm;

/// Machine with a policy that asks where its guard does.
struct Machine(GovernedMachine);

impl Machine {
    /// `None` where tests can't have one.
    fn new() -> Option<Self> {
        let settings =
            "callers: {tool: {approval: on_ask, tools: [governed-execute]}}\nguard: {code_inline: allow}\n";
        GovernedMachine::new(env!("CARGO_BIN_EXE_ccm"), settings).map(Self)
    }

    fn call(&self, args: &[&str]) -> Ccm {
        self.0.call(args)
    }

    fn tool(&self, args: &[&str]) -> Called {
        self.call(&[&["tool"], args].concat()).run()
    }

    /// Calls a tool with a JSON object, and returns the exit code and the answer.
    fn json(&self, args: &[&str], input: &Value) -> (i32, Value) {
        let called = self.call(&[&["tool"], args, &["--json", "-"]].concat()).input(input.to_string()).run();
        let answer = serde_json::from_str(&called.stdout);
        (called.code, answer.unwrap_or_else(|_| unreachable!("{}", called.shown())))
    }
}

#[test]
fn commands_run_in_their_sandbox_and_are_recorded() {
    let Some(machine) = Machine::new() else { return };
    let called = machine.tool(&["exec", "--", "printf", "%s\\n", "a b"]);
    assert_eq!((called.code, &*called.stdout), (0, "a b\n"), "{}", called.shown());
    let (code, answer) = machine.json(&["exec"], &json!({"command": "echo x > f && cat f"}));
    assert_eq!((code, &answer["status"]), (0, &json!("done")), "{answer}");
    assert_eq!(answer["stdout"], "x\n", "{answer}");
    assert_eq!(machine.0.scratch.read("work/f").as_deref(), Some("x\n"));
    let failed = machine.tool(&["exec", "ls missing"]);
    assert_eq!(failed.code, 4, "{}", failed.shown());
    assert!(failed.stdout.ends_with("\nExit code: exit status 2\n"), "{}", failed.shown());
    let (code, answer) = machine.json(&["code"], &json!({"language": "python", "code": "print(40 + 2)"}));
    assert_eq!((code, &answer["stdout"]), (0, &json!("42\n")), "{answer}");
    let (code, answer) = machine.json(&["bash"], &json!({"script": "x=(a b)\necho ${#x[@]}"}));
    assert_eq!((code, &answer["stdout"]), (0, &json!("2\n")), "{answer}");
    let verified = machine.call(&["audit", "verify"]).run();
    assert_eq!(verified.code, 0, "{}", verified.shown());
    let log = machine.call(&["audit", "log"]).run();
    assert!(log.stdout.contains("printf"), "{}", log.shown());
}

#[test]
fn the_sandbox_has_neither_a_network_nor_another_directory() {
    let Some(machine) = Machine::new() else { return };
    let code = "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error:\n    print(type(error).__name__)\ntry:\n    open('/etc/x', 'w')\nexcept OSError as error:\n    print('no write')\n";
    let (exit, answer) = machine.json(&["code"], &json!({"language": "python", "code": code}));
    assert_eq!(exit, 0, "{answer}");
    let printed = answer["stdout"].as_str().expect("a text");
    assert!(printed.ends_with("no write\n") && !printed.starts_with("no"), "{answer}");
    assert!(machine.0.scratch.read("etc/x").is_none());
}

#[test]
fn exit_codes_are_those_of_the_documentation() {
    let Some(machine) = Machine::new() else { return };
    let code = |args: &[&str]| machine.tool(args).code;
    assert_eq!(code(&["exec", "sudo ls"]), 5);
    assert_eq!(code(&["exec", "cat /etc/passwd"]), 5);
    assert_eq!(code(&["exec", "--", "nonexistent", "x"]), 4);
    assert_eq!(code(&["exec", "--timeout", "300ms", "sleep 100"]), 4);
    assert_eq!(code(&["exec"]), 64);
    assert_eq!(code(&["process", "kill", "1"]), 5);
    for (input, message) in [
        (json!({"command": "ls", "timeoutMs": 300_001}), "between 1 and 300000"),
        (json!({"command": "ls", "shell": true}), "has no field `shell`"),
        (json!([]), "must be an object"),
    ] {
        let (code, answer) = machine.json(&["exec"], &input);
        assert_eq!((code, &answer["status"]), (64, &json!("bad_input")), "{answer}");
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(message)), "{answer}");
    }
    let malformed = machine.call(&["tool", "exec", "--json", "-"]).input("{").run();
    assert!(malformed.code == 64 && malformed.stdout.contains("not JSON"), "{}", malformed.shown());
    let list = machine.tool(&["process", "list", "--json", "-"]);
    assert_eq!(list.code, 64, "an empty input is no object: {}", list.shown());
    let (code, answer) = machine.json(&["process", "list"], &json!({}));
    assert_eq!((code, &answer["processes"]), (0, &json!([])), "{answer}");
}

#[test]
fn without_a_policy_only_reading_is_listed() {
    let scratch = Scratch::new();
    if !needs_own_mounts() {
        return;
    }
    let call = |args: &[&str]| ccm(&scratch, args).after_mounting(OWN_MACHINE).run();
    let list = call(&["tool", "list"]);
    assert_eq!(list.code, 0, "{}", list.shown());
    assert!(list.stdout.contains("policy_explain") && !list.stdout.contains("exec "), "{}", list.shown());
    assert!(list.stderr.contains("this machine has no policy"), "{}", list.shown());
    let refused = call(&["tool", "exec", "true"]);
    assert_eq!((refused.code, &*refused.stdout), (1, ""), "{}", refused.shown());
    assert!(
        refused.stderr.contains("instead: let an operator write /etc/ccm/policy.yaml"),
        "{}",
        refused.shown()
    );
}

#[test]
fn a_policy_that_can_not_be_used_closes_every_tool_and_is_named() {
    let Some(machine) = Machine::new() else { return };
    let open = "chmod 666 etc/ccm/policy.yaml";
    let list = machine.call(&["tool", "list"]).after_mounting(&format!("{OWN_MACHINE}\n{open}")).run();
    assert_eq!((list.code, &*list.stdout), (1, ""), "{}", list.shown());
    let named = "note: the policy can't be used: the policy can't be trusted: /etc/ccm/policy.yaml";
    assert!(list.stderr.starts_with(named), "{}", list.shown());
    assert!(list.stderr.ends_with("hint: let an operator run `ccm policy check`\n"), "{}", list.shown());
    let json = machine.tool(&["list", "--json"]);
    assert_eq!(json.code, 1, "{}", json.shown());
    let document: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&document["tools"], &document["withheld"]["status"]), (&json!([]), &json!("not_tried")));
}

#[test]
fn options_are_named_as_they_are_written() {
    let Some(machine) = Machine::new() else { return };
    for (args, message) in [
        (&["exec", "--timeout", "100h", "ls"][..], "error: `--timeout` must be at most 5m0s, found 100h0m0s"),
        (&["bash", "--timeout", "3m", "-"], "error: `--timeout` must be at most 2m0s, found 3m0s"),
        (&["exec", "--timeout", "0s", "ls"], "a call takes at least 1ms; leave out `--timeout`"),
        (&["process", "inspect", "abc"], "expected the number of a process, such as 4711"),
        (&["process", "kill", "0"], "expected the number of a process, such as 4711"),
    ] {
        let called = machine.tool(args);
        assert_eq!((called.code, &*called.stdout), (64, ""), "{args:?}: {}", called.shown());
        assert!(called.stderr.contains(message), "{args:?}: {}", called.shown());
    }
    let (code, answer) = machine.json(&["exec"], &json!({"command": "ls", "timeoutMs": 0}));
    assert_eq!(code, 64, "{answer}");
    assert_eq!(answer["instead"], json!(["leave out `timeoutMs` for the usual limit; no call is endless"]));
}

#[test]
fn code_is_recorded_as_it_runs_and_a_foreign_process_as_refused() {
    let settings = "callers: {tool: {approval: on_ask, tools: [governed-execute]}}\n";
    let Some(machine) = GovernedMachine::new(env!("CARGO_BIN_EXE_ccm"), settings).map(Machine) else {
        return;
    };
    machine.0.scratch.write("code.py", "print(1)");
    let refused = machine.tool(&["code", "python", "code.py"]);
    assert_eq!(refused.code, 5, "{}", refused.shown());
    assert!(refused.stderr.contains("reason: python code: code_inline: "), "{}", refused.shown());
    assert_eq!(machine.tool(&["process", "inspect", "1"]).code, 5);
    let log = machine.0.audit_log();
    let entries = log.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let refused: Vec<Value> = entries.filter(|entry| entry["type"] == "refused").collect();
    assert_eq!(refused.len(), 2, "{log:#?}");
    assert_eq!(refused[0]["argv"], json!(["python3", "code.py", "print(1)"]));
    assert_eq!((&refused[1]["purpose"], &refused[1]["verdict"]), (&json!("process_inspect"), &json!("deny")));
}

#[test]
fn limits_of_the_policy_hold_for_several_runs_together() {
    let Some(machine) = Machine::new() else { return };
    machine.0.write_policy(
        "callers: {tool: {approval: on_ask, tools: [governed-execute]}}\nlimits: {calls: 6/1h, parallel: 1}\n",
    );
    let mut endless = machine.call(&["tool", "exec", "touch begun; sleep 1000"]).start();
    wait_until("the command begins", || machine.0.scratch.has("work/begun"));
    let refused = machine.tool(&["exec", "true"]);
    let expected = "the limit of 1 calls at the same time is reached";
    assert!(refused.code == 5 && refused.stderr.contains(expected), "{}", refused.shown());
    assert!(refused.stderr.contains("instead: wait, and then call again"), "{}", refused.shown());
    endless.signal("TERM");
    drop(endless.take_stdout());
    assert_eq!(endless.finish().code, 143);
    // As many as are left, at the same time: one after another gets its turn or is refused.
    let runs: Vec<_> = (0..8).map(|_| machine.call(&["tool", "exec", "true"]).start()).collect();
    let mut codes: Vec<i32> = runs.into_iter().map(|run| run.finish().code).collect();
    codes.sort_unstable();
    assert!(codes.starts_with(&[0]) && codes.ends_with(&[5]), "{codes:?}");
    let allowed = codes.iter().filter(|code| **code == 0).count();
    let later: Vec<i32> = (0..6).map(|_| machine.tool(&["exec", "true"]).code).collect();
    let in_all = 1 + allowed + later.iter().filter(|code| **code == 0).count();
    assert_eq!(in_all, 6, "{codes:?} {later:?}");
    let log = machine.call(&["audit", "log"]).run();
    assert!(log.stdout.contains("the limit of 6 calls in 1h0m0s is reached"), "{}", log.shown());
}

#[test]
fn an_input_that_is_none_is_recorded() {
    let Some(machine) = Machine::new() else { return };
    let too_long = "x".repeat((4 << 20) + 1);
    let inputs: [(&[&str], &[u8], &str); 6] = [
        (&["exec", "--json", "-"], too_long.as_bytes(), "is longer than 4194304 bytes"),
        (&["exec", "--json", "-"], b"{", "the input is not JSON"),
        (&["exec", "--json", "-"], b"\"\xff\"", "is not UTF-8 text"),
        (&["exec", "--json", "-"], b"[]", "the input of `exec` must be an object, found a list"),
        (&["bash", "-"], too_long.as_bytes(), "is longer than 4194304 bytes"),
        (&["code", "python", "-"], b"\xff", "is not UTF-8 text"),
    ];
    for (args, input, message) in inputs {
        let called = machine.call(&[&["tool"], args].concat()).input(input).run();
        assert_eq!(called.code, 64, "{}", called.shown());
        if args.contains(&"--json") {
            let answer: Value = serde_json::from_str(&called.stdout).expect("JSON");
            assert_eq!(answer["status"], "bad_input", "{answer}");
            let error = answer["error"].as_str().expect("a text");
            assert!(error.contains(message) && answer["instead"][0].is_string(), "{answer}");
        } else {
            assert!(
                called.stderr.contains(message) && called.stderr.contains("\ninstead: "),
                "{}",
                called.shown()
            );
        }
    }
    let log = machine.0.audit_log();
    let refused: Vec<&String> = log.iter().filter(|line| line.contains("\"type\":\"refused\"")).collect();
    assert_eq!(refused.len(), 6, "{log:#?}");
    assert!(refused[0].contains("is longer than 4194304 bytes"), "{}", refused[0]);
}
