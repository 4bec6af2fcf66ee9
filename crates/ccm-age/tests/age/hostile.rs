//! Texts that nobody should have made.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ccm_age::{EncryptedText, EncryptedTextError, OpenError, encrypt};

use crate::key;

/// Wraps lines of a header, and a payload, in armour.
fn armoured(header: &str, payload: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes = [header.as_bytes(), payload].concat();
    let mut text = String::from("-----BEGIN AGE ENCRYPTED FILE-----\n");
    for line in bytes.chunks(48) {
        for part in line.chunks(3) {
            let word =
                part.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
            for digit in 0..4 {
                let index = (word >> (18 - 6 * digit)) & 63;
                text.push(if digit <= part.len() { char::from(DIGITS[index as usize]) } else { '=' });
            }
        }
        text.push('\n');
    }
    text + "-----END AGE ENCRYPTED FILE-----\n"
}

const MAC: &str = "--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n";

#[test]
fn armour_that_is_none_is_refused_at_its_line() {
    use EncryptedTextError::{Armour, Cut, NotArmoured, Trailing};
    let begin = "-----BEGIN AGE ENCRYPTED FILE-----\n";
    let end = "-----END AGE ENCRYPTED FILE-----\n";
    let full = "A".repeat(64);
    for (text, expected) in [
        (String::new(), NotArmoured),
        ("password".to_owned(), NotArmoured),
        ("-----BEGIN PGP MESSAGE-----\n".to_owned(), NotArmoured),
        ("age-encryption.org/v1\n-> X25519 a\n".to_owned(), NotArmoured),
        (format!("x {begin}QQ==\n{end}"), NotArmoured),
        (begin.to_owned(), Cut),
        (format!("{begin}{full}\n"), Cut),
        (format!("{begin}QQ==\n-----END AGE ENCRYPTED FIL"), Armour { line: 3 }),
        (format!("{begin}Q===\n{end}"), Armour { line: 2 }),
        (format!("{begin}QR==\n{end}"), Armour { line: 2 }),
        (format!("{begin}QQ\n{end}"), Armour { line: 2 }),
        (format!("{begin}Q_Q=\n{end}"), Armour { line: 2 }),
        (format!("{begin}ä\n{end}"), Armour { line: 2 }),
        (format!("{begin}\n{end}"), Armour { line: 2 }),
        (format!("{begin}{full}A\n{end}"), Armour { line: 2 }),
        (format!("{begin}{full}AAAA\n{end}"), Armour { line: 2 }),
        (format!("{begin}QQ==\nQQ==\n{end}"), Armour { line: 3 }),
        (format!("{begin}QUJD\nQUJD\n{end}"), Armour { line: 3 }),
        (format!("{begin}{begin}{end}"), Armour { line: 2 }),
        (format!("\n\n{begin}{full}\n%\n{end}"), Armour { line: 5 }),
        (format!("{begin}{full}\n{end}more\n"), Trailing { line: 4 }),
        (format!("{begin}{full}\n{end}\n\n{begin}"), Trailing { line: 6 }),
    ] {
        assert_eq!(EncryptedText::parse(&text).map(|_| ()), Err(expected), "{text}");
    }
}

#[test]
fn headers_that_are_none_are_refused() {
    use EncryptedTextError::{Header, TooManyRecipients, Version};
    let stanza = "-> ssh-ed25519 AAAAAA AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAA\n";
    let many = stanza.repeat(4_097);
    let full = "A".repeat(64);
    for (header, expected) in [
        (String::new(), Version),
        ("age-encryption.org/v2\n".to_owned(), Version),
        ("age-encryption.org/v1\r\n".to_owned(), Version),
        ("age-encryption.org/v1\n".to_owned(), Header),
        (format!("age-encryption.org/v1\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n{stanza}"), Header),
        (format!("age-encryption.org/v1\n{stanza}---\n"), Header),
        (format!("age-encryption.org/v1\n{stanza}--- AAAA\n"), Header),
        (format!("age-encryption.org/v1\n{stanza}--- {full}\n"), Header),
        (format!("age-encryption.org/v1\n->\n\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n-> \n\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n->  x\n\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n-> x  y\n\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n-> x\t\n\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n-> ä\n\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n-> x\nA\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n-> x\n{full}\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n-> x\n{full}A\n{MAC}"), Header),
        (format!("age-encryption.org/v1\n{many}{MAC}"), TooManyRecipients),
    ] {
        let text = armoured(&header, &[0; 32]);
        let shown = &header[..header.len().min(80)];
        assert_eq!(EncryptedText::parse(&text).map(|_| ()), Err(expected), "{shown:?}");
    }
}

