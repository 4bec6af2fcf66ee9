//! Keys that open and keys to encrypt to, and what is neither.

use ccm_age::{HostKey, HostKeyError, Recipient, RecipientError};

use crate::{key, private_key};

#[test]
fn public_keys_are_read_as_openssh_writes_them() {
    let line = key(1).recipient().line().to_owned();
    for text in [line.clone(), format!("{line} root@web1"), format!("  {line} a b c\n")] {
        assert_eq!(Recipient::parse(&text).expect("a key").line(), line, "{text}");
    }
}

#[test]
fn other_lines_are_no_recipients() {
    const RSA: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7fEZcIBO8Xh3vFv1fE8oqVvFh3wYB0W3QGgBLyIgyJqoTN7lRmE4AqLLOm\
        0T3X0e5T5UO6H0Qj0z3CwrQ6z3PpkhK0K6mKqx2H4mJ9y0l2eQHkqf3mX6tFz5n0Jx8bF0k3m9pN1Xw3vQ2b7V8wM0yZ0rL4cT6sD8hG1aEoQ==";
    let zero = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    for text in ["", "web1", "ssh-ed25519", "ssh-ed25519 AAAA", "age1qqq", "|1|a|b ssh-ed25519 AAAA"] {
        assert_eq!(Recipient::parse(text), Err(RecipientError::NoKey), "{text}");
    }
    assert!(Recipient::parse(RSA).is_err());
    assert_eq!(Recipient::parse(zero), Err(RecipientError::Weak));
}

#[test]
fn other_texts_are_no_private_keys() {
    let whole = private_key(1);
    let cut = &whole[..whole.len() / 2];
    for text in ["", "x", cut, key(1).recipient().line()] {
        assert_eq!(HostKey::parse(text).map(|_| ()), Err(HostKeyError::NoKey), "{text}");
    }
}
