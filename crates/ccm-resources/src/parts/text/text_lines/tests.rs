use proptest::prelude::*;

use super::*;

fn edited(content: &[u8], edit: impl FnOnce(&mut TextLines<'_>)) -> Vec<u8> {
    let mut lines = TextLines::parse(content).unwrap_or_else(|error| panic!("{error:?}"));
    edit(&mut lines);
    lines.into_content()
}

#[test]
fn unedited_content_stays_as_it_is() {
    for content in ["", "\n", "a", "a\n", "a\r\nb\n\nc", "\u{feff}a\r\n", "a\rb\n", "\r\n\r\n", "a\n\n"] {
        assert_eq!(edited(content.as_bytes(), |_| ()), content.as_bytes(), "{content:?}");
    }
    assert_eq!(edited(b"\xe4\n\xff", |_| ()), b"\xe4\n\xff");
}

#[test]
fn new_lines_get_the_line_end_of_the_file() {
    for (before, after) in [
        ("", "x\n"),
        ("a", "a\nx"),
        ("a\n", "a\nx\n"),
        ("a\r\n", "a\r\nx\r\n"),
        ("a\r\nb", "a\r\nb\r\nx"),
        ("a\nb\r\n", "a\nb\r\nx\r\n"),
        ("\u{feff}", "\u{feff}x\n"),
    ] {
        let at_end = |lines: &mut TextLines<'_>| {
            let end = lines.len();
            lines.splice(end..end, [&b"x"[..]]);
        };
        assert_eq!(edited(before.as_bytes(), at_end), after.as_bytes(), "{before:?}");
    }
}

#[test]
fn removed_last_line_leaves_the_end_as_it_was() {
    for (before, after) in [("a\nb\n", "a\n"), ("a\nb", "a"), ("a\r\nb", "a"), ("b\n", ""), ("b", "")] {
        let remove_last = |lines: &mut TextLines<'_>| lines.splice(lines.len() - 1..lines.len(), []);
        assert_eq!(edited(before.as_bytes(), remove_last), after.as_bytes(), "{before:?}");
    }
}

#[test]
fn a_line_is_found_as_a_whole() {
    for (content, found) in [
        ("x", true),
        ("x\n", true),
        ("a\r\nx\r\nb", true),
        ("\u{feff}x\n", true),
        ("xx\nx", true),
        ("ax\nxa\n x\n", false),
        ("x\r", false),
        ("", false),
    ] {
        assert_eq!(has_line(content.as_bytes(), b"x"), found, "{content:?}");
    }
}

#[test]
fn utf_16_is_refused() {
    for content in [&b"\xff\xfea\0\n\0"[..], b"\xfe\xff\0a", b"a\0b\0\n\0", b"\0a\0b\0\n"] {
        assert!(TextLines::parse(content).is_err(), "{}", content.escape_ascii());
    }
    for content in [&b""[..], b"a\0", b"a\0b\n", b"a\0\0\0", b"\0\0\0\0", b"ab\0c", b"a\0b\0\n"] {
        assert!(TextLines::parse(content).is_ok(), "{}", content.escape_ascii());
    }
}

