use std::cell::Cell;

use super::GlobKind::{Path, Text};
use super::wildcards::matched_beginnings;
use super::*;

#[track_caller]
fn glob(written: &str, kind: GlobKind) -> Glob {
    Glob::parse(written, kind).unwrap_or_else(|error| panic!("{written}: {error}"))
}

#[test]
fn texts_match() {
    for (written, text, expected) in [
        ("", "", true),
        ("", "a", false),
        ("a", "a", true),
        ("a", "A", false),
        ("a", "ab", false),
        ("*", "", true),
        ("*", "anything/at all", true),
        ("**", "anything/at all", true),
        ("feature-*", "feature-x/y", true),
        ("feature-*", "feature", false),
        ("*.swp", ".x.swp", true),
        ("*.swp", "x.swp.conf", false),
        ("a?c", "abc", true),
        ("a?c", "a/c", true),
        ("a?c", "ac", false),
        ("a?c", "abbc", false),
        ("größe-?", "größe-ß", true),
        ("*a*b*c*", "xxaxxbxxcxx", true),
        ("*a*b*c*", "xxaxxcxxbxx", false),
        ("*ab*ab", "abab", true),
        ("*ab*ab", "ab", false),
        ("*a?", "aab", true),
        // Backslashes.
        (r"\*", "*", true),
        (r"\*", "x", false),
        (r"\?\[\]\{\}\\", r"?[]{}\", true),
        (r"\a", "a", true),
        // Braces.
        ("{nginx,app}", "app", true),
        ("{nginx,app}", "apps", false),
        ("service#{nginx,app-*}", "service#app-1", true),
        ("{,a}b{c,d}", "bd", true),
        ("{,a}b{c,d}", "abc", true),
        ("{,a}b{c,d}", "aabc", false),
        ("a,b", "a,b", true),
        (r"\{a\,b\}", "{a,b}", true),
        (r"{a\,b,c}", "a,b", true),
        ("{[,}],x}", "}", true),
    ] {
        assert_eq!(glob(written, Text).matches(text), expected, "{written} {text}");
    }
}

#[test]
fn classes_match() {
    for (written, text, expected) in [
        ("[a-c]1", "b1", true),
        ("[a-c]1", "d1", false),
        ("[!a-c]1", "b1", false),
        ("[!a-c]1", "é1", true),
        ("[^a-c]1", "d1", true),
        ("[a^]", "^", true),
        ("[ä-ü]", "ö", true),
        ("[]x]", "]", true),
        ("[]x]", "x", true),
        ("[!]x]", "]", false),
        ("[!]x]", "a", true),
        ("[[]", "[", true),
        ("[a-]", "-", true),
        ("[-a]", "-", true),
        ("[a-c-e]", "-", true),
        ("[a-c-e]", "d", false),
        (r"[\]a]", "]", true),
        (r"[\\]", r"\", true),
        (r"[a\-c]", "b", false),
        (r"[a\-c]", "-", true),
        (r"[\a-\c]", "b", true),
        ("[*?{]", "{", true),
        ("[*?{]", "x", false),
        ("[::]", ":", true),
        ("[[:alpha:]]", "Z", true),
        ("[[:alpha:]]", "é", false),
        ("[[:alpha:]_-]", "_", true),
        ("[[:alpha:]_-]", "-", true),
        ("[![:digit:][:space:]]", "5", false),
        ("[![:digit:][:space:]]", "\t", false),
        ("[![:digit:][:space:]]", "a", true),
        ("[[:digit:]a-c]", "b", true),
        ("[[:alnum:]]", "0", true),
        ("[[:blank:]]", "\t", true),
        ("[[:cntrl:]]", "\u{7f}", true),
        ("[[:graph:]]", " ", false),
        ("[[:lower:]]", "A", false),
        ("[[:print:]]", " ", true),
        ("[[:punct:]]", "_", true),
        ("[[:space:]]", "\n", true),
        ("[[:upper:]]", "A", true),
        ("[[:xdigit:]]", "G", false),
    ] {
        assert_eq!(glob(written, Text).matches(text), expected, "{written} {text}");
    }
}

#[test]
fn paths_match_by_component() {
    for (written, path, expected) in [
        ("/etc/hosts", "/etc/hosts", true),
        ("/etc/*", "/etc/nginx/nginx.conf", false),
        ("/etc/*.conf", "/etc/a.conf", true),
        ("/srv/?", "/srv/a", true),
        ("/srv/?", "/srv//", false),
        ("/srv/[!a]x", "/srv//x", false),
        ("/srv/[+-9]x", "/srv//x", false),
        ("/etc/**", "/etc", true),
        ("/etc/**", "/etc/nginx/nginx.conf", true),
        ("/etc/**", "/etcetera", false),
        ("/**", "/", true),
        ("/**", "/a/b", true),
        ("/**/secret", "/a/b/secret", true),
        ("/**/secret", "/secret", true),
        ("/**/secret", "/a/secrets", false),
        ("**", "a/b", true),
        ("**/c", "c", true),
        ("**/c", "a/b/c", true),
        ("**/c", "a/bc", false),
        ("a/**/d", "a/d", true),
        ("a/**/d", "a/b/c/d", true),
        ("a/**/d", "a/b/c", false),
        ("a/**/**/d", "a/d", true),
        ("a/**/b/**/b", "a/b", false),
        ("a/**/b/**/b", "a/b/x/b", true),
        ("**/a*/**/*b", "x/ab", false),
        ("**/a*/**/*b", "x/a1/y/z/b", true),
        ("/{etc,usr}/**", "/usr/bin/x", true),
        ("{a/*,c}", "a/b", true),
        (r"a\/*", "a/b", true),
        (r"a/\*\*", "a/**", true),
        (r"a/\*\*", "a/b", false),
    ] {
        assert_eq!(glob(written, Path).matches(path), expected, "{written} {path}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_match_wildcards_alone() {
    for (written, expected) in
        [("a*", true), ("a?b", true), ("a??b", false), ("a[!x]b", true), ("a[x-\u{10ffff}]b", false)]
    {
        assert_eq!(glob(written, Path).matches(b"a\xffb"), expected, "{written}");
    }
    assert!(!glob("a\u{fffd}b", Text).matches(b"a\xffb"));
}

#[test]
fn beginnings_of_matching_texts_are_known() {
    for (written, kind, prefix, expected) in [
        ("abc", Text, "ab", true),
        ("abc", Text, "abcd", false),
        ("a*c", Text, "axx", true),
        ("a?c", Text, "ax", true),
        ("a?c", Text, "axx", false),
        ("/etc/**", Path, "/e", true),
        ("/etc/**", Path, "/etcet", false),
        ("/etc/**", Path, "/etc", true),
        ("/etc/**", Path, "/etc/x/", true),
        ("/etc/**", Path, "/srv/", false),
        ("/etc/*.conf", Path, "/etc/a", true),
        ("/etc/*.conf", Path, "/etc/a/", false),
        ("/etc/*/x", Path, "/etc/a/", true),
        ("/etc", Path, "/etc/", false),
        ("/**/x", Path, "/a/b", true),
        ("{/a/*,/b}", Path, "/b", true),
    ] {
        assert_eq!(glob(written, kind).may_match_prefix(prefix), expected, "{written} {prefix}");
    }
}

#[test]
fn literals_and_beginnings_at_the_root_are_known() {
    assert_eq!(glob(r"{a,b}\*", Text).literals(), Some(vec!["a*", "b*"]));
    assert_eq!(glob("/a/b", Path).literals(), Some(vec!["/a/b"]));
    assert_eq!(glob("{a,b*}", Text).literals(), None);
    for (written, expected) in [
        ("/", true),
        ("/a/*", true),
        ("**", true),
        ("**/a", true),
        ("{/a,/b/*}", true),
        ("{/a,b}", false),
        ("*/a", false),
        ("a/*", false),
        ("", false),
    ] {
        assert_eq!(glob(written, Path).begins_at_root(), expected, "{written}");
    }
}

#[test]
fn unknown_syntax_is_an_error() {
    const ORDINARY: &str = "put a backslash before a character that has no special meaning";
    const CLOSE: &str = r"close it, or write `\[` for the character itself";
    const CLASSES: &str = "the classes are `alnum`, `alpha`, `blank`, `cntrl`, `digit`, `graph`, `lower`, `print`, \
        `punct`, `space`, `upper` and `xdigit`";
    let (long, alternatives) = ("*".repeat(10_000), "{a,b}".repeat(7));
    for (written, kind, message, hint) in [
        ("[a", Text, "`[` is not closed", CLOSE),
        ("[!", Text, "`[` is not closed", CLOSE),
        ("[a-", Text, "`[` is not closed", CLOSE),
        (r"[a\", Text, "`[` is not closed", CLOSE),
        (r"[a\]", Text, "`[` is not closed", CLOSE),
        ("[[:alpha:]", Text, "`[` is not closed", CLOSE),
        ("[[:alpha]", Text, "`[` is not closed", CLOSE),
        ("x[", Path, "`[` is not closed", CLOSE),
        ("[]", Text, "`[]` matches nothing", ORDINARY),
        ("[!]", Text, "`[]` matches nothing", ORDINARY),
        ("[b-a]", Text, "a range in `[…]` ends before it begins", ORDINARY),
        (
            "[a-[:digit:]]",
            Text,
            "a range in `[…]` begins or ends with a class",
            r"write `\-` for the character itself",
        ),
        (
            "[[:digit:]-z]",
            Text,
            "a range in `[…]` begins or ends with a class",
            r"write `\-` for the character itself",
        ),
        ("[[:alhpa:]]", Text, "unknown class `[:alhpa:]`", "did you mean `[:alpha:]`?"),
        ("[[:word\n:]]", Text, r"unknown class `[:word\n:]`", CLASSES),
        ("[[::]]", Text, "unknown class `[::]`", CLASSES),
        ("[:digit:]", Text, "a class such as `[:digit:]` needs brackets around it", "write `[[:digit:]]`"),
        ("[[=a=]]", Text, "`[.` and `[=` are not supported in `[…]`", ORDINARY),
        ("[[.-.]]", Text, "`[.` and `[=` are not supported in `[…]`", ORDINARY),
        ("[+-[.]", Text, "`[.` and `[=` are not supported in `[…]`", ORDINARY),
        (
            "a[b/c]",
            Path,
            "`[…]` can't match `/` in a path",
            "write `*` or `?`, which do not match `/` either",
        ),
        (
            "a**",
            Path,
            "`**` is only allowed as a whole component of a path",
            "write `**/` before the name, or a single `*` in it",
        ),
        (
            "/a/***",
            Path,
            "`**` is only allowed as a whole component of a path",
            "write `**/` before the name, or a single `*` in it",
        ),
        ("{a", Text, "`{` and `}` do not match", ORDINARY),
        ("a}", Text, "`{` and `}` do not match", ORDINARY),
        ("{a,{b,c}}", Text, "braces within braces are not supported", ORDINARY),
        ("a\\", Text, "a backslash at the end has no meaning", ORDINARY),
        ("{a\\", Path, "a backslash at the end has no meaning", ORDINARY),
        (&*long, Path, "a glob has at most 1024 bytes", "write several globs"),
        (&*alternatives, Text, "a glob has at most 64 alternatives", "write several globs"),
    ] {
        let error = Glob::parse(written, kind).expect_err(written);
        assert_eq!((&*error.to_string(), &*error.hint()), (message, hint), "{written}");
    }
}

/// Every element of a pattern meets every item at most once, whatever matches.
#[test]
fn hostile_patterns_take_few_steps() {
    for (pattern, items) in [
        ("*a".repeat(50), "a".repeat(200)),
        ("*a".repeat(50) + "b", "a".repeat(200)),
        ("*".repeat(10_000), "a".repeat(200)),
        ("*?".repeat(50), "a".repeat(49)),
    ] {
        let steps = Cell::new(0);
        let fits = |element: &u8, item| {
            steps.set(steps.get() + 1);
            *element == b'?' || *element == item
        };
        let matched = matched_beginnings(pattern.as_bytes(), items.bytes(), |element| *element == b'*', fits);
        assert_eq!(matched.len(), pattern.len() + 1);
        assert!(steps.get() <= pattern.len() * items.len(), "{} steps", steps.get());
    }
}

#[test]
fn hostile_globs_end() {
    let deep = vec!["a"; 200].join("/");
    for times in [7, 50] {
        assert!(!glob(&("**/a/".repeat(times) + "x"), Path).matches(&deep));
        assert!(glob(&("**/a/".repeat(times) + "a"), Path).matches(&deep));
        assert!(glob(&("**/a/".repeat(times) + "x"), Path).may_match_prefix(&deep));
    }
    let stars = "*a".repeat(500);
    assert!(!glob(&stars, Text).matches("b".repeat(4000)));
    assert!(!glob(&stars, Path).matches("a".repeat(4000) + "b"));
    let many: Wildcards = std::iter::repeat_n(Wildcard::AnyCharacters, 10_000).collect();
    assert!(many.matches("a".repeat(4000)));
    assert_eq!(many.steps("a".repeat(4000)), 8000);
}
