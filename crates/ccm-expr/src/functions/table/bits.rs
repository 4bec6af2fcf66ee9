//! Functions on the bits of integers.

use super::{doc, row};
use crate::functions::{Accepts, Builtin, Implementation, bits};
use crate::static_type::Base;

pub(super) static ROWS: &[Builtin] = &[
    row(
        doc("Bits", "bitand", "bitand(a, b)", "Bits that are set in both.", &[("bitand(6, 3)", "2")]),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Implementation::Plain(bits::and),
    ),
    row(
        doc("Bits", "bitor", "bitor(a, b)", "Bits that are set in either.", &[("bitor(6, 1)", "7")]),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Implementation::Plain(bits::or),
    ),
    row(
        doc("Bits", "bitxor", "bitxor(a, b)", "Bits that are set in exactly one.", &[("bitxor(6, 3)", "5")]),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Implementation::Plain(bits::xor),
    ),
    row(
        doc(
            "Bits",
            "bitnand",
            "bitnand(a, b)",
            "Bits that are set in the first and not in the second.",
            &[("bitnand(6, 3)", "4")],
        ),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Implementation::Plain(bits::nand),
    ),
    row(
        doc("Bits", "bitshl", "bitshl(a, b)", "Bits shifted to the left.", &[("bitshl(1, 4)", "16")]),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Implementation::Plain(bits::shl),
    ),
    row(
        doc(
            "Bits",
            "bitshr",
            "bitshr(a, b)",
            "Bits shifted to the right, keeping the sign.",
            &[("bitshr(-16, 2)", "-4")],
        ),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Implementation::Plain(bits::shr),
    ),
    row(
        doc(
            "Bits",
            "bitushr",
            "bitushr(a, b)",
            "Bits shifted to the right, without the sign.",
            &[("bitushr(16, 2)", "4")],
        ),
        2,
        2,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Implementation::Plain(bits::ushr),
    ),
    row(
        doc("Bits", "bitnot", "bitnot(a)", "All bits inverted.", &[("bitnot(1)", "-2")]),
        1,
        1,
        &[Accepts::INT],
        |_| Base::Int.into(),
        Implementation::Plain(bits::not),
    ),
];
