//! Functions on the bits of integers.

use super::{Row, plain, row};
use crate::functions::{Accepts, bits};
use crate::static_type::Base;

pub(super) static ROWS: &[Row] = &[
    row(
        "bitand(a, b)",
        "Bits that are set in both.",
        &[("bitand(6, 3)", "2")],
        plain(2, 2, &[Accepts::INT], |_| Base::Int.into(), bits::and),
    ),
    row(
        "bitor(a, b)",
        "Bits that are set in either.",
        &[("bitor(6, 1)", "7")],
        plain(2, 2, &[Accepts::INT], |_| Base::Int.into(), bits::or),
    ),
    row(
        "bitxor(a, b)",
        "Bits that are set in exactly one.",
        &[("bitxor(6, 3)", "5")],
        plain(2, 2, &[Accepts::INT], |_| Base::Int.into(), bits::xor),
    ),
    row(
        "bitnand(a, b)",
        "Bits that are set in the first and not in the second.",
        &[("bitnand(6, 3)", "4")],
        plain(2, 2, &[Accepts::INT], |_| Base::Int.into(), bits::nand),
    ),
    row(
        "bitshl(a, b)",
        "Bits shifted to the left.",
        &[("bitshl(1, 4)", "16")],
        plain(2, 2, &[Accepts::INT], |_| Base::Int.into(), bits::shl),
    ),
    row(
        "bitshr(a, b)",
        "Bits shifted to the right, keeping the sign.",
        &[("bitshr(-16, 2)", "-4")],
        plain(2, 2, &[Accepts::INT], |_| Base::Int.into(), bits::shr),
    ),
    row(
        "bitushr(a, b)",
        "Bits shifted to the right, without the sign.",
        &[("bitushr(16, 2)", "4")],
        plain(2, 2, &[Accepts::INT], |_| Base::Int.into(), bits::ushr),
    ),
    row(
        "bitnot(a)",
        "All bits inverted.",
        &[("bitnot(1)", "-2")],
        plain(1, 1, &[Accepts::INT], |_| Base::Int.into(), bits::not),
    ),
];
