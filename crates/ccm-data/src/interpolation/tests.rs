use proptest::prelude::*;

use super::*;

/// Formats occurrences as `kind text`.
fn occurrences(text: &str, for_shell: bool) -> Vec<String> {
    let Scanned::Expressions(occurrences) = scan(text, for_shell) else { return Vec::new() };
    occurrences
        .iter()
        .map(|occurrence| format!("{:?} {}", occurrence.kind, &text[occurrence.range.clone()]))
        .collect()
}

fn unescaped(text: &str, for_shell: bool) -> Option<String> {
    match scan(text, for_shell) {
        Scanned::Unescaped(unescaped) => Some(unescaped),
        _ => None,
    }
}

#[test]
fn texts_without_expressions() {
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
fn open_expressions_are_reported_in_text_order() {
    assert_eq!(occurrences("${A:-${ b } c", true), ["OpenDollar ${", "Expression ${ b }"]);
    assert_eq!(occurrences("${A:-${B:-${ c", true), ["OpenDollar ${", "OpenDollar ${", "OpenDollar ${"]);
}

#[test]
fn expressions_are_found_in_any_text() {
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
        (r#"{{ {"a": {"b": 1}} }} x"#, vec![r#"Expression {{ {"a": {"b": 1}} }}"#]),
        (r#"${ {"a": 1}["a"] } }"#, vec![r#"Expression ${ {"a": 1}["a"] }"#]),
        ("{{ '}}' }} x", vec!["Expression {{ '}}' }}"]),
        (r#"{{ "\"}}" }} x"#, vec![r#"Expression {{ "\"}}" }}"#]),
        (r"{{ `\` }} x", vec![r"Expression {{ `\` }}"]),
        ("{{ a } }} x", vec!["Expression {{ a } }}"]),
        ("{{{a}}}", vec!["Expression {{{a}}}"]),
        ("{{ it's }} {{ b }}", vec!["Expression {{ it's }}"]),
        ("${ it's } x", vec!["Expression ${ it's }"]),
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
            assert_eq!(occurrences(text, for_shell), expected, "{text}");
        }
    }
}

#[test]
fn names_of_an_item_are_expressions_where_no_shell_has_them() {
    let is_expression = |split: SplitText| match split {
        SplitText::Parts(parts) => lone(&parts).is_some(),
        _ => false,
    };
    for text in ["${Item}", "${Index}", "${#Item}", "${Item:-x}", "${Item[0]}"] {
        assert!(is_expression(split(text, false)), "{text}");
        assert!(is_expression(split_of_item(text, false)), "{text}");
        assert!(!is_expression(split(text, true)), "{text}");
        assert!(is_expression(split_of_item(text, true)), "{text}");
    }
    // A shell has no such parameters.
    for text in ["${ Item }", "${Item.name}", "{{ Index }}"] {
        assert!(is_expression(split(text, true)), "{text}");
    }
    assert_eq!(split_of_item("${HOME} ${NAME:-${Items}}", true), SplitText::Literal);
}

#[test]
fn shell_text_keeps_parameter_expansions() {
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
fn other_dollar_braces_are_expressions_in_shell_text() {
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
        assert_eq!(occurrences(text, true), expected, "{text}");
    }
}

#[test]
fn parameter_expansions_outside_shell_text_are_reported() {
    for (text, expected) in [
        ("a ${HOME} b", vec!["ShellParameter ${HOME}"]),
        ("${HOME}${PATH}", vec!["ShellParameter ${HOME}", "ShellParameter ${PATH}"]),
        ("${A:-it's}", vec!["ShellParameter ${A:-it's}"]),
        ("${A:-${B}} x", vec!["ShellParameter ${A:-${B}}"]),
        ("${A:-${B} x", vec!["OpenDollar ${"]),
        ("${#NAME}", vec!["ShellParameter ${#NAME}"]),
        ("${NAME/a/b}", vec!["Expression ${NAME/a/b}"]),
    ] {
        assert_eq!(occurrences(text, false), expected, "{text}");
    }
}

#[test]
fn a_backslash_escapes() {
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
    assert_eq!(occurrences(r"\${a} {{ b }}", false), ["Expression {{ b }}"]);
}

#[test]
fn occurrences_are_limited() {
    assert_eq!(occurrences(&"{{a}}".repeat(1000), false).len(), MAX_OCCURRENCES);
    assert_eq!(occurrences(&"${a:-".repeat(100_000), true).len(), MAX_OCCURRENCES);
}

/// Formats the parts of a text: literals in quotes, expressions as `=` and the inner text.
fn parts(text: &str, for_shell: bool) -> Vec<String> {
    match split(text, for_shell) {
        SplitText::Literal => vec!["literal".to_owned()],
        SplitText::Parts(parts) => parts
            .iter()
            .map(|part| match part {
                TextPart::Literal(literal) => format!("{literal:?}"),
                TextPart::Expression { inner, .. } => format!("={}", &text[inner.clone()]),
            })
            .collect(),
        SplitText::Errors(occurrences) => occurrences
            .iter()
            .map(|occurrence| format!("{:?} {}", occurrence.kind, &text[occurrence.range.clone()]))
            .collect(),
    }
}

#[test]
fn a_text_is_split_into_parts() {
    for (text, expected) in [
        ("plain", vec!["literal"]),
        ("$NAME", vec!["literal"]),
        ("{{ a }}", vec!["= a "]),
        ("${a.b}", vec!["=a.b"]),
        ("{{}}", vec!["="]),
        ("${}", vec!["="]),
        ("a {{ b }} c", vec!["\"a \"", "= b ", "\" c\""]),
        ("{{ a }}{{ b }}", vec!["= a ", "= b "]),
        (" {{ a }}", vec!["\" \"", "= a "]),
        ("{{ a }}\n", vec!["= a ", "\"\\n\""]),
        ("{{ '}}' }}", vec!["= '}}' "]),
        ("$${{ a }}", vec!["\"$$\"", "= a "]),
        ("ä {{ ö }} ü", vec!["\"ä \"", "= ö ", "\" ü\""]),
        ("a {{ b", vec!["OpenBraces {{"]),
        ("${ b", vec!["OpenDollar ${"]),
        ("{{ it's }} {{ b }}", vec!["OpenQuote {{ it's }}"]),
        (r#"${ "a }"#, vec![r#"OpenQuote ${ "a }"#]),
        ("{{ a }} {{ b", vec!["OpenBraces {{"]),
    ] {
        for for_shell in [false, true] {
            assert_eq!(parts(text, for_shell), expected, "{text}");
        }
    }
}

#[test]
fn shell_text_keeps_escapes_and_expansions() {
    for (text, for_shell, expected) in [
        (r"\${a} {{ b }} \${c}", false, vec![r#""${a} ""#, "= b ", r#"" ${c}""#]),
        (r"\${a} {{ b }} \${c}", true, vec![r#""\\${a} ""#, "= b ", r#"" \\${c}""#]),
        (r"\${a}", false, vec![r#""${a}""#]),
        (r"\${a}", true, vec!["literal"]),
        ("${HOME}/{{ b }}", true, vec![r#""${HOME}/""#, "= b "]),
        ("${A:-{{ x }}}", true, vec![r#""${A:-""#, "= x ", r#""}""#]),
        ("${A:-${Facts.x}}", true, vec![r#""${A:-""#, "=Facts.x", r#""}""#]),
        ("${HOME}", true, vec!["literal"]),
        ("${HOME} {{ b }}", false, vec!["ShellParameter ${HOME}"]),
        ("${NAME/a/b} {{ b }}", true, vec!["NotPosix ${NAME/a/b}"]),
        ("${A:-${B} {{ b }}", true, vec!["OpenDollar ${"]),
    ] {
        assert_eq!(parts(text, for_shell), expected, "{text}");
    }
}

#[test]
fn lone_requires_a_single_expression() {
    for (text, alone) in [
        ("{{ a }}", Some(" a ")),
        ("${a.b}", Some("a.b")),
        (" {{ a }}", None),
        ("{{ a }} ", None),
        ("{{ a }}{{ b }}", None),
        (r"\${a}", None),
    ] {
        let SplitText::Parts(parts) = split(text, false) else { panic!("{text} has parts") };
        assert_eq!(lone(&parts).map(|inner| &text[inner]), alone, "{text}");
    }
}

#[test]
fn long_texts_are_split_completely() {
    let text = r"{{a}}\${".repeat(100_000);
    let SplitText::Parts(parts) = split(&text, false) else { panic!("no errors") };
    assert_eq!(parts.len(), 200_000);
}

proptest! {
    #[test]
    fn any_text_is_scanned(text in r#"([${}'"\\ a:#-]|\$\{|\{\{|\}\}|NAME|Facts|ä)*"#, for_shell: bool) {
        match scan(&text, for_shell) {
            Scanned::Literal => {}
            Scanned::Unescaped(unescaped) => prop_assert!(!for_shell && unescaped.len() < text.len()),
            Scanned::Expressions(occurrences) => {
                for occurrence in occurrences {
                    let found = text.get(occurrence.range).expect("a range of characters");
                    let begins = found.starts_with("${") || found.starts_with("{{");
                    prop_assert!(begins, "{found}");
                }
            }
        }
    }

    #[test]
    fn parts_have_no_gaps(text in r#"([${}'"\\ a:#-]|\$\{|\{\{|\}\}|NAME|Facts|ä|\{\{ a \}\})*"#, for_shell: bool) {
        let scanned = scan(&text, for_shell);
        match split(&text, for_shell) {
            SplitText::Literal => prop_assert_eq!(scanned, Scanned::Literal),
            SplitText::Errors(occurrences) => {
                prop_assert!(occurrences.iter().all(|occurrence| text.get(occurrence.range.clone()).is_some()));
                prop_assert!(!occurrences.is_empty() && matches!(scanned, Scanned::Expressions(_)));
            }
            SplitText::Parts(parts) => {
                let unescaped = |text: &str| if for_shell { text.to_owned() } else { text.replace(r"\${", "${") };
                let whole: String = parts
                    .iter()
                    .map(|part| match part {
                        TextPart::Literal(literal) => literal.clone(),
                        TextPart::Expression { whole, .. } => unescaped(&text[whole.clone()]),
                    })
                    .collect();
                prop_assert_eq!(whole, unescaped(&text));
            }
        }
    }
}
