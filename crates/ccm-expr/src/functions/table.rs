//! Table of functions, in the order of the documentation.

mod bits;
mod dates;
mod kinds;
mod lists;
mod maps;
mod numbers;
mod predicates;
mod text;

use std::sync::LazyLock;

use super::{Accepts, Builtin, FunctionDoc, Implementation, Signature};
use crate::static_type::{Base, StaticType};

const MANY: usize = usize::MAX;

fn unknown(_: &[StaticType]) -> StaticType {
    StaticType::UNKNOWN
}

/// Kind of the first argument.
fn first(arguments: &[StaticType]) -> StaticType {
    arguments.first().copied().unwrap_or(StaticType::UNKNOWN)
}

/// Kind of the elements of the first argument, known for some lists only.
fn element(arguments: &[StaticType]) -> StaticType {
    match first(arguments).base() {
        Some(Base::Ints | Base::Texts | Base::Bytes) => first(arguments).element(),
        _ => StaticType::UNKNOWN,
    }
}

/// Kind of a part of the first argument, a list.
fn taken(arguments: &[StaticType]) -> StaticType {
    let list = first(arguments);
    if list.base().is_some() { list } else { StaticType::LIST }
}

const fn row(
    doc: FunctionDoc,
    least: usize,
    most: usize,
    accepts: &'static [Accepts],
    result: fn(&[StaticType]) -> StaticType,
    run: Implementation,
) -> Builtin {
    Builtin { doc, signature: Signature { least, most, accepts, result }, run }
}

const fn doc(
    group: &'static str,
    name: &'static str,
    signature: &'static str,
    description: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> FunctionDoc {
    FunctionDoc { name, group, signature, description, examples }
}

/// Every function, by index.
pub(super) static TABLE: LazyLock<Vec<&'static Builtin>> = LazyLock::new(|| {
    let groups: [&[Builtin]; 8] = [
        text::ROWS,
        dates::ROWS,
        numbers::ROWS,
        predicates::ROWS,
        lists::ROWS,
        maps::ROWS,
        kinds::ROWS,
        bits::ROWS,
    ];
    groups.into_iter().flatten().collect()
});
