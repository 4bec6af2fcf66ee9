//! Cost of an approved command, from the use of its approval to the record of its end.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::time::{Duration, SystemTime};

use ccm_approval::{
    APPROVAL_NAMESPACE, ApprovalContext, ApprovalDemand, ApprovalMachine, ApprovalStatement, ApprovalStore,
    ApprovalTime, ApproverDecision, Approvers, GrantLimits, IntendedAction, IntendedCommand, IntendedSandbox,
    IntentCaller, IntentContent, SignatureVerifier, SignedStatement, SignerRole,
};
use ccm_host::LocalZone;
use ccm_sshsig::{SignatureDemand, SignatureRefusal, VerifiedSignature};
use ccm_testkit::Scratch;

use crate::audit::AuditedRounds;
use crate::measure::{number_within, time};

const ROUNDS: usize = 201;
const POLICY: &str = "sha256:0";

/// Verifies what needs no other program.
struct Alone;

impl SignatureVerifier for Alone {
    fn verify(
        &self,
        approvers: &Approvers,
        text: &str,
        signature: &str,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
    ) -> Result<VerifiedSignature, SignatureRefusal> {
        approvers.verify_alone(text, signature, demand, at).unwrap_or(Err(SignatureRefusal::Unreadable))
    }
}

fn content() -> IntentContent {
    let text = |text: &str| text.to_owned();
    let caller = IntentCaller {
        kind: text("apply"),
        user: text("root"),
        uid: 0,
        login: None,
        pid: None,
        client: None,
        connection: None,
    };
    let action = IntendedAction {
        argv: ["/usr/bin/systemctl", "restart", "nginx"].map(text).into(),
        shell: None,
        change: Vec::new(),
        image: None,
        cwd: text("/"),
        user: None,
        env: BTreeMap::new(),
        env_values: BTreeMap::new(),
        stdin: None,
        stdin_sha256: None,
        timeout_ms: None,
        properties: BTreeMap::new(),
    };
    IntentContent {
        caller,
        tool: text("apply"),
        class: text("execute"),
        resource_class: text("execution-node"),
        resource: Some(text("exec#restart")),
        manifest: Some(text("/srv/site.yaml")),
        purpose: Some(text("command")),
        reason: None,
        action,
        commands: vec![IntendedCommand {
            text: text("systemctl restart nginx"),
            effects: vec![text("service: restart nginx")],
            verdict: text("ask"),
            reasons: vec![text("rule \"restarts\"")],
        }],
        programs: Vec::new(),
        unknown: Vec::new(),
        policy: text(POLICY),
        decision: text("ask"),
        rules: vec![text("restarts")],
        sandbox: IntendedSandbox { profile: None, digest: None },
        requires: vec![ApprovalDemand {
            text: text("any approver"),
            count: 1,
            approvers: None,
            four_eyes: true,
            touch: false,
            user_verified: false,
        }],
        valid_ms: 3_600_000,
        grant: Some(GrantLimits { uses: 1_000_000, for_ms: 3_600_000 }),
    }
}

/// Signs a statement with a new key of `ssh-keygen`. Returns the line of the approver as well.
fn sign(directory: &Path, text: &str) -> (String, String) {
    let run = |program: &mut Program| {
        let done = program.stdin(Stdio::null()).output().expect("ssh-keygen");
        assert!(done.status.success(), "{done:?}");
    };
    let key = directory.join("key");
    run(Program::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key));
    let statement = directory.join("statement");
    std::fs::write(&statement, text).expect("a file");
    let mut signing = Program::new("ssh-keygen");
    signing.args(["-q", "-Y", "sign", "-n", APPROVAL_NAMESPACE, "-f"]).arg(&key).arg(&statement);
    run(&mut signing);
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).expect("a file");
    (read("statement.sig"), format!("alice {}", read("key.pub")))
}

/// Measures an approved and recorded command without the command itself, in memory, so that no disk is measured.
pub(crate) fn measure() {
    let scratch = Scratch::in_memory();
    let path = scratch.path().canonicalize().expect("a path").join("approvals");
    let machine = ApprovalMachine { id: "m".to_owned(), boot: "b".to_owned(), name: "web1".to_owned() };
    let store = ApprovalStore::open(&path, machine, None).expect("a store");
    let now = ApprovalTime { wall: SystemTime::now(), since_boot: Duration::from_secs(100) };
    let intent = store.request(content(), Duration::from_secs(900), now).expect("an intent");
    let until = now.wall + Duration::from_secs(3600);
    let granted =
        ApprovalStore::statement(&intent, ApproverDecision::GrantAction, None, (1_000_000, None), until);
    let text = granted.as_ref().map(ApprovalStatement::text).expect("a statement").expect("a statement");
    let (signature, line) = sign(scratch.path(), &text);
    let approvers =
        Approvers::parse(SignerRole::Approvers, Path::new("/approvers"), &line, &LocalZone::utc())
            .expect("approvers");
    let context = ApprovalContext {
        approvers: &approvers,
        verifier: &Alone,
        accounts: &|_| None,
        policy: POLICY,
        now,
        record: &|_| Ok(()),
    };
    let signed = SignedStatement { text, signature }.content();
    store.import(&signed, None, &context).expect("an approval");
    store.use_up(&intent.id, &|_| None, &context).expect("a use");
    let audited = Scratch::in_memory();
    let mut audited = AuditedRounds::new(&audited);
    let used = time(ROUNDS, || {
        let used = store.use_grant(&content(), &|_| None, &context).expect("a store");
        assert!(used.is_some(), "the approval holds");
        audited.record();
    });
    number_within(
        "approvals: use an approval, and record its command",
        used.as_secs_f64() * 1e6,
        "µs",
        1_000.0,
    );
}
