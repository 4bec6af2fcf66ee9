//! Signatures of real keys, and of forged ones.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::SystemTime;

use ccm_approval::{Approvers, ApproversError, KeygenError, SignerRole, SshKeygen};
use ccm_host::{LocalZone, TrustError, current_user};
use ccm_sshsig::{SignatureDemand, SignatureRefusal, VerifiedSignature};

use crate::keys::{
    KeyDirectory, NAMESPACE, PRESENT, SoftwareSecurityKey, VERIFIED, approvers, armoured, encoded, keygen,
    string, with_keygen,
};

const TEXT: &str = "{\"type\":\"ccm-approval/1\"}\n";

fn demand(principal: Option<&str>) -> SignatureDemand<'_> {
    SignatureDemand { namespace: NAMESPACE, principal, touch: false, user_verified: false }
}

fn verify(
    approvers: &Approvers,
    signature: &str,
    demand: &SignatureDemand<'_>,
) -> Result<VerifiedSignature, SignatureRefusal> {
    with_keygen(async |keygen| approvers.verify(TEXT, signature, demand, SystemTime::now(), keygen).await)
}

#[test]
fn real_keys_of_every_type_are_verified() {
    let keys = KeyDirectory::new();
    for (name, kind) in [
        ("ed25519", &["ed25519"][..]),
        ("ecdsa256", &["ecdsa", "-b", "256"]),
        ("ecdsa521", &["ecdsa", "-b", "521"]),
        ("rsa", &["rsa", "-b", "2048"]),
    ] {
        let public = keys.make(name, kind);
        let approvers = approvers(&format!("{name} {public}\n"));
        let signature = keys.sign(name, NAMESPACE, TEXT);
        let verified = verify(&approvers, &signature, &demand(None)).expect(name);
        assert_eq!((&*verified.principal, verified.line), (name, 1));
        let fingerprint = keygen(&["-lf", keys.path(&format!("{name}.pub")).to_str().expect("UTF-8")], "");
        let fingerprint = String::from_utf8_lossy(&fingerprint.stdout).into_owned();
        assert!(fingerprint.contains(&verified.key.fingerprint()), "{fingerprint}");
        let other = keys.sign(name, NAMESPACE, "another text");
        assert!(matches!(verify(&approvers, &other, &demand(None)), Err(SignatureRefusal::Wrong)), "{name}");
        let elsewhere = keys.sign(name, "git", TEXT);
        let refused = verify(&approvers, &elsewhere, &demand(None));
        assert!(matches!(refused, Err(SignatureRefusal::Namespace { .. })), "{name}: {refused:?}");
    }
}

#[test]
fn a_missing_ssh_keygen_is_refused_by_name() {
    let keys = KeyDirectory::new();
    let text = format!(
        "alice {}\nbob {}\n",
        keys.make("ed25519", &["ed25519"]),
        keys.make("ecdsa", &["ecdsa", "-b", "256"])
    );
    let approvers = approvers(&text);
    let verify = |name: &str| {
        let signature = keys.sign(name, NAMESPACE, TEXT);
        with_keygen(async |keygen| {
            let system = crate::keys::OtherKeygen(keygen.system, "/nonexistent/ssh-keygen".into());
            let keygen = SshKeygen { system: &system, ..keygen.clone() };
            approvers.verify(TEXT, &signature, &demand(None), SystemTime::now(), &keygen).await
        })
    };
    assert_eq!(verify("ed25519").expect("verified by ccm itself").principal, "alice");
    let refused = verify("ecdsa");
    let Err(SignatureRefusal::Keygen { algorithm, source }) = refused else { panic!("{refused:?}") };
    assert!(matches!(source.downcast_ref(), Some(KeygenError::Missing)), "{source:?}");
    assert_eq!(algorithm, "ecdsa-sha2-nistp256");
}

#[test]
fn a_failing_ssh_keygen_says_nothing_about_the_signature() {
    let keys = KeyDirectory::new();
    let approvers = approvers(&format!("bob {}\n", keys.make("ecdsa", &["ecdsa", "-b", "256"])));
    let signature = keys.sign("ecdsa", NAMESPACE, TEXT);
    let refusal = |script: &str| {
        let text = keys.write("script", format!("#!/bin/sh\ncat > /dev/null\n{script}\n"));
        let program = keys.path("program");
        // Another process writes the program: nothing here holds the file open while it is executed.
        let copied =
            std::process::Command::new("install").args(["-m", "755"]).args([&text, &program]).status();
        assert!(copied.expect("install").success());
        let verified = with_keygen(async |keygen| {
            let system = crate::keys::OtherKeygen(keygen.system, program.clone());
            let keygen = SshKeygen { system: &system, ..keygen.clone() };
            approvers.verify(TEXT, &signature, &demand(None), SystemTime::now(), &keygen).await
        });
        ccm_model::error_layers(&verified.expect_err("refused")).join(": ")
    };
    for (script, expected) in [
        // A user of a directory service has no account within a sandbox.
        ("echo 'No user exists for uid 4242' >&2; exit 255", "finds no account of the user"),
        ("echo 'Unsupported\u{1b}[2J' >&2; exit 7", "failed with exit code 7: Unsupported\\u{1b}[2J"),
        ("exit 1", "failed with exit code 1: no message"),
        ("kill -9 $$", "did not end by itself"),
    ] {
        let refused = refusal(script);
        assert!(refused.contains("a key of type ecdsa-sha2-nistp256 can't be verified"), "{refused}");
        assert!(refused.contains(expected), "{refused}");
    }
    assert!(refusal("echo 'Could not verify signature.'; exit 255").contains("not that of this text"));
}