/// Edit of a row: one line in place of all that begin with `k`, lines at the end, a line above the second one.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Set(Option<&'static [u8]>),
    Append(&'static [u8]),
    Insert(&'static [u8]),
}

impl Edit {
    fn of(self, lines: &mut TextLines<'_>) {
        match self {
            Self::Set(line) => lines.set(|line| line.starts_with(b"k"), line),
            Self::Append(line) => lines.append([line]),
            Self::Insert(line) => lines.splice(1..1, [line]),
        }
    }
}

#[test]
fn bytes_that_are_not_edited_stay() {
    use Edit::{Append, Insert, Set};
    let rows: &[(&[u8], Edit, &[u8])] = &[
        // An empty file, and one without a last line end.
        (b"", Set(Some(b"k=1")), b"k=1\n"),
        (b"", Set(None), b""),
        (b"a", Set(Some(b"k=1")), b"a\nk=1\n"),
        (b"a\nk", Set(Some(b"k=1")), b"a\nk=1"),
        (b"a\nk", Set(None), b"a\n"),
        (b"k\na", Set(None), b"a"),
        (b"k", Set(None), b""),
        // Several lines become one, where the first of them is.
        (b"a\nk1\nb\nk2\nk3", Set(Some(b"k")), b"a\nk\nb\n"),
        (b"a\nk1\nb\nk2\nc", Set(None), b"a\nb\nc"),
        // Line ends are those of the neighbours; CR alone is none.
        (b"a\r\nk\r\nb\r\n", Set(Some(b"k=1")), b"a\r\nk=1\r\nb\r\n"),
        (b"a\r\nb\r\n", Append(b"x"), b"a\r\nb\r\nx\r\n"),
        (b"a\r\nb", Append(b"x"), b"a\r\nb\r\nx\r\n"),
        (b"a\r\nb\nc\r\n", Insert(b"x"), b"a\r\nx\r\nb\nc\r\n"),
        (b"a\nb\r\n", Insert(b"x"), b"a\nx\nb\r\n"),
        (b"a\nb\r\n", Append(b"x"), b"a\nb\r\nx\r\n"),
        (b"a\rk\rb", Set(Some(b"k=1")), b"a\rk\rb\nk=1\n"),
        (b"a\r\n\rk\n\r", Append(b"x"), b"a\r\n\rk\n\r\nx\n"),
        (b"\n\n\n", Append(b"x"), b"\n\n\nx\n"),
        // Latin-1, NUL bytes, and a byte order mark, which is a part of the first line.
        (b"# caf\xe9\nk\xe9\n", Set(Some(b"k=1")), b"# caf\xe9\nk=1\n"),
        (b"# caf\xe9", Append(b"\xff"), b"# caf\xe9\n\xff\n"),
        (b"a\0b\nk\0\n\0", Set(Some(b"k=1")), b"a\0b\nk=1\n\0"),
        (b"\xef\xbb\xbfk\nk\n", Set(Some(b"k=1")), b"\xef\xbb\xbfk\nk=1\n"),
    ];
    for (before, edit, after) in rows {
        let mut lines = TextLines::of(before);
        edit.of(&mut lines);
        let found = lines.into_content();
        assert_eq!(found.escape_ascii().to_string(), after.escape_ascii().to_string(), "{edit:?}");
    }
}

#[test]
fn line_of_a_megabyte_stays() {
    let long = "x".repeat(1 << 20);
    let before = format!("k\n{long}");
    let mut lines = TextLines::of(before.as_bytes());
    lines.set(|line| line == b"k", Some(b"k=1"));
    assert!(lines.into_content() == format!("k=1\n{long}").as_bytes());
    let mut lines = TextLines::of(long.as_bytes());
    lines.append([long.as_bytes()]);
    assert!(lines.into_content() == format!("{long}\n{long}\n").as_bytes());
}

/// Returns the lines with their line ends.
fn whole(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

proptest! {
    #[test]
    fn lines_that_are_not_touched_stay(
        content in proptest::collection::vec(
            prop_oneof![Just(b'k'), Just(b'\n'), Just(b'\r'), Just(0), any::<u8>()], 0..60,
        ),
        line in proptest::option::of(Just(&b"k new"[..])),
    ) {
        prop_assert_eq!(TextLines::of(&content).into_content(), &*content);
        let is_it = |line: &[u8]| line.starts_with(b"k");
        let mut lines = TextLines::of(&content);
        lines.set(is_it, line);
        let edited = lines.into_content();
        let others = |content| -> Vec<&[u8]> { whole(content).into_iter().filter(|line| !is_it(line)).collect() };
        let (mut before, mut after) = (others(&content), others(&edited));
        // A line behind the last one gives it a line end.
        if let (Some(before), Some(after)) = (before.last_mut(), after.last_mut())
            && !before.ends_with(b"\n") && line.is_some()
        {
            *after = after.strip_suffix(b"\n").unwrap_or(after);
            *after = after.strip_suffix(b"\r").filter(|after| after == before).unwrap_or(after);
        }
        prop_assert_eq!(before, after);
        let found = whole(&edited).into_iter().filter(|line| is_it(line)).count();
        prop_assert_eq!(found, usize::from(line.is_some()));
    }
}
