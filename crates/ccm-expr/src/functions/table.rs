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

use super::{Accepts, Builtin, FunctionCall, FunctionDoc, Implementation, Predicate, Signature, ValueResult};
use crate::static_type::{Base, StaticType};

const MANY: usize = usize::MAX;

fn unknown(_: &[StaticType]) -> StaticType {
    StaticType::UNKNOWN
}

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

/// Row of the table: a function of a group.
struct Row {
    signature: &'static str,
    description: &'static str,
    examples: &'static [(&'static str, &'static str)],
    call: Signature,
    run: Implementation,
}

const fn row(
    signature: &'static str,
    description: &'static str,
    examples: &'static [(&'static str, &'static str)],
    (call, run): (Signature, Implementation),
) -> Row {
    Row { signature, description, examples, call, run }
}

const fn plain(
    least: usize,
    most: usize,
    accepts: &'static [Accepts],
    result: fn(&[StaticType]) -> StaticType,
    run: fn(&mut FunctionCall<'_>) -> ValueResult,
) -> (Signature, Implementation) {
    (Signature { least, most, accepts, result }, Implementation::Plain(run))
}

const fn predicate(
    least: usize,
    most: usize,
    accepts: &'static [Accepts],
    result: fn(&[StaticType]) -> StaticType,
    run: Predicate,
) -> (Signature, Implementation) {
    (Signature { least, most, accepts, result }, Implementation::Predicate(run))
}

pub(super) static TABLE: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    let groups: [(&str, &[Row]); 9] = [
        ("Text", text::ROWS),
        ("Dates and durations", dates::ROWS),
        ("Numbers", numbers::ROWS),
        ("Lists", predicates::ROWS),
        ("Lists", lists::ROWS),
        ("Maps", maps::ROWS),
        ("Types and encodings", kinds::TYPES),
        ("Any values", kinds::ANY),
        ("Bits", bits::ROWS),
    ];
    let functions = groups.into_iter().flat_map(|(group, rows)| {
        rows.iter().map(move |&Row { signature, description, examples, call, run }| {
            let name = signature.split('(').next().unwrap_or_default();
            Builtin {
                doc: FunctionDoc { name, group, signature, description, examples },
                signature: call,
                run,
            }
        })
    });
    functions.collect()
});
