//! A table for each area of the syntax.
//!
//! Intended differences from gjson: a syntax error (an unclosed bracket, text after a query, a trailing
//! backslash, an unknown `~`) is refused instead of finding nothing; an escaped wildcard stays a plain
//! character beside one that is not escaped; a quoted operand is always text, also with a `~`; a literal ends
//! with its value, so that a stage can follow; a pipe after a query without a match gets the empty list, as
//! it would get any other list.

use ccm_expr::path::{Path, escape};

use super::{check, value};

const PEOPLE: &str = r##"{
  "name": {"first": "Tom", "last": "Anderson"},
  "age": 37,
  "children": ["Sara", "Alex", "Jack"],
  "fav.movie": "Deer Hunter",
  "friends": [
    {"first": "Dale", "last": "Murphy", "age": 44, "nets": ["ig", "fb", "tw"]},
    {"first": "Roger", "last": "Craig", "age": 68, "nets": ["fb", "tw"]},
    {"first": "Jane", "last": "Murphy", "age": 47, "nets": ["ig", "tw"]}
  ],
  "weird": {"": 1, "a.b": {"c|d": 2}, "@this": 3, "@what": 4, "#": 5, "!x": 6, "007": 7, "x*y": 8, "xzy": 9},
  "wide": 9007199254740993,
  "fraction": 1.0,
  "nothing": null
}"##;

