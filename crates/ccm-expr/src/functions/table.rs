//! The table itself: a row for each function, in the order of its documentation.

mod bits;
mod dates;
mod kinds;
mod lists;
mod maps;
mod numbers;
mod predicates;
mod text;

use std::sync::LazyLock;

use super::{Accepts, Builtin, FunctionDoc, Run, Signature};
use crate::nature::{Base, Nature};

const MANY: usize = usize::MAX;

fn unknown(_: &[Nature]) -> Nature {
    Nature::UNKNOWN
}

/// Yields what it is given.
fn first(arguments: &[Nature]) -> Nature {
    arguments.first().copied().unwrap_or(Nature::UNKNOWN)
}

/// Yields an element of what it is given, of which only some lists tell the kind.
fn element(arguments: &[Nature]) -> Nature {
    match first(arguments).base() {
        Some(Base::Ints | Base::Texts | Base::Bytes) => first(arguments).element(),
        _ => Nature::UNKNOWN,
    }
}

/// Yields a part of the list it is given.
fn taken(arguments: &[Nature]) -> Nature {
    let list = first(arguments);
    if list.base().is_some() { list } else { Nature::LIST }
}

const fn row(
    doc: FunctionDoc,
    least: usize,
    most: usize,
    accepts: &'static [Accepts],
    result: fn(&[Nature]) -> Nature,
    run: Run,
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

/// Every function; its place is its index.
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
