use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Severity};
use proptest::prelude::*;

use super::*;
use crate::testing::{line, node, value};

fn collected(text: &str) -> (Vec<Annotation>, Vec<Diagnostic>) {
    let root = node(text);
    let entry = root.as_map().expect("a map").entry("data").expect("data");
    let mut diagnostics = Diagnostics::new();
    let annotations = collect(text, &entry.key, &entry.value, &mut diagnostics);
    (annotations, diagnostics.into_vec())
}

/// Formats annotations as `path: kind`, and diagnostics as severity and [`line`].
fn summary(text: &str) -> Vec<String> {
    let (annotations, diagnostics) = collected(text);
    let annotation = |annotation: &Annotation| {
        let key = &text[annotation.key_span.range()];
        assert_eq!(annotation.path.last().map(|key| &**key), Some(key.trim_matches(['"', '\''])));
        let what = match &annotation.kind {
            AnnotationKind::Require => "require".to_owned(),
            AnnotationKind::Sensitive => "sensitive".to_owned(),
            AnnotationKind::Encrypted { value } => format!("encrypted {}", &text[value.range()]),
            AnnotationKind::Merge(merge) => format!("merge {}", merge.as_str()),
            AnnotationKind::Validate { expression, span } => {
                assert_eq!(&text[span.range()], expression);
                expression.clone()
            }
        };
        assert!(text[annotation.span.range()].starts_with('@'));
        format!("{}: {what}", annotation.path.join("."))
    };
    let diagnostic = |diagnostic: &Diagnostic| {
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        format!("{severity} {}", line(text, diagnostic))
    };
    annotations.iter().map(annotation).chain(diagnostics.iter().map(diagnostic)).collect()
}

#[test]
fn annotations_apply_to_the_key_below() {
    for (text, expected) in [
        ("data:\n  # @require\n  a: 1", vec!["a: require"]),
        ("data:\n  # @required\n  a: 1", vec!["a: require"]),
        ("data:\n  #@sensitive\n  a: 1", vec!["a: sensitive"]),
        ("data:\n  ##  @sensitive\n  a: 1", vec!["a: sensitive"]),
        ("data:\n  # @validate isInt(value)  \n  a: 1", vec!["a: isInt(value)"]),
        ("data:\n  # @validate: value > 1 # really\n  a: 1", vec!["a: value > 1 # really"]),
        (
            "data:\n  # The port.\n  # @require\n  # whatever\n  #\n  # @validate value > 1\n  a: 1",
            vec!["a: require", "a: value > 1"],
        ),
        ("data:\n  # @require @sensitive, @validate x\n  a: 1", vec!["a: require", "a: sensitive", "a: x"]),
        ("data:\n  # @sensitive (the root password)\n  a: 1", vec!["a: sensitive"]),
        ("data:\n  # @encrypted\n  a: x\n  b: 1", vec!["a: sensitive", "a: encrypted x"]),
        (
            "data:\n  # @require @encrypted\n  a: {b: x}",
            vec!["a: require", "a: sensitive", "a: encrypted {b: x}"],
        ),
        ("data:\n  a: 1\n  # @require\n  b: 2\n  c: 3", vec!["b: require"]),
        ("data:\n  a:\n    b: 1\n  # @require\n  c: 3", vec!["c: require"]),
        ("data:\n  # @require\n  a:\n    # @sensitive\n    b: 1", vec!["a: require", "a.b: sensitive"]),
        ("data:\n  a:\n  # @require\n  b:\n", vec!["b: require"]),
        ("data:\n  a: [1,\n  2]\n  # @require\n  b: {}", vec!["b: require"]),
        ("data:\n  a: {}\n  # @require\n  'b': \"#\"", vec!["b: require"]),
        ("data:\n  a: |\n    text\n  # @require\n  b: 1", vec!["b: require"]),
        ("data:\n  a:\n  - 1\n  # @require\n  b: 1", vec!["b: require"]),
        ("data: {\n  # @require\n  a: 1,\n  # @sensitive\n  b: 2, c: 3}", vec!["a: require", "b: sensitive"]),
        ("data:\r\n  # @require\r\n  # @sensitive\r\n  a: 1\r\n", vec!["a: require", "a: sensitive"]),
        ("data: # here\n  # @require\n  a: 1", vec!["a: require"]),
        ("ccm:\n  # @require\n  a: 1\ndata:\n  b: 1\n# @require\nother: 1", vec![]),
        ("data:\n  ä: ö\n  # ü\n  # @require\n  ß: 1", vec!["ß: require"]),
        ("data:\n  &k a: &v 1\n  # @require\n  b: *v", vec!["b: require"]),
    ] {
        assert_eq!(summary(text), expected, "{text}");
    }
}

