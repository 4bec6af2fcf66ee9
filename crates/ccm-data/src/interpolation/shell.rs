//! Shell syntax: parameter expansions.

use ccm_model::leading_variable_name;

/// Start of a parameter expansion.
pub(super) struct ExpansionStart<'a> {
    pub(super) name: &'a str,
    /// Length of the text before the operator or the closing brace.
    pub(super) head: usize,
}

/// Parses the text after `${` as a POSIX parameter expansion: `NAME}`, `#NAME}` or a name with an operator.
pub(super) fn parameter_expansion(inner: &str) -> Option<ExpansionStart<'_>> {
    if let Some(name) = inner.strip_prefix('#').and_then(parameter_name)
        && inner[1 + name.len()..].starts_with('}')
    {
        return Some(ExpansionStart { name, head: 1 + name.len() });
    }
    let name = parameter_name(inner)?;
    let rest = &inner[name.len()..];
    let has_conditional = rest.strip_prefix(':').unwrap_or(rest).starts_with(['-', '=', '?', '+']);
    let is_expansion = has_conditional || rest.starts_with(['}', '%', '#']);
    is_expansion.then_some(ExpansionStart { name, head: name.len() })
}

/// Parses the parameter: a name, a number or one special character.
fn parameter_name(text: &str) -> Option<&str> {
    let other = || match text.as_bytes().first()? {
        b'0'..=b'9' => Some(&text[..text.bytes().take_while(u8::is_ascii_digit).count()]),
        b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => Some(&text[..1]),
        _ => None,
    };
    leading_variable_name(text).or_else(other)
}

/// Returns the name in an expansion that only bash and similar shells have, such as `${NAME/a/b}` or `${NAME^^}`.
/// The caller has excluded POSIX expansions.
pub(super) fn name_beyond_posix(inner: &str) -> Option<&str> {
    let rest = inner.strip_prefix('!').unwrap_or(inner);
    let name = leading_variable_name(rest)?;
    rest[name.len()..].starts_with(['/', '^', ',', ':', '[', '@']).then_some(name)
}

/// Returns the end of an expansion, after the expansions in it.
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
