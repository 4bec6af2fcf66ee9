use super::*;
use crate::{REDACTED, StreamRedactor};

#[test]
fn secrets_are_shared_and_grow() {
    let secrets = Secrets::new();
    let copy = secrets.clone();
    assert_eq!(copy.redact("one two!"), "one two!");
    secrets.add(["two!"]);
    assert_eq!(copy.redact("one two!"), "one [redacted]");
}

#[test]
fn a_smaller_redactor_stays_small_when_values_are_added() {
    let secrets = Secrets::new();
    let none = secrets.redactor();
    secrets.add(["correct horse"]);
    let one = secrets.redactor();
    // Another form of both is equal, and the second value ends where the first continues.
    secrets.add(["correct", "correct horse", "battery staple", "correct horse battery"]);
    let text = "correct horse battery staple, correct";
    for (redactor, shown) in [
        (&none, text),
        (&one, "[redacted] battery staple, correct"),
        (&secrets.redactor(), "[redacted], [redacted]"),
    ] {
        assert_eq!(redactor.redact(text), shown);
        assert_eq!(redactor.is_empty(), shown == text);
        assert_eq!(redactor.finds(b"correct"), shown.ends_with(REDACTED));
    }
    assert!(!Arc::ptr_eq(&one, &secrets.redactor()));
    let all = secrets.redactor();
    secrets.add(["correct horse", "abc"]);
    assert!(Arc::ptr_eq(&all, &secrets.redactor()), "nothing new became known");
}

#[test]
fn an_iterator_of_values_may_use_the_redactor() {
    let secrets = Secrets::new();
    secrets.add(["horse"]);
    secrets.add(
        ["correct horse", "battery"].into_iter().filter(|line| secrets.redactor().finds(line.as_bytes())),
    );
    assert_eq!(secrets.redact("correct horse battery"), "[redacted] battery");
}

#[test]
fn added_values_are_hidden_in_open_streams() {
    let secrets = Secrets::new();
    let mut stream = StreamRedactor::new(secrets.redactor());
    let mut shown = Vec::new();
    stream.push(b"correct horse, ", &mut |bytes| shown.extend_from_slice(bytes));
    secrets.add(["correct horse"]);
    stream.push(b"correct ho", &mut |bytes| shown.extend_from_slice(bytes));
    secrets.add(["correct horse battery"]);
    stream.push(b"rse, correct", &mut |bytes| shown.extend_from_slice(bytes));
    stream.finish(&mut |bytes| shown.extend_from_slice(bytes));
    assert_eq!(String::from_utf8_lossy(&shown), "correct horse, [redacted], [redacted]");
}
