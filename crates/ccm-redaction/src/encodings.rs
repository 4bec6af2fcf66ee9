//! Encodings in which programs write a value.

use std::iter;
use std::num::NonZeroU64;

use super::trie::CHUNK;
use super::{REDACTED, class};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    Raw,
    /// JSON string. `ascii` escapes everything that is not ASCII.
    Json {
        slash: bool,
        ascii: bool,
        upper: bool,
    },
    /// JSON string that may stand in a page of HTML, as Go and `toJSON` write it.
    JsonInHtml,
    Debug,
    /// Form of [`ccm_model::escape_control`].
    Control,
    SingleQuoted,
    DoubleQuoted,
    Hex {
        upper: bool,
    },
    /// `escapes` are the classes that are escaped, and `plus` writes a blank as `+`.
    Percent {
        escapes: u16,
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

/// Percent-encoding of everything, of a path, and of a form. Browsers and libraries encode forms differently.
const UNRESERVED: u16 = class::RESERVED | class::SLASH | class::STAR | class::BLANK;
const PATH: u16 = class::RESERVED | class::STAR | class::BLANK;
const FORM: u16 = class::RESERVED | class::SLASH | class::TILDE | class::BLANK;

pub(super) const COUNT: usize = 33;

/// Every encoding with two sets of classes. Its form of a text differs from all earlier forms only if the
/// text has a byte of each set.
pub(super) const ENCODINGS: [(Encoding, u16, u16); COUNT] = {
    use class::{
        ANY, APOSTROPHE, BLANK, BLANKS_BEHIND, CONTROL, DELETE, HEX_LETTER, MARKUP, NON_ASCII,
        PERCENT_LETTER, QUOTE, SHELL, SLASH, STAR, TILDE,
    };
    const fn json(slash: bool, ascii: bool, upper: bool) -> Encoding {
        Encoding::Json { slash, ascii, upper }
    }
    const fn percent(escapes: u16, plus: bool, upper: bool) -> Encoding {
        Encoding::Percent { escapes, plus, upper }
    }
    const fn base64(shift: u8, url: bool, blanks: bool) -> Encoding {
        Encoding::Base64 { shift, url, blanks }
    }
    [
        (Encoding::Raw, ANY, ANY),
        (json(false, false, false), QUOTE | CONTROL, ANY),
        (json(true, false, false), SLASH, ANY),
        (json(false, true, false), NON_ASCII, ANY),
        (json(true, true, false), NON_ASCII, SLASH),
        (json(false, true, true), NON_ASCII | CONTROL, ANY),
        (Encoding::JsonInHtml, MARKUP, ANY),
        (Encoding::Debug, APOSTROPHE | CONTROL | DELETE | NON_ASCII, ANY),
        (Encoding::Control, CONTROL | DELETE | NON_ASCII, ANY),
        (Encoding::SingleQuoted, APOSTROPHE, ANY),
        (Encoding::DoubleQuoted, SHELL | QUOTE, SHELL | CONTROL),
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
    pub(super) const fn escapes(self) -> u16 {
        match self {
            Self::Raw => 0,
            Self::Json { slash, ascii, .. } => {
                let slash = if slash { class::SLASH } else { 0 };
                let ascii = if ascii { class::NON_ASCII } else { 0 };
                class::QUOTE | class::CONTROL | slash | ascii
            }
            Self::JsonInHtml => class::QUOTE | class::CONTROL | class::MARKUP,
            Self::Debug => {
                class::QUOTE | class::APOSTROPHE | class::CONTROL | class::DELETE | class::NON_ASCII
            }
            Self::Control => class::CONTROL | class::DELETE | class::NON_ASCII,
            Self::SingleQuoted => class::APOSTROPHE,
            Self::DoubleQuoted => class::QUOTE | class::SHELL,
            Self::Hex { .. } | Self::Base64 { .. } => class::ANY,
            Self::Percent { escapes, .. } => escapes,
        }
    }
}

/// Encodings by class, as bits at their index: those with the class in the first set, in the second set, and
/// among the escaped classes.
const ONE: [u64; 16] = by_class(0);
const OTHER: [u64; 16] = by_class(1);
const ESCAPES: [u64; 16] = by_class(2);

const fn by_class(column: usize) -> [u64; 16] {
    let mut by_class = [0; 16];
    let mut cell = 0;
    while cell < COUNT * 16 {
        let (number, bit) = (cell / 16, cell % 16);
        let (encoding, one, other) = ENCODINGS[number];
        let classes = [one, other, encoding.escapes()][column];
        by_class[bit] |= ((classes >> bit & 1) as u64) << number;
        cell += 1;
    }
    by_class
}

/// Returns the encodings that a table holds for any of these classes.
fn any(table: &[u64; 16], classes: u16) -> u64 {
    let (mut rest, mut set) = (classes, 0);
    while rest != 0 {
        set |= table[rest.trailing_zeros() as usize & 15];
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
    let mut classes = class::all(part.text.as_bytes());
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
    let copied = set.get() & !any(&ESCAPES, class::all(head));
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
