//! Every example of the documentation tables holds.

use std::collections::HashSet;

use ccm_expr::{operators, reference};

use crate::scope::JsonScope;

fn check(examples: &[(&str, &str)], wrong: &mut Vec<String>) {
    let scope = JsonScope::new("{}");
    for (text, result) in examples {
        let (found, wanted) = (scope.evaluate(text), scope.evaluate(result));
        let same = match (&found, &wanted) {
            (Ok(found), Ok(wanted)) => {
                found == wanted && std::mem::discriminant(found) == std::mem::discriminant(wanted)
            }
            _ => false,
        };
        if !same {
            wrong.push(format!("{text} gives {found:?}, not {wanted:?}"));
        }
    }
}

#[test]
fn examples_of_functions_hold() {
    let mut wrong = Vec::new();
    let mut names = HashSet::new();
    for function in reference() {
        assert!(names.insert(function.name), "{} stands twice", function.name);
        assert!(!function.examples.is_empty(), "{} has no example", function.name);
        assert!(function.signature.starts_with(function.name));
        check(function.examples, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_of_operators_hold() {
    let mut wrong = Vec::new();
    for operator in operators() {
        assert!(!operator.examples.is_empty(), "{} has no example", operator.signs);
        check(operator.examples, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn operators_are_sorted_by_precedence() {
    let levels: Vec<u8> = operators().iter().filter_map(|operator| operator.precedence).collect();
    assert!(levels.is_sorted_by(|one, two| one >= two), "{levels:?}");
}
