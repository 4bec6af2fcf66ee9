//! The programs age and rage open what ccm encrypts, and the other way round.

use std::process::{Command, Stdio};

use ccm_age::{EncryptedText, Recipient, encrypt};
use ccm_testkit::{Scratch, skipped};

use crate::{key, private_key};

/// Runs a program on a file in the directory; returns what it prints.
fn run(scratch: &Scratch, program: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    let finished =
        command.args(arguments).arg("in").current_dir(scratch.path()).stdin(Stdio::null()).output();
    finished.ok().filter(|finished| finished.status.success()).map(|finished| finished.stdout)
}

fn compare_with(program: &str) {
    let scratch = Scratch::new();
    let recipients: Vec<Recipient> = (1..=2).map(|seed| key(seed).recipient().clone()).collect();
    for seed in 1..=2 {
        let name = format!("key{seed}");
        scratch.write(&name, private_key(seed));
        let file = std::fs::File::open(scratch.path().join(&name)).expect("the key");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        file.set_permissions(private).expect("a private key");
    }
    for length in [0, 1, 1_000, 64 << 10, (64 << 10) + 1, 200_000] {
        let plain: Vec<u8> = (0..length).map(|number| u8::try_from(number % 256).expect("a byte")).collect();
        scratch.write("in", encrypt(&plain, &recipients).expect("an encrypted text"));
        for name in ["key1", "key2"] {
            let opened = run(&scratch, program, &["-d", "-i", name]);
            assert_eq!(opened.as_ref(), Some(&plain), "{program} opens {length} bytes with {name}");
        }
        scratch.write("in", &plain);
        let [one, other] = [0, 1].map(|index| recipients[index].line());
        let sealed = run(&scratch, program, &["-a", "-r", one, "-r", other]);
        let sealed = String::from_utf8(sealed.expect("an encrypted file")).expect("an armoured text");
        let text = EncryptedText::parse(&sealed).expect("a text");
        for seed in 1..=2 {
            let opened = text.open(&key(seed)).expect("the plain text");
            assert_eq!(*opened, plain, "ccm opens {length} bytes of {program}");
        }
    }
}

#[test]
fn age_and_ccm_open_what_the_other_encrypts() {
    if Command::new("age").arg("--version").output().is_err() {
        return skipped("age is not installed");
    }
    compare_with("age");
}

#[test]
fn rage_and_ccm_open_what_the_other_encrypts() {
    if Command::new("rage").arg("--version").output().is_err() {
        return skipped("rage is not installed");
    }
    compare_with("rage");
}
