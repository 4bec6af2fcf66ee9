//! Words of Jinja templates, which people write in the expressions of a manifest, with what to write in ccm instead.

use std::ops::Range;

use crate::resolve::hint_literals::HintLiterals;
use crate::resolve::messages::shown;

/// Advice on one place in an expression.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    /// Bytes of the expression that are not of its language.
    pub(crate) range: Range<usize>,
    /// What is wrong.
    pub(crate) message: String,
    /// What to write.
    pub(crate) hint: String,
}

/// Filters of Jinja and Ansible that have another name in expressions, and what to write after `VALUE`. Texts stand between
/// single quotes, which [`HintLiterals::advice`] replaces.
const FILTERS: &[(&[&str], &str)] = &[
    (&["default", "d"], "write `VALUE ?? DEFAULT`"),
    (&["to_json", "tojson", "to_nice_json"], "write `toJSON(VALUE)`"),
    (&["from_json"], "write `fromJSON(VALUE)`"),
    (&["b64encode"], "write `toBase64(VALUE)`"),
    (&["b64decode"], "write `fromBase64(VALUE)`"),
    (&["length", "count"], "write `len(VALUE)`"),
    (&["unique"], "write `uniq(VALUE)`"),
    (
        &["title", "capitalize"],
        "use a template, whose filters have `title` and `capitalize`: `template('NAME.j2')`",
    ),
    (&["dict2items", "items"], "write `toPairs(VALUE)`"),
    (&["items2dict"], "write `fromPairs(VALUE)`"),
    (&["ternary"], "write `CONDITION ? A : B`"),
    (&["bool"], "write `VALUE == 'true'`"),
    (&["basename"], "write `last(split(VALUE, '/'))`"),
    (&["select", "selectattr"], "write `filter(VALUE, CONDITION)`, such as `filter(Data.users, .admin)`"),
    (&["reject", "rejectattr"], "write `filter(VALUE, not CONDITION)`"),
    (&["mandatory"], "remove it: a key that is missing is an error"),
    (&["regex_search", "search"], "write `VALUE matches 'EXPRESSION'`"),
    (&["regex_replace"], "use a template: `template('NAME.j2')` with the filter `regex_replace`"),
    (
        &["to_yaml", "to_nice_yaml", "indent", "wordwrap", "truncate", "center", "format", "urlencode"],
        "use a template, whose filters can do that: `template('NAME.j2')`",
    ),
    (&["combine", "union", "difference", "intersect"], "use a template: `template('NAME.j2')`"),
    (&["quote"], "remove it: a value in a `command` is one argument, and quoted for a shell"),
    (&["safe", "escape", "e"], "remove it: values are never escaped"),
    (&["strip", "lstrip", "rstrip"], "write `trim(VALUE)`"),
    (&["startswith"], "write `VALUE startsWith 'TEXT'`"),
    (&["endswith"], "write `VALUE endsWith 'TEXT'`"),
    (&["splitlines"], "write `split(VALUE, '\\n')`"),
];

/// Tests of Jinja, after `is`.
const TESTS: &[(&[&str], &str)] = &[
    (&["defined"], "write `VALUE != nil`, and `?.` before keys that may be missing"),
    (&["undefined", "none"], "write `VALUE == nil`, and `?.` before keys that may be missing"),
    (&["string"], "write `type(VALUE) == 'string'`"),
    (&["mapping"], "write `type(VALUE) == 'map'`"),
    (&["sequence", "iterable"], "write `type(VALUE) == 'array'`"),
    (&["number", "integer"], "write `type(VALUE) == 'int'`"),
    (&["in"], "write `VALUE in LIST`"),
    (&["match", "search", "regex"], "write `VALUE matches 'EXPRESSION'`"),
    (&["eq", "equalto", "sameas"], "write `VALUE == OTHER`"),
    (&["even", "odd", "divisibleby"], "write `VALUE % NUMBER == 0`"),
    (&["true"], "write `VALUE == true`"),
    (&["false"], "write `VALUE == false`"),
];

