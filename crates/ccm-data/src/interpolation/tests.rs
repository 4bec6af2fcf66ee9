use proptest::prelude::*;

use super::*;

/// What was found, each as `kind text`.
fn places(text: &str, for_shell: bool) -> Vec<String> {
    let Scanned::Expressions(places) = scan(text, for_shell) else { return Vec::new() };
    places.iter().map(|place| format!("{:?} {}", place.what, &text[place.range.clone()])).collect()
}

fn unescaped(text: &str, for_shell: bool) -> Option<String> {
    match scan(text, for_shell) {
        Scanned::Unescaped(unescaped) => Some(unescaped),
        _ => None,
    }
}

#[test]
fn what_is_never_an_expression() {
    for text in [
        "",
        "plain",
        "{",
        "{ a }",
        "a } b }} c",
        "$NAME $(date) $((1 + 2)) $$ $",
        "$${NAME}",
        "$$",
        "{a,b}{c,d}",
        "äöü {x} €",
    ] {
        for for_shell in [false, true] {
            assert_eq!(scan(text, for_shell), Scanned::Literal, "{text}");
        }
    }
}

#[test]
fn expressions_are_found_whoever_reads_the_text() {
    for (text, expected) in [
        ("{{ Facts.a }}", vec!["Expression {{ Facts.a }}"]),
        ("{{x}}", vec!["Expression {{x}}"]),
        ("{{}}", vec!["Expression {{}}"]),
        ("a {{ b }} c {{ d }} e", vec!["Expression {{ b }}", "Expression {{ d }}"]),
        ("${ Facts.a }", vec!["Expression ${ Facts.a }"]),
        ("${ HOME }", vec!["Expression ${ HOME }"]),
        ("${HOME }", vec!["Expression ${HOME }"]),
        ("${}", vec!["Expression ${}"]),
        ("${Facts.a}", vec!["Expression ${Facts.a}"]),
        ("${Facts}", vec!["Expression ${Facts}"]),
        ("${#Data}", vec!["Expression ${#Data}"]),
        ("${Environ-x}", vec!["Expression ${Environ-x}"]),
        ("${Captures:-x}", vec!["Expression ${Captures:-x}"]),
        ("${lookup('a')}", vec!["Expression ${lookup('a')}"]),
        ("${a.b}", vec!["Expression ${a.b}"]),
        ("${1 + 2}", vec!["Expression ${1 + 2}"]),
        ("$$${ a }", vec!["Expression ${ a }"]),
        ("$${{ a }}", vec!["Expression {{ a }}"]),
        ("${{ a }}", vec!["Expression ${{ a }}"]),
        // Braces and quotes inside.
        (r#"{{ {"a": {"b": 1}} }} x"#, vec![r#"Expression {{ {"a": {"b": 1}} }}"#]),
        (r#"${ {"a": 1}["a"] } }"#, vec![r#"Expression ${ {"a": 1}["a"] }"#]),
        ("{{ '}}' }} x", vec!["Expression {{ '}}' }}"]),
        (r#"{{ "\"}}" }} x"#, vec![r#"Expression {{ "\"}}" }}"#]),
        (r"{{ `\` }} x", vec![r"Expression {{ `\` }}"]),
        ("{{ a } }} x", vec!["Expression {{ a } }}"]),
        ("{{{a}}}", vec!["Expression {{{a}}}"]),
        // A quote that is not closed does not hide the end.
        ("{{ it's }} {{ b }}", vec!["Expression {{ it's }}"]),
        ("${ it's } x", vec!["Expression ${ it's }"]),
        // Not closed at all.
        ("a {{ b", vec!["OpenBraces {{"]),
        ("a {{ b } ${ c }", vec!["OpenBraces {{"]),
        ("a ${ b", vec!["OpenDollar ${"]),
        ("a ${HOME", vec!["OpenDollar ${"]),
        ("${", vec!["OpenDollar ${"]),
        ("{{", vec!["OpenBraces {{"]),
        ("{{ a }} ${ b", vec!["Expression {{ a }}", "OpenDollar ${"]),
        ("ä {{ ö }} ü", vec!["Expression {{ ö }}"]),
    ] {
        for for_shell in [false, true] {
            assert_eq!(places(text, for_shell), expected, "{text}");
        }
    }
}

#[test]
fn a_shell_keeps_its_parameter_expansions() {
    for text in [
        "${HOME}",
        "${_a1}",
        "${NAME:-x}",
        "${NAME-x}",
        "${NAME:=x}",
        "${NAME=x}",
        "${NAME:?gone}",
        "${NAME?}",
        "${NAME:+x}",
        "${NAME+x}",
        "${#NAME}",
        "${1}",
        "${10}",
        "${@}",
        "${*}",
        "${#}",
        "${##}",
        "${#-}",
        "${?}",
        "${$}",
        "${!}",
        "${-}",
        "${@:-x}",
        "${NAME%.txt}",
        "${NAME%%pattern}",
        "${NAME#*/}",
        "${NAME##*/}",
        "${A:-${B:-${C}}}",
        "${A:-\"${B%%.*}\"}",
        "${A:-$(date)}",
        "${facts}",
        "${Facts_dir}",
        r"\${Facts.a}",
        r"a \${",
    ] {
        assert_eq!(scan(text, true), Scanned::Literal, "{text}");
        assert_ne!(scan(text, false), Scanned::Literal, "{text}");
    }
}

#[test]
fn a_shell_does_not_keep_the_rest() {
    for (text, expected) in [
        ("${A:-${Facts.x}}", vec!["Expression ${Facts.x}"]),
        ("${A:-{{ x }}}", vec!["Expression {{ x }}"]),
        ("${A:-{{ x }}} ${B}", vec!["Expression {{ x }}"]),
        ("${A:-x", vec!["OpenDollar ${"]),
        ("${A:-${B}", vec!["OpenDollar ${"]),
        ("${A:-${ b", vec!["OpenDollar ${", "OpenDollar ${"]),
        ("${NAME/a/b}", vec!["NotPosix ${NAME/a/b}"]),
        ("${NAME^^}", vec!["NotPosix ${NAME^^}"]),
        ("${NAME:0:1}", vec!["NotPosix ${NAME:0:1}"]),
        ("${NAME[0]}", vec!["NotPosix ${NAME[0]}"]),
        ("${!NAME@}", vec!["NotPosix ${!NAME@}"]),
        ("${Data[0]}", vec!["Expression ${Data[0]}"]),
        ("awk '{{ print }}'", vec!["Expression {{ print }}"]),
    ] {
        assert_eq!(places(text, true), expected, "{text}");
    }
}

#[test]
fn a_shell_parameter_without_a_shell_is_named_as_one() {
    for (text, expected) in [
        ("a ${HOME} b", vec!["ShellParameter ${HOME}"]),
        ("${HOME}${PATH}", vec!["ShellParameter ${HOME}", "ShellParameter ${PATH}"]),
        ("${A:-it's}", vec!["ShellParameter ${A:-it's}"]),
        ("${A:-${B}} x", vec!["ShellParameter ${A:-${B}}"]),
        ("${A:-${B} x", vec!["OpenDollar ${"]),
        ("${#NAME}", vec!["ShellParameter ${#NAME}"]),
        ("${NAME/a/b}", vec!["Expression ${NAME/a/b}"]),
    ] {
        assert_eq!(places(text, false), expected, "{text}");
    }
}

#[test]
fn a_backslash_makes_it_literal() {
    for (text, literal) in [
        (r"\${HOME}", "${HOME}"),
        (r"a \${ b \${ c", "a ${ b ${ c"),
        (r"\\${HOME}", r"\${HOME}"),
        (r"\${Facts.a}", "${Facts.a}"),
        (r"ä\${ö}ü", "ä${ö}ü"),
    ] {
        assert_eq!(unescaped(text, false).as_deref(), Some(literal), "{text}");
        assert_eq!(scan(text, true), Scanned::Literal, "{text}");
    }
    assert_eq!(places(r"\${a} {{ b }}", false), ["Expression {{ b }}"]);
}

#[test]
fn a_text_full_of_expressions_is_named_a_few_times() {
    assert_eq!(places(&"{{a}}".repeat(1000), false).len(), MOST_PLACES);
    assert_eq!(places(&"${a:-".repeat(100_000), true).len(), MOST_PLACES);
}

proptest! {
    #[test]
    fn any_text_is_survived(text in r#"([${}'"\\ a:#-]|\$\{|\{\{|\}\}|NAME|Facts|ä)*"#, for_shell: bool) {
        match scan(&text, for_shell) {
            Scanned::Literal => {}
            Scanned::Unescaped(unescaped) => prop_assert!(!for_shell && unescaped.len() < text.len()),
            Scanned::Expressions(places) => {
                for place in places {
                    let found = text.get(place.range).expect("a range of characters");
                    let begins = found.starts_with("${") || found.starts_with("{{");
                    prop_assert!(begins, "{found}");
                }
            }
        }
    }
}
