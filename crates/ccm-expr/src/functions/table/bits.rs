//! Functions on the bits of integers.

use super::{doc, row};
use crate::functions::{Accepts, Builtin, Run, bits};
use crate::nature::Base;

pub(super) static ROWS: &[Builtin] = &[
    row(
        doc("Bits", "bitand", "bitand(a, b)", "The bits that both have.", &[("bitand(6, 3)", "2")]),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Run::Plain(bits::and),
    ),
    row(
        doc("Bits", "bitor", "bitor(a, b)", "The bits that either has.", &[("bitor(6, 1)", "7")]),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Run::Plain(bits::or),
    ),
    row(
        doc("Bits", "bitxor", "bitxor(a, b)", "The bits that one of them has.", &[("bitxor(6, 3)", "5")]),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Run::Plain(bits::xor),
    ),
    row(
        doc(
            "Bits",
            "bitnand",
            "bitnand(a, b)",
            "The bits of the first that the second has not.",
            &[("bitnand(6, 3)", "4")],
        ),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Run::Plain(bits::nand),
    ),
    row(
        doc("Bits", "bitshl", "bitshl(a, b)", "The bits moved to the left.", &[("bitshl(1, 4)", "16")]),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Run::Plain(bits::shl),
    ),
    row(
        doc(
            "Bits",
            "bitshr",
            "bitshr(a, b)",
            "The bits moved to the right, with the sign.",
            &[("bitshr(-16, 2)", "-4")],
        ),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Run::Plain(bits::shr),
    ),
    row(
        doc(
            "Bits",
            "bitushr",
            "bitushr(a, b)",
            "The bits moved to the right, without the sign.",
            &[("bitushr(16, 2)", "4")],
        ),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Run::Plain(bits::ushr),
    ),
    row(
        doc("Bits", "bitnot", "bitnot(a)", "The bits it has not.", &[("bitnot(1)", "-2")]),
        1,
        1,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Run::Plain(bits::not),
    ),
];
