//! Tokens of a path.

use ccm_model::escape_control;
use ccm_properties::ValueError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(f64),
    Text(String),
    /// One of the signs of [`SIGNS`].
    Sign(&'static str),
}

/// Signs, longer ones first.
const SIGNS: &[&str] = &[
    "//", "::", "..", "!=", "<=", ">=", "/", "@", ".", "*", "[", "]", "(", ")", ",", "=", "<", ">", "|", "+",
    "-", "$",
];

/// Splits a path into tokens.
pub(super) fn tokens(path: &str) -> Result<Vec<Token>, ValueError> {
    let mut tokens = Vec::new();
    let mut rest = path.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if let '"' | '\'' = first {
            let (text, _) = rest[1..]
                .split_once(first)
                .ok_or_else(|| ValueError::new("a text in the XPath has no closing quote"))?;
            (Token::Text(text.to_owned()), text.len() + 2)
        } else if first.is_ascii_digit() {
            let end = rest.find(|end: char| !(end.is_ascii_digit() || end == '.')).unwrap_or(rest.len());
            let number = rest[..end].parse();
            let number = number.map_err(|_| unexpected(&rest[..end]))?;
            (Token::Number(number), end)
        } else if is_name(first) {
            let end = name_end(rest);
            (Token::Name(rest[..end].to_owned()), end)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| unexpected(&rest[..first.len_utf8()]))?;
            (Token::Sign(sign), sign.len())
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Returns the end of a name with its prefix. Two colons are the end of an axis.
fn name_end(text: &str) -> usize {
    let is_part = |part: char| is_name(part) || part.is_ascii_digit() || matches!(part, '-' | '.');
    let end = |from: usize| text[from..].find(|part| !is_part(part)).map_or(text.len(), |end| from + end);
    let first = end(0);
    let behind = text[first..].strip_prefix(':').filter(|behind| behind.starts_with(is_name));
    if behind.is_some() { end(first + 1) } else { first }
}

fn is_name(first: char) -> bool {
    first.is_alphabetic() || first == '_'
}

/// Builds the error of a part that does not belong there.
pub(super) fn unexpected(part: &str) -> ValueError {
    ValueError::new(format!("`{}` is not expected in the XPath", escape_control(part)))
}
