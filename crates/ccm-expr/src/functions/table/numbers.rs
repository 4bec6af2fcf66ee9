//! Functions on numbers.

use super::{MANY, Row, first, plain, row};
use crate::functions::{Accepts, aggregate, numbers};
use crate::static_type::Base;

pub(super) static ROWS: &[Row] = &[
    row(
        "max(number or list, …)",
        "The largest number.",
        &[("max(1, 5, 3)", "5"), ("max([1, 2.5])", "2.5")],
        plain(1, MANY, &[Accepts::NUMBERS], first, aggregate::max),
    ),
    row(
        "min(number or list, …)",
        "The smallest number.",
        &[("min(1, 5, 3)", "1")],
        plain(1, MANY, &[Accepts::NUMBERS], first, aggregate::min),
    ),
    row(
        "mean(number or list, …)",
        "The average of the numbers.",
        &[("mean([1, 2, 6])", "3.0")],
        plain(1, MANY, &[Accepts::NUMBERS], first, aggregate::mean),
    ),
    row(
        "median(number or list, …)",
        "The median of the numbers.",
        &[("median([1, 2, 6])", "2.0"), ("median([1, 2])", "1.5")],
        plain(1, MANY, &[Accepts::NUMBERS], first, aggregate::median),
    ),
    row(
        "abs(number)",
        "The absolute value.",
        &[("abs(-5)", "5")],
        plain(1, 1, &[Accepts::NUMBER], first, numbers::abs),
    ),
    row(
        "ceil(number)",
        "The number, rounded up.",
        &[("ceil(1.2)", "2.0")],
        plain(1, 1, &[Accepts::NUMBER], |_| Base::Float.into(), numbers::ceil),
    ),
    row(
        "floor(number)",
        "The number, rounded down.",
        &[("floor(1.8)", "1.0")],
        plain(1, 1, &[Accepts::NUMBER], |_| Base::Float.into(), numbers::floor),
    ),
    row(
        "round(number)",
        "The number, rounded to the nearest; halves away from zero.",
        &[("round(1.5)", "2.0")],
        plain(1, 1, &[Accepts::NUMBER], |_| Base::Float.into(), numbers::round),
    ),
];
