//! Translation of RE2 patterns for the `regex` crate. In RE2, `\d`, `\w`, `\s` and `\b` are ASCII, and a
//! bracket or an ampersand in a class has no special meaning.

use regex::{Regex, RegexBuilder};

const MAX_SIZE: usize = 1 << 20;

const MAX_REPETITIONS: u32 = 1000;

/// Error of a regular expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// Message.
    pub message: String,
    /// `true` if the expression is valid but too large.
    pub limit: bool,
}

pub(crate) fn compile(written: &str) -> Result<Regex, PatternError> {
    compile_regex(written, MAX_SIZE)
}

/// Compiles a regular expression in the syntax of RE2, whose compiled form may have `max_size` bytes.
pub fn compile_regex(written: &str, max_size: usize) -> Result<Regex, PatternError> {
    let refused =
        |message: &str| PatternError { message: format!("this regular expression {message}"), limit: false };
    let translated = translate(written).map_err(refused)?;
    RegexBuilder::new(&translated)
        .size_limit(max_size)
        .dfa_size_limit(max_size)
        .nest_limit(100)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => PatternError { limit: true, ..refused("is too large") },
            regex::Error::Syntax(message) => refused(&format!("is not valid: {}", last_line(&message))),
            _ => refused("is not valid"),
        })
}

/// Returns the last line of a message: the lines before draw the translated pattern.
fn last_line(message: &str) -> &str {
    let line = message.trim_end().lines().next_back().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line)
}

fn translate(written: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(written.len() + 8);
    let mut rest = written;
    let mut class = None::<usize>;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\\' => escape(rest, class.is_some(), &mut out)?,
            '[' if class.is_none() => {
                let negated = rest[1..].starts_with('^');
                out.push_str(if negated { "[^" } else { "[" });
                let mut taken = 1 + usize::from(negated);
                // A leading bracket is a member of the class.
                if rest[taken..].starts_with(']') {
                    out.push_str("\\]");
                    taken += 1;
                }
                class = Some(out.len());
                taken
            }
            ']' if class.is_some() => {
                class = None;
                out.push(']');
                1
            }
            '[' if rest.starts_with("[:") && rest.contains(":]") => {
                let end = rest.find(":]").map_or(rest.len(), |end| end + 2);
                out.push_str(&rest[..end]);
                end
            }
            '[' | '&' | '~' if class.is_some() => {
                out.push('\\');
                out.push(first);
                1
            }
            '-' if class.is_some() && out.ends_with('-') => {
                out.push_str("\\-");
                1
            }
            '{' if class.is_none() => repetition(rest, &mut out)?,
            _ => {
                out.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    Ok(out)
}

/// Translates an escape, and returns its length.
fn escape(rest: &str, in_class: bool, out: &mut String) -> Result<usize, &'static str> {
    let letter = rest[1..].chars().next().ok_or("ends with a lone `\\`")?;
    let plain = match (letter, in_class) {
        ('d', false) => "[0-9]",
        ('d', true) => "0-9",
        ('D', _) => "[^0-9]",
        ('w', false) => "[0-9A-Za-z_]",
        ('w', true) => "0-9A-Za-z_",
        ('W', _) => "[^0-9A-Za-z_]",
        ('s', false) => "[\\t\\n\\x0c\\r ]",
        ('s', true) => "\\t\\n\\x0c\\r ",
        ('S', _) => "[^\\t\\n\\x0c\\r ]",
        ('b', false) => "(?-u:\\b)",
        // By bytes `\B` could match inside a character, so letters beyond ASCII count here.
        ('B', false) => "\\B",
        ('Q', false) => {
            let end = rest.find("\\E").unwrap_or(rest.len());
            out.push_str(&regex::escape(&rest[2..end]));
            return Ok((end + 2).min(rest.len()));
        }
        ('E', false) => "",
        ('a' | 'f' | 't' | 'n' | 'r' | 'v' | 'x' | 'p' | 'P', _) | ('A' | 'z', false) => {
            out.push('\\');
            out.push(letter);
            return Ok(2);
        }
        ('0'..='7', _) => {
            let digits = rest[1..].bytes().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
            if letter != '0' && digits < 2 {
                return Err("uses a backreference, which is not supported");
            }
            let code = u32::from_str_radix(&rest[1..=digits], 8).unwrap_or_default();
            out.push_str(&format!("\\x{{{code:x}}}"));
            return Ok(1 + digits);
        }
        (letter, _) if letter.is_ascii_punctuation() => {
            out.push('\\');
            out.push(letter);
            return Ok(2);
        }
        _ => return Err("has an unknown escape"),
    };
    out.push_str(plain);
    Ok(2)
}

/// Translates a brace: a repetition if it has the form of one, else a character.
fn repetition(rest: &str, out: &mut String) -> Result<usize, &'static str> {
    let end = rest.find('}').map_or(0, |end| end + 1);
    let inner = rest.get(1..end.saturating_sub(1)).unwrap_or_default();
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if least.is_empty() || !digits(least) || !digits(most) {
        out.push_str("\\{");
        return Ok(1);
    }
    let too_many =
        |text: &str| !text.is_empty() && text.parse::<u32>().map_or(true, |count| count > MAX_REPETITIONS);
    if too_many(least) || too_many(most) {
        return Err("repeats an expression more than 1000 times");
    }
    out.push_str(&rest[..end]);
    Ok(end)
}