#[test]
fn security_keys_must_be_touched() {
    let key = SoftwareSecurityKey::new(1);
    let approvers = approvers(&format!("alice {}\n", key.public()));
    let verified = SignatureDemand { user_verified: true, ..demand(None) };
    let touched = SignatureDemand { touch: true, ..demand(None) };
    for (flags, demand, expected) in [
        (PRESENT, demand(None), None),
        (PRESENT, touched, None),
        (PRESENT | VERIFIED, verified, None),
        (0, demand(None), Some("was not touched")),
        (VERIFIED, verified, Some("was not touched")),
        (PRESENT, verified, Some("has not verified its user")),
    ] {
        let result = verify(&approvers, &key.sign(NAMESPACE, TEXT, flags), &demand);
        let refused = result.err().map(|refusal| refusal.to_string());
        match (&refused, expected) {
            (None, None) => {}
            (Some(refused), Some(expected)) => assert!(refused.contains(expected), "{refused}"),
            _ => panic!("flags {flags}: {refused:?}"),
        }
    }
    let other = SoftwareSecurityKey::new(2).sign(NAMESPACE, TEXT, PRESENT);
    assert!(matches!(verify(&approvers, &other, &demand(None)), Err(SignatureRefusal::NotListed { .. })));
    // The flags are covered by the signature: they can't be set afterwards.
    let raised = key.sign(NAMESPACE, TEXT, 0);
    let bytes =
        ccm_model::decode_base64(&raised.lines().filter(|line| !line.starts_with('-')).collect::<String>());
    let mut bytes = bytes.expect("base64");
    let flags = bytes.len() - 5;
    bytes[flags] = PRESENT;
    let raised = format!(
        "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n",
        ccm_model::encode_base64(&bytes)
    );
    assert!(matches!(verify(&approvers, &raised, &demand(None)), Err(SignatureRefusal::Wrong)));
}

#[test]
fn a_key_that_is_no_security_key_does_not_count_as_touched() {
    let keys = KeyDirectory::new();
    let approvers = approvers(&format!("alice {}\n", keys.make("key", &["ed25519"])));
    let signature = keys.sign("key", NAMESPACE, TEXT);
    let touch = SignatureDemand { touch: true, ..demand(None) };
    let refused = verify(&approvers, &signature, &touch);
    assert!(matches!(refused, Err(SignatureRefusal::NoSecurityKey { .. })), "{refused:?}");
}

#[test]
fn each_refusal_has_its_name() {
    let keys = KeyDirectory::new();
    let [key, old, new, git, shared] =
        ["key", "old", "new", "git", "shared"].map(|name| keys.make(name, &["ed25519"]));
    keys.make("stranger", &["ed25519"]);
    let approvers = approvers(&format!(
        "alice {key}\nbob valid-before=\"20200101Z\" {old}\ncarol valid-after=\"20990101Z\" {new}\n\
         dave namespaces=\"git\" {git}\neve,frank {shared}\n"
    ));
    let refusal = |name: &str, principal: Option<&str>| {
        let signature = keys.sign(name, NAMESPACE, TEXT);
        verify(&approvers, &signature, &demand(principal)).expect_err(name)
    };
    assert!(matches!(refusal("stranger", None), SignatureRefusal::NotListed { .. }));
    assert!(matches!(refusal("old", None), SignatureRefusal::KeyExpired { line: 2, .. }));
    assert!(matches!(refusal("new", None), SignatureRefusal::NotYetValid { line: 3, .. }));
    assert!(matches!(refusal("git", None), SignatureRefusal::NotForNamespace { line: 4, .. }));
    assert!(matches!(refusal("shared", None), SignatureRefusal::PrincipalUnclear { .. }));
    assert!(matches!(refusal("key", Some("bob")), SignatureRefusal::OtherPrincipal { .. }));
    let signature = keys.sign("shared", NAMESPACE, TEXT);
    let named = verify(&approvers, &signature, &demand(Some("frank"))).expect("named");
    assert_eq!(named.principal, "frank");
    for text in ["", "signature", "-----BEGIN SSH SIGNATURE-----\n\n-----END SSH SIGNATURE-----\n"] {
        assert!(matches!(verify(&approvers, text, &demand(None)), Err(SignatureRefusal::Unreadable)));
    }
}

