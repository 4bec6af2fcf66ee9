//! Output of commands as text that is safe to show.

use ccm_host::CapturedOutput;
use ccm_model::steers_terminal;

/// Text of a stream, cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamText {
    /// The beginning.
    pub(crate) text: String,
    /// Number of characters that are left out.
    pub(crate) omitted: u64,
}

impl StreamText {
    /// Returns the first characters of a stream, without those that steer a terminal.
    pub(crate) fn of(captured: &CapturedOutput, limit: usize) -> Self {
        let mut bytes = captured.head.clone();
        if !captured.truncated() {
            bytes.extend_from_slice(&captured.tail);
        }
        let hidden = if captured.truncated() { captured.dropped + captured.tail.len() as u64 } else { 0 };
        let clean = without_controls(&String::from_utf8_lossy(&bytes));
        let cut = Self::cut(&clean, limit);
        Self { omitted: cut.omitted + hidden, ..cut }
    }

    /// Returns the first characters of a text.
    pub(crate) fn cut(text: &str, limit: usize) -> Self {
        match text.char_indices().nth(limit) {
            None => Self { text: text.to_owned(), omitted: 0 },
            Some((end, _)) => {
                Self { text: text[..end].to_owned(), omitted: text[end..].chars().count() as u64 }
            }
        }
    }

    /// Returns the text with a note on what is left out.
    pub(crate) fn with_note(self) -> String {
        match self.omitted {
            0 => self.text,
            omitted => format!("{}\n... (truncated, {omitted} more chars)", self.text),
        }
    }
}

/// Removes escape sequences and every character that steers a terminal, except line ends and tabs.
pub(crate) fn without_controls(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\n' | '\t' => clean.push(character),
            '\u{1b}' => skip_sequence(&mut rest),
            '\u{9b}' => skip_parameters(&mut rest),
            '\u{200b}' | '\u{200c}' | '\u{2060}' | '\u{feff}' => {}
            other if steers_terminal(other) => {}
            other => clean.push(other),
        }
    }
    clean
}

/// Skips the rest of an escape sequence.
fn skip_sequence(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_parameters(rest);
        }
        // Commands to the terminal, such as its title, end with BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            while let Some(character) = rest.peek() {
                match character {
                    '\u{7}' | '\u{9c}' => {
                        rest.next();
                        return;
                    }
                    '\u{1b}' | '\n' => return,
                    _ => {
                        rest.next();
                    }
                }
            }
        }
        Some(' '..='/') => {
            rest.next();
            if rest.peek().is_some_and(|character| (' '..='~').contains(character)) {
                rest.next();
            }
        }
        Some('0'..='~') => {
            rest.next();
        }
        _ => {}
    }
}

/// Skips the parameters of a sequence and the letter that ends it.
fn skip_parameters(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(' '..='?') = rest.peek() {
        rest.next();
    }
    if let Some('@'..='~') = rest.peek() {
        rest.next();
    }
}

/// Returns the output of a command in one text: standard output, standard error below `STDERR:`, and how the command
/// ended, if not with success.
pub(crate) fn combined(
    stdout: &StreamText,
    stderr: &StreamText,
    ending: Option<&str>,
    limit: usize,
) -> String {
    let mut text = stdout.text.clone();
    let mut omitted = stdout.omitted;
    if !stderr.text.is_empty() {
        if !text.is_empty() {
            text += "\n";
        }
        text += "STDERR:\n";
        text += &stderr.text;
        omitted += stderr.omitted;
    }
    let mut cut = StreamText::cut(&text, limit);
    cut.omitted += omitted;
    let mut text = cut.with_note();
    if let Some(ending) = ending {
        if !text.is_empty() && !text.ends_with('\n') {
            text += "\n";
        }
        text += ending;
    }
    if text.is_empty() { "(no output)".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(text: &str) -> StreamText {
        StreamText { text: text.to_owned(), omitted: 0 }
    }

    #[test]
    fn output_has_the_form_of_the_guarded_tool() {
        let ending = Some("Exit code: exit status 1");
        for (stdout, stderr, ending, text) in [
            ("", "", None, "(no output)"),
            ("out\n", "", None, "out\n"),
            ("out\n", "err\n", None, "out\n\nSTDERR:\nerr\n"),
            ("out", "err", None, "out\nSTDERR:\nerr"),
            ("", "err\n", None, "STDERR:\nerr\n"),
            ("", "err\n", ending, "STDERR:\nerr\nExit code: exit status 1"),
            ("", "", ending, "Exit code: exit status 1"),
            ("out", "", ending, "out\nExit code: exit status 1"),
        ] {
            assert_eq!(combined(&stream(stdout), &stream(stderr), ending, 100), text);
        }
    }

    #[test]
    fn long_output_is_cut_with_a_note() {
        let long = CapturedOutput { head: "ä".repeat(15_000).into_bytes(), ..CapturedOutput::default() };
        let text = StreamText::of(&long, 10_000);
        assert_eq!((text.text.chars().count(), text.omitted), (10_000, 5000));
        let shown = combined(&text, &stream(""), None, 10_000);
        assert!(shown.ends_with("ä\n... (truncated, 5000 more chars)"), "{shown}");
        let both = combined(&stream(&"a".repeat(8)), &stream("bcd"), Some("Exit code: exit status 2"), 10);
        assert_eq!(both, "aaaaaaaa\nS\n... (truncated, 10 more chars)\nExit code: exit status 2");
        let dropped = CapturedOutput { head: b"abc".to_vec(), tail: b"z".to_vec(), dropped: 7 };
        assert_eq!(StreamText::of(&dropped, 2), StreamText { text: "ab".to_owned(), omitted: 9 });
    }

    #[test]
    fn nothing_in_output_steers_a_terminal() {
        for (text, clean) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\r\nb\rc", "a\nbc"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]0;title\u{1b}\\x", "x"),
            ("\u{1b}(Bx\u{1b}c", "x"),
            ("\u{9b}31mx", "x"),
            ("a\u{202e}b\u{200b}c\u{feff}\u{7f}\u{0}\u{8}", "abc"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}]never ended\nnext", "\nnext"),
            ("日本 ä ✓", "日本 ä ✓"),
        ] {
            assert_eq!(without_controls(text), clean, "{text:?}");
        }
    }
}
