//! Globs: a pattern in the first line and any text, and short globs compared with a matcher that tries everything.

use ccm_model::{Glob, GlobKind};

pub(super) const WORDS: &[&str] = &[
    "*",
    "?",
    "**",
    "/**/",
    "**/a/",
    "*a",
    "/",
    "[",
    "]",
    "[!",
    "[^",
    "[]",
    "[a-z]",
    "[[:alpha:]]",
    "[:",
    ":]",
    "[.",
    "[=",
    "-",
    "\\",
    "{",
    "}",
    ",",
    "{a,b}",
    "{,}",
    "a",
    "\n",
];

/// Maximum length of the text in bytes.
const MAX_TEXT: usize = 256;

pub(super) fn run(input: &[u8]) {
    let line = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (pattern, text) = (super::text(&input[..line]), input.get(line + 1..).unwrap_or_default());
    for kind in [GlobKind::Text, GlobKind::Path] {
        check(&pattern, kind, &text[..text.len().min(MAX_TEXT)]);
        compare(input, kind);
    }
}

fn check(pattern: &str, kind: GlobKind, text: &[u8]) {
    match Glob::parse(pattern, kind) {
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
        Ok(glob) => {
            assert_eq!(glob.as_str(), pattern);
            let is_match = glob.matches(text);
            if let Some(literals) = glob.literals() {
                assert_eq!(is_match, literals.iter().any(|literal| literal.as_bytes() == text));
            }
            let mut beginnings = [text.len() / 2, text.len()].into_iter();
            // Half of a character is another character.
            let is_known = |beginning: &[u8]| glob.may_match_prefix(beginning) || !beginning.is_ascii();
            assert!(!is_match || beginnings.all(|end| is_known(&text[..end])), "{pattern:?} {text:?}");
        }
    }
}

/// Part of a glob.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    Is(char),
    Any,
    AnySequence,
    OneOf(&'static str),
    NoneOf(&'static str),
    Either(&'static [&'static [Piece]]),
}

const PIECES: [(&str, Piece); 14] = [
    ("a", Piece::Is('a')),
    ("b", Piece::Is('b')),
    ("/", Piece::Is('/')),
    (r"\*", Piece::Is('*')),
    ("é", Piece::Is('é')),
    ("?", Piece::Any),
    ("*", Piece::AnySequence),
    ("*", Piece::AnySequence),
    ("[ab]", Piece::OneOf("ab")),
    ("[^a]", Piece::NoneOf("a")),
    ("[!b-é]", Piece::NoneOf("bé")),
    ("[[:alpha:]]", Piece::OneOf("ab")),
    ("{,a}", Piece::Either(&[&[], &[Piece::Is('a')]])),
    ("{b/,*}", Piece::Either(&[&[Piece::Is('b'), Piece::Is('/')], &[Piece::AnySequence]])),
];
const CHARACTERS: [char; 6] = ['a', 'a', 'b', '/', '*', 'é'];
/// Maximum number of pieces, and of characters of the text that is compared.
const MAX_COMPARED: usize = 8;

/// Makes a short glob and a short text of the input, and compares the result with that of the naive matcher.
fn compare(input: &[u8], kind: GlobKind) {
    let (pattern, text) = input.split_at(input.len().min(MAX_COMPARED));
    let (written, pieces): (String, Vec<Piece>) =
        pattern.iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).unzip();
    let text = text.iter().take(MAX_COMPARED);
    let text: Vec<char> = text.map(|byte| CHARACTERS[usize::from(*byte) % CHARACTERS.len()]).collect();
    let mut alternatives = vec![Vec::new()];
    for piece in &pieces {
        let itself = [std::slice::from_ref(piece)];
        let choices = if let Piece::Either(choices) = piece { choices } else { &itself[..] };
        let joined = |before: &Vec<Piece>| choices.iter().map(|choice| [before, *choice].concat()).collect();
        alternatives = alternatives.iter().flat_map::<Vec<_>, _>(joined).collect();
    }
    match Glob::parse(&written, kind) {
        Ok(glob) => {
            let expected = alternatives.iter().any(|pieces| match kind {
                GlobKind::Text => matches_text(pieces, &text),
                GlobKind::Path => {
                    let components: Vec<_> = pieces.split(|piece| *piece == Piece::Is('/')).collect();
                    let names: Vec<_> = text.split(|character| *character == '/').collect();
                    matches_path(&components, &names)
                }
            });
            let text: String = text.into_iter().collect();
            assert_eq!(glob.matches(&text), expected, "{written} {text}");
        }
        // The pieces can make `**` in a name and too many alternatives, but no other error.
        Err(error) => assert!(kind == GlobKind::Path || alternatives.len() > 64, "{written}: {error}"),
    }
}

fn matches_path(components: &[&[Piece]], names: &[&[char]]) -> bool {
    match components {
        [] => names.is_empty(),
        [[Piece::AnySequence, Piece::AnySequence], rest @ ..] => {
            (0..=names.len()).any(|skipped| matches_path(rest, &names[skipped..]))
        }
        [first, rest @ ..] => names
            .split_first()
            .is_some_and(|(name, names)| matches_text(first, name) && matches_path(rest, names)),
    }
}

fn matches_text(pieces: &[Piece], text: &[char]) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return text.is_empty() };
    if *piece == Piece::AnySequence {
        return (0..=text.len()).any(|skipped| matches_text(rest, &text[skipped..]));
    }
    let Some((character, text)) = text.split_first() else { return false };
    let fits = match piece {
        Piece::Is(expected) => expected == character,
        Piece::OneOf(members) => members.contains(*character),
        Piece::NoneOf(members) => !members.contains(*character),
        Piece::Any | Piece::AnySequence | Piece::Either(_) => true,
    };
    fits && matches_text(rest, text)
}
