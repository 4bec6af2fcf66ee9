//! Files of allowed signers, as `ssh-keygen` reads them.

use ccm_host::LocalZone;
use ccm_sshsig::{AllowedSigners, SignatureDemand, SignersError, SignersErrorKind};

use crate::keys::{KeyDirectory, NAMESPACE, approvers, keygen, with_keygen};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Moment of all verifications: 2026-06-15 12:00 UTC.
const NOW: (&str, u64) = ("20260615120000Z", 1_781_524_800);

fn parse(text: &str) -> Result<AllowedSigners, SignersError> {
    AllowedSigners::parse(text, &|date, time| LocalZone::of_this_process().moment(date, time))
}

#[test]
fn ccm_and_ssh_keygen_accept_the_same_lines() {
    let keys = KeyDirectory::new();
    let key = keys.make("key", &["ed25519"]);
    let other = keys.make("other", &["ed25519"]);
    let signature = keys.sign("key", NAMESPACE, "text");
    let signature_file = keys.write("signature", &signature);
    // ccm accepts no more than ssh-keygen; of what it refuses itself, the third value is `true`.
    for (file, principal, stricter) in [
        ("alice KEY", "alice", false),
        ("alice KEY comment # more", "alice", false),
        ("alice KEY", "bob", false),
        ("  \talice\t KEY", "alice", false),
        ("alice   KEY\r", "alice", false),
        ("# comment\n\n   \nalice KEY", "alice", false),
        ("alice,bob KEY", "bob", false),
        ("*@example.com,!root@example.com KEY", "root@example.com", false),
        ("*@example.com,!root@example.com KEY", "alice@example.com", false),
        ("\"alice,bob\" KEY", "bob", false),
        ("\"alice bob\" KEY", "alice bob", false),
        ("alice namespaces=\"ccm-approval@v1\" KEY", "alice", false),
        ("alice NAMESPACES=\"ccm-approval@v1\" KEY", "alice", false),
        ("alice namespaces=\"git,ccm-*\" KEY", "alice", false),
        ("alice namespaces=\"*,!ccm-*\" KEY", "alice", false),
        ("alice namespaces=\"git\" KEY", "alice", false),
        ("alice namespaces=\"git\",namespaces=\"ccm-*\" KEY", "alice", false),
        ("alice valid-before=\"20260615120000Z\" KEY", "alice", false),
        ("alice valid-before=\"20260615115959Z\" KEY", "alice", false),
        ("alice valid-after=\"20260615120000Z\" KEY", "alice", false),
        ("alice valid-after=\"20260615120001Z\" KEY", "alice", false),
        ("alice valid-after=\"20260101Z\",valid-before=\"20270101Z\" KEY", "alice", false),
        ("alice valid-after=\"202606151159Z\",valid-before=\"202606151201Z\" KEY", "alice", false),
        ("alice valid-after=\"20260101\",valid-before=\"20270101\" KEY", "alice", false),
        ("alice valid-after=\"20270101Z\",valid-before=\"20260101Z\" KEY", "alice", false),
        ("alice valid-before=\"2027\" KEY", "alice", false),
        ("alice valid-before=\"soon\" KEY", "alice", false),
        ("alice valid-before=20270101Z KEY", "alice", false),
        (
            "alice namespaces=\"ccm-*\",valid-before=\"20270101Z\",valid-after=\"20260101Z\" KEY",
            "alice",
            false,
        ),
        ("alice namespaces=\"ccm-*\", KEY", "alice", false),
        ("alice namespaces=\"ccm-*\" , KEY", "alice", false),
        ("alice no-touch-required KEY", "alice", false),
        ("alice cert-authority KEY", "alice", false),
        ("alice namespaces=\"ccm-*\" valid-before=\"20270101Z\" KEY", "alice", false),
        ("alice namespaces=\"ccm-* KEY", "alice", false),
        ("\"alice KEY", "alice", false),
        ("alice ssh-ed25519", "alice", false),
        ("alice ssh-ed25519 AAAA", "alice", false),
        ("alice", "alice", false),
        ("KEY", "alice", false),
        ("alice OTHER\nalice KEY", "alice", false),
        ("alice valid-before=\"20200101Z\" KEY\nalice KEY", "alice", false),
        // ssh-keygen skips lines that it can't read, of which the person who wrote them learns nothing.
        ("alice nonsense\nalice KEY", "alice", true),
        ("bob nonsense\nalice KEY", "alice", true),
        ("bob cert-authority OTHER\nalice KEY", "alice", true),
        ("al\"ice\" KEY", "alice", true),
        ("alice, KEY", "alice", true),
    ] {
        let text = file.replace("KEY", &key).replace("OTHER", &other) + "\n";
        let path = keys.write("signers", &text);
        let [path, signed] = [&path, &signature_file].map(|path| path.to_str().expect("UTF-8"));
        let time = format!("verify-time={}", NOW.0);
        let args = ["-Y", "verify", "-O", &time, "-f", path, "-I", principal, "-n", NAMESPACE, "-s", signed];
        let accepted = keygen(&args, "text").status.success();
        let at = UNIX_EPOCH + Duration::from_secs(NOW.1);
        let verified = parse(&text).is_ok() && verifies(&text, principal, &signature, at);
        assert_eq!(verified, accepted && !stricter, "{file}, ssh-keygen: {accepted}");
        assert!(accepted || !stricter, "{file}");
    }
}

