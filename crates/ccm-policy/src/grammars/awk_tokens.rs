//! Tokens of awk programs, as gawk, mawk and the original awk agree on them.

use super::NotExact;
use super::brackets::end_of_brackets;

/// Token of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AwkToken<'p> {
    /// Name of a variable or function, or a keyword.
    Name(&'p str),
    Number,
    /// String; `None` if its escapes mean different things.
    Text(Option<String>),
    Pattern,
    /// End of a line.
    LineEnd,
    Operator(&'static str),
}

/// Operators, the longer ones first.
const OPERATORS: [&str; 47] = [
    "**=", "||", "|&", "&&", "**", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "!=", "<=", ">=",
    ">>", "!~", "::", "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<",
    "|", "?", ":", "~", "$", "=", "@", "&", "`", ".",
];

/// Keywords of all awks: what follows each is known not to be a division only behind some.
const KEYWORDS: [&str; 20] = [
    "BEGIN",
    "END",
    "BEGINFILE",
    "ENDFILE",
    "function",
    "func",
    "if",
    "else",
    "while",
    "for",
    "do",
    "break",
    "continue",
    "next",
    "nextfile",
    "exit",
    "return",
    "delete",
    "in",
    "switch",
];

/// Functions of awk that may be called without parentheses, or whose arguments need none.
const BUILTINS: [&str; 10] =
    ["getline", "print", "printf", "length", "system", "close", "fflush", "srand", "rand", "case"];

/// Splits a program to tokens.
pub(super) fn awk_tokens(program: &str) -> Result<Vec<AwkToken<'_>>, NotExact> {
    let mut reader = TokenReader { rest: program, tokens: Vec::new(), parentheses: Vec::new() };
    while reader.token()? {}
    Ok(reader.tokens)
}

struct TokenReader<'p> {
    rest: &'p str,
    tokens: Vec<AwkToken<'p>>,
    /// Open parentheses: `true` for those of `if (…)` and its like, which a statement follows.
    parentheses: Vec<bool>,
}

/// Meaning of `/` behind a token.
enum Slash {
    Pattern,
    Division,
    Unknown,
}