#[test]
fn a_merge_is_one_of_four_words() {
    for (text, expected) in [
        ("data:\n  # @merge first\n  a: 1", vec!["a: merge first"]),
        ("data:\n  # @merge: unique, @sensitive\n  a: 1", vec!["a: merge unique", "a: sensitive"]),
        ("data:\n  # @sensitive @merge deep (all of them)\n  a: 1", vec!["a: sensitive", "a: merge deep"]),
        ("data:\n  # @merge replace\n  # @require\n  a: 1", vec!["a: merge replace", "a: require"]),
        ("data:\n  # @merge uniqe\n  a: 1", vec!["warning @merge uniqe: no-effect | unique"]),
        (
            "data:\n  # @merge the lists\n  a: 1",
            vec!["warning @merge the: no-effect | first, replace, deep, unique"],
        ),
        ("data:\n  # @merge\n  a: 1", vec!["warning @merge: no-effect | first, replace, deep, unique"]),
        ("data:\n  # @mrege first\n  a: 1", vec!["warning @mrege: no-effect | @merge"]),
    ] {
        assert_eq!(summary(text), expected, "{text}");
    }
}

#[test]
fn a_merge_is_for_a_key_directly_below_data() {
    let text = "data:\n  # @merge unique\n  # @merge deep\n  a: [1]\n  b:\n    # @merge deep\n    c: 1\n";
    let (annotations, _) = collected(text);
    let mut diagnostics = Diagnostics::new();
    let merges = level_merges(&annotations, true, &mut diagnostics);
    assert_eq!(merges, [("a".into(), LevelMerge::Unique)].into());
    let lines: Vec<String> = diagnostics.into_vec().iter().map(|found| line(text, found)).collect();
    assert_eq!(lines, ["@merge deep: no-effect (@merge unique)", "@merge deep: no-effect | …"]);
}

#[test]
fn aliases_keep_annotations() {
    let text = "data:\n  a: &a\n    # @sensitive\n    b: 1\n  c: *a\n  # @require\n  d: 1";
    assert_eq!(summary(text), ["a.b: sensitive", "c.b: sensitive", "d: require"]);
}

