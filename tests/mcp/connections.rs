//! Connections to the service of tools: how many there can be, and peers that say, end or read nothing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use ccm_testkit::{Called, wait_until};
use serde_json::{Value, json};

use crate::client::{LineClient, text};
use crate::service::{ON_ASK, SOCKET, Service};

/// Users of the machine besides root. The policy lets only the first one run commands.
const USERS: [u32; 3] = [4401, 4402, 4403];
const LAST_USER: u32 = 4404;

fn hello() -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"},
    })
}

fn message(id: u32, method: &str, params: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// Begins a session, and returns the first line that comes back.
fn begin(stream: &mut UnixStream) -> String {
    // A service that refuses may have gone.
    let _ = stream.write_all(message(1, "initialize", &hello()).as_bytes());
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("a line");
    line
}

/// Lists tools as the last user, who has no other connection.
fn list(service: &Service) -> Called {
    service.call(LAST_USER, &["tool", "list", "--socket", SOCKET]).run()
}

#[test]
fn sixty_four_connections_are_served_at_once_and_no_more() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let mut clients: Vec<LineClient> = Vec::new();
    for uid in USERS {
        clients.extend((0..16).map(|_| LineClient::of(service.call(uid, &["mcp", "--socket", SOCKET]))));
    }
    let mut streams: Vec<UnixStream> = (0..16).map(|_| service.connect_directly()).collect();
    let begun: Vec<i64> = clients.iter_mut().map(|client| client.send("initialize", hello())).collect();
    for (client, id) in clients.iter_mut().zip(begun) {
        let answer = client.answer(id);
        assert_eq!(answer["result"]["serverInfo"]["name"], "ccm", "{answer}");
    }
    for stream in &mut streams {
        let line = begin(stream);
        assert!(line.contains("\"result\""), "{line}");
    }
    // The 65th, and the 17th of one user, are told why.
    let refused = list(&service);
    assert_eq!(refused.code, 1, "{}", refused.shown());
    assert!(refused.stderr.contains("the limit of 64 connections is reached"), "{}", refused.shown());
    let refused = service.agent(&["tool", "list", "--socket", SOCKET]);
    assert_eq!(refused.code, 1, "{}", refused.shown());
    let reason = "the limit of 16 connections of one user is reached";
    assert!(refused.stderr.contains(reason), "{}", refused.shown());
    let line = begin(&mut service.connect_directly());
    assert!(line.contains(reason) && line.contains("\"instead\":["), "{line}");
    // All others go on, and are answered at the same time.
    let asked: Vec<i64> = clients
        .iter_mut()
        .map(|client| {
            client.notify("notifications/initialized", json!({}));
            client.send("tools/call", json!({"name": "explain", "arguments": {"name": "file.mode"}}))
        })
        .collect();
    for (client, id) in clients.iter_mut().zip(asked) {
        let answer = client.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    // The place of one that ends is free for another user, and for the same.
    assert_eq!(clients.remove(0).close().code, 0);
    wait_until("a place is free", || list(&service).code == 0);
    let again = service.agent(&["tool", "exec", "--socket", SOCKET, "echo", "again"]);
    assert_eq!((again.code, &*again.stdout), (0, "again\n"), "{}", again.shown());
    for client in clients {
        assert_eq!(client.close().code, 0);
    }
}

#[test]
fn a_peer_that_begins_nothing_is_let_go_and_delays_nobody() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let beginnings = [
        String::new(),
        // The rest of the line never comes.
        message(1, "initialize", &hello()).replace("}\n", ""),
        // Neither a line for the service nor a question before the session begins one.
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/ccm/connection\",\"params\":{}}\n{".to_owned(),
        message(1, "ping", &json!({})),
        "x".repeat(100_000),
    ];
    // Some may stay for a minute: others are served meanwhile.
    let waiting: Vec<UnixStream> = beginnings
        .iter()
        .map(|beginning| {
            let mut stream = service.connect_directly();
            stream.write_all(beginning.as_bytes()).expect("a service");
            stream
        })
        .collect();
    let served = service.agent(&["tool", "exec", "--socket", SOCKET, "echo", "one"]);
    assert_eq!((served.code, &*served.stdout), (0, "one\n"), "{}", served.shown());
    for beginning in beginnings {
        let (process, mut stream) = service.serve(&["--client-timeout", "100ms"]);
        // A service that is slow to start lets the peer go before it reads.
        let _ = stream.write_all(beginning.as_bytes());
        let mut answers = Vec::new();
        let _reset = stream.read_to_end(&mut answers);
        let ended = process.finish();
        assert_eq!(ended.code, 0, "{beginning:.80}: {}", ended.shown());
        assert!(!String::from_utf8_lossy(&answers).contains("serverInfo"), "{beginning:.80}");
    }
    drop(waiting);
}

