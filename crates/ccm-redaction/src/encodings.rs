//! Encodings in which programs write a value.

use std::iter;
use std::num::NonZeroU64;

use super::trie::CHUNK;
use super::{REDACTED, class};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    Raw,
    /// JSON string. `escapes` are the classes that are escaped besides quotes and control characters. `hex`
    /// are those of `"` and `/` that are written like `\u0022`, and `upper` those with digits in capitals.
    Json {
        escapes: u32,
        hex: u32,
        upper: u32,
    },
    /// Form of [`str::escape_debug`], or that of `{:?}`, which keeps an apostrophe.
    Debug {
        apostrophe: bool,
    },
    /// Form of [`ccm_model::escape_control`].
    Control,
    SingleQuoted,
    /// Form of Python's `shlex.quote`, with `'"'"'` for an apostrophe.
    PythonQuoted,
    DoubleQuoted,
    /// Form of `printf %q` in bash for printable text.
    Backslashed,
    /// Form of `printf %q` in bash for other text, `$'...'`. `ascii` escapes everything that is not ASCII.
    AnsiQuoted {
        ascii: bool,
    },
    Hex {
        upper: bool,
    },
    /// `escapes` are the classes that are escaped, and `plus` writes a blank as `+`.
    Percent {
        escapes: u32,
        plus: bool,
        upper: bool,
    },
    /// Base64 after `shift` other bytes, with only the digits that no text around the value changes. `blanks`
    /// includes the blanks after the value.
    Base64 {
        shift: u8,
        url: bool,
        blanks: bool,
    },
}

/// Bytes that percent-encoding escapes unless a program makes an exception.
const RESERVED: u32 = class::RESERVED | class::APOSTROPHE | class::MARK | URI;
/// Bytes that `encodeURI` keeps and `encodeURIComponent` escapes, except for the slash.
const URI: u32 = SEGMENT | class::DELIMITER;
/// Bytes that `url.PathEscape` of Go keeps.
const SEGMENT: u32 = class::AT | class::AMPERSAND | class::EQUALS | class::PLUS | class::DOLLAR;
/// Percent-encoding of everything, and of a path.
const UNRESERVED: u32 = RESERVED | class::SLASH | class::STAR | class::BLANK;
const PATH: u32 = RESERVED | class::STAR | class::BLANK;
/// Percent-encoding of a form. Browsers and libraries, and `urlencode` of PHP, do it differently.
const FORM: u32 = RESERVED | class::SLASH | class::TILDE | class::BLANK;
const PHP_FORM: u32 = FORM | class::STAR;
/// Bytes that functions of JavaScript keep.
const KEPT: u32 = class::APOSTROPHE | class::MARK | class::STAR;

/// Bytes that a JSON string in a page of HTML does not hold.
const HTML: u32 = class::ANGLE | class::AMPERSAND;
/// Bytes that the `JSON_HEX` flags of PHP escape.
const PHP_HEX: u32 = HTML | class::APOSTROPHE | class::QUOTE;
/// Bytes that bash escapes in printable text, the tilde only in some places.
const BACKSLASHED: u32 = class::BLANK
    | class::APOSTROPHE
    | class::DOLLAR
    | class::BACKQUOTE
    | class::STAR
    | class::MARK
    | class::SHELL
    | class::TILDE
    | HTML;

pub(super) const COUNT: usize = 64;

