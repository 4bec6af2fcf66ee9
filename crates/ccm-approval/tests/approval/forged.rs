//! Forged, replayed, expired and swapped approvals, each refused by its own name.

use ccm_approval::{
    ApprovalMachine, ApprovalRefusal, ApprovalStatement, ApprovalStore, ApproverDecision, IntentContent,
    IntentDocument, IntentKey, SignedStatement,
};
use ccm_model::display_timestamp;
use ccm_sshsig::SignatureRefusal;

use crate::keys::approvers;
use crate::samples::{PENDING, after, content, machine};
use crate::store::StoreFixture;

/// Attempt to have an intent approved that was not.
struct Attempt<'a> {
    fixture: &'a mut StoreFixture,
    intent: IntentDocument,
}

impl Attempt<'_> {
    fn import(&self, signed: &SignedStatement) -> Result<(), ApprovalRefusal> {
        self.fixture.import(signed).map(|_| ())
    }

    fn statement(&self) -> ApprovalStatement {
        self.fixture.statement(&self.intent, ApproverDecision::Approve)
    }

    /// Signs a statement whose intent was changed before.
    fn swapped(&self, from: &str, to: &str) -> Result<(), ApprovalRefusal> {
        let text = self.statement().text().expect("a statement");
        assert!(text.contains(from), "{from}");
        let text = text.replace(from, to);
        let signature = self.fixture.keys.sign("alice", crate::keys::NAMESPACE, &text);
        self.import(&SignedStatement { text, signature })
    }

    /// Approves an intent of another store or time.
    fn foreign(&self, machine: &ApprovalMachine) -> Result<(), ApprovalRefusal> {
        let (id, code) = (self.intent.id.clone(), self.intent.code.clone());
        let other = IntentDocument::new(id, code, content(), PENDING, machine, after(1)).expect("an intent");
        let statement = self.fixture.statement(&other, ApproverDecision::Approve);
        self.import(&self.fixture.sign("alice", &statement))
    }

    fn used(&self) -> Result<(), ApprovalRefusal> {
        self.fixture.use_up(&self.intent).map(|_| ())
    }

    fn approved(&self) {
        self.fixture.approve("alice", &self.intent).expect("approved");
    }
}

type Row = (&'static str, fn(&mut Attempt<'_>) -> Result<(), ApprovalRefusal>, fn(&ApprovalRefusal) -> bool);

macro_rules! is {
    ($($pattern:tt)+) => { |refusal| matches!(refusal, $($pattern)+) };
}

