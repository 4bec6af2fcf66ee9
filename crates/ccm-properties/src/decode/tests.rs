use std::time::Duration;

use ccm_model::{NodeKey, NodeValue, SourceId, Span};

use super::*;
use crate::{
    Integer, Located, NamedValues, OneOrMany, PositiveDuration, Text, TextSyntax, properties, section, words,
};

properties! {
    #[derive(Debug, Default, PartialEq)]
    struct Sample {
        /// Permissions,
        /// in octal digits.
        mode: Text { default: Some("`0644`"), sensitive: true },
        force: bool,
        returns: Vec<i64>,
        level: Level,
        pause: Duration,
        guards: OneOrMany<Text> { aliases: &["guard"], syntax: TextSyntax::Argv },
        variables: NamedValues<Text>,
        inner: Inner,
        any: serde_json::Value,
    }
}

properties! {
    #[derive(Debug, Default, PartialEq)]
    struct Inner {
        /// Number of things.
        count: i64 { required: true, since: "0.2.0" },
        on: bool,
    }
}

#[derive(Debug, PartialEq)]
enum Level {
    OnFailure,
    Never,
}

impl TextValue for Level {
    const KIND: PropertyKind = PropertyKind::Words(&["on_failure", "never"]);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "on_failure" => Ok(Self::OnFailure),
            "never" => Ok(Self::Never),
            _ => Err(ValueError::not_one_of(text, &["on_failure", "never"])),
        }
    }
}

fn node(value: NodeValue, at: usize) -> Node {
    Node { value, span: Span::new(SourceId(0), at, at + 1) }
}

fn plain(text: &str, at: usize) -> Node {
    node(NodeValue::Scalar(Scalar { text: text.into(), style: ScalarStyle::Plain }), at)
}

fn list(elements: Vec<Node>, at: usize) -> Node {
    node(NodeValue::List(elements), at)
}

/// Returns a map. The key of a value at offset N is at N + 100.
fn map(entries: Vec<(&str, Node)>) -> NodeMap {
    let entry = |(key, value): (&str, Node)| NodeEntry {
        key: NodeKey { text: key.into(), span: Span::new(SourceId(0), value.span.start as usize + 100, 0) },
        value,
    };
    NodeMap::new(entries.into_iter().map(entry).collect())
}

/// Decodes properties; formats each error as `OFFSET kind property | code in a hint`; `…` is a hint without code.
fn decoded(entries: Vec<(&str, Node)>) -> (Sample, Vec<String>) {
    let (sample, errors) = decode(&Properties::new(map(entries), None));
    let shown = |error: &Diagnostic| {
        let start = error.span().map(|span| span.start).unwrap_or_default();
        let property = error.property.as_deref().unwrap_or_default();
        let code = |hint: &String| match hint.split('`').skip(1).step_by(2).collect::<Vec<_>>().join(", ") {
            code if code.is_empty() => " | …".to_owned(),
            code => format!(" | {code}"),
        };
        format!("{start} {} {property}{}", error.kind, error.hints.iter().map(code).collect::<String>())
    };
    (sample, errors.iter().map(shown).collect())
}

#[test]
fn values_are_taken_as_they_were_written() {
    let (sample, errors) = decoded(vec![
        ("mode", plain("0644", 1)),
        ("force", plain("true", 2)),
        ("returns", list(vec![plain("0", 4), plain("3", 5)], 3)),
        ("level", plain("on_failure", 6)),
        ("pause", plain("1m30s", 7)),
        ("guards", plain("5.10", 8)),
        ("variables", node(NodeValue::Map(map(vec![("B", plain("1", 10)), ("A", plain("x", 11))])), 9)),
        ("inner", node(NodeValue::Map(map(vec![("count", plain("7", 13)), ("on", plain("~", 14))])), 12)),
        ("any", list(vec![plain("1.5", 16), plain("x", 17)], 15)),
    ]);
    assert_eq!(errors, [""; 0]);
    let named = |name: &str, value: &str| (name.to_owned(), Text::from(value));
    let expected = Sample {
        mode: Some("0644".into()),
        force: Some(true),
        returns: Some(vec![0, 3]),
        level: Some(Level::OnFailure),
        pause: Some(Duration::from_secs(90)),
        guards: Some(OneOrMany(vec!["5.10".into()])),
        variables: Some(NamedValues(vec![named("B", "1"), named("A", "x")])),
        inner: Some(Inner { count: Some(7), on: None }),
        any: Some(serde_json::json!([1.5, "x"])),
    };
    assert_eq!(sample, expected);
    assert_eq!(decoded(vec![("mode", plain("~", 1))]), (Sample::default(), Vec::new()));
}

