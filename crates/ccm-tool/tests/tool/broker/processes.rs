//! Processes of calls: listed, inspected and signalled, and nobody else's.

use ccm_testkit::wait_until;
use ccm_tool::AnswerKind;
use serde_json::{Value, json};

use crate::broker::{ON_ASK, Place, alone, field};

/// Starts a process that a call leaves running, and returns its number.
async fn daemon(place: &Place) -> i64 {
    let started = place.call("exec", json!({"command": "setsid sleep 1000 > /dev/null 2>&1 &"})).await;
    assert_eq!(started.kind, AnswerKind::Done, "{started:?}");
    let left = started.structured["leftRunning"][0].as_str().expect("a process").to_owned();
    left.split(' ').next().expect("a number").parse().expect("a number")
}

async fn listed(place: &Place) -> Vec<Value> {
    let answer = place.call("process_list", json!({})).await;
    assert_eq!(answer.kind, AnswerKind::Done, "{answer:?}");
    answer.structured["processes"].as_array().expect("a list").clone()
}

#[test]
fn a_caller_sees_and_signals_its_own_processes_only() {
    alone(async || {
        let mut place = Place::new(ON_ASK);
        assert_eq!(listed(&place).await, [Value::Null; 0]);
        let pid = daemon(&place).await;
        let found = listed(&place).await;
        assert_eq!((found.len(), &found[0]["pid"], &found[0]["name"]), (1, &json!(pid), &json!("sleep")));
        let shown = place.call("process_inspect", json!({"pid": pid})).await;
        assert_eq!((field(&shown, "name"), field(&shown, "tool")), ("sleep", "exec"));
        // Another connection and another user see nothing.
        place.caller.connection = Some("other".to_owned());
        assert_eq!(listed(&place).await, [Value::Null; 0]);
        let refused = place.call("process_kill", json!({"pid": pid})).await;
        assert_eq!(refused.kind, AnswerKind::Denied);
        place.caller.connection = None;
        place.caller.uid = 4711;
        assert_eq!(listed(&place).await, [Value::Null; 0]);
        place.caller.uid = 0;
        // A signal always asks.
        place.events();
        let asked = place.call("process_kill", json!({"pid": pid, "signal": "KILL"})).await;
        assert_eq!(asked.kind, AnswerKind::ApprovalRequired, "{asked:?}");
        assert_eq!(place.events()[0], "ask process_kill for 900s");
        place.caller.client = Some("approved".to_owned());
        let killed = place.call("resume", json!({"intent": field(&asked, "intent")})).await;
        assert_eq!((killed.kind, field(&killed, "signal")), (AnswerKind::Done, "SIGKILL"), "{killed:?}");
        let pid = i32::try_from(pid).expect("a number");
        wait_until("the process has ended", || ccm_host::RunningProcess::find(pid).is_none());
        reap(pid);
        assert_eq!(listed(&place).await, [Value::Null; 0]);
    });
}

/// Reaps a child that this process has adopted.
fn reap(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid);
    let _other_reaped = rustix::process::waitpid(pid, rustix::process::WaitOptions::empty());
}

#[test]
fn foreign_processes_are_refused_by_name() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let own = std::process::id();
        for (pid, message) in [
            (json!(1), "process 1 is the init of this machine, and no call has started it".to_owned()),
            (json!(own), format!("process {own} was not started by a call of this caller, or has ended")),
            (
                json!(i32::MAX),
                "process 2147483647 was not started by a call of this caller, or has ended".to_owned(),
            ),
        ] {
            for tool in ["process_kill", "process_inspect"] {
                let answer = place.call(tool, json!({"pid": pid})).await;
                assert_eq!((answer.kind, field(&answer, "error")), (AnswerKind::Denied, &*message), "{tool}");
                assert!(answer.text.contains("instead: use a process that `process_list` shows"));
            }
            let events = place.events();
            let refused = ["refuse process_kill deny: ", "refuse process_inspect deny: "];
            assert_eq!(events.len(), 2, "{events:?}");
            assert!(
                events.iter().zip(refused).all(|(event, refused)| event.starts_with(refused)),
                "{events:?}"
            );
        }
    });
}

#[test]
fn a_recycled_number_is_refused() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let pid = daemon(&place).await;
        // The record is of a process that started at another time.
        let directory = place.scratch.path().join("state/tool-processes");
        let record =
            std::fs::read_dir(&directory).expect("records").next().expect("one").expect("one").path();
        let text = std::fs::read_to_string(&record).expect("a record");
        let mut value: Value = serde_json::from_str(&text).expect("a record");
        value["left"][0]["started"] = json!(1);
        std::fs::write(&record, value.to_string()).expect("a record");
        let answer = place.call("process_kill", json!({"pid": pid})).await;
        assert_eq!(answer.kind, AnswerKind::Denied, "{answer:?}");
        assert!(!record.exists(), "a record without a running process is removed");
        let pid = i32::try_from(pid).expect("a number");
        let process = ccm_host::RunningProcess::find(pid).expect("a process");
        process.signal("KILL").expect("a signal");
        wait_until("the process has ended", || ccm_host::RunningProcess::find(pid).is_none());
        reap(pid);
    });
}