/// Every encoding with two sets of classes. Its form of a text differs from all earlier forms only if the
/// text has a byte of each set.
pub(super) const ENCODINGS: [(Encoding, u32, u32); COUNT] = {
    use class::{
        AMPERSAND, ANGLE, ANY, APOSTROPHE, BACKQUOTE, BLANK, BLANKS_BEHIND, CONTROL, DELETE, DOLLAR, EQUALS,
        HEX_LETTER, NON_ASCII, PERCENT_LETTER, PLUS, QUOTE, SEPARATOR, SLASH, STAR, TILDE, UNPRINTABLE,
    };
    const fn json(escapes: u32, upper: u32) -> Encoding {
        Encoding::Json { escapes, hex: 0, upper }
    }
    const fn php_hex(escapes: u32) -> Encoding {
        Encoding::Json { escapes: PHP_HEX | escapes, hex: QUOTE, upper: ANGLE }
    }
    const fn percent(escapes: u32, plus: bool, upper: bool) -> Encoding {
        Encoding::Percent { escapes, plus, upper }
    }
    const fn base64(shift: u8, url: bool, blanks: bool) -> Encoding {
        Encoding::Base64 { shift, url, blanks }
    }
    const DOT_NET: u32 = HTML | APOSTROPHE | PLUS | BACKQUOTE | NON_ASCII | DELETE;
    [
        (Encoding::Raw, ANY, ANY),
        // JavaScript, and most other programs.
        (json(0, 0), QUOTE | CONTROL, ANY),
        (json(SLASH, 0), SLASH, ANY),
        (json(NON_ASCII, 0), NON_ASCII, ANY),
        // PHP.
        (json(NON_ASCII | SLASH, 0), NON_ASCII, SLASH),
        (json(NON_ASCII, ANY), NON_ASCII | CONTROL, ANY),
        // Python.
        (json(NON_ASCII | DELETE, 0), DELETE, ANY),
        // Go without escapes for HTML, and PHP with `JSON_UNESCAPED_UNICODE`.
        (json(SEPARATOR, 0), SEPARATOR, ANY),
        (json(SEPARATOR | SLASH, 0), SEPARATOR, SLASH),
        // Go, Rails and `toJSON`.
        (json(HTML | SEPARATOR, 0), HTML, ANY),
        // PHP with `JSON_HEX_APOS`.
        (json(APOSTROPHE, 0), APOSTROPHE, ANY),
        (json(APOSTROPHE | NON_ASCII, 0), APOSTROPHE, NON_ASCII),
        (json(APOSTROPHE | NON_ASCII | SLASH, 0), APOSTROPHE, SLASH),
        // Templates of Rust and of Python, Gson, and Django.
        (json(HTML | APOSTROPHE, 0), HTML, APOSTROPHE | SEPARATOR),
        (json(HTML | APOSTROPHE | NON_ASCII | DELETE, 0), HTML | DELETE, APOSTROPHE | NON_ASCII | DELETE),
        (json(HTML | APOSTROPHE | EQUALS | SEPARATOR, 0), EQUALS | SEPARATOR, ANY),
        (json(HTML | NON_ASCII | DELETE, ANGLE), HTML, ANGLE | NON_ASCII | DELETE),
        (
            Encoding::Json { escapes: DOT_NET, hex: QUOTE, upper: ANY },
            QUOTE | HTML | APOSTROPHE | PLUS | BACKQUOTE | DELETE,
            ANY,
        ),
        // PHP with all `JSON_HEX` flags, and with those for markup.
        (php_hex(NON_ASCII | SLASH), PHP_HEX, ANY),
        (php_hex(NON_ASCII), PHP_HEX, SLASH),
        (php_hex(SEPARATOR | SLASH), PHP_HEX, NON_ASCII),
        (php_hex(SEPARATOR), PHP_HEX, NON_ASCII),
        (json(HTML | NON_ASCII | SLASH, ANGLE), HTML, SLASH | DELETE),
        (json(HTML | SEPARATOR | SLASH, ANGLE), HTML, SLASH | ANGLE),
        (json(HTML | SEPARATOR, ANGLE), ANGLE, NON_ASCII),
        // WordPress.
        (json(ANGLE | NON_ASCII, ANGLE), ANGLE, AMPERSAND | DELETE),
        (Encoding::Json { escapes: SLASH, hex: SLASH, upper: 0 }, SLASH, ANY),
        (Encoding::Debug { apostrophe: true }, APOSTROPHE | CONTROL | DELETE | NON_ASCII, ANY),
        (Encoding::Debug { apostrophe: false }, CONTROL | DELETE | NON_ASCII, APOSTROPHE | NON_ASCII),
        (Encoding::Control, CONTROL | DELETE | NON_ASCII, ANY),
        (Encoding::SingleQuoted, APOSTROPHE, ANY),
        (Encoding::PythonQuoted, APOSTROPHE, ANY),
        (Encoding::DoubleQuoted, DOLLAR | BACKQUOTE | QUOTE, DOLLAR | BACKQUOTE | CONTROL),
        (Encoding::Backslashed, BACKSLASHED, ANY),
        (Encoding::AnsiQuoted { ascii: false }, APOSTROPHE | QUOTE | CONTROL | DELETE | UNPRINTABLE, ANY),
        (Encoding::AnsiQuoted { ascii: true }, NON_ASCII, ANY),
        (Encoding::Hex { upper: false }, ANY, ANY),
        (Encoding::Hex { upper: true }, HEX_LETTER, ANY),
        (percent(UNRESERVED, false, true), UNRESERVED, ANY),
        (percent(UNRESERVED, false, false), UNRESERVED, PERCENT_LETTER),
        (percent(PATH, false, true), SLASH, ANY),
        (percent(PATH, false, false), SLASH, PERCENT_LETTER),
        (percent(UNRESERVED, true, true), BLANK, ANY),
        (percent(UNRESERVED, true, false), BLANK, PERCENT_LETTER),
        (percent(FORM, true, true), TILDE | STAR, ANY),
        (percent(FORM, true, false), TILDE | STAR, PERCENT_LETTER),
        (percent(PHP_FORM, true, true), TILDE, STAR),
        // `encodeURIComponent` and `encodeURI` of JavaScript, and `url.PathEscape` of Go.
        (percent(UNRESERVED & !KEPT, false, true), KEPT, ANY),
        (percent(UNRESERVED & !KEPT, false, false), KEPT, PERCENT_LETTER),
        (percent(PATH & !KEPT & !URI, false, true), URI | SLASH, URI | KEPT),
        (percent(PATH & !KEPT & !URI, false, false), URI | SLASH, PERCENT_LETTER),
        (percent(UNRESERVED & !SEGMENT, false, true), SEGMENT, ANY),
        (base64(0, false, false), ANY, ANY),
        (base64(0, true, false), ANY, ANY),
        (base64(1, false, false), ANY, ANY),
        (base64(1, true, false), ANY, ANY),
        (base64(2, false, false), ANY, ANY),
        (base64(2, true, false), ANY, ANY),
        (base64(0, false, true), BLANKS_BEHIND, ANY),
        (base64(0, true, true), BLANKS_BEHIND, ANY),
        (base64(1, false, true), BLANKS_BEHIND, ANY),
        (base64(1, true, true), BLANKS_BEHIND, ANY),
        (base64(2, false, true), BLANKS_BEHIND, ANY),
        (base64(2, true, true), BLANKS_BEHIND, ANY),
    ]
};