/// Plugins of Ansible that its `lookup` has as the first argument.
const LOOKUPS: &[(&[&str], &str)] = &[
    (&["env"], "write `Environ.NAME`, such as `Environ.HOME`"),
    (&["file", "unvault"], "write `file('PATH')`"),
    (&["lines"], "write `split(file('PATH'), '\\n')`"),
    (&["template"], "write `template('NAME.j2')`"),
    (&["vars", "varnames"], "write `Data.KEY`, or `lookup('data.KEY', 'DEFAULT')`"),
    (&["dict"], "write `toPairs(VALUE)`"),
    (&["pipe"], "run the command in an `exec` with `capture`, and write `Captures.NAME.KEY`"),
    (&["password", "passwordstore", "hashi_vault", "aws_secret"], "write `credential('NAME')`"),
    (
        &["fileglob", "first_found", "csvfile", "ini", "url", "dig", "sequence", "subelements", "nested"],
        "write the values into `data`",
    ),
];

/// Returns advice on a plugin that `lookup` of Ansible has as its first argument.
pub(crate) fn lookup(plugin: &str) -> Option<&'static str> {
    let plugin = plugin.strip_prefix("ansible.builtin.").unwrap_or(plugin).to_ascii_lowercase();
    LOOKUPS.iter().find(|(words, _)| words.contains(&&*plugin)).map(|(_, advice)| *advice)
}

/// Returns advice on a filter that is no function of expressions.
pub(crate) fn filter(name: &str) -> Option<&'static str> {
    FILTERS.iter().find(|(words, _)| words.contains(&name)).map(|(_, advice)| *advice)
}

/// Returns advice on an expression whose syntax is wrong at a byte, if that is syntax of Jinja.
pub(crate) fn syntax(
    expression: &str,
    at: usize,
    literals: HintLiterals,
    is_function: impl Fn(&str) -> bool,
) -> Option<Advice> {
    let (before, after) = (expression.get(..at)?.trim_end(), expression.get(at..)?);
    if let Some((head, name)) = last_word(before)
        && let Some(head) = head.trim_end().strip_suffix('|').filter(|head| !head.ends_with('|'))
        && (filter(name).is_some() || is_function(name))
    {
        let start = before.len() - name.len();
        let value = head.trim();
        let hint = match filter(name) {
            Some(advice) => literals.advice(advice),
            None => format!("write `{name}({})`, or `{name}()` after the `|`", shown(value)),
        };
        let message = format!("`{name}` is written as a filter of a template");
        return Some(Advice { range: start..before.len(), message, hint });
    }
    let word = first_word(after);
    let range = at..at + word.len();
    let of_templates = |hint: &str| {
        let written = if word.is_empty() { &after[..1] } else { word };
        let range = at..at + written.len();
        let message = format!("`{written}` is an operator of templates, not of expressions");
        Some(Advice { range, message, hint: hint.to_owned() })
    };
    match word {
        "is" => {
            let rest = after[2..].trim_start();
            let (test, negated) = match first_word(rest) {
                "not" => (first_word(rest[3..].trim_start()), true),
                test => (test, false),
            };
            let (_, advice) = TESTS.iter().find(|(words, _)| words.contains(&test))?;
            let not = if negated { "not " } else { "" };
            let message = format!("`is {not}{test}` is a test of templates, not of expressions");
            let hint = if negated && test == "defined" {
                TESTS[1].1.to_owned()
            } else if negated && matches!(test, "none" | "undefined") {
                TESTS[0].1.to_owned()
            } else if negated {
                literals.advice(advice) + ", with `not (…)` around it"
            } else {
                literals.advice(advice)
            };
            Some(Advice { range, message, hint })
        }
        "if" => {
            let condition = after[2..].split(" else ").next().unwrap_or_default().trim();
            let hint = if condition.is_empty() {
                "write `CONDITION ? A : B`".to_owned()
            } else {
                format!("write `{} ? A : B`", shown(condition))
            };
            of_templates(&hint)
        }
        "" if after.starts_with('~') => of_templates(&joined(expression)),
        "" if after.starts_with("//") => of_templates("write `int(A / B)` for a whole quotient"),
        _ => None,
    }
}

