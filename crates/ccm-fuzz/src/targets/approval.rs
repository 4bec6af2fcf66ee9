//! Files of approvers, intents, statements and signatures.

use ccm_approval::{ApprovalScreen, ApprovalStatement, IntentDocument, SignedStatement};
use ccm_host::LocalZone;
use ccm_model::steers_terminal;
use ccm_sshsig::{AllowedSigners, SshKey, SshSignature};

use super::text;

pub(super) const WORDS: &[&str] = &[
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGrBpKz5mYtrW9ZqxOVSfT8FYZ6hH4kzX6u4v3h9K0aQ",
    "sk-ssh-ed25519@openssh.com ",
    "ssh-ed25519-cert-v01@openssh.com ",
    "namespaces=\"ccm-*\"",
    "valid-after=\"20260101Z\"",
    "valid-before=\"20270101120000\"",
    "cert-authority",
    "*,!root@example.com",
    "\"type\":\"ccm-intent/1\"",
    "\"type\":\"ccm-approval/1\"",
    "\"decision\":\"grant-rule\",\"rule\":\"x\"",
    "\"uses\":18446744073709551615",
    "\"unknown\":[\"\\u001b\"]",
    "-----BEGIN SSH SIGNATURE-----\n",
    "-----END SSH SIGNATURE-----\n",
    "U1NIU0lHAAAAAQ",
    "2026-11-22T01:31:13.000Z",
    "\\ud800",
    "\\\"",
    "#",
];

pub(super) fn run(input: &[u8]) {
    let text = text(input);
    signers(&text);
    if let Some(signature) = SshSignature::parse(&text) {
        assert!(!signature.namespace().is_empty());
        key(signature.key());
    }
    if let Ok(intent) = IntentDocument::parse(&text) {
        assert_eq!(intent.text(), text);
        if let Ok(screen) = ApprovalScreen::of(&intent) {
            let lines = screen.exact.iter().chain(screen.commands.iter().map(|command| &command.text));
            assert!(lines.chain(&screen.reason).all(|line| !line.contains(steers_terminal)));
        }
    }
    if let Ok(statement) = ApprovalStatement::parse(&text) {
        assert_eq!(statement.text().as_deref(), Ok(&*text));
    }
    if let Ok((signed, statement)) = SignedStatement::parse(&text) {
        assert_eq!(signed.content(), text);
        assert_eq!(statement.text(), Ok(signed.text));
    }
}

fn signers(text: &str) {
    let utc = |date, time| LocalZone::utc().moment(date, time);
    let parsed = AllowedSigners::parse(text, &utc);
    assert_eq!(parsed, AllowedSigners::parse(text, &utc));
    let lines: Vec<&str> = text.split('\n').collect();
    match parsed {
        Err(error) => assert!((1..=lines.len()).contains(&error.line)),
        Ok(signers) => {
            for signer in signers.signers {
                let line = lines[signer.line - 1];
                assert!(line.contains(&signer.principals));
                key(&signer.key);
                let only = signer.only_principal().is_none_or(|principal| signer.names(principal));
                assert!(only);
                // The line alone means the same.
                let alone = AllowedSigners::parse(line, &utc).expect("a line").signers;
                assert_eq!(alone.len(), 1);
                assert_eq!(alone[0].key, signer.key);
            }
        }
    }
}

fn key(key: &SshKey) {
    assert!(key.fingerprint().starts_with("SHA256:"));
    let again = SshKey::parse(&key.to_string());
    assert!(again.is_none_or(|again| again == *key));
}
