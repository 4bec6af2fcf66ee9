//! Functions on lists.

use super::{MANY, doc, element, row, taken};
use crate::functions::{Accepts, Builtin, Implementation, lists};
use crate::static_type::{Base, StaticType};

pub(super) static ROWS: &[Builtin] = &[
    row(
        doc(
            "Lists",
            "first",
            "first(list)",
            "The first element, or nil.",
            &[("first([1, 2])", "1"), ("first([])", "nil")],
        ),
        1,
        1,
        &[Accepts::LISTS],
        element,
        Implementation::Plain(lists::first),
    ),
    row(
        doc("Lists", "last", "last(list)", "The last element, or nil.", &[("last([1, 2])", "2")]),
        1,
        1,
        &[Accepts::LISTS],
        element,
        Implementation::Plain(lists::last),
    ),
    row(
        doc(
            "Lists",
            "take",
            "take(list, count)",
            "The first `count` elements.",
            &[("take([1, 2, 3], 2)", "[1, 2]")],
        ),
        2,
        2,
        &[Accepts::LISTS, Accepts::INT],
        taken,
        Implementation::Plain(lists::take),
    ),
    row(
        doc(
            "Lists",
            "reverse",
            "reverse(list)",
            "The elements in reverse order.",
            &[("reverse([1, 2])", "[2, 1]")],
        ),
        1,
        1,
        &[Accepts::LISTS],
        |_| StaticType::LIST,
        Implementation::Plain(lists::reverse),
    ),
    row(
        doc(
            "Lists",
            "uniq",
            "uniq(list)",
            "The elements without duplicates.",
            &[("uniq([1, 1, 2])", "[1, 2]")],
        ),
        1,
        1,
        &[Accepts::LISTS],
        |_| StaticType::LIST,
        Implementation::Plain(lists::uniq),
    ),
    row(
        doc(
            "Lists",
            "concat",
            "concat(list, …)",
            "The elements of all lists.",
            &[("concat([1], [2, 3])", "[1, 2, 3]")],
        ),
        1,
        MANY,
        &[Accepts::LISTS],
        |_| StaticType::LIST,
        Implementation::Plain(lists::concat),
    ),
    row(
        doc(
            "Lists",
            "flatten",
            "flatten(list)",
            "The elements of nested lists, as one list.",
            &[("flatten([1, [2, [3]]])", "[1, 2, 3]")],
        ),
        1,
        1,
        &[Accepts::LISTS],
        |_| StaticType::LIST,
        Implementation::Plain(lists::flatten),
    ),
    row(
        doc(
            "Lists",
            "sort",
            "sort(list[, order])",
            "The elements, sorted, \"asc\" or \"desc\".",
            &[("sort([3, 1, 2])", "[1, 2, 3]"), ("sort([\"a\", \"b\"], \"desc\")", "[\"b\", \"a\"]")],
        ),
        1,
        2,
        &[Accepts::SORTABLE, Accepts::TEXT],
        |_| StaticType::LIST,
        Implementation::Plain(lists::sort),
    ),
    row(
        doc(
            "Lists",
            "join",
            "join(list[, separator])",
            "The texts of a list, joined.",
            &[("join([\"a\", \"b\"], \"-\")", "\"a-b\""), ("join([\"a\", \"b\"])", "\"ab\"")],
        ),
        1,
        2,
        &[Accepts::LIST, Accepts::TEXT],
        |_| Base::Text.into(),
        Implementation::Plain(lists::join),
    ),
];
