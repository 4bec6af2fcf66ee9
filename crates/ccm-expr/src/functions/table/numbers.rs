//! Functions on numbers.

use super::{MANY, doc, first, row};
use crate::functions::{Accepts, Builtin, Implementation, aggregate, numbers};
use crate::static_type::Base;

pub(super) static ROWS: &[Builtin] = &[
    row(
        doc(
            "Numbers",
            "max",
            "max(number or list, …)",
            "The largest number.",
            &[("max(1, 5, 3)", "5"), ("max([1, 2.5])", "2.5")],
        ),
        1,
        MANY,
        &[Accepts::NUMBERS],
        first,
        Implementation::Plain(aggregate::max),
    ),
    row(
        doc("Numbers", "min", "min(number or list, …)", "The smallest number.", &[("min(1, 5, 3)", "1")]),
        1,
        MANY,
        &[Accepts::NUMBERS],
        first,
        Implementation::Plain(aggregate::min),
    ),
    row(
        doc(
            "Numbers",
            "mean",
            "mean(number or list, …)",
            "The average of the numbers.",
            &[("mean([1, 2, 6])", "3.0")],
        ),
        1,
        MANY,
        &[Accepts::NUMBERS],
        first,
        Implementation::Plain(aggregate::mean),
    ),
    row(
        doc(
            "Numbers",
            "median",
            "median(number or list, …)",
            "The median of the numbers.",
            &[("median([1, 2, 6])", "2.0"), ("median([1, 2])", "1.5")],
        ),
        1,
        MANY,
        &[Accepts::NUMBERS],
        first,
        Implementation::Plain(aggregate::median),
    ),
    row(
        doc("Numbers", "abs", "abs(number)", "The absolute value.", &[("abs(-5)", "5")]),
        1,
        1,
        &[Accepts::NUMBER],
        first,
        Implementation::Plain(numbers::abs),
    ),
    row(
        doc("Numbers", "ceil", "ceil(number)", "The number, rounded up.", &[("ceil(1.2)", "2.0")]),
        1,
        1,
        &[Accepts::NUMBER],
        |_| Base::Float.into(),
        Implementation::Plain(numbers::ceil),
    ),
    row(
        doc("Numbers", "floor", "floor(number)", "The number, rounded down.", &[("floor(1.8)", "1.0")]),
        1,
        1,
        &[Accepts::NUMBER],
        |_| Base::Float.into(),
        Implementation::Plain(numbers::floor),
    ),
    row(
        doc(
            "Numbers",
            "round",
            "round(number)",
            "The number, rounded to the nearest; halves away from zero.",
            &[("round(1.5)", "2.0")],
        ),
        1,
        1,
        &[Accepts::NUMBER],
        |_| Base::Float.into(),
        Implementation::Plain(numbers::round),
    ),
];