#[test]
fn forged_texts_are_not_opened() {
    use OpenError::{Damaged, NotARecipient, Passphrase};
    let host = key(1);
    let tag_of_host = host.recipient().tag();
    let zero = "A".repeat(43);
    let body = "A".repeat(43);
    for (stanzas, expected) in [
        ("-> X25519 abc\nAAAA\n".to_owned(), NotARecipient),
        ("-> ssh-rsa abc\nAAAA\n".to_owned(), NotARecipient),
        ("-> ssh-ed25519\nAAAA\n".to_owned(), NotARecipient),
        ("-> ssh-ed25519 AAAAAA\nAAAA\n".to_owned(), NotARecipient),
        (format!("-> ssh-ed25519 AAAAAA {zero}\n{body}\n"), NotARecipient),
        (format!("-> ssh-ed25519 {tag_of_host} {zero} x\n{body}\n"), NotARecipient),
        // A point of small order.
        (format!("-> ssh-ed25519 {tag_of_host} {zero}\n{body}\n"), Damaged),
        (format!("-> ssh-ed25519 {tag_of_host} {zero}\n\n"), Damaged),
        (format!("-> ssh-ed25519 {tag_of_host} {zero}\nAAAA\n"), Damaged),
        ("-> scrypt AAAAAAAAAAAAAAAAAAAAAA 30\nAAAA\n".to_owned(), Passphrase),
        (
            format!(
                "-> scrypt AAAAAAAAAAAAAAAAAAAAAA 63\nAAAA\n-> ssh-ed25519 {tag_of_host} {zero}\n{body}\n"
            ),
            Passphrase,
        ),
    ] {
        let text = armoured(&format!("age-encryption.org/v1\n{stanzas}{MAC}"), &[0; 64]);
        let text = EncryptedText::parse(&text).expect("a text");
        assert_eq!(text.open(&host), Err(expected), "{stanzas}");
    }
}

#[test]
fn a_text_that_was_cut_or_extended_within_is_not_opened() {
    let host = key(1);
    let plain = vec![b'x'; 200_000];
    let good = encrypt(&plain, &[host.recipient().clone()]).expect("an encrypted text");
    let lines: Vec<&str> = good.lines().collect();
    let middle = lines.len() / 2;
    let part = (64 << 10) + 16;
    let mut altered: Vec<Vec<&str>> = Vec::new();
    for removed in [1, 4, middle, lines.len() - 2] {
        let mut changed = lines.clone();
        changed.remove(removed);
        altered.push(changed);
    }
    let mut swapped = lines.clone();
    swapped.swap(middle, middle + 1);
    altered.push(swapped);
    let mut doubled = lines.clone();
    doubled.insert(middle, lines[middle]);
    altered.push(doubled);
    // Ends with a part that is not the last one.
    let mut cut = lines.clone();
    cut.drain(part / 48 + 10..lines.len() - 1);
    altered.push(cut);
    for changed in altered {
        let opened = EncryptedText::parse(&changed.join("\n")).ok().map(|text| text.open(&host));
        assert!(!matches!(opened, Some(Ok(_))), "{} of {} lines", changed.len(), lines.len());
    }
}

#[test]
fn many_recipients_and_long_texts_are_read_within_bounds() {
    let host = key(1);
    let mut stanzas = String::new();
    for number in 0..4_096 {
        let tag = format!("{number:06}");
        let _ = writeln!(stanzas, "-> ssh-ed25519 {tag} {}\n{}", "A".repeat(43), "A".repeat(43));
    }
    let many = armoured(&format!("age-encryption.org/v1\n{stanzas}{MAC}"), &[0; 64]);
    let long = armoured(&format!("age-encryption.org/v1\n-> x {}\n\n{MAC}", "y".repeat(2 << 20)), &[0; 64]);
    let huge = format!("-----BEGIN AGE ENCRYPTED FILE-----\n{}", "A".repeat(64 << 20));
    let begun = Instant::now();
    let many = EncryptedText::parse(&many).expect("a text");
    assert_eq!(many.open(&host), Err(OpenError::NotARecipient));
    assert_eq!(EncryptedText::parse(&long).map(|_| ()), Err(EncryptedTextError::TooLong));
    assert_eq!(EncryptedText::parse(&huge).map(|_| ()), Err(EncryptedTextError::TooLong));
    // A generous bound: none of these texts may make work of its own.
    assert!(begun.elapsed() < Duration::from_secs(20));
}
