//! Text of man pages in the language of man(7).

/// A man page.
pub(crate) struct ManPage {
    text: String,
}

impl ManPage {
    /// Begins a page with its name, section, date (`YYYY-MM-DD`), source and manual.
    pub(crate) fn new(name: &str, section: u8, date: &str, source: &str, manual: &str) -> Self {
        let name = escaped(&name.to_uppercase());
        let [source, manual] = [source, manual].map(escaped);
        Self {
            text: format!(".TH \"{name}\" \"{section}\" \"{date}\" \"{source}\" \"{manual}\"\n.ad l\n.nh\n"),
        }
    }

    /// Returns the page.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, title: &str) {
        self.text += &format!(".SH {}\n", quoted(&title.to_uppercase()));
    }

    /// Begins a part of a section.
    pub(crate) fn subsection(&mut self, title: &str) {
        self.text += &format!(".SS {}\n", quoted(title));
    }

    /// Adds a paragraph of Markdown.
    pub(crate) fn paragraph(&mut self, markdown: &str) {
        self.begin_paragraph();
        self.line(&formatted(markdown));
    }

    /// Adds text that is formatted already, in the current paragraph.
    pub(crate) fn line(&mut self, formatted: &str) {
        self.text += &format!("{}\n", as_text(formatted));
    }

    /// Adds a term, which is formatted already, and its description in Markdown.
    pub(crate) fn item(&mut self, term: &str, markdown: &str) {
        self.text += &format!(".TP\n{}\n{}\n", as_text(term), as_text(&formatted(markdown)));
    }

    /// Adds an element of a list.
    pub(crate) fn bullet(&mut self, markdown: &str) {
        self.text += &format!(".IP \\(bu 3\n{}\n", as_text(&formatted(markdown)));
    }

    /// Indents what follows.
    pub(crate) fn begin_indented(&mut self) {
        self.text += ".RS\n";
    }

    /// Ends the indentation.
    pub(crate) fn end_indented(&mut self) {
        self.text += ".RE\n";
    }

    /// Begins a paragraph, unless a title has done so.
    fn begin_paragraph(&mut self) {
        let last = self.text.lines().next_back().unwrap_or_default();
        if ![".SH ", ".SS "].iter().any(|title| last.starts_with(title)) {
            self.text += ".PP\n";
        }
    }

    /// Adds lines as they are.
    pub(crate) fn verbatim<'l>(&mut self, lines: impl IntoIterator<Item = &'l str>) {
        self.begin_paragraph();
        self.text += ".RS 4\n.nf\n";
        for verbatim in lines {
            self.text += &as_text(&escaped(verbatim));
            self.text.push('\n');
        }
        self.text += ".fi\n.RE\n";
    }
}

/// Returns text in bold.
pub(crate) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

/// Returns text in italics.
pub(crate) fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", escaped(text))
}

/// Returns a reference to another page.
pub(crate) fn reference(name: &str, section: u8) -> String {
    format!("{}({section})", bold(name))
}

/// Escapes a text, which is shown as it is. Every character outside ASCII is named, because not every formatter
/// reads UTF-8.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '\\' => escaped += "\\e",
            '-' => escaped += "\\-",
            '\'' => escaped += "\\(aq",
            '`' => escaped += "\\(ga",
            '^' => escaped += "\\(ha",
            '~' => escaped += "\\(ti",
            '"' => escaped += "\\(dq",
            character if character.is_ascii() => escaped.push(character),
            character => escaped += &format!("\\[u{:04X}]", u32::from(character)),
        }
    }
    escaped
}

/// Formats inline Markdown: code and strong text in bold, emphasis in italics, links as their text.
pub(crate) fn formatted(markdown: &str) -> String {
    let text = markdown.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut formatted = String::new();
    let mut rest = &*text;
    while let Some(first) = rest.chars().next() {
        let found = match first {
            '`' => code(rest).map(|(code, behind)| (bold(code), behind)),
            '*' if rest.starts_with("**") => enclosed(rest, "**").map(|(text, behind)| (bold(text), behind)),
            '*' => enclosed(rest, "*").map(|(text, behind)| (italic(text), behind)),
            '[' => link(rest).map(|(text, behind)| (self::formatted(text), behind)),
            _ => None,
        };
        let (shown, behind) = found.unwrap_or_else(|| {
            let (character, behind) = rest.split_at(first.len_utf8());
            (escaped(character), behind)
        });
        formatted += &shown;
        rest = behind;
    }
    formatted
}

/// Splits a text that begins with code, which as many backticks end as began it.
fn code(text: &str) -> Option<(&str, &str)> {
    let mark = &text[..text.len() - text.trim_start_matches('`').len()];
    let (code, behind) = enclosed(text, mark)?;
    let inner = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
    Some((inner.filter(|_| mark.len() > 1).unwrap_or(code), behind))
}

fn enclosed<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    let (inner, behind) = text.strip_prefix(mark)?.split_once(mark)?;
    let is_text = !inner.is_empty() && (mark.starts_with('`') || !inner.starts_with(' '));
    is_text.then_some((inner, behind))
}

fn link(text: &str) -> Option<(&str, &str)> {
    let (shown, behind) = text.strip_prefix('[')?.split_once("](")?;
    let (_, behind) = behind.split_once(')')?;
    (!shown.contains('[')).then_some((shown, behind))
}

/// Returns a line of text that is no request.
fn as_text(text: &str) -> String {
    if text.starts_with('.') { format!("\\&{text}") } else { text.to_owned() }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_formatted() {
        for (markdown, expected) in [
            ("plain\ntext", "plain text"),
            ("`--noop` changes nothing", "\\fB\\-\\-noop\\fR changes nothing"),
            ("`` a`b `` and **so**", "\\fBa\\(gab\\fR and \\fBso\\fR"),
            ("see [the *manifest*](manifest.md#x), ok", "see the \\fImanifest\\fR, ok"),
            ("[`a`](b.md)", "\\fBa\\fR"),
            ("2 * 3 * 4 and [1] `open", "2 * 3 * 4 and [1] \\(gaopen"),
            ("C:\\x “y” → z's", "C:\\ex \\[u201C]y\\[u201D] \\[u2192] z\\(aqs"),
        ] {
            assert_eq!(formatted(markdown), expected, "{markdown}");
        }
    }

    #[test]
    fn text_is_never_a_request() {
        let mut page = ManPage::new("x", 1, "", "x 1", "X");
        page.paragraph(".so /etc/passwd");
        page.verbatim([".env", "'quoted'", "\\fB"]);
        let text = page.finish();
        let behind: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(
            behind,
            [
                ".PP",
                "\\&.so /etc/passwd",
                ".PP",
                ".RS 4",
                ".nf",
                "\\&.env",
                "\\(aqquoted\\(aq",
                "\\efB",
                ".fi",
                ".RE"
            ]
        );
    }
}
