//! Braces: `{a,b}` and `{1..3}` of bash.

use crate::tree::{WordNode, WordPart};

/// Maximum number of words that braces may make.
const MAX_WORDS: usize = 256;

/// Returns `true` if bash may expand braces in a word.
pub(crate) fn may_expand(word: &WordNode) -> bool {
    let mut is_open = false;
    let mut has_separator = false;
    for part in &word.parts {
        let WordPart::Literal(text) = part else {
            // A part in quotes or an expansion may stand beside two dots.
            continue;
        };
        let bytes = text.as_bytes();
        for (position, byte) in bytes.iter().enumerate() {
            match byte {
                b'{' => is_open = true,
                b',' if is_open => has_separator = true,
                b'.' if is_open && bytes.get(position + 1) == Some(&b'.') => has_separator = true,
                b'}' if has_separator => return true,
                _ => {}
            }
        }
    }
    false
}

/// Returns the words that bash makes of a word with lists in braces. `None` if the result can't be known here: for
/// sequences, for braces within words of many parts, and for braces that join a variable with what follows.
pub(crate) fn expanded(word: &WordNode) -> Option<Vec<WordNode>> {
    if !may_expand(word) {
        return Some(vec![word.clone()]);
    }
    // Braces are looked for in characters without quotes alone; every other part is one symbol.
    let mut symbols = Vec::new();
    for part in &word.parts {
        match part {
            WordPart::Literal(text) => symbols.extend(text.chars().map(Symbol::Plain)),
            other => symbols.push(Symbol::Part(other)),
        }
    }
    let mut words = Vec::new();
    expand(&symbols, &mut words)?;
    // bash looks for home directories in the words that braces made.
    if words.iter().any(|word| word.first().is_some_and(|symbol| symbol.is('~'))) {
        return None;
    }
    // bash looks for variables in these words too: `$X{a,b}` is `$Xa $Xb`.
    if words.iter().any(|word| word.windows(2).any(|pair| joins(pair[0], pair[1]))) {
        return None;
    }
    Some(
        words
            .into_iter()
            .map(|symbols| WordNode {
                parts: parts(&symbols),
                span: word.span,
                is_continued: word.is_continued,
            })
            .collect(),
    )
}

#[derive(Clone, Copy)]
enum Symbol<'w> {
    Plain(char),
    Part(&'w WordPart),
}

impl Symbol<'_> {
    fn is(self, character: char) -> bool {
        matches!(self, Self::Plain(found) if found == character)
    }
}

/// Returns `true` if a symbol means something else before the next one than alone.
fn joins(symbol: Symbol<'_>, next: Symbol<'_>) -> bool {
    let continues_name =
        matches!(next, Symbol::Plain(character) if character.is_ascii_alphanumeric() || character == '_');
    match symbol {
        Symbol::Plain('$') => true,
        Symbol::Part(WordPart::Parameter(parameter)) => parameter.is_open_name() && continues_name,
        _ => false,
    }
}

/// Expands the only list of a text. Nested and repeated lists, and what looks like a sequence, are left as unknown.
fn expand<'w>(symbols: &[Symbol<'w>], words: &mut Vec<Vec<Symbol<'w>>>) -> Option<()> {
    let count = |character: char| symbols.iter().filter(|symbol| symbol.is(character)).count();
    if count('{') != 1 || count('}') != 1 {
        return None;
    }
    let open = symbols.iter().position(|symbol| symbol.is('{'))?;
    let close = symbols.iter().position(|symbol| symbol.is('}')).filter(|close| *close > open)?;
    let before = symbols.get(..open)?;
    let inside = symbols.get(open + 1..close)?;
    let after = symbols.get(close + 1..)?;
    let has_comma = inside.iter().any(|symbol| symbol.is(','));
    // `${` is another expansion, and part of no literal text.
    if !has_comma || before.last().is_some_and(|symbol| symbol.is('$')) {
        return None;
    }
    for element in inside.split(|symbol| symbol.is(',')) {
        if words.len() >= MAX_WORDS {
            return None;
        }
        words.push(before.iter().chain(element).chain(after).copied().collect());
    }
    Some(())
}

fn parts(symbols: &[Symbol<'_>]) -> Vec<WordPart> {
    let mut parts: Vec<WordPart> = Vec::new();
    for symbol in symbols {
        match (symbol, parts.last_mut()) {
            (Symbol::Plain(character), Some(WordPart::Literal(text))) => text.push(*character),
            (Symbol::Plain(character), _) => parts.push(WordPart::Literal(character.to_string())),
            (Symbol::Part(part), _) => parts.push((*part).clone()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> WordNode {
        WordNode { parts: vec![WordPart::Literal(text.to_owned())], ..WordNode::default() }
    }

    #[test]
    fn lists_are_expanded() {
        for (text, expected) in [
            ("{a,b}", Some(vec!["a", "b"])),
            ("x{a,b}y", Some(vec!["xay", "xby"])),
            ("{rm,-rf,/srv}", Some(vec!["rm", "-rf", "/srv"])),
            ("{a}", Some(vec!["{a}"])),
            ("{}", Some(vec!["{}"])),
            ("a,b", Some(vec!["a,b"])),
            ("{a,{b,c}}", None),
            ("{a,b}{c,d}", None),
            ("{1..3}", None),
            ("{$,a}X", None),
        ] {
            let expanded = expanded(&word(text)).map(|words| {
                words.iter().map(|word| word.bare().unwrap_or_default().to_owned()).collect::<Vec<_>>()
            });
            let expected: Option<Vec<String>> =
                expected.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(expanded, expected, "{text}");
        }
    }
}