#[test]
fn names_indices_and_numbers() {
    check(
        PEOPLE,
        &[
            ("name", Some(r#"{"first":"Tom","last":"Anderson"}"#)),
            ("name.last", Some(r#""Anderson""#)),
            ("age", Some("37")),
            ("age.x", None),
            ("children.1", Some(r#""Alex""#)),
            ("children.01", Some(r#""Alex""#)),
            ("children.3", None),
            ("children.-1", None),
            ("children.", None),
            ("children.99999999999999999999999", None),
            ("children.first", None),
            ("friends.1.nets.0", Some(r#""fb""#)),
            ("wide", Some("9007199254740993")),
            ("fraction", Some("1.0")),
            ("nothing", Some("null")),
            ("nothing.x", None),
            ("", None),
            ("weird.", Some("1")),
            (".", None),
            ("weird.007", Some("7")),
            ("name.first.", None),
        ],
    );
}

#[test]
fn wildcards_and_escapes() {
    check(
        PEOPLE,
        &[
            ("child*.2", Some(r#""Jack""#)),
            ("c?ildren.0", Some(r#""Sara""#)),
            ("*.first", Some(r#""Tom""#)),
            ("*.0", Some(r#""Sara""#)),
            ("*.0.nets.1", Some(r#""fb""#)),
            ("*.none", None),
            ("f*.#.age", Some("[44,68,47]")),
            ("*.#(age>45).first", Some(r#""Roger""#)),
            ("*.#(age>45).none", None),
            ("children.*", None),
            (r"fav\.movie", Some(r#""Deer Hunter""#)),
            (r"weird.a\.b.c\|d", Some("2")),
            (r"weird.\@this", Some("3")),
            ("weird.@what", Some("4")),
            ("weird.#", Some("5")),
            ("weird.!x", Some("6")),
            ("weird|!x", Some("6")),
            (r"weird.x\*y", Some("8")),
            (r"weird.x\*?", Some("8")),
            ("weird.x?y", Some("8")),
            (r"weird.x\?y", None),
        ],
    );
}

#[test]
fn lists_and_queries() {
    check(
        PEOPLE,
        &[
            ("friends.#", Some("3")),
            ("friends.#.age", Some("[44,68,47]")),
            ("friends.#.none", Some("[]")),
            ("friends.#.nets.#", Some("[3,2,2]")),
            ("friends.#.nets.#.x", Some("[[],[],[]]")),
            ("name.#", None),
            ("name.#.x", None),
            (r#"friends.#(last=="Murphy").first"#, Some(r#""Dale""#)),
            (r#"friends.#(last="Murphy")#.first"#, Some(r#"["Dale","Jane"]"#)),
            ("friends.#(last==Murphy)#.first", Some(r#"["Dale","Jane"]"#)),
            (r#"friends.#( last == "Murphy" )#.first"#, Some(r#"["Dale","Jane"]"#)),
            (r#"friends.#(last!="Murphy").first"#, Some(r#""Roger""#)),
            (r#"friends.#(last<"D")#.first"#, Some(r#"["Roger"]"#)),
            (r#"friends.#(last>="Murphy")#.age"#, Some("[44,47]")),
            ("friends.#(age>45)#.last", Some(r#"["Craig","Murphy"]"#)),
            ("friends.#(age<=47)#.age", Some("[44,47]")),
            ("friends.#(age<44.5)#.age", Some("[44]")),
            (r#"friends.#(age=="68").first"#, Some(r#""Roger""#)),
            (r#"friends.#(first%"D*").last"#, Some(r#""Murphy""#)),
            (r#"friends.#(first!%"D*").last"#, Some(r#""Craig""#)),
            (r#"children.#(!%"*a*")"#, Some(r#""Alex""#)),
            (r#"children.#(%"*a*")#"#, Some(r#"["Sara","Jack"]"#)),
            (r#"children.#(>"B")#"#, Some(r#"["Sara","Jack"]"#)),
            (r#"friends.#(nets.#(=="fb"))#.first"#, Some(r#"["Dale","Roger"]"#)),
            (r#"friends.#(nets.#(=="ig")#|#==1)#.first"#, Some(r#"["Dale","Jane"]"#)),
            ("friends.#(nets.#>2)#.first", Some(r#"["Dale"]"#)),
            (r#"friends.#(name.first=="x")#"#, Some("[]")),
            (r#"friends.#(last=="nope")"#, None),
            (r#"friends.#(last=="nope").first"#, None),
            (r#"friends.#(last=="nope")#.first"#, Some("[]")),
            ("friends.#(nets)#.age", Some("[44,68,47]")),
            ("friends.#(none)#.age", Some("[]")),
            ("children.#()#", Some(r#"["Sara","Alex","Jack"]"#)),
            (r#"children.#(x=="Sara")#"#, Some("[]")),
            ("friends.#[age>45]#.first", Some(r#"["Roger","Jane"]"#)),
            ("name.#(first==Tom)", None),
            (r#"children.#(=="a)b")"#, None),
        ],
    );
    check(
        r#"["a\"b", 9007199254740993, 9007199254740992, 1.5, true, false, null, "~true", [1], "*"]"#,
        &[
            (r#"#(=="a\"b")"#, Some(r#""a\"b""#)),
            ("#(==9007199254740993)#", Some("[9007199254740993]")),
            // Beside text, a number is compared as text.
            ("#(>9007199254740992)#", Some(r#"["a\"b",9007199254740993,"~true"]"#)),
            ("#(<2)#", Some(r#"[1.5,"*"]"#)),
            ("#(==true)#", Some("[true]")),
            ("#(!=true)#|#(==false)", Some("false")),
            ("#(>=true)#.x", Some("[]")),
            (r#"#(=="~true")#"#, Some(r#"["~true"]"#)),
            (r#"#(%"\\*")#"#, Some(r#"["*"]"#)),
            ("#(==null)#", Some("[]")),
            ("#.0", Some("[1]")),
            ("#", Some("10")),
        ],
    );
}

#[test]
fn likeness() {
    check(
        r#"{"vals": [
            {"a": 1, "b": true}, {"a": 2, "b": true}, {"a": 3, "b": false}, {"a": 4, "b": "0"}, {"a": 5, "b": 0},
            {"a": 6, "b": "1"}, {"a": 7, "b": 1}, {"a": 8, "b": "True"}, {"a": 9, "b": false}, {"a": 10, "b": null},
            {"a": 11}, {"a": 12, "b": "yes"}, {"a": 13, "b": []}]}"#,
        &[
            ("vals.#(b==~true)#.a", Some("[1,2,6,7,8]")),
            ("vals.#(b==~false)#.a", Some("[3,4,5,9,10,11]")),
            ("vals.#(b==~null)#.a", Some("[10,11]")),
            ("vals.#(b==~*)#.a", Some("[1,2,3,4,5,6,7,8,9,10,12,13]")),
            ("vals.#(b!=~*)#.a", Some("[11]")),
            ("vals.#(b!=~true)#.a", Some("[3,4,5,9,10,11,12,13]")),
            ("vals.#(b=~true).a", Some("1")),
            // Text that is no number counts as 0 beside a number.
            ("vals.#(b==true)#.a", Some("[1,2,5]")),
            ("vals.#(b==false)#.a", Some("[3,5,9]")),
            ("vals.#(b<true)#.a", Some("[3,4,6,8,9]")),
        ],
    );
}

#[test]
fn dots_and_pipes() {
    check(
        PEOPLE,
        &[
            ("friends|0.first", Some(r#""Dale""#)),
            ("friends.0|first", Some(r#""Dale""#)),
            ("friends|0|first", Some(r#""Dale""#)),
            ("friends|#", Some("3")),
            (r#"friends.#(last="Murphy")#|first"#, None),
            (r#"friends.#(last="Murphy")#.0"#, Some("[]")),
            (r#"friends.#(last="Murphy")#|0.first"#, Some(r#""Dale""#)),
            (r#"friends.#(last="Murphy")#.#"#, Some("[]")),
            (r#"friends.#(last="Murphy")#|#"#, Some("2")),
            (r#"friends.#(last="Murphy")#.first|#"#, Some("2")),
            (r#"friends.#(last="Murphy")#.first|1"#, Some(r#""Jane""#)),
            (r#"friends.#(last="nope")#.first|#"#, Some("0")),
            ("friends.#.nets|1|0", Some(r#""fb""#)),
            ("friends.#.nets.@reverse|0.0", Some(r#""tw""#)),
            ("none|0", None),
            ("friends.#.#(x|y)", Some("[]")),
        ],
    );
}

#[test]
fn modifiers() {
    check(
        PEOPLE,
        &[
            ("children.@reverse", Some(r#"["Jack","Alex","Sara"]"#)),
            ("children.@reverse.0", Some(r#""Jack""#)),
            ("name.@reverse", Some(r#"{"last":"Anderson","first":"Tom"}"#)),
            ("age.@reverse", Some("37")),
            ("@this.age", Some("37")),
            ("@this|age", Some("37")),
            ("age.@this", Some("37")),
            ("@valid.age", Some("37")),
            ("name.@keys", Some(r#"["first","last"]"#)),
            ("name.@values", Some(r#"["Tom","Anderson"]"#)),
            ("children.@keys", Some("[null,null,null]")),
            ("children.@values.1", Some(r#""Alex""#)),
            ("age.@keys", Some("[null]")),
            ("age.@values", Some("[37]")),
            ("name.@tostr", Some(r#""{\"first\": \"Tom\", \"last\": \"Anderson\"}""#)),
            ("name.@ugly.@tostr", Some(r#""{\"first\":\"Tom\",\"last\":\"Anderson\"}""#)),
            ("@ugly.name.@tostr", Some(r#""{\"first\":\"Tom\",\"last\":\"Anderson\"}""#)),
            ("friends.#.first|@tostr", Some(r#""[\"Dale\",\"Roger\",\"Jane\"]""#)),
            (
                "friends.#.nets|@tostr",
                Some(r#""[[\"ig\", \"fb\", \"tw\"],[\"fb\", \"tw\"],[\"ig\", \"tw\"]]""#),
            ),
            ("name.@pretty.@tostr", Some(r#""{\n  \"first\": \"Tom\",\n  \"last\": \"Anderson\"\n}\n""#)),
            (
                r#"friends.1.@pretty:{"sortKeys":true,"indent":"\t","prefix":" "}.@tostr"#,
                Some(
                    r#"" {\n \t\"age\": 68,\n \t\"first\": \"Roger\",\n \t\"last\": \"Craig\",\n \t\"nets\": [\"fb\", \"tw\"]\n }\n""#,
                ),
            ),
            (r#"friends.1.nets.@pretty:{"width":5}|@tostr"#, Some(r#""[\n  \"fb\",\n  \"tw\"\n]\n""#)),
            (r#"friends.0.@pretty:{"sortKeys":true}.@keys"#, Some(r#"["age","first","last","nets"]"#)),
            ("name.first.@tostr", Some(r#""\"Tom\"""#)),
            ("name.first.@tostr.@fromstr", Some(r#""Tom""#)),
            ("name.@tostr.@fromstr.last", Some(r#""Anderson""#)),
            ("name.first.@fromstr", None),
            ("age.@fromstr", Some("37")),
            ("nothing.@fromstr", None),
            ("fraction.@tostr", Some(r#""1.0""#)),
            ("nothing.@tostr", Some(r#""null""#)),
            ("@dig:first", Some(r#"["Tom","Dale","Roger","Jane"]"#)),
            ("@dig:nets.0|1", Some(r#""fb""#)),
            ("@dig:#(age>45).first", Some(r#"["Roger"]"#)),
            ("@dig:none", Some("[]")),
            ("name.@unknown", None),
            // Modifiers of a missing value.
            ("none.@this", None),
            ("none.@keys", Some("[]")),
            ("none.@tostr", Some(r#""""#)),
            ("none.none.@keys", None),
            ("name.none.@keys", Some("[]")),
            ("age.none.@keys", None),
            ("none.@reverse", None),
        ],
    );
    check(
        r#"{"nested": [1, [2], [3, [4, [5]]], [], {"a": [6]}], "maps": [{"a": 1, "b": 2}, 7, {"c": 3, "a": 4}],
            "columns": {"id": [1, 2, 3], "on": [true, false], "x": 5}}"#,
        &[
            ("nested.@flatten", Some(r#"[1,2,3,[4,[5]],{"a":[6]}]"#)),
            (r#"nested.@flatten:{"deep":true}"#, Some(r#"[1,2,3,4,5,{"a":[6]}]"#)),
            (r#"nested.@flatten:{"deep":false}.3.0"#, Some("4")),
            (r#"nested|@flatten:{"deep":true}|#"#, Some("6")),
            ("columns.@flatten", Some(r#"{"id":[1,2,3],"on":[true,false],"x":5}"#)),
            ("maps.@join", Some(r#"{"a":4,"b":2,"c":3}"#)),
            (r#"maps.@join:{"preserve":true}"#, Some(r#"{"a":1,"b":2,"c":3}"#)),
            (r#"maps.@join:{"preserve":true}.a"#, Some("1")),
            ("columns.@join", Some(r#"{"id":[1,2,3],"on":[true,false],"x":5}"#)),
            ("columns.@group", Some(r#"[{"id":1,"on":true},{"id":2,"on":false},{"id":3}]"#)),
            ("maps.@group", None),
            ("columns.@group.#.id", Some("[1,2,3]")),
        ],
    );
}

#[test]
fn multipaths_and_literals() {
    check(
        PEOPLE,
        &[
            (
                r#"{name.first,age,"the_murphys":friends.#(last="Murphy")#.first}"#,
                Some(r#"{"first":"Tom","age":37,"the_murphys":["Dale","Jane"]}"#),
            ),
            ("[name.first,age,none]", Some(r#"["Tom",37]"#)),
            ("[name.first,nothing]", Some(r#"["Tom",null]"#)),
            ("{name.first,none}", Some(r#"{"first":"Tom"}"#)),
            ("{n:name.first}", Some(r#"{"n":"Tom"}"#)),
            ("{friends.0.first,friends.1.first}", Some(r#"{"first":"Dale"}"#)),
            (r"{fav\.movie}", Some(r#"{"fav\\.movie":"Deer Hunter"}"#)),
            ("{children.#,name.@keys}", Some(r#"{"_":3,"@keys":["first","last"]}"#)),
            ("{child*}", Some(r#"{"child*":["Sara","Alex","Jack"]}"#)),
            ("{}", Some("{}")),
            ("[]", Some("[]")),
            ("name.{last,first}", Some(r#"{"last":"Anderson","first":"Tom"}"#)),
            ("name.[last,first]", Some(r#"["Anderson","Tom"]"#)),
            ("name.[last,first].0", Some(r#""Anderson""#)),
            ("{name.first,age}.age", Some("37")),
            ("{name.first,age}|first", Some(r#""Tom""#)),
            ("friends.#.{first,age}|1", Some(r#"{"first":"Roger","age":68}"#)),
            ("friends.#.[first,age]|@flatten|#", Some("6")),
            ("friends.#(age>45)#.{first}", Some(r#"[{"first":"Roger"},{"first":"Jane"}]"#)),
            ("[children|0,friends.#.age|2]", Some(r#"["Sara",47]"#)),
            (r#"[name.@flatten:{"deep":true}.first]"#, Some(r#"["Tom"]"#)),
            (
                r#"{name.first,age,"company":!"Happysoft","employed":!true}"#,
                Some(r#"{"first":"Tom","age":37,"company":"Happysoft","employed":true}"#),
            ),
            (r#"!"static""#, Some(r#""static""#)),
            ("!5", Some("5")),
            ("!-1.5", Some("-1.5")),
            ("!9007199254740993", Some("9007199254740993")),
            ("!null", Some("null")),
            ("!false", Some("false")),
            (r#"!{"a":[1,2]}.a.1"#, Some("2")),
            (r#"!"a.b|c"|@tostr"#, Some(r#""\"a.b|c\"""#)),
            ("!true|@tostr", Some(r#""true""#)),
            (r#"name|{first,"x":![1,2]}"#, Some(r#"{"first":"Tom","x":[1,2]}"#)),
            (r#"none|{"x":!5}"#, Some(r#"{"x":5}"#)),
            ("!unknown", None),
            (r#"[!"a,b",!"]"]"#, Some(r#"["a,b","]"]"#)),
        ],
    );
}

#[test]
fn errors_carry_their_range() {
    for (path, range) in [
        ("..age", 0..2),
        ("a|..b", 2..4),
        ("a.#(b==1", 2..8),
        ("a.#[b==1", 2..8),
        ("a.#(b==1)x", 9..10),
        ("a.#(b!1)", 5..6),
        ("a.#(b==~yes)", 7..11),
        ("{a,b", 0..4),
        ("a.[b", 2..4),
        ("{a}b", 3..4),
        (r"a.b\", 3..4),
        (r"a.b*\", 4..5),
        (r#"a.!"b"|!"c"#, 7..10),
        ("a.@flatten:{x", 11..13),
        ("a.@flatten:{x}", 11..14),
        ("!5x", 1..3),
    ] {
        let error = Path::parse(path).expect_err(path);
        assert_eq!(error.range, range, "{path}");
    }
}

#[test]
fn constant_prefix_holds_leading_plain_names() {
    for (path, expected) in [
        ("facts.host.info.os", &["facts", "host", "info", "os"][..]),
        ("facts.*.x", &["facts"]),
        ("facts|host.#", &["facts", "host"]),
        ("facts.disks.#(size>1).name", &["facts", "disks"]),
        ("facts.disks.0.name", &["facts", "disks", "0", "name"]),
        (r"facts.a\.b.@keys", &["facts", "a.b"]),
        ("{facts.a,data.b}", &[]),
        ("@this.facts", &[]),
    ] {
        assert_eq!(Path::parse(path).unwrap().constant_prefix(), expected, "{path}");
    }
}

#[test]
fn closest_corrects_misspelt_names() {
    let root = value(
        r#"{"facts": {"host": {"info": {"platformFamily": "debian", "a.b": 1}}, "disks": [{"size": 1}]}, "data": {}}"#,
    );
    for (path, expected) in [
        ("facts.host.info.platformFamly", Some("facts.host.info.platformFamily")),
        ("facts.hots.info.platformFamly", Some("facts.host.info.platformFamily")),
        ("Facts.host.info.platformFamily", Some("facts.host.info.platformFamily")),
        ("facts.host|inof.platformFamily|@tostr", Some("facts.host|info.platformFamily|@tostr")),
        (r"facts.host.info.a\.c", Some(r"facts.host.info.a\.b")),
        ("facts.disk.#.size", Some("facts.disks.#.size")),
        ("facts.disk.0.size", Some("facts.disks.0.size")),
        ("facts.disks.0.sise", Some("facts.disks.0.size")),
        ("facts.hots.banana", Some("facts.host")),
        ("fatcs.host.banana.x", Some("facts.host")),
        ("facts.banana", None),
        ("facts.disks.7", None),
        ("facts.host.info.platformFamily", None),
        ("*.hots", None),
    ] {
        assert_eq!(Path::parse(path).unwrap().closest(&root).as_deref(), expected, "{path}");
    }
}

#[test]
fn escaped_names_find_their_key() {
    for (name, expected) in [
        ("plain_name-1", "plain_name-1"),
        ("a.b", r"a\.b"),
        ("/var/lib", "/var/lib"),
        ("*?|#@!\\", r"\*\?\|\#\@\!\\"),
        ("héllo", "héllo"),
        ("", ""),
    ] {
        assert_eq!(escape(name), expected, "{name}");
    }
}
