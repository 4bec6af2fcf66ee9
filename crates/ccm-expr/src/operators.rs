//! Documentation of the operators.

/// Documentation of an operator or another sign of the language.
#[derive(Clone, Copy, Debug)]
pub struct OperatorDoc {
    /// Syntax.
    pub signs: &'static str,
    /// Description in one line.
    pub description: &'static str,
    /// Precedence: a higher one binds tighter. `None` for brackets and signs that are no operators.
    pub precedence: Option<u8>,
    /// Expressions, each with its value written as an expression.
    pub examples: &'static [(&'static str, &'static str)],
}

const fn row(
    signs: &'static str,
    precedence: Option<u8>,
    description: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> OperatorDoc {
    OperatorDoc { signs, description, precedence, examples }
}

/// Returns every operator, from the tightest to the loosest.
pub fn operators() -> &'static [OperatorDoc] {
    ROWS
}

const ROWS: &[OperatorDoc] = &[
    row(
        "a.b  a?.b",
        None,
        "The value of a key. After `?.`, every key of nil is nil.",
        &[("{a: {b: 1}}.a.b", "1"), ("{a: nil}.a?.b.c", "nil")],
    ),
    row(
        "a[b]  a?.[b]",
        None,
        "The value of a key, or the element at an index; -1 is the last.",
        &[("[1, 2, 3][-1]", "3"), ("{a: 1}[\"a\"]", "1")],
    ),
    row(
        "a[from:to]",
        None,
        "Part of a list or text; either bound may be left out.",
        &[("[1, 2, 3][1:]", "[2, 3]"), ("\"hello\"[1:3]", "\"el\"")],
    ),
    row(
        "a ?? b",
        Some(200),
        "The left side, or the right side if the left side is nil.",
        &[("nil ?? 1", "1"), ("0 ?? 1", "0")],
    ),
    row("a ** b  a ^ b", Some(100), "Power; binds to the right.", &[("2 ** 3 ** 2", "512.0")]),
    row("-a  +a", Some(90), "Sign of a number.", &[("-2 ** 2", "-4.0")]),
    row("a * b", Some(60), "Product.", &[("2 * 1.5", "3.0")]),
    row("a / b", Some(60), "Quotient, never an integer.", &[("7 / 2", "3.5")]),
    row("a % b", Some(60), "Remainder of a division of integers.", &[("-7 % 3", "-1")]),
    row("not a  !a", Some(50), "Negation.", &[("not true", "false")]),
    row("a + b", Some(30), "Sum, or two texts joined.", &[("1 + 2", "3"), ("\"a\" + \"b\"", "\"ab\"")]),
    row("a - b", Some(30), "Difference.", &[("1 - 2.5", "-1.5")]),
    row("a .. b", Some(25), "The integers in a range.", &[("1..3", "[1, 2, 3]")]),
    row(
        "a == b  a != b",
        Some(20),
        "Equality, or inequality.",
        &[("1 == 1.0", "true"), ("[1] != [2]", "true")],
    ),
    row(
        "a < b  a <= b  a > b  a >= b",
        Some(20),
        "Comparison; a chain is true if every comparison in it is.",
        &[("1 < 2 < 3", "true"), ("\"a\" < \"b\"", "true")],
    ),
    row(
        "a in b  a not in b",
        Some(20),
        "True if a list has the element, or a map the key.",
        &[("1 in [1, 2]", "true"), ("\"b\" not in {a: 1}", "true")],
    ),
    row(
        "a contains b",
        Some(20),
        "True if the text contains the part.",
        &[("\"hello\" contains \"ell\"", "true")],
    ),
    row(
        "a startsWith b",
        Some(20),
        "True if the text begins with the prefix.",
        &[("\"hello\" startsWith \"he\"", "true")],
    ),
    row(
        "a endsWith b",
        Some(20),
        "True if the text ends with the suffix.",
        &[("\"hello\" not endsWith \"lo\"", "false")],
    ),
    row(
        "a matches b",
        Some(20),
        "True if a regular expression (RE2) matches part of the text.",
        &[("\"web12\" matches \"^web\\\\d+$\"", "true")],
    ),
    row("a and b  a && b", Some(15), "True if both are true.", &[("true and not false", "true")]),
    row("a or b  a || b", Some(10), "True if either is true.", &[("false or true", "true")]),
    row(
        "a | f(b)",
        Some(0),
        "Calls a function with the left side as its first argument.",
        &[("\"a b\" | upper() | split(\" \")", "[\"A\", \"B\"]")],
    ),
    row(
        "a ? b : c  a ?: c",
        Some(0),
        "One of two values, by a condition.",
        &[("1 > 2 ? \"a\" : \"b\"", "\"b\"")],
    ),
    row(
        "if a { b } else { c }",
        None,
        "The same, written out.",
        &[("if true { 1 } else if false { 2 } else { 3 }", "1")],
    ),
    row("let name = a; b", None, "Defines a name for a value.", &[("let x = 2; x * x", "4")]),
    row("a; b", None, "Several expressions; the value is that of the last.", &[("1; 2", "2")]),
    row(
        "#  .name",
        None,
        "In predicates: the element, or a key of it.",
        &[("map([{a: 1}], .a + #.a)", "[2]")],
    ),
    row("$env", None, "All names as a map.", &[("\"nobody\" in $env", "false")]),
];
