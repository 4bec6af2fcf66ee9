//! Ends of patterns with expressions in brackets.

/// Returns the position behind the next delimiter without a backslash on the same line.
pub(super) fn end_of_delimited(text: &str, delimiter: char, knows_brackets: bool) -> Option<usize> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\n' => return None,
            _ if character == delimiter => return Some(at + 1),
            '\\' => {
                characters.next()?;
            }
            '[' if knows_brackets => {
                let length = end_of_brackets(text.get(at..)?)?;
                while characters.offset() < at + length {
                    characters.next();
                }
            }
            _ => {}
        }
    }
    None
}

/// Maximum length of the name of a class of characters, such as `[:alnum:]`.
const MAX_CLASS_NAME: usize = 16;

/// Returns the length of the expression in brackets with which a text begins. A line end ends no expression.
pub(super) fn end_of_brackets(text: &str) -> Option<usize> {
    let mut at = 1;
    let rest = |at: usize| text.get(at..).unwrap_or_default();
    at += usize::from(rest(at).starts_with('^'));
    at += usize::from(rest(at).starts_with(']'));
    loop {
        let next = rest(at).chars().next()?;
        let class = rest(at).strip_prefix('[').and_then(|inner| {
            let mark = inner.chars().next().filter(|mark| matches!(mark, ':' | '.' | '='))?;
            // The names of classes are short.
            let name: String = inner.chars().skip(1).take(MAX_CLASS_NAME).collect();
            let length = name.find(&format!("{mark}]"))?;
            Some("[:".len() + length + ":]".len())
        });
        match (next, class) {
            ('\n', _) => return None,
            (']', _) => return Some(at + 1),
            (_, Some(length)) => at += length,
            (other, None) => at += other.len_utf8(),
        }
    }
}
