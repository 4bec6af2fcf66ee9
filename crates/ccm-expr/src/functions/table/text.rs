//! Functions on text.

use super::{Row, plain, row};
use crate::functions::{Accepts, text};
use crate::static_type::Base;

pub(super) static ROWS: &[Row] = &[
    row(
        "trim(text[, characters])",
        "Removes white space, or the given characters, from both ends.",
        &[("trim(\"  x \")", "\"x\""), ("trim(\"__x__\", \"_\")", "\"x\"")],
        plain(1, 2, &[Accepts::TEXT], |_| Base::Text.into(), text::trim),
    ),
    row(
        "trimPrefix(text[, prefix])",
        "Removes a prefix; the default is a space.",
        &[("trimPrefix(\"foobar\", \"foo\")", "\"bar\"")],
        plain(1, 2, &[Accepts::TEXT], |_| Base::Text.into(), text::trim_prefix),
    ),
    row(
        "trimSuffix(text[, suffix])",
        "Removes a suffix; the default is a space.",
        &[("trimSuffix(\"foobar\", \"bar\")", "\"foo\"")],
        plain(1, 2, &[Accepts::TEXT], |_| Base::Text.into(), text::trim_suffix),
    ),
    row(
        "upper(text)",
        "Converts letters to upper case.",
        &[("upper(\"aB\")", "\"AB\"")],
        plain(1, 1, &[Accepts::TEXT], |_| Base::Text.into(), text::upper),
    ),
    row(
        "lower(text)",
        "Converts letters to lower case.",
        &[("lower(\"aB\")", "\"ab\"")],
        plain(1, 1, &[Accepts::TEXT], |_| Base::Text.into(), text::lower),
    ),
    row(
        "split(text, separator[, limit])",
        "Splits at each separator, into at most `limit` parts.",
        &[
            ("split(\"a,b,c\", \",\")", "[\"a\", \"b\", \"c\"]"),
            ("split(\"a,b,c\", \",\", 2)", "[\"a\", \"b,c\"]"),
        ],
        plain(2, 3, &[Accepts::TEXT, Accepts::TEXT, Accepts::INT], |_| Base::Texts.into(), text::split),
    ),
    row(
        "splitAfter(text, separator[, limit])",
        "Splits after each separator and keeps the separators.",
        &[("splitAfter(\"a,b,c\", \",\")", "[\"a,\", \"b,\", \"c\"]")],
        plain(2, 3, &[Accepts::TEXT, Accepts::TEXT, Accepts::INT], |_| Base::Texts.into(), text::split_after),
    ),
    row(
        "replace(text, old, new[, limit])",
        "Replaces every occurrence, or only the first `limit` occurrences.",
        &[("replace(\"aaa\", \"a\", \"b\")", "\"bbb\""), ("replace(\"aaa\", \"a\", \"b\", 2)", "\"bba\"")],
        plain(
            3,
            4,
            &[Accepts::TEXT, Accepts::TEXT, Accepts::TEXT, Accepts::INT],
            |_| Base::Text.into(),
            text::replace,
        ),
    ),
    row(
        "repeat(text, times)",
        "The text, repeated.",
        &[("repeat(\"ab\", 3)", "\"ababab\"")],
        plain(2, 2, &[Accepts::TEXT, Accepts::INT], |_| Base::Text.into(), text::repeat),
    ),
    row(
        "indexOf(text, part)",
        "Byte index of the first occurrence of a part, or -1.",
        &[("indexOf(\"hello\", \"l\")", "2"), ("indexOf(\"hello\", \"x\")", "-1")],
        plain(2, 2, &[Accepts::TEXT], |_| Base::Int.into(), text::index_of),
    ),
    row(
        "lastIndexOf(text, part)",
        "Byte index of the last occurrence of a part, or -1.",
        &[("lastIndexOf(\"hello\", \"l\")", "3")],
        plain(2, 2, &[Accepts::TEXT], |_| Base::Int.into(), text::last_index_of),
    ),
    row(
        "hasPrefix(text, prefix)",
        "True if the text begins with the prefix.",
        &[("hasPrefix(\"hello\", \"he\")", "true")],
        plain(2, 2, &[Accepts::TEXT], |_| Base::Bool.into(), text::has_prefix),
    ),
    row(
        "hasSuffix(text, suffix)",
        "True if the text ends with the suffix.",
        &[("hasSuffix(\"hello\", \"lo\")", "true")],
        plain(2, 2, &[Accepts::TEXT], |_| Base::Bool.into(), text::has_suffix),
    ),
];