#[test]
fn every_error_is_reported_at_its_location_and_the_rest_is_decoded() {
    let inner = map(vec![("cuont", plain("7", 31)), ("count", plain("x", 32)), ("on", plain("[", 33))]);
    let (sample, errors) = decoded(vec![
        ("mod", plain("0644", 1)),
        ("force", plain("yes", 2)),
        ("returns", list(vec![plain("0", 4), plain("x", 5), plain("y", 6)], 3)),
        ("level", plain("on_failur", 7)),
        ("pause", plain("5 parsecs", 8)),
        ("guards", list(vec![plain("x", 10), list(Vec::new(), 11), plain("~", 12)], 9)),
        ("variables", node(NodeValue::Map(map(vec![("A", plain("", 21)), ("B", list(Vec::new(), 22))])), 20)),
        ("inner", node(NodeValue::Map(inner), 30)),
        ("proivder", plain("x", 40)),
        ("banana", plain("x", 41)),
        ("mode", plain("0600", 42)),
    ]);
    assert_eq!(
        errors,
        [
            "101 unknown-property mod | mode",
            "2 wrong-type force | true, yes",
            "5 wrong-type returns",
            "6 wrong-type returns",
            "7 invalid-value level | on_failure",
            "8 invalid-value pause | 30s, 5m, 1h30m, 1.5h",
            "11 wrong-type guards",
            "12 wrong-type guards",
            "21 wrong-type variables",
            "22 wrong-type variables",
            "131 unknown-property inner | count",
            "32 wrong-type inner",
            "33 wrong-type inner",
            "140 unknown-property proivder | provider",
            "141 unknown-property banana | …",
        ]
    );
    assert_eq!(sample, Sample { mode: Some("0600".into()), ..Sample::default() });
    let (_, unknown) = decode::<Sample>(&Properties::new(map(vec![("banana", plain("x", 1))]), None));
    assert_eq!(
        unknown[0].hints,
        [
            "use one of: mode, force, returns, level, pause, guards, variables, inner, any, alias, ensure, provider, \
          require, subscribe, autorequire, control, health_checks"
        ]
    );
}

#[test]
fn hints_name_the_usual_error() {
    let quoted = |text: &str| Node::text(text, Span::new(SourceId(0), 1, 2));
    let errors = decoded(vec![
        ("returns", plain("3", 1)),
        ("force", quoted("true")),
        ("inner", node(NodeValue::Map(map(vec![("count", quoted("7")), ("on", plain("off", 1))])), 1)),
    ]);
    assert_eq!(
        errors.1,
        [
            "1 wrong-type returns | [3]",
            "1 wrong-type force | …",
            "1 wrong-type inner | …",
            "1 wrong-type inner | false, off",
        ]
    );
}

#[test]
fn a_table_lists_every_declaration() {
    let [mode, .., inner, _] = Sample::PROPERTIES else { panic!("properties") };
    assert_eq!((mode.name, mode.sensitive, mode.required), ("mode", true, false));
    assert_eq!(mode.documentation_without_default(), "Permissions,\nin octal digits.");
    assert_eq!(mode.full_documentation(), "Permissions,\nin octal digits. Default: `0644`.");
    assert_eq!(inner.syntax, TextSyntax::Record(Inner::PROPERTIES));
    let aliases: Vec<_> = crate::aliases(Sample::PROPERTIES).collect();
    assert_eq!(aliases, [("guard", "guards")]);
    let kinds: Vec<String> = Sample::PROPERTIES.iter().map(|property| property.kind.to_string()).collect();
    assert_eq!(
        kinds,
        [
            "text",
            "boolean",
            "list of numbers",
            "`on_failure`, `never`",
            "text or `0`",
            "text or list of text",
            "map",
            "map",
            "any value",
        ]
    );
}