impl<'p> TokenReader<'p> {
    fn token(&mut self) -> Result<bool, NotExact> {
        loop {
            let trimmed = self.rest.trim_start_matches([' ', '\t']);
            self.rest = trimmed.strip_prefix("\\\n").unwrap_or(trimmed);
            if self.rest.len() == trimmed.len() {
                break;
            }
        }
        let Some(first) = self.rest.chars().next() else { return Ok(false) };
        match first {
            '\n' => self.push(AwkToken::LineEnd, 1),
            '#' => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                if self.rest.get(..end).is_some_and(|comment| comment.ends_with('\\')) {
                    return Err(NotExact("a comment that ends with a backslash"));
                }
                self.rest = self.rest.get(end..).unwrap_or_default();
            }
            '"' => {
                let (text, length) = string(self.rest)?;
                self.push(AwkToken::Text(text), length);
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
                self.push(AwkToken::Name(self.rest.get(..end).unwrap_or_default()), end);
            }
            '0'..='9' => self.number()?,
            '.' if self.rest.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) => {
                self.number()?;
            }
            '/' => match self.slash() {
                Slash::Pattern => {
                    let length = pattern(self.rest)?;
                    self.push(AwkToken::Pattern, length);
                }
                Slash::Division => self.operator()?,
                Slash::Unknown => return Err(NotExact("a slash that may divide or begin a pattern")),
            },
            _ => self.operator()?,
        }
        Ok(true)
    }

    fn push(&mut self, token: AwkToken<'p>, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
        self.tokens.push(token);
    }

    fn operator(&mut self) -> Result<(), NotExact> {
        let operator = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator));
        let operator = *operator.ok_or(NotExact("a character that is not known"))?;
        match operator {
            "(" => {
                let is_control =
                    matches!(self.tokens.last(), Some(AwkToken::Name("if" | "while" | "for" | "switch")));
                self.parentheses.push(is_control);
            }
            ")" => {
                let is_control = self.parentheses.pop().ok_or(NotExact("a parenthesis that none opens"))?;
                self.push(AwkToken::Operator(if is_control { "if()" } else { ")" }), 1);
                return Ok(());
            }
            "@" | "&" | "`" | "." | "::" => return Err(NotExact("an operator that awks know differently")),
            _ => {}
        }
        self.push(AwkToken::Operator(operator), operator.len());
        Ok(())
    }

    /// Reads a number. Letters directly behind it are an exponent or refused.
    fn number(&mut self) -> Result<(), NotExact> {
        let end = self.rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(self.rest.len());
        let behind = self.rest.get(end..).unwrap_or_default();
        let exponent = behind.strip_prefix(['e', 'E']).map(|rest| {
            let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            let further = digits.trim_start_matches(|c: char| c.is_ascii_digit());
            (digits.len() > further.len(), further)
        });
        let further = match exponent {
            Some((true, further)) => further,
            _ => behind,
        };
        if further.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
            return Err(NotExact("letters behind a number"));
        }
        self.push(AwkToken::Number, self.rest.len() - further.len());
        Ok(())
    }

    /// Returns what a slash means behind the tokens so far.
    fn slash(&self) -> Slash {
        match self.tokens.last() {
            None
            | Some(AwkToken::LineEnd | AwkToken::Name("print" | "printf" | "return" | "else" | "do")) => {
                Slash::Pattern
            }
            Some(AwkToken::Name(name)) if KEYWORDS.contains(name) || BUILTINS.contains(name) => {
                Slash::Unknown
            }
            Some(AwkToken::Name(_) | AwkToken::Number) => Slash::Division,
            Some(AwkToken::Text(_) | AwkToken::Pattern) => Slash::Unknown,
            Some(AwkToken::Operator(operator)) => match *operator {
                ")" | "]" => Slash::Division,
                "{" | "}" | "(" | ";" | "," | "!" | "~" | "!~" | "&&" | "||" | "?" | ":" | "==" | "!=" => {
                    Slash::Pattern
                }
                _ => Slash::Unknown,
            },
        }
    }
}

/// Returns the value and the length of the string with which a text begins.
fn string(text: &str) -> Result<(Option<String>, usize), NotExact> {
    let mut value = Some(String::new());
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        let written = match character {
            '"' => return Ok((value, at + 1)),
            '\n' => return Err(NotExact("a string over several lines")),
            '\\' => match characters.next().ok_or(NotExact("a string without an end"))?.1 {
                plain @ ('"' | '\\' | '/') => Some(plain),
                'n' => Some('\n'),
                't' => Some('\t'),
                '\n' => return Err(NotExact("a string over several lines")),
                _ => None,
            },
            plain => Some(plain),
        };
        value = value.zip(written).map(|(mut value, written)| {
            value.push(written);
            value
        });
    }
    Err(NotExact("a string without an end"))
}

/// Returns the length of the pattern with which a text begins. Awks differ in whether a slash in brackets ends it.
fn pattern(text: &str) -> Result<usize, NotExact> {
    let end = |knows_brackets: bool| {
        let mut at = 1;
        loop {
            let rest = text.get(at..)?;
            match rest.chars().next()? {
                '/' => return Some(at + 1),
                '\n' => return None,
                '\\' => at += 1 + rest.chars().nth(1).filter(|next| *next != '\n')?.len_utf8(),
                '[' if knows_brackets => at += end_of_brackets(rest)?,
                other => at += other.len_utf8(),
            }
        }
    };
    match (end(true), end(false)) {
        (Some(one), Some(other)) if one == other => Ok(one),
        _ => Err(NotExact("a pattern with a slash in brackets, or without an end")),
    }
}