fn verifies(text: &str, principal: &str, signature: &str, at: SystemTime) -> bool {
    let demand = SignatureDemand {
        namespace: NAMESPACE,
        principal: Some(principal),
        touch: false,
        user_verified: false,
    };
    let approvers = approvers(text);
    with_keygen(async |keygen| approvers.verify("text", signature, &demand, at, keygen).await).is_ok()
}

#[test]
fn the_principal_is_the_one_that_ssh_keygen_finds() {
    let keys = KeyDirectory::new();
    let key = keys.make("key", &["ed25519"]);
    let signature = keys.write("signature", keys.sign("key", NAMESPACE, "text"));
    for names in ["alice", "\"alice\"", "alice,bob", "*@example.com"] {
        let text = format!("{names} {key}\n");
        let path = keys.write("signers", &text);
        let [path, signature] = [&path, &signature].map(|path| path.to_str().expect("UTF-8"));
        let found = keygen(&["-Y", "find-principals", "-f", path, "-s", signature], "");
        let signers = parse(&text).expect("signers");
        let found = String::from_utf8_lossy(&found.stdout).trim().replace('\n', ",");
        assert_eq!(found, signers.signers[0].principals);
        let only = signers.signers[0].only_principal();
        assert_eq!(only, (names.trim_matches('"') == "alice").then_some("alice"), "{names}");
    }
}

#[test]
fn each_error_has_its_name_and_its_line() {
    let keys = KeyDirectory::new();
    let key = keys.make("key", &["ed25519"]);
    for (line, expected) in [
        ("alice cert-authority KEY", SignersErrorKind::CertAuthority),
        ("alice no-touch-required KEY", SignersErrorKind::UnknownOption("no-touch-required".to_owned())),
        ("alice ssh-ed25519 AAAA", SignersErrorKind::NoKey),
        ("alice", SignersErrorKind::NoKey),
        (",alice KEY", SignersErrorKind::NoPrincipal),
        ("\"alice KEY", SignersErrorKind::Quote),
        ("alice namespaces=\"a\",namespaces=\"b\" KEY", SignersErrorKind::Repeated("namespaces")),
        (
            "alice valid-before=\"20261301Z\" KEY",
            SignersErrorKind::Time { option: "valid-before", value: "20261301Z".to_owned() },
        ),
        ("alice valid-after=\"20270101Z\",valid-before=\"20260101Z\" KEY", SignersErrorKind::EmptyValidity),
        ("alice ssh-ed25519-cert-v01@openssh.com CERTIFICATE", SignersErrorKind::Certificate),
    ] {
        let certificate = ccm_model::encode_base64(&crate::keys::string(b"ssh-ed25519-cert-v01@openssh.com"));
        let line = line.replace("KEY", &key).replace("CERTIFICATE", &certificate);
        let text = format!("# approvers\nbob {key}\n{line}\n");
        let error = parse(&text).expect_err(&line);
        assert_eq!((error.line, error.kind), (3, expected), "{line}");
    }
}
