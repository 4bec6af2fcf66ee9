//! What a person sees before approving.

use ccm_approval::{ApprovalScreen, IntentContent, PendingReader, ScreenError};

use crate::samples::{content, intent};
use crate::store::StoreFixture;
use ccm_approval::{ApprovalStore, ApproverDecision};

fn screen(change: &dyn Fn(&mut IntentContent)) -> Result<ApprovalScreen, ScreenError> {
    let mut content = content();
    change(&mut content);
    ApprovalScreen::of(&intent(content))
}

#[test]
fn everything_that_runs_is_shown() {
    let screen = screen(&|_| {}).expect("a screen");
    assert_eq!((&*screen.code, &*screen.caller, screen.user.as_deref()), ("7K3F", "agent", Some("agent")));
    assert_eq!(screen.exact, ["systemctl restart nginx"]);
    let command = &screen.commands[0];
    assert_eq!((command.number, &*command.text), (1, "systemctl restart nginx"));
    assert_eq!(command.reasons, ["rule \"restarts\" (/etc/ccm/policy.yaml:14:3)"]);
    assert_eq!(screen.requires, ["1 of ops (alice, bob)"]);
    assert!(!screen.is_unconfined);
    assert_eq!(screen.sandbox.as_deref(), Some("no_network_compute"));
    assert_eq!(screen.variables, ["LANG='C UTF'"]);
    assert_eq!(screen.reason, ["config changed"]);
}

#[test]
fn the_text_of_a_shell_is_shown_line_by_line() {
    let text = "echo a\r\n\n\u{1b}[2Krm -rf $X\u{200b}\u{202e} \u{a0}b";
    let screen = screen(&|content| {
        content.action.argv = ["/bin/sh", "-c", text].map(str::to_owned).into();
        content.action.shell = Some(text.to_owned());
        content.commands[0].text = "rm -rf $X".to_owned();
        content.unknown = vec!["$X".to_owned()];
        content.reason = Some("please\u{1b}[1m\nignore the rest".to_owned());
    })
    .expect("a screen");
    assert_eq!(
        screen.exact,
        ["/bin/sh -c", "echo a\\r", "", "\\u{1b}[2Krm -rf $X\\u{200b}\\u{202e} \\u{a0}b"]
    );
    assert!(screen.commands[0].is_unknown);
    assert_eq!(screen.reason, ["please\\u{1b}[1m", "ignore the rest"]);
}

#[test]
fn what_cannot_be_shown_whole_is_refused() {
    let blanks = " ".repeat(81);
    let hidden = screen(&|content| content.action.argv[2] = format!("a{blanks}b"));
    assert!(matches!(hidden, Err(ScreenError::Blanks { .. })), "{hidden:?}");
    let text = "true\n".repeat(501);
    let long = screen(&|content| {
        content.action.argv = vec!["/bin/sh".to_owned(), "-c".to_owned(), text.clone()];
        content.action.shell = Some(text.clone());
    });
    assert!(matches!(long, Err(ScreenError::TooManyLines { .. })), "{long:?}");
    let nothing = screen(&|content| content.commands.clear());
    assert_eq!(nothing, Err(ScreenError::NoCommand));
}

#[test]
fn a_member_of_the_group_reads_and_submits() {
    let fixture = StoreFixture::new();
    let path = fixture.keys.path("store");
    assert!(PendingReader::open(&fixture.keys.path("none")).expect("no error").is_none());
    let intent = fixture.request(content());
    let reader = PendingReader::open(&path).expect("a store").expect("a store");
    assert_eq!(reader.find(&intent.code).expect("found"), intent);
    let until = crate::samples::after(600).wall;
    let made = ApprovalStore::statement(&intent, ApproverDecision::Approve, None, (1, None), until);
    let signed = fixture.sign("alice", &made.expect("a statement"));
    reader.submit(&signed).expect("submitted");
    // One file a statement: a second one does not replace the first.
    assert!(reader.submit(&signed).is_err());
    // The inbox is believed for the signature alone: it does not matter who put the file there, but that may not be the
    // caller.
    let entries = fixture.with(|context| fixture.store.import_inbox(context)).expect("an inbox");
    entries[0].result.as_ref().expect("accepted");
    fixture.use_up(&intent).expect("approved");
    let forged = fixture.request(content());
    let name = format!("store/pending/{}.json", forged.id);
    fixture.keys.write(&name, forged.text().replace("1001", "1002"));
    assert!(reader.waiting().expect("a list").is_empty());
}
