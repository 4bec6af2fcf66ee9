//! Values of variables of make.

use super::NotExact;

/// Part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MakePiece {
    /// Text.
    Text(String),
    /// Text for a shell, whose output becomes a part of the value.
    Shell(Vec<MakePiece>),
    /// Value of a variable.
    Unknown,
}

/// Maximum depth of references within one another.
const MAX_DEPTH: u32 = 16;

/// Reads a text that make expands: a value, or a line of a recipe.
pub(crate) fn read_make(text: &str) -> Result<Vec<MakePiece>, NotExact> {
    read(text, 0)
}

fn read(text: &str, depth: u32) -> Result<Vec<MakePiece>, NotExact> {
    if depth > MAX_DEPTH {
        return Err(NotExact("references within too many others"));
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((plain, behind)) = rest.split_once('$') {
        push_text(&mut pieces, plain);
        let mut characters = behind.chars();
        match characters.next() {
            None => return Err(NotExact("a reference without a name")),
            Some('$') => {
                push_text(&mut pieces, "$");
                rest = characters.as_str();
            }
            Some(open @ ('(' | '{')) => {
                let (inner, further) = enclosed(behind, open)?;
                pieces.push(reference(inner, depth)?);
                rest = further;
            }
            Some(name) if name.is_ascii_whitespace() => return Err(NotExact("a reference without a name")),
            Some(_) => {
                pieces.push(MakePiece::Unknown);
                rest = characters.as_str();
            }
        }
    }
    push_text(&mut pieces, rest);
    Ok(pieces)
}

fn push_text(pieces: &mut Vec<MakePiece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(MakePiece::Text(before)) => before.push_str(text),
        _ => pieces.push(MakePiece::Text(text.to_owned())),
    }
}

/// Returns what stands in the parentheses or braces at the beginning of a text, and what stands behind.
fn enclosed(text: &str, open: char) -> Result<(&str, &str), NotExact> {
    let close = if open == '(' { ')' } else { '}' };
    let mut depth = 0_u32;
    for (at, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            depth -= 1;
            if depth == 0 {
                return Ok((text.get(1..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default()));
            }
        }
    }
    Err(NotExact("a reference without an end"))
}

/// Reads what stands within `$(…)`.
fn reference(inner: &str, depth: u32) -> Result<MakePiece, NotExact> {
    let is_name = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '<' | '^' | '*' | '?' | '%' | '+')
    };
    if !inner.is_empty() && inner.chars().all(is_name) {
        return Ok(MakePiece::Unknown);
    }
    let (function, arguments) =
        inner.split_once([' ', '\t']).ok_or(NotExact("a reference that is computed"))?;
    if function == "shell" {
        let text = arguments.trim_start_matches([' ', '\t']);
        Ok(MakePiece::Shell(read(text, depth + 1)?))
    } else {
        Err(NotExact("a function that is not known"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[MakePiece]) -> String {
        let piece = |piece: &MakePiece| match piece {
            MakePiece::Text(text) => text.clone(),
            MakePiece::Shell(inner) => format!("<{}>", shown(inner)),
            MakePiece::Unknown => "?".to_owned(),
        };
        pieces.iter().map(piece).collect()
    }

    #[test]
    fn references_are_read_as_make_reads_them() {
        for (text, expected) in [
            ("rm -r x; #", "rm -r x; #"),
            ("a$$b", "a$b"),
            ("$(shell rm -r x)y", "<rm -r x>y"),
            ("${shell rm -r {x}}y", "<rm -r {x}>y"),
            ("$(shell echo $(A) $$B)", "<echo ? $B>"),
            ("$(A)$@${B}", "???"),
        ] {
            assert_eq!(shown(&read_make(text).unwrap()), expected, "{text}");
        }
        for text in [
            "$(shell rm",
            "$(call x,y)",
            "$(eval x)",
            "$(foreach a,b,c)",
            "$(A:.c=.o)",
            "$(subst a,run,a)",
            "$",
            "$(file >x,y)",
        ] {
            assert!(read_make(text).is_err(), "{text}");
        }
    }
}
