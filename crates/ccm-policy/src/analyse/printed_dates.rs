//! Dates that `date` prints: their shape is known, and their digits are numbers.

use std::ops::Range;

use ccm_shell::{ShellCommand, ShellWord, UnknownOrigin, WordPiece};

use super::printed_numbers::is_plain;
use super::{Analyser, CommandContext};

impl Analyser<'_> {
    /// Returns a word in which each date that `date +FORMAT` has printed is numbers, with the text between them.
    pub(super) fn with_dates(
        &self,
        word: &ShellWord,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> Option<ShellWord> {
        let mut pieces = Vec::new();
        let mut is_changed = false;
        for piece in &word.pieces {
            match self.date(piece, commands, context) {
                Some(date) => {
                    is_changed = true;
                    pieces.extend(date);
                }
                None => pieces.push(piece.clone()),
            }
        }
        is_changed.then_some(ShellWord { pieces, span: word.span })
    }

    fn date(
        &self,
        piece: &WordPiece,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> Option<Vec<WordPiece>> {
        let WordPiece::Unknown {
            origin: UnknownOrigin::Output(range) | UnknownOrigin::Stored { range, .. },
            is_many,
        } = piece
        else {
            return None;
        };
        let format = self.date_format(range, commands, context)?;
        let is_split = *is_many && format.contains([' ', '\t', '\n', '*', '?', '[']);
        if is_split { None } else { shape(&format) }
    }

    fn date_format(
        &self,
        range: &Range<usize>,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> Option<String> {
        let [command] = commands.get(range.clone())? else { return None };
        let (name, arguments) = command.words.split_first()?;
        let format = match arguments {
            [format] => format,
            [option, format] if matches!(option.text().as_deref(), Some("-u" | "--utc")) => format,
            _ => return None,
        };
        let is_date = name.text().as_deref() == Some("date")
            && is_plain(command)
            && self.locate("date", context).is_none_or(|location| location.is_trusted);
        let format = format.text().filter(|_| is_date)?;
        format.strip_prefix('+').map(str::to_owned)
    }
}

/// Returns the pieces of a date; `None` if a part of its format prints other than digits.
fn shape(format: &str) -> Option<Vec<WordPiece>> {
    let number = || WordPiece::Unknown { origin: UnknownOrigin::Number, is_many: false };
    let text = |text: &str| WordPiece::Text { text: text.to_owned(), is_quoted: true };
    let mut parts = format.split('%');
    let mut pieces = vec![text(parts.next()?)];
    for part in parts {
        let part = part.strip_prefix('-').unwrap_or(part);
        let directive = part.chars().next()?;
        match directive {
            'F' => pieces.extend([number(), text("-"), number(), text("-"), number()]),
            'T' => pieces.extend([number(), text(":"), number(), text(":"), number()]),
            'R' => pieces.extend([number(), text(":"), number()]),
            'C' | 'H' | 'I' | 'M' | 'N' | 'S' | 'U' | 'V' | 'W' | 'Y' | 'd' | 'g' | 'G' | 'j' | 'm' | 's'
            | 'u' | 'w' | 'y' => pieces.push(number()),
            _ => return None,
        }
        pieces.push(text(part.get(directive.len_utf8()..)?));
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_the_shape_of_their_format() {
        let shown = |format: &str| {
            let piece = |piece: WordPiece| match piece {
                WordPiece::Text { text, .. } => text,
                _ => "1".to_owned(),
            };
            shape(format).map(|pieces| pieces.into_iter().map(piece).collect::<String>())
        };
        for (format, expected) in [
            ("%F", Some("1-1-1")),
            ("%Y%m%d-%H%M", Some("111-11")),
            ("%FT%TZ", Some("1-1-1T1:1:1Z")),
            ("v%-d", Some("v1")),
            ("x", Some("x")),
            ("", Some("")),
            ("%s", Some("1")),
            // Names, slashes and paddings.
            ("%b", None),
            ("%D", None),
            ("%_d", None),
            ("%c", None),
            ("%%", None),
            ("%", None),
            ("%E", None),
        ] {
            assert_eq!(shown(format).as_deref(), expected, "{format}");
        }
    }
}