#[test]
fn a_peer_that_reads_nothing_is_let_go_and_takes_no_memory() {
    let Some(service) = Service::new(&ON_ASK.replace(", users: [agent]", "")) else { return };
    let (process, mut stream) = service.serve(&["--client-timeout", "2s"]);
    assert!(begin(&mut stream).contains("serverInfo"));
    let endless = json!({
        "name": "exec", "arguments": {"command": "echo begun; sleep 1000"}, "_meta": {"progressToken": 1},
    });
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    write!(stream, "{initialized}\n{}", message(2, "tools/call", &endless)).expect("a reading service");
    let mut lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
    assert!(lines.any(|line| line.expect("a line").contains("begun")));
    let cursor = json!({"cursor": "x".repeat(2000)});
    let flood: String = (10..10_000).map(|number| message(number, "tools/list", &cursor)).collect();
    let flooding = std::thread::spawn(move || {
        let mut written = 0;
        while let Ok(count @ 1..) = stream.write(&flood.as_bytes()[written..]) {
            written += count;
        }
        (stream, written, flood.len())
    });
    // Others are served meanwhile, one call at a time of each connection.
    let served = service.agent(&["tool", "exec", "--socket", SOCKET, "echo", "one"]);
    assert_eq!((served.code, &*served.stdout), (0, "one\n"), "{}", served.shown());
    let (_stream, written, length) = flooding.join().expect("a thread");
    // What it reads needs memory until it is answered. The socket holds a part as well.
    assert!(written < 2 << 20, "the service reads {written} of {length} bytes, and can't answer");
    let ended = process.finish();
    assert_eq!(ended.code, 0, "{}", ended.shown());
    let outcomes: Vec<Value> = service
        .log()
        .into_iter()
        .filter(|line| line["type"] == "finished")
        .map(|line| line["outcome"].clone())
        .collect();
    assert!(outcomes.contains(&json!("cancelled")), "{outcomes:?}");
}

#[test]
fn manifests_are_applied_by_root_once_signed_or_approved_and_not_otherwise() {
    let policy = "callers: {tool: {tools: [governed-execute, apply], users: [agent]}}\n";
    let Some(service) = Service::new(policy) else { return };
    let machine = &service.machine;
    crate::approvers::add(machine);
    let of_file = |content: &str| {
        format!(
            "ccm:\n  name: site\n  resources:\n    - file: [{{/var/lib/work/made: {{content: {content}}}}}]\n"
        )
    };
    machine.scratch.write("lib/work/site.yaml", of_file("one"));
    let secret = machine.scratch.write("lib/work/secret.yaml", "password: hunter2\n");
    std::fs::set_permissions(secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("a mode");
    let connect = |uid| {
        let mut client = LineClient::of(service.call(uid, &["mcp", "--socket", SOCKET, "--set", "apply"]));
        client.initialize("2025-11-25");
        client
    };
    let mut client = connect(4401);
    let site = json!({"manifest": "/var/lib/work/site.yaml"});
    let made = || machine.scratch.read("lib/work/made");

    // Neither signed nor approved.
    let asked = client.call("apply", site.clone());
    assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    let code = asked["structuredContent"]["code"].as_str().expect("a code").to_owned();
    let early = client.call("resume", json!({"intent": code}));
    assert_eq!(early["structuredContent"]["status"], "approval_required", "{early}");
    let unread = client.call("apply", json!({"manifest": "/var/lib/work/secret.yaml"}));
    assert_eq!(unread["isError"], true, "{unread}");
    assert!(!unread.to_string().contains("hunter2"), "{unread}");
    let mut other = connect(4402);
    let refused = other.call("apply", site.clone());
    assert!(text(&refused).contains("the policy does not let user bob call tools"), "{refused}");
    assert_eq!(other.close().code, 0);
    assert_eq!(made(), None);

    // Approved: once, as root.
    crate::approvers::approve(machine, &code);
    let applied = client.call("resume", json!({"intent": code}));
    assert_eq!(applied["structuredContent"]["exitCode"], 0, "{applied}");
    assert_eq!(made().as_deref(), Some("one"));
    let owner = std::fs::metadata(machine.scratch.path().join("lib/work/made")).expect("a file");
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&owner), 0);
    let again = client.call("resume", json!({"intent": code}));
    assert_eq!(again["structuredContent"]["status"], "approval_ended", "{again}");

    // Signed: as it is, and not once it has changed.
    machine.scratch.write("lib/work/site.yaml", of_file("two"));
    let key = "/var/lib/alice/.ssh/id_ed25519";
    let sign = ["approve", "--manifest", "/var/lib/work/site.yaml", "--until", "1d", "--key", key, "--yes"];
    let signed = machine.run(&sign);
    assert_eq!(signed.code, 0, "{}", signed.shown());
    let applied = client.call("apply", site.clone());
    assert_eq!(applied["structuredContent"]["exitCode"], 0, "{applied}");
    assert_eq!(made().as_deref(), Some("two"));
    machine.scratch.write("lib/work/site.yaml", of_file("three"));
    let asked = client.call("apply", site);
    assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    assert_eq!(made().as_deref(), Some("two"));
    assert_eq!(client.close().code, 0);

    let log = service.log();
    let of = |kind: &str| log.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert!(of("refused").iter().any(|line| line["by"]["user"] == "bob"), "{log:#?}");
    let applied: Vec<&Value> =
        of("intent").into_iter().filter(|line| line.to_string().contains("\"apply\"")).collect();
    assert_eq!(applied.len(), 2, "{log:#?}");
    assert!(applied.iter().all(|line| line["by"]["user"] == "agent"), "{applied:#?}");
}
