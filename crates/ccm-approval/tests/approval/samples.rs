//! An intent, and statements about it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_approval::{
    ApprovalDemand, ApprovalMachine, ApprovalStatement, ApprovalTime, ApproverDecision, GrantLimits,
    IntendedAction, IntendedCommand, IntendedProgram, IntendedSandbox, IntentCaller, IntentContent,
    IntentDocument,
};
use ccm_model::display_timestamp;

pub(crate) const PENDING: Duration = Duration::from_secs(900);

pub(crate) fn machine() -> ApprovalMachine {
    ApprovalMachine { id: "m-9f2c".to_owned(), boot: "b-1".to_owned(), name: "web1".to_owned() }
}

/// Returns a moment: seconds after the beginning of the test, by both clocks.
pub(crate) fn after(seconds: u64) -> ApprovalTime {
    ApprovalTime {
        wall: start() + Duration::from_secs(seconds),
        since_boot: Duration::from_secs(5000 + seconds),
    }
}

fn start() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_311_073)
}

pub(crate) fn content() -> IntentContent {
    let text = |text: &str| text.to_owned();
    IntentContent {
        caller: IntentCaller {
            kind: text("mcp"),
            user: text("agent"),
            uid: 1001,
            login: None,
            pid: Some(4242),
            client: Some(text("client 1.0")),
            connection: None,
        },
        tool: text("exec"),
        class: text("execute"),
        resource_class: text("execution-node"),
        resource: None,
        manifest: None,
        purpose: None,
        reason: Some(text("config changed")),
        action: IntendedAction {
            argv: ["systemctl", "restart", "nginx"].map(text).into(),
            shell: None,
            change: Vec::new(),
            image: None,
            cwd: text("/srv/agent"),
            user: Some(text("agent")),
            env: [(text("LANG"), text("0f"))].into(),
            env_values: [(text("LANG"), text("C UTF"))].into(),
            stdin: None,
            stdin_sha256: None,
            timeout_ms: Some(60_000),
            properties: [(text("umask"), text("\"022\""))].into(),
        },
        commands: vec![IntendedCommand {
            text: text("systemctl restart nginx"),
            effects: vec![text("service: restart nginx")],
            verdict: text("ask"),
            reasons: vec![text("rule \"restarts\" (/etc/ccm/policy.yaml:14:3)")],
        }],
        programs: vec![IntendedProgram { path: text("/usr/bin/systemctl"), sha256: "ab".repeat(32) }],
        unknown: Vec::new(),
        policy: text("sha256:11"),
        decision: text("ask"),
        rules: vec![text("restarts")],
        sandbox: IntendedSandbox {
            profile: Some(text("no_network_compute")),
            digest: Some(text("sha256:22")),
        },
        requires: vec![ApprovalDemand {
            text: text("1 of ops (alice, bob)"),
            count: 1,
            approvers: Some(["alice", "bob"].map(text).into()),
            four_eyes: true,
            touch: false,
            user_verified: false,
        }],
        valid_ms: 300_000,
        grant: Some(GrantLimits { uses: 10, for_ms: 3_600_000 }),
    }
}

pub(crate) fn intent(content: IntentContent) -> IntentDocument {
    let (id, code) = ("01JD0000000000000000000000".to_owned(), "7K3F".to_owned());
    IntentDocument::new(id, code, content, PENDING, &machine(), after(0)).expect("an intent")
}

pub(crate) fn statement(intent: &str, decision: ApproverDecision, nonce: u8) -> ApprovalStatement {
    let is_rejected = decision == ApproverDecision::Reject;
    ApprovalStatement {
        approver: None,
        reason: is_rejected.then(|| "not today".to_owned()),
        not_after: display_timestamp(after(600).wall, 0),
        uses: u32::from(!is_rejected),
        nonce: format!("{nonce:032x}"),
        intent: intent.to_owned(),
        decision,
    }
}
