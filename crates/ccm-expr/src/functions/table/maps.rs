//! Functions on maps.

use super::{doc, row, unknown};
use crate::functions::{Accepts, Builtin, Implementation, maps};
use crate::static_type::StaticType;

pub(super) static ROWS: &[Builtin] = &[
    row(
        doc("Maps", "keys", "keys(map)", "The keys of a map.", &[("keys({a: 1, b: 2})", "[\"a\", \"b\"]")]),
        1,
        1,
        &[Accepts::MAPS],
        |_| StaticType::LIST,
        Implementation::Plain(maps::keys),
    ),
    row(
        doc("Maps", "values", "values(map)", "The values of a map.", &[("values({a: 1, b: 2})", "[1, 2]")]),
        1,
        1,
        &[Accepts::MAPS],
        |_| StaticType::LIST,
        Implementation::Plain(maps::values),
    ),
    row(
        doc(
            "Maps",
            "toPairs",
            "toPairs(map)",
            "A list of pairs of key and value.",
            &[("toPairs({a: 1})", "[[\"a\", 1]]")],
        ),
        1,
        1,
        &[Accepts::MAPS],
        |_| StaticType::LIST,
        Implementation::Plain(maps::to_pairs),
    ),
    row(
        doc(
            "Maps",
            "fromPairs",
            "fromPairs(list)",
            "A map from a list of pairs of key and value.",
            &[("fromPairs([[\"a\", 1]])", "{a: 1}")],
        ),
        1,
        1,
        &[Accepts::LISTS],
        unknown,
        Implementation::Plain(maps::from_pairs),
    ),
];