/// Attempts, each with the name of its refusal.
const ROWS: &[Row] = &[
    (
        "no signature",
        |a| {
            a.import(&SignedStatement { text: a.statement().text().expect("text"), signature: String::new() })
        },
        is!(ApprovalRefusal::Signature(SignatureRefusal::Unreadable)),
    ),
    (
        "the key of a stranger",
        |a| a.import(&a.fixture.sign("stranger", &a.statement())),
        is!(ApprovalRefusal::Signature(SignatureRefusal::NotListed { .. })),
    ),
    (
        "the name of another approver",
        |a| {
            let statement = ApprovalStatement { approver: Some("bob".to_owned()), ..a.statement() };
            a.import(&a.fixture.sign("alice", &statement))
        },
        is!(ApprovalRefusal::Signature(SignatureRefusal::OtherPrincipal { .. })),
    ),
    (
        "another namespace",
        |a| {
            let text = a.statement().text().expect("text");
            let signature = a.fixture.keys.sign("alice", "git", &text);
            a.import(&SignedStatement { text, signature })
        },
        is!(ApprovalRefusal::Signature(SignatureRefusal::Namespace { .. })),
    ),
    (
        "the signature of another statement",
        |a| {
            let signature = a.fixture.sign("alice", &a.statement()).signature;
            a.import(&SignedStatement { text: a.statement().text().expect("text"), signature })
        },
        is!(ApprovalRefusal::Signature(SignatureRefusal::Wrong)),
    ),
    (
        "more uses than were signed",
        |a| {
            let signed = a.fixture.sign("alice", &a.statement());
            let text = signed.text.replace("\"uses\":1", "\"uses\":9");
            a.import(&SignedStatement { text, ..signed })
        },
        is!(ApprovalRefusal::Statement(_)),
    ),
    (
        "another command in the intent",
        |a| a.swapped("restart\",\"nginx", "stop\",\"nginx"),
        is!(ApprovalRefusal::Statement(_)),
    ),
    (
        "another user in the intent",
        |a| a.swapped("\"uid\":1001", "\"uid\":1002"),
        is!(ApprovalRefusal::OtherIntent { .. }),
    ),
    (
        "an intent that was never made",
        |a| a.swapped(&a.intent.id, "01JD0000000000000000000009"),
        is!(ApprovalRefusal::NotPending { .. }),
    ),
    (
        "an intent of another machine",
        |a| a.foreign(&ApprovalMachine { id: "m-other".to_owned(), ..machine() }),
        is!(ApprovalRefusal::OtherMachine { .. }),
    ),
    (
        "an intent of another boot",
        |a| a.foreign(&ApprovalMachine { boot: "b-0".to_owned(), ..machine() }),
        is!(ApprovalRefusal::OtherBoot { .. }),
    ),
    (
        "another policy at the approval",
        |a| {
            a.fixture.policy = "sha256:99".into();
            a.import(&a.fixture.sign("alice", &a.statement()))
        },
        is!(ApprovalRefusal::PolicyChanged { .. }),
    ),
    (
        "another policy at the start",
        |a| {
            a.approved();
            a.fixture.policy = "sha256:99".into();
            a.used()
        },
        is!(ApprovalRefusal::PolicyChanged { .. }),
    ),
    (
        "a reboot between approval and start",
        |a| {
            a.approved();
            let rebooted = ApprovalMachine { boot: "b-2".to_owned(), ..machine() };
            let path = a.fixture.keys.path("store");
            a.fixture.store = ApprovalStore::open(&path, rebooted, None).expect("a store");
            a.used()
        },
        is!(ApprovalRefusal::OtherBoot { .. }),
    ),
    (
        "the store of another machine",
        |a| {
            a.approved();
            let other = ApprovalMachine { id: "m-other".to_owned(), ..machine() };
            let path = a.fixture.keys.path("store");
            a.fixture.store = ApprovalStore::open(&path, other, None).expect("a store");
            a.used()
        },
        is!(ApprovalRefusal::OtherMachine { .. }),
    ),
    (
        "a program that was replaced",
        |a| {
            a.approved();
            let swapped = |_: &str| Some("cd".repeat(32));
            let (store, id) = (&a.fixture.store, &a.intent.id);
            a.fixture.with(|context| store.use_up(id, &swapped, context)).map(|_| ())
        },
        is!(ApprovalRefusal::ProgramChanged { .. }),
    ),
    (
        "a program that is gone",
        |a| {
            a.approved();
            let (store, id) = (&a.fixture.store, &a.intent.id);
            a.fixture.with(|context| store.use_up(id, &|_| None, context)).map(|_| ())
        },
        is!(ApprovalRefusal::ProgramChanged { .. }),
    ),
    (
        "a statement that was imported before",
        |a| {
            let signed = a.fixture.sign("alice", &a.statement());
            a.import(&signed).expect("approved");
            a.import(&signed)
        },
        is!(ApprovalRefusal::Replayed { .. }),
    ),
    (
        "a statement that was used before",
        |a| {
            let signed = a.fixture.sign("alice", &a.statement());
            a.import(&signed).expect("approved");
            a.used().expect("used");
            a.import(&signed)
        },
        is!(ApprovalRefusal::AlreadyUsed { .. }),
    ),
    (
        "an intent that was put back after its use",
        |a| {
            let (json, sig) = (format!("{}.json", a.intent.id), format!("{}.sig", a.intent.id));
            let pending = a.fixture.keys.path("store/pending");
            let kept = [json, sig].map(|name| (pending.join(&name), std::fs::read(pending.join(name))));
            let signed = a.fixture.sign("alice", &a.statement());
            a.import(&signed).expect("approved");
            a.used().expect("used");
            for (path, bytes) in kept {
                std::fs::write(path, bytes.expect("a file")).expect("a file");
            }
            a.import(&signed)
        },
        is!(ApprovalRefusal::Replayed { .. }),
    ),
    (
        "an intent that nobody approved in time",
        |a| {
            a.fixture.now.set(after(901));
            let until = display_timestamp(after(5000).wall, 0);
            a.import(&a.fixture.sign("alice", &ApprovalStatement { not_after: until, ..a.statement() }))
        },
        is!(ApprovalRefusal::IntentExpired { .. }),
    ),
    (
        "a statement that holds no longer",
        |a| {
            a.fixture.now.set(after(601));
            a.import(&a.fixture.sign("alice", &a.statement()))
        },
        is!(ApprovalRefusal::StatementExpired { .. }),
    ),
    (
        "an approval that was not used in time",
        |a| {
            a.approved();
            a.fixture.now.set(after(302));
            a.used()
        },
        is!(ApprovalRefusal::ApprovalExpired { .. }),
    ),
    (
        "an approver of another group",
        |a| a.import(&a.fixture.sign("carol", &a.statement())),
        is!(ApprovalRefusal::NotAnApprover { .. }),
    ),
    (
        "the caller approves",
        |a| {
            a.request(|content| content.requires[0].approvers = None);
            a.import(&a.fixture.sign("agent", &a.statement()))
        },
        is!(ApprovalRefusal::FourEyes { .. }),
    ),
    (
        "the caller approves under another name",
        |a| {
            // The account of `carol` has the number of the caller.
            a.request(|content| content.requires[0].approvers = None);
            a.import(&a.fixture.sign("carol", &a.statement()))
        },
        is!(ApprovalRefusal::FourEyes { .. }),
    ),
    (
        "the one who called sudo approves",
        |a| {
            a.request(|content| content.caller.login = Some("alice".to_owned()));
            a.import(&a.fixture.sign("alice", &a.statement()))
        },
        is!(ApprovalRefusal::FourEyes { .. }),
    ),
    (
        "one person approves twice",
        |a| {
            a.request(|content| content.requires[0].count = 2);
            a.approved();
            a.import(&a.fixture.sign("alice", &a.statement()))
        },
        is!(ApprovalRefusal::SameApprover { .. }),
    ),
    (
        "one key approves for two people",
        |a| {
            a.request(|content| content.requires[0].count = 2);
            a.fixture.approvers = approvers(&format!("alice,bob {}\n", a.fixture.keys.public("alice")));
            let named = |name: &str| ApprovalStatement { approver: Some(name.to_owned()), ..a.statement() };
            a.import(&a.fixture.sign("alice", &named("alice"))).expect("the first");
            a.import(&a.fixture.sign("alice", &named("bob")))
        },
        is!(ApprovalRefusal::SameApprover { .. }),
    ),
    (
        "a key without touch",
        |a| {
            a.request(|content| content.requires[0].touch = true);
            a.import(&a.fixture.sign("alice", &a.statement()))
        },
        is!(ApprovalRefusal::Signature(SignatureRefusal::NoSecurityKey { .. })),
    ),
    (
        "an intent on the disk that ccm did not sign",
        |a| {
            let forged = a.intent.text().replace("\"uid\":1001", "\"uid\":1002");
            let name = format!("store/pending/{}.json", a.intent.id);
            a.fixture.keys.write(&name, &forged);
            a.used()
        },
        is!(ApprovalRefusal::ForgedIntent { .. }),
    ),
    (
        "an intent that another key signed",
        |a| {
            let signature = IntentKey::generate().expect("a key").sign(&a.intent.text()).expect("signed");
            let name = format!("store/pending/{}.sig", a.intent.id);
            a.fixture.keys.write(&name, signature);
            a.import(&a.fixture.sign("alice", &a.statement()))
        },
        is!(ApprovalRefusal::ForgedIntent { .. }),
    ),
    (
        "an accepted statement that nobody signed",
        |a| {
            a.approved();
            let directory = a.fixture.keys.path("store/approved");
            let entry = std::fs::read_dir(directory).expect("entries").next().expect("one").expect("one");
            let content = std::fs::read_to_string(entry.path()).expect("a record");
            let content = content.replace("\"not_after\":\"2026", "\"not_after\":\"2036");
            std::fs::write(entry.path(), content).expect("a record");
            a.used()
        },
        is!(ApprovalRefusal::Signature(SignatureRefusal::Wrong)),
    ),
    (
        "an approval after the rejection",
        |a| {
            let rejected = a.fixture.statement(&a.intent, ApproverDecision::Reject);
            a.import(&a.fixture.sign("bob", &rejected)).expect("rejected");
            a.import(&a.fixture.sign("alice", &a.statement()))
        },
        is!(ApprovalRefusal::Rejected { .. }),
    ),
    (
        "a name that leads out of the store",
        |a| {
            let (store, id) = (&a.fixture.store, "../../../../../etc/pass");
            a.fixture.with(|context| store.use_up(id, &|_| None, context)).map(|_| ())
        },
        is!(ApprovalRefusal::NotPending { .. }),
    ),
];

#[test]
fn each_attempt_is_refused_by_its_own_name() {
    for (name, attempt, is_expected) in ROWS {
        let mut fixture = StoreFixture::new();
        let intent = fixture.request(content());
        let mut made = Attempt { fixture: &mut fixture, intent };
        let refusal = attempt(&mut made).expect_err(name);
        assert!(is_expected(&refusal), "{name}: {refusal:?}");
    }
}

impl Attempt<'_> {
    /// Takes another intent.
    fn request(&mut self, change: impl Fn(&mut IntentContent)) {
        let mut content = content();
        change(&mut content);
        self.intent = self.fixture.request(content);
    }
}
