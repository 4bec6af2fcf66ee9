//! Tables of results, and of errors with their stage.

use ccm_expr::{Cause, Expression, Stage, Value};

use crate::scope::JsonScope;

fn scope() -> JsonScope {
    JsonScope::new(
        r#"{"any": {"i": 5, "f": 2.5, "t": "text", "n": null, "b": true, "l": [3, 1, 2], "m": {"k": 1}},
            "notify": 9, "inside": 4, "iffy": 8, "letter": 7, "order": 6, "nothing": 1}"#,
    )
}

/// Checks that both expressions of each row have the same value of the same kind.
fn check_same(table: &[(&str, &str)]) {
    let scope = scope();
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(text, wanted)| {
            let (found, wanted) = (scope.evaluate(text), scope.evaluate(wanted));
            let fine = matches!((&found, &wanted), (Ok(one), Ok(two)) if one == two
                && std::mem::discriminant(one) == std::mem::discriminant(two));
            (!fine).then(|| format!("{text}: {found:?}, wanted {wanted:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn refused(stage: Stage, table: &[&str]) {
    let scope = scope();
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|text| match scope.evaluate(text) {
            Err(error) if error.stage == stage => {
                assert!(
                    error.range.end <= text.len() && error.range.start <= error.range.end,
                    "{text}: {:?}",
                    error.range
                );
                None
            }
            other => Some(format!("{text}: {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_are_read_in_every_base() {
    check_same(&[
        ("0x2A", "42"),
        ("0X2a", "42"),
        ("0o52", "42"),
        ("0b101010", "42"),
        ("017", "17"),
        ("1_000", "1000"),
        (".5", "0.5"),
        ("1.", "1.0"),
        ("1e3", "1000.0"),
        ("1.5e-1", "0.15"),
        ("0xff_ff", "65535"),
        ("1..3", "[1, 2, 3]"),
    ]);
    refused(
        Stage::Compile,
        &["0x", "0b2", "1e", "1a", "1_a", "1.foo", "0x1.8", "1e999", "9223372036854775808"],
    );
}

#[test]
fn texts_are_read_with_their_escapes() {
    let scope = scope();
    let table = [
        (r#""a\nb\t\\\"""#, "a\nb\t\\\""),
        (r"'it\'s'", "it's"),
        (r#""\x41\u00e9\U0001F600\101""#, "Aé😀A"),
        (r"`raw \n`", "raw \\n"),
        ("`two\nlines`", "two\nlines"),
        ("`a``b`", "a`b"),
        ("\"tab\tin\"", "tab\tin"),
        ("\"a\rb\"", "a\nb"),
        (r#""\ud800""#, "\u{fffd}"),
    ];
    for (text, wanted) in table {
        assert_eq!(scope.value(text), Value::text(wanted), "{text}");
    }
    refused(
        Stage::Compile,
        &[r#""\q""#, r#""\'""#, r#""\x4""#, r#""\400""#, "\"a\nb\"", "\"", "`a", "'é\\", r#""\U00110000""#],
    );
}

#[test]
fn bytes_are_lists_of_numbers() {
    check_same(&[
        ("b'\\xff\\x00'[0]", "255"),
        ("len(b\"é\")", "2"),
        ("b\"ab\" == b'ab'", "true"),
        ("map(b\"ab\", #)", "[97, 98]"),
    ]);
    assert_eq!(scope().value("b\"hi\"").to_json(), serde_json::json!("aGk="));
    refused(Stage::Compile, &[r#"b"\u0041""#, "b\"a\" + b\"b\""]);
}

#[test]
fn keywords_end_at_word_boundaries() {
    check_same(&[
        ("notify", "9"),
        ("inside", "4"),
        ("iffy", "8"),
        ("letter", "7"),
        ("order", "6"),
        ("nothing", "1"),
    ]);
    check_same(&[("{in2: 1}.in2", "1"), ("{\"in\": 1}.in", "1"), ("{\"not\": 1}?.not", "1")]);
    refused(Stage::Compile, &["{in: 1}", "let in = 1; in"]);
}

#[test]
fn operators_bind_by_precedence() {
    check_same(&[
        ("1 + 2 * 3", "7"),
        ("2 ** 3 ** 2", "512.0"),
        ("2 ^ 2", "4.0"),
        ("-2 ** 2", "-4.0"),
        ("2 ** -1", "0.5"),
        ("10 - 3 - 2", "5"),
        ("8 / 4 / 2", "1.0"),
        ("not false and false", "false"),
        ("not (false and false)", "true"),
        ("true or false and false", "true"),
        ("1 + 1..2 + 1", "[2, 3]"),
        ("1 in 1..2", "true"),
        ("1 < 2 < 3", "true"),
        ("1 < 2 < 2", "false"),
        ("3 > 2 >= 2 == true", "true"),
        ("1 == 1 == true", "true"),
        ("true ? 1 : false ? 2 : 3", "1"),
        ("false ?: true", "true"),
        ("nil ?? nil ?? 3", "3"),
        ("(nil ?? 1) + 1", "2"),
        ("1 not in [1]", "false"),
    ]);
    refused(
        Stage::Compile,
        &[
            "nil ?? 1 + 1",
            "nil ?? 1 == 1",
            "1 not + 2",
            "1 + if true {1} else {2}",
            "1 +",
            "* 1",
            "1 2",
            ")",
            "",
            "a = 1",
            "1 & 2",
            "if true {1}",
        ],
    );
}

#[test]
fn operators_check_kinds() {
    check_same(&[
        ("1 + 1.0", "2.0"),
        ("7 / 7", "1.0"),
        ("5 % 3", "2"),
        ("1 == 1.0", "true"),
        ("[1, 2.0] == [1.0, 2]", "true"),
        ("any.i + any.f", "7.5"),
        ("any.t + \"!\"", "\"text!\""),
        ("true && any.i", "5"),
        ("any.n == nil", "true"),
        ("any.n in [nil]", "true"),
        ("any.n contains \"x\"", "false"),
        ("any.nope", "nil"),
        ("any.l[1.9]", "1"),
        ("nil in any.l", "false"),
        ("\"k\" in any.m", "true"),
    ]);
    refused(
        Stage::Compile,
        &[
            "\"a\" + 1",
            "1 == \"1\"",
            "true + 1",
            "not 1",
            "-\"a\"",
            "1 && true",
            "\"a\" in \"abc\"",
            "1 % 0",
            "1.5 % 2",
            "[1][\"a\"]",
            "{a: 1}[0]",
            "\"abc\"[0]",
            "1 .. 2.5",
            "nil.a",
            "1 ? 2 : 3",
            "\"a\" matches \"[\"",
            "5[1:]",
            "[1][\"a\":]",
            "\"a\" in [1, 2]",
            "1 in {a: 1}",
            "\"a\".b",
            "\"a\".b()",
            "nil + 1",
        ],
    );
    refused(
        Stage::Run,
        &[
            "any.i + any.t",
            "any.t * 2",
            "any.n.x",
            "any.i.x",
            "any.l.x",
            "any.l[9]",
            "any.l[-4]",
            "any.i > any.t",
            "not any.i",
            "any.i and true",
            "1 % (any.i - 5)",
            "any.m[1]",
            "any.i in any.t",
            "-any.t",
            "any.t ? 1 : 2",
            "any.t matches any.t + \"[\"",
            "any.i contains \"x\"",
            "{(any.i): 1}",
            "any.i()",
            "any.t.foo()",
            "nobody",
        ],
    );
}

#[test]
fn predicates_refer_to_their_element() {
    check_same(&[
        ("map(any.l, # * 2)", "[6, 2, 4]"),
        ("map(any.l, {let x = #; x + #index})", "[3, 2, 4]"),
        ("reduce(any.l, #acc + # * #index, 100)", "105"),
        ("map([[1], [2, 3]], map(#, # + 1))", "[[2], [3, 4]]"),
        ("filter([{a: 1}, {a: 2}], .a > 1)[0].a", "2"),
        ("any.l | filter(# > 1) | map(# + 1) | sum()", "7"),
        ("count([true, false])", "1"),
        ("sum([1, 2.5])", "3.5"),
        ("find([1], # > 1)", "nil"),
        ("groupBy(1..4, # % 2)[1]", "[1, 3]"),
        ("groupBy([{k: \"a\"}], .k).a[0].k", "\"a\""),
        ("sortBy(any.l, -#)", "[3, 2, 1]"),
        ("::len([1])", "1"),
        ("map(1..2, {1; #})", "[1, 2]"),
    ]);
    refused(
        Stage::Compile,
        &[
            "#",
            ".a",
            "filter([1], #index > 0)",
            "map([1], #acc)",
            "map(1, #)",
            "filter([1], # + 1)",
            "map([1])",
            "map()",
            "map([1], nil)",
            "map([1], 1; 2)",
            "sum(\"a\")",
        ],
    );
    refused(
        Stage::Run,
        &[
            "map(any.i, #)",
            "filter(any.l, any.i)",
            "reduce([], #acc + #)",
            "sum([\"a\"])",
            "sortBy([1, \"a\"], #)",
            "groupBy([[1]], #)",
            "count(any.l)",
            "sortBy(any.l, #, \"up\")",
        ],
    );
}

#[test]
fn calls_check_name_and_argument_count() {
    refused(
        Stage::Compile,
        &[
            "len()",
            "len(1)",
            "len(1, 2)",
            "nofunction()",
            "nofunction(1)",
            "trim()",
            "trim(1)",
            "split(\"a\")",
            "max()",
            "max(\"a\")",
            "max(1, \"2\")",
            "string(1, 2)",
            "int(nil)",
            "abs(\"a\")",
            "lookup()",
            "lookup(1, 2, 3)",
            "now(1)",
            "bitand(\"1\", 1)",
            "repeat(\"a\", 1.5)",
            "date()",
            "take(\"a\", 1)",
            "keys([1])",
            "get(1, 2)",
            "get([1], \"a\")",
            "join(1..3)",
            "timezone(nil)",
            "flatten(1)",
            "flatten([1], [2])",
            "let len = 1; len",
            "let notify = 1; 2",
            "let x = 1; let x = 2; x",
            "let lookup = 1; 2",
        ],
    );
    refused(
        Stage::Run,
        &[
            "int(\"a\")",
            "float(\"a\")",
            "float(\"1e999\")",
            "join([1])",
            "max([1, \"2\"])",
            "duration(\"error\")",
            "date(\"error\")",
            "timezone(\"Nowhere/City\")",
            "fromJSON(\"{\")",
            "fromBase64(\"a\")",
            "repeat(\"a\", -1)",
            "bitshl(1, -1)",
            "sort([1, \"a\"])",
            "sort([2, 1], \"up\")",
            "fromPairs([1])",
            "fromPairs([[1]])",
            "take([1], -1)",
            "lookup(\"nobody\")",
            "mean([nil])",
            "len(any.i)",
            "upper(any.i)",
        ],
    );
    check_same(&[
        ("split(\"abc\", \"\")", "[\"a\", \"b\", \"c\"]"),
        ("split(\"\", \",\")", "[\"\"]"),
        ("splitAfter(\"a,b\", \",\", 1)", "[\"a,b\"]"),
        ("replace(\"ab\", \"\", \"-\")", "\"-a-b-\""),
        ("max([1, 2.5], 2)", "2.5"),
        ("min([])", "nil"),
        ("mean([])", "0.0"),
        ("int(\"+7\")", "7"),
        ("first(any.t)", "116"),
        ("uniq([1, 1.0, \"1\", [1], [1.0]])", "[1, \"1\", [1]]"),
        ("fromPairs([[1, 2], [\"a\", 3]])[1]", "2"),
        ("toPairs(fromPairs([[true, 2]]))", "[[true, 2]]"),
        ("concat([1], 2..3, [nil])", "[1, 2, 3, nil]"),
        ("bitushr(-1, 63)", "1"),
        ("bitshl(1, 64)", "0"),
        ("bitshr(-8, 70)", "-1"),
        ("fromJSON(\"1\")", "1.0"),
        (
            "toJSON({b: 1, a: \"<&>\"})",
            "\"{\\n  \\\"a\\\": \\\"\\\\u003c\\\\u0026\\\\u003e\\\",\\n  \\\"b\\\": 1\\n}\"",
        ),
        ("get(any, \"nope\")", "nil"),
        ("get(any.l, 9)", "nil"),
        ("[1, 2, 3][5:1]", "[]"),
        ("[1, 2, 3][-2:]", "[2, 3]"),
    ]);
    check_same(&[
        ("string(nil)", "\"<nil>\""),
        ("string(1e6)", "\"1e+06\""),
        ("string(0.00001)", "\"1e-05\""),
        ("string(100000.5)", "\"100000.5\""),
        ("string([1, \"a\", {b: nil}])", "\"[1 a map[b:<nil>]]\""),
    ]);
}

#[test]
fn what_has_no_result_is_an_error_at_its_place() {
    let scope = scope();
    let least = "(-9223372036854775807 - 1)";
    for (text, stage, place) in [
        ("1 / 0", Stage::Run, "0"),
        ("any.i / (any.i - 5)", Stage::Run, "any.i - 5"),
        ("0 / 0.0", Stage::Run, "0.0"),
        ("any.i % (any.i - 5)", Stage::Run, "any.i - 5"),
        ("5 % 0", Stage::Compile, "%"),
        ("9223372036854775807 + 1", Stage::Compile, "+"),
        ("any.i + 9223372036854775807", Stage::Run, "any.i + 9223372036854775807"),
        ("-9223372036854775807 - any.i", Stage::Run, "-9223372036854775807 - any.i"),
        ("any.i * 9223372036854775807", Stage::Run, "any.i * 9223372036854775807"),
        ("4611686018427387904 * 2", Stage::Compile, "*"),
        ("sum([9223372036854775807, any.i])", Stage::Run, "sum([9223372036854775807, any.i])"),
        ("1e308 * 10", Stage::Run, "1e308 * 10"),
        ("1e308 + 1e308", Stage::Run, "1e308 + 1e308"),
        ("10 ** 400", Stage::Run, "10 ** 400"),
        ("(-8) ** 0.5", Stage::Run, "-8) ** 0.5"),
        ("0 ** -1", Stage::Run, "0 ** -1"),
        ("mean([1e308, 1e308])", Stage::Run, "[1e308, 1e308]"),
        ("int(1e300)", Stage::Run, "1e300"),
        ("int(9223372036854775808.0)", Stage::Run, "9223372036854775808.0"),
        ("float(\"inf\")", Stage::Run, "\"inf\""),
        ("float(\"nan\")", Stage::Run, "\"nan\""),
        ("duration(\"2562047h\") * 2", Stage::Run, "duration(\"2562047h\") * 2"),
        (
            "duration(\"2562047h\") + duration(\"2562047h\")",
            Stage::Run,
            "duration(\"2562047h\") + duration(\"2562047h\")",
        ),
        ("repeat(\"a\", 9223372036854775807)", Stage::Run, "repeat(\"a\", 9223372036854775807)"),
        ("get(any.t, 0)", Stage::Run, "any.t"),
    ] {
        let error = scope.evaluate(text).expect_err(text);
        assert_eq!((error.stage, &text[error.range]), (stage, place), "{text}");
    }
    for text in [&*format!("-{least}"), &format!("abs({least})"), &format!("let x = {least}; -x")] {
        assert!(scope.evaluate(text).is_err(), "{text}");
    }
    check_same(&[
        ("let x = 9223372036854775807; x % -1", "0"),
        (&format!("{least} % (any.i - 6)"), "0"),
        ("0 / 5", "0.0"),
        ("int(-9223372036854775808.0) < 0", "true"),
    ]);
}

#[test]
fn a_key_twice_is_an_error_with_both_places() {
    let scope = scope();
    for (text, first, second, stage) in [
        ("{a: 1, b: 2, a: 3}", 1..2, 13..14, Stage::Compile),
        ("{a: 1, 'a': 2}", 1..2, 7..10, Stage::Compile),
        ("{1: 1, '1': 2}", 1..2, 7..10, Stage::Compile),
        ("true ? 1 : {a: 1, a: 2}", 12..13, 18..19, Stage::Compile),
        ("{t: 1, (any.t): 2, (any.t): 3}", 0..0, 20..25, Stage::Run),
    ] {
        let error = scope.evaluate(text).expect_err(text);
        assert_eq!((error.stage, error.range), (stage, second), "{text}");
        assert!(matches!(&error.cause, Cause::DuplicateKey { first: found } if *found == first), "{text}");
    }
    check_same(&[("{a: 1, b: {a: 2}}.b.a", "2"), ("{a: 1, A: 2}.A", "2")]);
}

#[test]
fn names_are_checked_wherever_they_stand() {
    let scope = scope();
    for (text, unknown) in [
        ("any.i ?? yna.i", Some("yna")),
        ("true or yna.i", Some("yna")),
        ("false and yna.i", Some("yna")),
        ("true ? any.i : yna.i", Some("yna")),
        ("filter([], {# > yna.i})", Some("yna")),
        ("map([], yna)", Some("yna")),
        ("any?.t?.x ?? yna?.t", Some("yna")),
        ("any?.[yna]", Some("yna")),
        ("if true {1} else {yna}", Some("yna")),
        ("let x = 1; x ?? y", Some("y")),
        ("let x = 1; true ? x : any.yna", None),
        ("map(any.l, # + #index)", None),
        ("{yna: 1}.yna", None),
        ("$env.yna ?? 1", None),
        ("true or any.yna", None),
    ] {
        let expression = Expression::parse(text).expect(text);
        let found = expression.check_names(&scope).err();
        let found = found.map(|error| match error.cause {
            Cause::UnknownName(name) => (name, text[error.range].to_owned()),
            other => panic!("{text}: {other:?}"),
        });
        assert_eq!(found, unknown.map(|name| (name.to_owned(), name.to_owned())), "{text}");
    }
}

#[test]
fn environment_is_a_map_of_names() {
    check_same(&[
        ("$env.any.i", "5"),
        ("$env[\"any\"].i", "5"),
        ("\"any\" in $env", "true"),
        ("$env?.nobody", "nil"),
        ("$env.nobody", "nil"),
    ]);
}

#[test]
fn comments_are_blanks() {
    check_same(&[("1 /* a /* b */ + 2 // end", "3"), ("// first\n1", "1"), ("1 // 2", "1")]);
    refused(Stage::Compile, &["// nothing", "1 /* a", "/**"]);
}

#[test]
fn patterns_follow_re2() {
    check_same(&[
        (r#""é" matches "^\\w$""#, "false"),
        (r#""a1" matches "^[\\w-]+$""#, "true"),
        (r#""[" matches "[[]""#, "true"),
        (r#""&" matches "^[a&&b]$""#, "true"),
        (r#""a{b" matches "a{b""#, "true"),
        (r#""a.b" matches "\\Qa.b\\E""#, "true"),
        (r#""axb" matches "\\Qa.b\\E""#, "false"),
        (r#""ABC" matches "(?i)abc""#, "true"),
        (r#""]" matches "^[]]$""#, "true"),
        (r#""x" matches "[[:alpha:]]""#, "true"),
    ]);
    refused(
        Stage::Compile,
        &[
            r#""a" matches "(?=a)""#,
            r#""a" matches "a{1001}""#,
            r#""a" matches "\\1""#,
            r#""a" matches "a\\""#,
        ],
    );
}
