//! What a shell keeps for itself: parameter expansions.

use super::RESERVED;

/// The beginning of a parameter expansion.
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    /// How long what stands before the operator or the closing brace is.
    pub(super) head: usize,
}

/// Reads what stands behind `${` as POSIX parameter expansion: `NAME}`, `#NAME}` or a name with an operator.
pub(super) fn parameter_expansion(inner: &str) -> Option<Parameter<'_>> {
    if let Some(name) = inner.strip_prefix('#').and_then(parameter_name)
        && inner[1 + name.len()..].starts_with('}')
    {
        return Some(Parameter { name, head: 1 + name.len() });
    }
    let name = parameter_name(inner)?;
    let rest = &inner[name.len()..];
    let is_default = rest.strip_prefix(':').unwrap_or(rest).starts_with(['-', '=', '?', '+']);
    let is_expansion = is_default || rest.starts_with(['}', '%', '#']);
    is_expansion.then_some(Parameter { name, head: name.len() })
}

/// The parameter at the beginning: a name, a number or one special character.
fn parameter_name(text: &str) -> Option<&str> {
    let first = *text.as_bytes().first()?;
    let length = |belongs: fn(u8) -> bool| text.bytes().position(|byte| !belongs(byte)).unwrap_or(text.len());
    let length = match first {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => length(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        b'0'..=b'9' => length(|byte| byte.is_ascii_digit()),
        b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => 1,
        _ => return None,
    };
    Some(&text[..length])
}

/// Tells whether it is an expansion of bash and its like, such as `${NAME/a/b}` or `${NAME^^}`.
pub(super) fn is_only_some_shells(inner: &str) -> bool {
    let Some(name) = parameter_name(inner.strip_prefix('!').unwrap_or(inner)) else { return false };
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let rest = inner.strip_prefix('!').unwrap_or(inner);
    is_name && !RESERVED.contains(&name) && rest[name.len()..].starts_with(['/', '^', ',', ':', '[', '@'])
}

/// Where the expansion that has just begun is over, counting those inside it.
pub(super) fn end_of_expansion(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => depth += 1,
            b'}' if depth == 0 => return Some(at + 1),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}