#[test]
fn a_forged_signature_that_names_the_key_of_another_is_wrong() {
    let keys = KeyDirectory::new();
    let public = encoded(&keys.make("key", &["ed25519"]));
    let approvers = approvers(&format!("alice {}\n", keys.public("key")));
    let made = |signature: &[u8], reserved: &[u8], hash: &[u8]| {
        let signature = [string(b"ssh-ed25519"), string(signature)].concat();
        armoured(&public, NAMESPACE, reserved, hash, &signature)
    };
    for (signature, wrong) in [
        (made(&[0; 64], b"", b"sha512"), true),
        (made(&[1; 64], b"", b"sha256"), true),
        (made(&[1; 63], b"", b"sha512"), true),
        (made(&[1; 64], b"x", b"sha512"), false),
        (made(&[1; 64], b"", b"md5"), false),
    ] {
        let refused = verify(&approvers, &signature, &demand(None)).expect_err("forged");
        assert_eq!(matches!(refused, SignatureRefusal::Wrong), wrong, "{refused:?}");
    }
    // The key of a security key, and a signature without flags.
    let security = SoftwareSecurityKey::new(1);
    let listed = crate::keys::approvers(&format!("alice {}\n", security.public()));
    let signature = [string(b"ssh-ed25519"), string(&[0; 64])].concat();
    let forged = armoured(&encoded(&security.public()), NAMESPACE, b"", b"sha512", &signature);
    assert!(matches!(verify(&listed, &forged, &demand(None)), Err(SignatureRefusal::Unreadable)));
}

#[test]
fn revoked_keys_are_refused_whether_listed_or_in_a_krl() {
    let keys = KeyDirectory::new();
    let text = format!(
        "alice {}\nbob {}\ncarol {}\n",
        keys.make("alice", &["ed25519"]),
        keys.make("bob", &["ecdsa", "-b", "256"]),
        keys.make("carol", &["ed25519"])
    );
    let file = keys.write("approvers", &text);
    let set_mode = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    };
    set_mode(&file);
    let verify = |name: &str| {
        let revoked = keys.path("revoked").canonicalize().unwrap_or_else(|_| keys.path("revoked"));
        let approvers = Approvers::load(
            SignerRole::Approvers,
            &keys.path("approvers").canonicalize().expect("a path"),
            &revoked,
            current_user(),
            &LocalZone::utc(),
        );
        verify(&approvers.expect("approvers"), &keys.sign(name, NAMESPACE, TEXT), &demand(None))
    };
    for name in ["alice", "bob", "carol"] {
        verify(name).expect(name);
    }
    let list = format!("{}\n{}\n", keys.public("alice"), keys.public("bob"));
    let path = keys.write("revoked", list);
    set_mode(&path);
    let krl = keys.path("krl");
    let [alice, bob] = ["alice.pub", "bob.pub"].map(|name| keys.path(name));
    let [krl_path, alice, bob] = [&krl, &alice, &bob].map(|path| path.to_str().expect("UTF-8"));
    assert!(keygen(&["-k", "-f", krl_path, alice, bob], "").status.success());
    for round in ["list", "krl"] {
        for name in ["alice", "bob"] {
            let refused = verify(name);
            assert!(matches!(refused, Err(SignatureRefusal::Revoked { .. })), "{round} {name}: {refused:?}");
        }
        verify("carol").expect("not revoked");
        std::fs::copy(&krl, &path).expect("a copy");
        set_mode(&path);
    }
    // Nobody is approved by an unreadable list.
    keys.write("revoked", b"SSHKRL\n\0nonsense");
    assert!(matches!(verify("carol"), Err(SignatureRefusal::Revoked { .. })));
}

#[test]
fn only_a_trusted_file_of_approvers_is_read() {
    let keys = KeyDirectory::new();
    let text = format!("alice {}\n", keys.make("key", &["ed25519"]));
    let directory = keys.path("etc");
    std::fs::create_dir(&directory).expect("a directory");
    let directory = directory.canonicalize().expect("a path");
    let path = directory.join("approvers");
    let load = || {
        let zone = LocalZone::utc();
        Approvers::load(SignerRole::Approvers, &path, &directory.join("revoked"), current_user(), &zone)
    };
    assert!(matches!(load(), Err(ApproversError::Missing { .. })));
    std::fs::write(&path, &text).expect("a file");
    let set_mode =
        |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    for mode in [0o666, 0o664] {
        set_mode(mode);
        let refused = load();
        let is_refused =
            matches!(refused, Err(ApproversError::Trust { source: TrustError::Writable { .. }, .. }));
        assert!(is_refused, "{refused:?}");
    }
    set_mode(0o644);
    load().expect("approvers");
    std::fs::write(&path, "# nobody\n").expect("a file");
    assert!(matches!(load(), Err(ApproversError::Empty { .. })));
    std::fs::write(&path, "alice\n").expect("a file");
    assert!(matches!(load(), Err(ApproversError::Signers { .. })));
    std::fs::remove_file(&path).expect("removed");
    std::fs::write(directory.join("elsewhere"), &text).expect("a file");
    symlink("elsewhere", &path).expect("a link");
    let refused = load();
    assert!(matches!(refused, Err(ApproversError::Trust { source: TrustError::Link(_), .. })), "{refused:?}");
}
