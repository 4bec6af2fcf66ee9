//! Functions on lists with a predicate.

use super::{Row, predicate, row, unknown};
use crate::functions::{Accepts, Predicate};
use crate::static_type::Base;

pub(super) static ROWS: &[Row] = &[
    row(
        "all(list, predicate)",
        "True if the predicate is true for every element.",
        &[("all([1, 2], # > 0)", "true"), ("all([], # > 0)", "true")],
        predicate(2, 2, &[Accepts::LISTS], |_| Base::Bool.into(), Predicate::All),
    ),
    row(
        "any(list, predicate)",
        "True if the predicate is true for at least one element.",
        &[("any([1, 2], # > 1)", "true")],
        predicate(2, 2, &[Accepts::LISTS], |_| Base::Bool.into(), Predicate::Any),
    ),
    row(
        "one(list, predicate)",
        "True if the predicate is true for exactly one element.",
        &[("one([1, 2], # > 1)", "true")],
        predicate(2, 2, &[Accepts::LISTS], |_| Base::Bool.into(), Predicate::One),
    ),
    row(
        "none(list, predicate)",
        "True if the predicate is true for no element.",
        &[("none([1, 2], # > 2)", "true")],
        predicate(2, 2, &[Accepts::LISTS], |_| Base::Bool.into(), Predicate::None),
    ),
    row(
        "map(list, predicate)",
        "The result of the predicate for each element.",
        &[
            ("map([1, 2], # * 10)", "[10, 20]"),
            ("map([{a: 1}], .a)", "[1]"),
            ("map([\"x\", \"y\"], #index)", "[0, 1]"),
        ],
        predicate(2, 2, &[Accepts::LISTS], unknown, Predicate::Map),
    ),
    row(
        "filter(list, predicate)",
        "The elements for which the predicate is true.",
        &[("filter([1, 2, 3], # > 1)", "[2, 3]")],
        predicate(2, 2, &[Accepts::LISTS], unknown, Predicate::Filter),
    ),
    row(
        "find(list, predicate)",
        "The first element for which the predicate is true, or nil.",
        &[("find([1, 2, 3], # > 1)", "2"), ("find([1], # > 1)", "nil")],
        predicate(2, 2, &[Accepts::LISTS], unknown, Predicate::Find),
    ),
    row(
        "findIndex(list, predicate)",
        "Index of the first element for which the predicate is true, or nil.",
        &[("findIndex([1, 2, 3], # > 1)", "1")],
        predicate(2, 2, &[Accepts::LISTS], |_| Base::Int.into(), Predicate::FindIndex),
    ),
    row(
        "findLast(list, predicate)",
        "The last element for which the predicate is true, or nil.",
        &[("findLast([1, 2, 3], # < 3)", "2")],
        predicate(2, 2, &[Accepts::LISTS], unknown, Predicate::FindLast),
    ),
    row(
        "findLastIndex(list, predicate)",
        "Index of the last element for which the predicate is true, or nil.",
        &[("findLastIndex([1, 2, 3], # < 3)", "1")],
        predicate(2, 2, &[Accepts::LISTS], |_| Base::Int.into(), Predicate::FindLastIndex),
    ),
    row(
        "count(list[, predicate])",
        "Number of elements for which the predicate is true, or that are true.",
        &[("count([1, 2, 3], # > 1)", "2"), ("count([true, false])", "1")],
        predicate(1, 2, &[Accepts::LISTS], |_| Base::Int.into(), Predicate::Count),
    ),
    row(
        "sum(list[, predicate])",
        "The sum of the elements, or of the results of the predicate.",
        &[("sum([1, 2, 3])", "6"), ("sum([{n: 1}, {n: 2}], .n)", "3")],
        predicate(1, 2, &[Accepts::LISTS], unknown, Predicate::Sum),
    ),
    row(
        "groupBy(list, predicate)",
        "A map from each result of the predicate to the list of its elements.",
        &[
            ("groupBy([\"a\", \"bb\", \"c\"], len(#))[1]", "[\"a\", \"c\"]"),
            ("groupBy([{k: \"x\"}], .k).x", "[{k: \"x\"}]"),
        ],
        predicate(2, 2, &[Accepts::LISTS], unknown, Predicate::GroupBy),
    ),
    row(
        "sortBy(list, predicate[, order])",
        "The elements, sorted by the result of the predicate, \"asc\" or \"desc\".",
        &[
            ("sortBy([{n: 2}, {n: 1}], .n)", "[{n: 1}, {n: 2}]"),
            ("sortBy([\"aa\", \"b\"], len(#), \"desc\")", "[\"aa\", \"b\"]"),
        ],
        predicate(2, 3, &[Accepts::LISTS], unknown, Predicate::SortBy),
    ),
    row(
        "reduce(list, predicate[, initial])",
        "One value from all elements: #acc is the result so far.",
        &[("reduce([1, 2, 3], #acc + #)", "6"), ("reduce([1, 2], #acc + string(#), \"\")", "\"12\"")],
        predicate(2, 3, &[Accepts::LISTS], unknown, Predicate::Reduce),
    ),
];
