//! Functions on maps.

use super::{Row, plain, row, unknown};
use crate::functions::{Accepts, maps};
use crate::static_type::StaticType;

pub(super) static ROWS: &[Row] = &[
    row(
        "keys(map)",
        "The keys of a map.",
        &[("keys({a: 1, b: 2})", "[\"a\", \"b\"]")],
        plain(1, 1, &[Accepts::MAPS], |_| StaticType::LIST, maps::keys),
    ),
    row(
        "values(map)",
        "The values of a map.",
        &[("values({a: 1, b: 2})", "[1, 2]")],
        plain(1, 1, &[Accepts::MAPS], |_| StaticType::LIST, maps::values),
    ),
    row(
        "toPairs(map)",
        "A list of pairs of key and value.",
        &[("toPairs({a: 1})", "[[\"a\", 1]]")],
        plain(1, 1, &[Accepts::MAPS], |_| StaticType::LIST, maps::to_pairs),
    ),
    row(
        "fromPairs(list)",
        "A map from a list of pairs of key and value.",
        &[("fromPairs([[\"a\", 1]])", "{a: 1}")],
        plain(1, 1, &[Accepts::LISTS], unknown, maps::from_pairs),
    ),
];