#[test]
fn only_comments_hold_annotations() {
    for text in [
        "data:\n  a: |\n    x\n    # @require\n  b: 1",
        "data:\n  a: >-\n    x\n\n    # @require\n\n  b: 1",
        "data:\n  a: 'x\n    # @require\n    '\n  b: 1",
        "data:\n  a: \"x\n    # @require\n    \"\n  b: 1",
        "data:\n  a: x#@require\n  b: 1",
        "data:\n  '# @require': 1",
        "data:\n  # an address: me@require.org\n  # see @param, @see and @example\n  # @param a\n  a: 1",
        "data: {}",
        "data:",
        "data: 5 # @",
        "data:\n  # a\n  a: 1",
    ] {
        assert_eq!(summary(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn annotation_errors_are_reported() {
    for (text, expected) in [
        ("data:\n  # @sensitiv\n  a: 1", "warning @sensitiv: no-effect | @sensitive"),
        ("data:\n  # @Require\n  a: 1", "warning @Require: no-effect | @require"),
        ("data:\n  # @validate\n  a: 1", "error @validate: missing | # @validate isInt(value)"),
        ("data:\n  # @validate :\n  a: 1", "a: :"),
        ("data:\n  # @validate:\n  a: 1", "error @validate: missing | # @validate isInt(value)"),
        ("data:\n  a: 1 # @require\n  b: 1", "warning @require: no-effect | …"),
        ("data:\n  # @require\n\n  a: 1", "warning @require: no-effect | …"),
        ("data:\n  a: # @require\n    b: 1", "warning @require: no-effect | …"),
        ("data:\n  a: 1\n  # @require\n", "warning @require: no-effect | …"),
        ("data:\n  a: 1\n  # @require", "warning @require: no-effect | …"),
        ("data:\n  a: 1 # @require", "warning @require: no-effect | …"),
        ("data:\n  # @require\n  - 1", "warning @require: no-effect | …"),
        ("data: {a: 1 # @require\n  , b: 1}", "warning @require: no-effect | …"),
        ("data:\n  a:\n    # @require\n    - b: 1", "warning @require: no-effect | …"),
    ] {
        assert_eq!(summary(text), [expected], "{text}");
    }
}

/// Evaluates the expressions `text` and `never`; any other is an error.
fn evaluate(expression: &str, value: &Value) -> Result<bool, EvaluationError> {
    match expression {
        "text" => Ok(matches!(value, Value::Text(_))),
        "never" => Ok(false),
        _ => Err(EvaluationError {
            kind: DiagnosticKind::UnknownFunction,
            message: "unknown name `banana`".to_owned(),
            range: Some(1..7),
            hints: vec!["did you mean `value`?".to_owned()],
        }),
    }
}

/// Formats each failure as a [`line`] and the text of its first label.
fn failures(text: &str, data: &str) -> Vec<String> {
    let (annotations, _) = collected(text);
    let one = |(_, failure): &(&Annotation, Diagnostic)| {
        format!("{} {}", line(text, failure), failure.labels[0].text).trim_end().to_owned()
    };
    check(&value(data), &annotations, &evaluate).iter().map(one).collect()
}

#[test]
fn a_required_key_needs_a_value() {
    let text = "data:\n  # @require\n  a:\n  w:\n    # @require\n    p:\n";
    for (data, expected) in [
        ("{a: 1, w: {p: x}}", vec![]),
        ("{a: false, w: {p: 0}}", vec![]),
        ("{a: [], w: {p: {}}}", vec![]),
        ("{}", vec!["a: missing (@require) | data, --data", "p: missing (@require) | data, --data"]),
        ("{a: , w: 5}", vec!["a: missing (@require) | data, --data", "p: missing (@require) | data, --data"]),
        (
            "{a: '', w: {p: ~}}",
            vec!["a: missing (@require) | data, --data", "p: missing (@require) | data, --data"],
        ),
    ] {
        assert_eq!(failures(text, data), expected, "{data}");
    }
}

#[test]
fn a_value_is_validated_by_its_expression() {
    let text = "data:\n  # @validate text\n  a:\n  # @validate never\n  b:\n  # @validate (banana)\n  c:\n";
    for (data, expected) in [
        ("{a: x}", vec![]),
        ("{}", vec![]),
        ("{a: ~, b: , c: null}", vec![]),
        (
            "{a: 5, b: ''}",
            vec![
                "a: validation-failed (text) its value is `5`",
                "b: validation-failed (never) its value is empty",
            ],
        ),
        ("{b: [1]}", vec!["b: validation-failed (never) its value is `[1]`"]),
        ("{c: 1}", vec!["c: unknown-function (banana) | value"]),
    ] {
        assert_eq!(failures(text, data), expected, "{data}");
    }
}

#[test]
fn missing_required_values_are_not_validated() {
    let text = "data:\n  # @validate never\n  # @require\n  # @require\n  a:\n";
    assert_eq!(failures(text, "{a: ''}"), ["a: missing (@require) | data, --data"]);
}

#[test]
fn failures_hold_no_sensitive_values() {
    for text in [
        "data:\n  # @validate never\n  # @sensitive\n  a:\n",
        "data:\n  # @validate never\n  a:\n    # @sensitive\n    b: 1\n",
        "data:\n  # @sensitive\n  s:\n    # @validate never\n    a:\n",
    ] {
        let (annotations, _) = collected(text);
        let failures = check(&value("{a: {b: secret}, s: {a: secret}}"), &annotations, &evaluate);
        let shown = format!("{:?}", failures[0].1);
        assert!(shown.contains("ValidationFailed") && !shown.contains("secret"), "{shown}");
    }
}

#[test]
fn all_texts_below_a_sensitive_key_are_listed() {
    let text = "data:\n  # @sensitive\n  a:\n  b:\n    # @sensitive\n    c:\n";
    let (annotations, _) = collected(text);
    let data =
        value(r#"{a: {x: one, y: [two, 1.5, 42, one, true, ~, ""]}, b: {c: "q\"t", d: free}, e: free}"#);
    assert_eq!(sensitive_texts(&data, &annotations), ["one", "two", "1.5", "42", "q\"t", "q\\\"t"]);
}

#[test]
fn many_keys_with_annotations_take_linear_time() {
    let mut text = String::from("data:\n");
    for key in 0..20_000 {
        text += &format!("  # @require\n  # @sensitive\n  k{key}: v\n");
    }
    let (annotations, diagnostics) = collected(&text);
    assert_eq!((annotations.len(), diagnostics.len()), (40_000, 0));
    assert!(check(&value("{}"), &annotations, &evaluate).len() == 20_000);
}

proptest! {
    #[test]
    fn any_text_is_accepted(body in r#"(  |\n|# @require|# @validate x|a: |b: 1|- |\||'|"|#|[{}\[\],]|&x |\*x|ä)*"#) {
        let text = format!("data:\n  a: 1\n  {body}\n");
        let parsed = ccm_yaml::parse(ccm_model::SourceId(0), &text, &ccm_yaml::Limits::default());
        if let Ok(Some(root)) = parsed && let Some(entry) = root.as_map().and_then(|map| map.entry("data")) {
            let mut diagnostics = Diagnostics::new();
            for annotation in collect(&text, &entry.key, &entry.value, &mut diagnostics) {
                prop_assert!(text[annotation.span.range()].starts_with('@'));
            }
            for diagnostic in diagnostics.into_vec() {
                let span = diagnostic.span().expect("a span");
                prop_assert!(text[span.range()].starts_with('@'));
            }
        }
    }
}

#[test]
fn an_annotation_without_its_sign_is_pointed_out() {
    for (text, expected) in [
        ("data:\n  # sensitive\n  a: 1", 1),
        ("data:\n  #Sensitive:\n  a: 1", 1),
        ("data:\n  # sensitive, @require\n  a: 1", 1),
        ("data:\n  a: 1 # sensitive", 1),
        ("data:\n  b: 1\n  a: {x: 1} #sensitive!", 1),
        ("data:\n  # sensitive\n  # @sensitive\n  a: 1", 0),
        ("data:\n  # sensitive values of the proxy\n  a: 1", 0),
        ("data:\n  # sensitive\n\n  # the port\n  a: 1", 0),
        ("data:\n  # not sensitive\n  a: 1", 0),
        ("data:\n  # insensitive\n  a: sensitive", 0),
        ("data:\n  a: '# sensitive'", 0),
    ] {
        let (_, diagnostics) = collected(text);
        let is_about_sign = |found: &&Diagnostic| found.kind == DiagnosticKind::ExposedSecret;
        assert_eq!(diagnostics.iter().filter(is_about_sign).count(), expected, "{text}");
    }
}

#[test]
fn annotations_of_other_programs_lead_to_those_of_ccm() {
    let expression = "write `# @validate` with an expression, such as `# @validate isInt(value)`";
    for (text, expected) in [
        ("data:\n  # @secret\n  a: 1", Some("write `# @sensitive`")),
        ("data:\n  # @no_log\n  a: 1", Some("write `# @sensitive`")),
        ("data:\n  # @type int\n  a: 1", Some(expression)),
        ("data:\n  # @mandatory @require\n  a: 1", Some("write `# @require`")),
        (
            "data:\n  # @deprecated\n  a: 1",
            Some("the annotations are `@require`, `@validate`, `@sensitive`, `@encrypted` and `@merge`"),
        ),
        ("data:\n  # @ada, @ops\n  a: 1", None),
        ("data:\n  a: 1 # @secret", None),
    ] {
        let (_, diagnostics) = collected(text);
        let found: Vec<&str> =
            diagnostics.iter().flat_map(|found| &found.hints).map(String::as_str).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{text}");
    }
}