/// Returns what to write for operands that `~` joins. The operator turns numbers into text, as `+` does not.
fn joined(expression: &str) -> String {
    let is_path = |part: &str| {
        part.starts_with(char::is_alphabetic) && part.chars().all(|one| is_word(one) || one == '.')
    };
    let is_text = |part: &str| {
        let inner = ['\'', '"'].iter().find_map(|quote| part.strip_prefix(*quote)?.strip_suffix(*quote));
        inner.is_some_and(|inner| !inner.contains(['\'', '"', '\\']))
    };
    let operand = |part: &str| match part.trim() {
        part if is_text(part) => Some(part.to_owned()),
        part if is_path(part) => Some(format!("string({part})")),
        _ => None,
    };
    match expression.split('~').map(operand).collect::<Option<Vec<_>>>() {
        Some(operands) => format!("write `{}`", shown(&operands.join(" + "))),
        None => "write `string(A) + string(B)` to join values as text".to_owned(),
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Returns the word at the start of a text, which may be empty.
fn first_word(text: &str) -> &str {
    &text[..text.find(|character| !is_word(character)).unwrap_or(text.len())]
}

/// Splits the word at the end of a text off.
fn last_word(text: &str) -> Option<(&str, &str)> {
    let start = text.trim_end_matches(is_word).len();
    (start < text.len()).then(|| text.split_at(start))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_filter_is_listed_twice() {
        let mut seen = HashSet::new();
        for word in FILTERS.iter().flat_map(|(words, _)| *words) {
            assert!(seen.insert(*word), "{word}");
        }
        seen.clear();
        for word in LOOKUPS.iter().flat_map(|(words, _)| *words) {
            assert!(seen.insert(*word), "{word}");
        }
        assert_eq!(lookup("ansible.builtin.file"), lookup("file"));
        assert_eq!(lookup("data"), None);
    }

    #[test]
    fn words_of_templates_are_answered_with_the_expression_to_write() {
        let function = |name: &str| name == "upper";
        // Expression with `¦` where its syntax is wrong, the place that is named, and the hint.
        for (marked, place, hint) in [
            ("Data.a | upper¦", "upper", "write `upper(Data.a)`, or `upper()` after the `|`"),
            ("Data.a | default¦", "default", "write `VALUE ?? DEFAULT`"),
            ("Data.a ¦is defined", "is", TESTS[0].1),
            ("Data.a ¦is not defined", "is", TESTS[1].1),
            ("Data.a ¦is not none", "is", TESTS[0].1),
            ("Data.a ¦is not string", "is", "write `type(VALUE) == 'string'`, with `not (…)` around it"),
            ("Data.a ¦~ 'x'", "~", "write `string(Data.a) + 'x'`"),
            ("Data.a ¦~ ':' ~ Data.b", "~", "write `string(Data.a) + ':' + string(Data.b)`"),
            ("Data.a[0] ¦~ '~'", "~", "write `string(A) + string(B)` to join values as text"),
            ("7 ¦// 2", "/", "write `int(A / B)` for a whole quotient"),
            ("'a' ¦if Data.b else 'c'", "if", "write `Data.b ? A : B`"),
            ("'a' ¦if", "if", "write `CONDITION ? A : B`"),
        ] {
            let at = marked.find('¦').unwrap();
            let expression = marked.replace('¦', "");
            let advice =
                syntax(&expression, at, HintLiterals::PLAIN, function).unwrap_or_else(|| panic!("{marked}"));
            assert_eq!((&expression[advice.range], &*advice.hint), (place, hint), "{marked}");
        }
        for marked in ["Data.a ¦) + 1", "¦", "a || upper¦", "Data.a | mine¦", "Data.a ¦is blue", "Data.ä ¦é"]
        {
            let at = marked.find('¦').unwrap();
            assert_eq!(syntax(&marked.replace('¦', ""), at, HintLiterals::PLAIN, function), None, "{marked}");
        }
    }
}
