//! Functions on lists.

use super::{MANY, Row, element, plain, row, taken};
use crate::functions::{Accepts, lists};
use crate::static_type::{Base, StaticType};

pub(super) static ROWS: &[Row] = &[
    row(
        "first(list)",
        "The first element, or nil.",
        &[("first([1, 2])", "1"), ("first([])", "nil")],
        plain(1, 1, &[Accepts::LISTS], element, lists::first),
    ),
    row(
        "last(list)",
        "The last element, or nil.",
        &[("last([1, 2])", "2")],
        plain(1, 1, &[Accepts::LISTS], element, lists::last),
    ),
    row(
        "take(list, count)",
        "The first `count` elements.",
        &[("take([1, 2, 3], 2)", "[1, 2]")],
        plain(2, 2, &[Accepts::LISTS, Accepts::INT], taken, lists::take),
    ),
    row(
        "reverse(list)",
        "The elements in reverse order.",
        &[("reverse([1, 2])", "[2, 1]")],
        plain(1, 1, &[Accepts::LISTS], |_| StaticType::LIST, lists::reverse),
    ),
    row(
        "uniq(list)",
        "The elements without duplicates.",
        &[("uniq([1, 1, 2])", "[1, 2]")],
        plain(1, 1, &[Accepts::LISTS], |_| StaticType::LIST, lists::uniq),
    ),
    row(
        "concat(list, …)",
        "The elements of all lists.",
        &[("concat([1], [2, 3])", "[1, 2, 3]")],
        plain(1, MANY, &[Accepts::LISTS], |_| StaticType::LIST, lists::concat),
    ),
    row(
        "flatten(list)",
        "The elements of nested lists, as one list.",
        &[("flatten([1, [2, [3]]])", "[1, 2, 3]")],
        plain(1, 1, &[Accepts::LISTS], |_| StaticType::LIST, lists::flatten),
    ),
    row(
        "sort(list[, order])",
        "The elements, sorted, \"asc\" or \"desc\".",
        &[("sort([3, 1, 2])", "[1, 2, 3]"), ("sort([\"a\", \"b\"], \"desc\")", "[\"b\", \"a\"]")],
        plain(1, 2, &[Accepts::SORTABLE, Accepts::TEXT], |_| StaticType::LIST, lists::sort),
    ),
    row(
        "join(list[, separator])",
        "The texts of a list, joined.",
        &[("join([\"a\", \"b\"], \"-\")", "\"a-b\""), ("join([\"a\", \"b\"])", "\"ab\"")],
        plain(1, 2, &[Accepts::LIST, Accepts::TEXT], |_| Base::Text.into(), lists::join),
    ),
];