impl Encoding {
    pub(super) const fn escapes(self) -> u32 {
        match self {
            Self::Raw => 0,
            Self::Json { escapes, .. } => class::QUOTE | class::CONTROL | escapes,
            Self::Debug { apostrophe } => {
                let apostrophe = if apostrophe { class::APOSTROPHE } else { 0 };
                class::QUOTE | class::CONTROL | class::DELETE | class::NON_ASCII | apostrophe
            }
            Self::Control => class::CONTROL | class::DELETE | class::NON_ASCII,
            Self::SingleQuoted | Self::PythonQuoted => class::APOSTROPHE,
            Self::DoubleQuoted => class::QUOTE | class::DOLLAR | class::BACKQUOTE,
            Self::Backslashed => class::QUOTE | BACKSLASHED,
            Self::AnsiQuoted { ascii } => {
                let other = if ascii { class::NON_ASCII } else { class::UNPRINTABLE };
                class::QUOTE | class::APOSTROPHE | class::CONTROL | class::DELETE | other
            }
            Self::Hex { .. } | Self::Base64 { .. } => class::ANY,
            Self::Percent { escapes, .. } => escapes,
        }
    }
}

/// Encodings by class, as bits at their index: those with the class in the first set, in the second set, and
/// among the escaped classes.
const ONE: [u64; class::COUNT] = by_class(0);
const OTHER: [u64; class::COUNT] = by_class(1);
const ESCAPES: [u64; class::COUNT] = by_class(2);

const fn by_class(column: usize) -> [u64; class::COUNT] {
    let mut by_class = [0; class::COUNT];
    let mut cell = 0;
    while cell < COUNT * class::COUNT {
        let (number, bit) = (cell / class::COUNT, cell % class::COUNT);
        let (encoding, one, other) = ENCODINGS[number];
        let classes = [one, other, encoding.escapes()][column];
        by_class[bit] |= ((classes >> bit & 1) as u64) << number;
        cell += 1;
    }
    by_class
}

/// Returns the encodings that a table holds for any of these classes.
fn any(table: &[u64; class::COUNT], classes: u32) -> u64 {
    let (mut rest, mut set) = (classes, 0);
    while let Some(encodings) = table.get(rest.trailing_zeros() as usize) {
        set |= encodings;
        rest &= rest - 1;
    }
    set
}

/// Piece of a secret: a value, and the blanks after it.
#[derive(Clone, Copy)]
pub(super) struct SecretPart<'t> {
    pub text: &'t str,
    /// Length of the value without the blanks.
    pub body: usize,
}

pub(super) type EncodingSet = NonZeroU64;

/// Returns the encodings in which a part has different forms.
pub(super) fn distinct(part: SecretPart<'_>) -> Option<EncodingSet> {
    let mut classes = class::classes_in(part.text.as_bytes());
    if part.body < part.text.len() {
        classes |= class::BLANKS_BEHIND;
    }
    let mut set = any(&ONE, classes) & any(&OTHER, classes);
    // The mark must not replace itself.
    if REDACTED.contains(part.text) {
        set &= !1;
    }
    NonZeroU64::new(set)
}

/// Returns the first chunk of a part, and the encodings that copy it unchanged; `None` for a part so short
/// that a form may end within the chunk or right after it.
pub(super) fn copied_head(part: SecretPart<'_>, set: EncodingSet) -> Option<(u64, u64)> {
    let head: &[u8; CHUNK] = part.text.as_bytes().first_chunk().filter(|_| part.body > CHUNK)?;
    let copied = set.get() & !any(&ESCAPES, class::classes_in(head));
    Some((u64::from_le_bytes(*head), copied))
}

/// Returns the indices of a set of encodings in [`ENCODINGS`].
pub(super) fn indices(set: EncodingSet) -> impl Iterator<Item = u8> {
    let mut rest = set.get();
    iter::from_fn(move || {
        let index = u8::try_from(rest.trailing_zeros()).ok().filter(|_| rest != 0)?;
        rest &= rest - 1;
        Some(index)
    })
}