#[test]
fn the_schema_comes_from_the_table() {
    let schemas = crate::schemas(Sample::PROPERTIES);
    let inner = serde_json::json!({
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": {
            "count": { "type": "integer", "description": "Number of things. Since version 0.2.0." },
            "on": { "type": ["boolean", "null"], "description": "" },
        },
        "required": ["count"],
        "description": "",
    });
    assert_eq!(schemas["inner"], inner);
    assert_eq!(schemas["level"]["enum"], serde_json::json!(["on_failure", "never", null]));
    assert_eq!(schemas["guards"]["anyOf"][0]["anyOf"][1]["type"], "array");
}

words! {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    enum Tone {
        #[default]
        Kind = "kind",
        Rude = "rude",
    }
}

section! {
    #[derive(Debug, Default, PartialEq)]
    struct Greeter = "a greeter" {
        /// Tone of the greeting.
        tone: Tone { default: Some("`kind`") },
        pause: PositiveDuration as Option<Duration>,
        names: Vec<Located<String>> { name: "greet", noun: Some("a list of names") },
        times: Integer<1, 3> as i64 { required: true },
    }
}

/// Decodes a section; formats each error as `OFFSET message | hint`.
fn greeter(node: &Node) -> (Option<Greeter>, Vec<String>) {
    let mut errors = Vec::new();
    let greeter = Greeter::decode(node, &mut errors);
    let shown = |error: &Diagnostic| {
        let start = error.span().map(|span| span.start).unwrap_or_default();
        let parts: Vec<&str> =
            std::iter::once(&error.message).chain(&error.hints).map(String::as_str).collect();
        format!("{start} {}", parts.join(" | "))
    };
    (greeter, errors.iter().map(shown).collect())
}

#[test]
fn a_section_keeps_what_is_right_beside_every_error() {
    let section = |entries| node(NodeValue::Map(map(entries)), 1);
    let (found, errors) = greeter(&section(vec![
        ("tone", plain("rude", 2)),
        ("pause", plain("2s", 3)),
        ("greet", list(vec![plain("Ada", 5)], 4)),
        ("times", plain("~", 6)),
    ]));
    let names = vec![Located { value: "Ada".to_owned(), span: Span::new(SourceId(0), 5, 6) }];
    let pause = Some(Duration::from_secs(2));
    assert_eq!((found, errors), (Some(Greeter { tone: Tone::Rude, pause, names, times: 0 }), Vec::new()));

    let (found, errors) = greeter(&section(vec![
        ("ton", plain("rude", 2)),
        ("tone", plain("rud", 3)),
        ("pause", plain("0s", 4)),
        ("greet", plain("Ada", 5)),
        ("names", list(Vec::new(), 6)),
        ("times", plain("2", 7)),
        ("x", plain("4", 8)),
    ]));
    assert_eq!(found, Some(Greeter { times: 2, ..Greeter::default() }));
    assert_eq!(
        errors,
        [
            "102 unknown key `ton` | did you mean `tone`?",
            "3 expected `kind` or `rude`, found `rud` | did you mean `rude`?",
            "4 a duration of 0 is not allowed | write a duration such as `90s` or `15m`",
            "5 expected a list of names, found the text `Ada` | write `[Ada]`",
            "106 unknown key `names` | the keys are `tone`, `pause`, `greet` and `times`",
            "108 unknown key `x` | the keys are `tone`, `pause`, `greet` and `times`",
        ]
    );
    let (found, errors) = greeter(&plain("Ada", 1));
    let hint = "write a map such as `{tone: …}`; the keys are `tone`, `pause`, `greet` and `times`";
    assert_eq!((found, errors), (None, vec![format!("1 expected a greeter, found the text `Ada` | {hint}")]));
    let (_, errors) = greeter(&section(vec![
        ("greet", list(vec![plain(" ", 3), plain("~", 4)], 2)),
        ("times", plain("4", 5)),
    ]));
    assert_eq!(
        errors,
        [
            "3 the text is empty",
            "4 expected text, found nothing",
            "5 expected a number between 1 and 3, found 4"
        ]
    );
}

#[test]
fn words_have_their_names() {
    assert_eq!(Tone::ALL.map(Tone::name), Tone::NAMES);
    assert_eq!(Tone::ALL.map(|tone| Tone::parse(tone.name())), [Some(Tone::Kind), Some(Tone::Rude)]);
    assert_eq!(Tone::parse("Kind"), None);
}
