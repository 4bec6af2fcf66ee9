//! Texts in many encodings, and what every type that edits a part of a text does with them.

use std::fs::{read, write};

use ccm_model::Resource;

use crate::local_run::{applied, in_noop};

const UTF_16: &str = "is UTF-16 text, whose lines can't be edited";
const UTF_32: &str = "is UTF-32 text, whose lines can't be edited";
/// Refusal of an ini-like file alone, whose programs read no NUL.
const BINARY: &str = "the file holds binary data, and is not an ini-like file";
const CARRIAGE_RETURNS: &str = "is text whose lines end with a carriage return alone, and can't be edited";

/// Returns texts of two lines, each with the end of the message if it is refused. Both lines are comments in every format.
fn texts() -> Vec<(&'static str, Vec<u8>, Option<&'static str>)> {
    let wide = |text: &str, to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    };
    let lines = "# one\n# two\n";
    let marked = format!("\u{feff}{lines}");
    let cyrillic = "\u{416}\n\u{416}\n";
    let utf_32 = |to_bytes: fn(u32) -> [u8; 4]| marked.chars().flat_map(|c| to_bytes(c.into())).collect();
    let long = format!("# {}\n", "x".repeat(1 << 20)).into_bytes();
    vec![
        ("UTF-16LE with mark", wide(&marked, u16::to_le_bytes), Some(UTF_16)),
        ("UTF-16BE with mark", wide(&marked, u16::to_be_bytes), Some(UTF_16)),
        ("UTF-16LE", wide(lines, u16::to_le_bytes), Some(UTF_16)),
        ("UTF-16BE", wide(lines, u16::to_be_bytes), Some(UTF_16)),
        ("UTF-16LE without ASCII", wide(cyrillic, u16::to_le_bytes), Some(UTF_16)),
        ("UTF-16BE without ASCII", wide(cyrillic, u16::to_be_bytes), Some(UTF_16)),
        ("UTF-32LE", utf_32(u32::to_le_bytes), Some(UTF_32)),
        ("UTF-32BE", utf_32(u32::to_be_bytes), Some(UTF_32)),
        ("CR alone", b"# one\r# two\r".to_vec(), Some(CARRIAGE_RETURNS)),
        ("CR alone, without the last", b"# one\r# two".to_vec(), Some(CARRIAGE_RETURNS)),
        ("CRLF", b"# one\r\n# two\r\n".to_vec(), None),
        ("CR within a line", b"# on\re\n# two\n".to_vec(), None),
        ("NUL in the middle", b"# o\0ne\n# two\n".to_vec(), None),
        ("NUL at the end of a line", b"# one\0\n# two\n".to_vec(), None),
        ("Latin-1", b"# caf\xe9\n# two\n".to_vec(), None),
        ("no last line end", b"# one\n# two".to_vec(), None),
        ("one line of 1 MiB", long, None),
    ]
}

/// Applies a resource that adds lines to a file, for each text: the text is refused by the name of the file and stays as
/// it is, or it stays as it is above the new lines.
pub(crate) fn assert_right_or_refused(path: &str, named: &str, resource: &Resource) {
    let mut wrong = String::new();
    for (name, old, refusal) in texts() {
        write(path, &old).expect("a file");
        let noop = in_noop(vec![resource.clone()]);
        let told = applied(vec![resource.clone()]);
        let new = read(path).expect("a file");
        let is_binary = old.contains(&0) && told[0].ends_with(BINARY);
        let is_right = match refusal {
            Some(refusal) => noop == told && told == [format!("{named} {refusal}")] && new == old,
            None if is_binary => noop == told && new == old,
            None => {
                let added = new.strip_prefix(&*old).unwrap_or_default();
                let is_whole = old.ends_with(b"\n") || added.starts_with(b"\n");
                let is_stable = applied(vec![resource.clone()]) == ["unchanged"];
                noop[0].starts_with("Would have")
                    && told == ["changed"]
                    && is_whole
                    && is_stable
                    && !added.is_empty()
            }
        };
        if !is_right {
            wrong += &format!("{}, {name}: {noop:?}, {told:?}\n", resource.id);
        }
    }
    assert_eq!(wrong, "");
}
