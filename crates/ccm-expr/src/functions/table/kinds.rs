//! Functions on values of any kind, and from one kind to another.

use super::{Row, plain, row, unknown};
use crate::functions::{Accepts, convert, maps};
use crate::static_type::Base;

pub(super) static TYPES: &[Row] = &[
    row(
        "type(value)",
        "The name of the value's type.",
        &[("type([1])", "\"array\""), ("type(nil)", "\"nil\"")],
        plain(1, 1, &[Accepts::ANY], |_| Base::Text.into(), convert::type_of),
    ),
    row(
        "int(value)",
        "Converts a number or a text to a whole number. A text has decimal digits and at most a sign; a fraction of a \
         number is cut off.",
        &[("int(\"42\") + 1", "43"), ("int(2.9)", "2"), ("int(float(\"2.0\"))", "2")],
        plain(1, 1, &[Accepts::NUMBER_OR_TEXT], |_| Base::Int.into(), convert::int),
    ),
    row(
        "float(value)",
        "Converts a number or a text to a floating-point number. A text may have a sign, a fraction, an exponent and \
         `_` between digits.",
        &[("float(\"1.5\")", "1.5"), ("float(\"1_000e-1\")", "100.0")],
        plain(1, 1, &[Accepts::NUMBER_OR_TEXT], |_| Base::Float.into(), convert::float),
    ),
    row(
        "string(value)",
        "Converts any value to text.",
        &[("string(42)", "\"42\""), ("string([1, 2])", "\"[1 2]\"")],
        plain(1, 1, &[Accepts::ANY], |_| Base::Text.into(), convert::string),
    ),
    row(
        "toJSON(value)",
        "The value as JSON, indented.",
        &[("toJSON([1])", "\"[\\n  1\\n]\"")],
        plain(1, 1, &[Accepts::ANY], |_| Base::Text.into(), convert::to_json),
    ),
    row(
        "fromJSON(text)",
        "The value of a JSON text; its numbers are never integers.",
        &[("fromJSON('{\"a\": [true]}').a", "[true]")],
        plain(1, 1, &[Accepts::TEXT], unknown, convert::from_json),
    ),
    row(
        "toBase64(text)",
        "Encodes text in Base64.",
        &[("toBase64(\"hello\")", "\"aGVsbG8=\"")],
        plain(1, 1, &[Accepts::TEXT], |_| Base::Text.into(), convert::to_base64),
    ),
    row(
        "fromBase64(text)",
        "Decodes Base64 to text.",
        &[("fromBase64(\"aGVsbG8=\")", "\"hello\"")],
        plain(1, 1, &[Accepts::TEXT], |_| Base::Text.into(), convert::from_base64),
    ),
];

pub(super) static ANY: &[Row] = &[
    row(
        "len(value)",
        "Number of elements of a list or map, or of characters of a text.",
        &[("len(\"héllo\")", "5"), ("len({a: 1})", "1")],
        plain(1, 1, &[Accepts::SIZED], |_| Base::Int.into(), maps::len),
    ),
    row(
        "get(value, key)",
        "The element at an index or the value of a key, or nil.",
        &[("get({a: 1}, \"b\")", "nil"), ("get([1, 2], -1)", "2")],
        plain(2, 2, &[Accepts::ANY], unknown, maps::get),
    ),
];
