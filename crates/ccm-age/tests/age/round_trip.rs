//! What is encrypted is opened by each recipient, and by nobody else.

use ccm_age::{EncryptedText, MAX_PLAIN_BYTES, OpenError, encrypt};

use crate::key;

#[test]
fn texts_of_every_length_are_opened_as_they_were() {
    let host = key(1);
    let to = [host.recipient().clone()];
    for length in [0, 1, 47, 48, 49, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 3 * (64 << 10), 1 << 20] {
        let plain: Vec<u8> = (0..length).map(|number| u8::try_from(number % 251).expect("a byte")).collect();
        let text = encrypt(&plain, &to).expect("an encrypted text");
        assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 64), "{length}");
        let opened = EncryptedText::parse(&text).expect("a text").open(&host).expect("the plain text");
        assert_eq!(*opened, plain, "{length}");
    }
    assert!(encrypt(&vec![0; MAX_PLAIN_BYTES], &to).is_some());
    assert_eq!(encrypt(&vec![0; MAX_PLAIN_BYTES + 1], &to), None);
    assert_eq!(encrypt(b"x", &[]), None);
}

#[test]
fn each_recipient_opens_a_text_and_nobody_else() {
    let hosts: Vec<_> = (1..=3).map(key).collect();
    let to: Vec<_> = hosts.iter().map(|host| host.recipient().clone()).collect();
    let text = encrypt(b"secret", &to).expect("an encrypted text");
    let text = EncryptedText::parse(&text).expect("a text");
    for host in &hosts {
        assert_eq!(text.open(host).expect("the plain text").as_slice(), b"secret");
    }
    assert_eq!(text.open(&key(4)), Err(OpenError::NotARecipient));
    let tags: Vec<_> = to.iter().map(|recipient| Some(recipient.tag())).collect();
    assert_eq!(text.recipients(), tags);
}

#[test]
fn no_two_texts_are_alike_and_a_recipient_counts_once() {
    let to = key(1).recipient().clone();
    let twice = [to.clone(), to];
    let [one, other] = [0, 1].map(|_| encrypt(b"secret", &twice).expect("an encrypted text"));
    assert_ne!(one, other);
    assert_eq!(EncryptedText::parse(&one).expect("a text").recipients().len(), 1);
}

#[test]
fn every_changed_character_is_noticed() {
    let host = key(1);
    let text = encrypt(b"a secret of some length", &[host.recipient().clone()]).expect("an encrypted text");
    for (index, character) in text.char_indices().filter(|(_, character)| !character.is_whitespace()) {
        let mut changed = text.clone();
        let other = if character == 'A' { "B" } else { "A" };
        changed.replace_range(index..=index, other);
        let opened = EncryptedText::parse(&changed).ok().map(|text| text.open(&host));
        // The unused bits of the last digit, and the padding behind it, are checked as well.
        assert!(!matches!(opened, Some(Ok(_))), "{index}");
    }
}

#[test]
fn no_opened_byte_is_shown() {
    let host = key(7);
    let shown = format!("{host:?}");
    assert!(shown.contains("ssh-ed25519"), "{shown}");
    assert!(!shown.contains("scalar"), "{shown}");
}
