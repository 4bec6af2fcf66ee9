//! The text below the options of a help: notes, examples, and the page of the documentation.

/// Parts of the text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HelpEnd<'h> {
    /// Texts and lists of lines that are neither examples nor about exit codes.
    pub(crate) notes: Vec<Note<'h>>,
    /// Lines of the examples.
    pub(crate) examples: Vec<&'h str>,
    /// Path of the page of the documentation.
    pub(crate) documentation: Option<&'h str>,
}

/// Part of the notes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Note<'h> {
    /// A paragraph.
    Text(String),
    /// Indented lines.
    Lines(Vec<&'h str>),
}

impl<'h> HelpEnd<'h> {
    /// Splits the text of a help.
    pub(crate) fn parse(text: &'h str) -> Self {
        let mut parsed = Self::default();
        for block in text.split("\n\n") {
            let mut lines =
                block.lines().filter(|line| !parsed.takes_documentation(line)).collect::<Vec<_>>();
            match lines.first() {
                Some(first) if first.starts_with("Exit codes:") => {}
                Some(&"Examples:") => {
                    parsed.examples = lines.split_off(1).into_iter().map(str::trim).collect();
                }
                _ => lines.into_iter().for_each(|line| parsed.add_note(line)),
            }
            parsed.notes.push(Note::Text(String::new()));
        }
        parsed.notes.retain(|note| !matches!(note, Note::Text(text) if text.is_empty()));
        parsed
    }

    /// Takes the path from the line about the documentation; `false` for any other line.
    fn takes_documentation(&mut self, line: &'h str) -> bool {
        let Some(rest) = line.strip_prefix("Documentation:") else { return false };
        let path = rest.split([' ', ',']).find(|word| word.starts_with("/usr/share/doc/"));
        self.documentation = path;
        true
    }

    fn add_note(&mut self, line: &'h str) {
        let indented = line.strip_prefix("  ");
        match (indented, self.notes.last_mut()) {
            (Some(line), Some(Note::Lines(lines))) => lines.push(line),
            (Some(line), _) => self.notes.push(Note::Lines(vec![line])),
            (None, Some(Note::Text(text))) => {
                *text += if text.is_empty() { "" } else { " " };
                *text += line;
            }
            (None, _) => self.notes.push(Note::Text(line.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_help_are_found() {
        let text = "Examples:\n  ccm x        do x\n  ccm y\n\nFacts come from\nthese files:\n  /a\n  /b\nOthers don't.\n\n\
                    Second.\n\nExit codes: 0 good,\n1 bad\n`ccm z` too.\nDocumentation: /usr/share/doc/ccm/x.md, or docs/x.md";
        let expected = HelpEnd {
            notes: vec![
                Note::Text("Facts come from these files:".to_owned()),
                Note::Lines(vec!["/a", "/b"]),
                Note::Text("Others don't.".to_owned()),
                Note::Text("Second.".to_owned()),
            ],
            examples: vec!["ccm x        do x", "ccm y"],
            documentation: Some("/usr/share/doc/ccm/x.md"),
        };
        assert_eq!(HelpEnd::parse(text), expected);
        assert_eq!(HelpEnd::parse(""), HelpEnd::default());
    }
}
