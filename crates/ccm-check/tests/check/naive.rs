//! Second reader of matchers, written for clarity alone: JSON in, outcome out. Nothing of the crate is used.

use serde_json::{Map, Value as Json};

/// Outcome of a matcher: `None` for values that can't be compared.
pub(crate) type Outcome = Option<bool>;

/// Judges a value.
pub(crate) fn judge(matcher: &Json, value: &Json) -> Outcome {
    match matcher {
        Json::Bool(_) => Some(value == matcher),
        Json::Number(expected) => Some(close(number(value)?, expected.as_f64()?)),
        Json::String(expected) => Some(text(value)? == *expected),
        Json::Array(expected) => match value {
            Json::String(_) => None,
            _ => Some(covers(expected, &elements(value)?)),
        },
        Json::Object(map) => named(map, value),
        Json::Null => None,
    }
}

fn named(map: &Map<String, Json>, value: &Json) -> Outcome {
    let (name, operand) = map.iter().next()?;
    let operand_text = || operand.as_str();
    let order = |test: fn(f64, f64) -> bool| Some(test(number(value)?, operand.as_f64()?));
    match &**name {
        "equal" => Some(same(value, operand)),
        "have-prefix" => Some(text(value)?.starts_with(operand_text()?)),
        "have-suffix" => Some(text(value)?.ends_with(operand_text()?)),
        "contain-substring" => Some(text(value)?.contains(operand_text()?)),
        "match-regexp" => Some(searches(operand_text()?, &text(value)?)),
        "have-patterns" => {
            let text = text(value)?;
            Some(
                operand
                    .as_array()?
                    .iter()
                    .filter_map(Json::as_str)
                    .all(|pattern| has_pattern(pattern, &text)),
            )
        }
        "have-len" => {
            let length = match value {
                Json::String(text) => text.len(),
                Json::Array(list) => list.len(),
                Json::Object(map) => map.len(),
                _ => return None,
            };
            Some(length as u64 == operand.as_u64()?)
        }
        "have-key" => {
            let mut keys = value.as_object()?.keys().map(|key| judge(operand, &Json::from(key.as_str())));
            keys.find(|outcome| *outcome != Some(false)).unwrap_or(Some(false))
        }
        "contain-element" => {
            let outcomes: Vec<Outcome> =
                lines_or_elements(value)?.iter().map(|element| judge(operand, element)).collect();
            if outcomes.contains(&Some(true)) {
                Some(true)
            } else {
                (!outcomes.contains(&None)).then_some(false)
            }
        }
        "contain-elements" => Some(covers(operand.as_array()?, &lines_or_elements(value)?)),
        "consist-of" => {
            let (expected, found) = (operand.as_array()?, elements(value)?);
            Some(expected.len() == found.len() && covers(expected, &found))
        }
        "not" => judge(operand, value).map(|outcome| !outcome),
        "and" | "or" => {
            let end = name == "or";
            let mut outcomes = operand.as_array()?.iter().map(|matcher| judge(matcher, value));
            outcomes.find(|outcome| *outcome != Some(!end)).unwrap_or(Some(!end))
        }
        "gt" => order(|one, two| one > two),
        "ge" => order(|one, two| one >= two),
        "lt" => order(|one, two| one < two),
        "le" => order(|one, two| one <= two),
        "semver-constraint" => {
            let versions = match value {
                Json::Array(list) if !list.is_empty() => list.clone(),
                other => vec![other.clone()],
            };
            let versions: Option<Vec<[u32; 3]>> = versions.iter().map(version).collect();
            let least = version(&Json::from(operand_text()?.strip_prefix(">=")?))?;
            Some(versions?.iter().all(|version| *version >= least))
        }
        "gjson" => {
            let document: Json = serde_json::from_str(value.as_str()?).ok()?;
            for (path, matcher) in operand.as_object()? {
                let mut found = &document;
                for part in path.split('.') {
                    found = match found {
                        Json::Array(list) => list.get(part.parse::<usize>().ok()?)?,
                        other => other.get(part)?,
                    };
                }
                if !judge(matcher, found)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        other => panic!("no matcher {other}"),
    }
}

fn close(one: f64, two: f64) -> bool {
    (one - two).abs() < 1e-9
}

fn same(one: &Json, two: &Json) -> bool {
    match (one, two) {
        (Json::Number(one), Json::Number(two)) => one.as_f64() == two.as_f64(),
        (Json::Array(one), Json::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same(one, two))
        }
        (Json::Object(one), Json::Object(two)) => {
            one.len() == two.len()
                && one.iter().all(|(key, value)| two.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == two,
    }
}

fn text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Bool(boolean) => Some(boolean.to_string()),
        Json::Number(number) => Some(number.to_string()),
        Json::Array(list) => Some(list.iter().map(text).collect::<Option<Vec<_>>>()?.join("\n")),
        Json::Null | Json::Object(_) => None,
    }
}

fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => number.as_f64(),
        Json::String(_) | Json::Array(_) => {
            let text = text(value)?;
            let digits = text.trim();
            let is_plain = digits.chars().all(|digit| "0123456789.-".contains(digit));
            if is_plain { digits.parse().ok() } else { None }
        }
        _ => None,
    }
}

fn elements(value: &Json) -> Option<Vec<Json>> {
    match value {
        Json::Array(list) => Some(list.clone()),
        Json::Object(map) => Some(map.values().cloned().collect()),
        _ => None,
    }
}

fn lines_or_elements(value: &Json) -> Option<Vec<Json>> {
    match value {
        Json::String(text) => Some(text.split('\n').map(Json::from).collect()),
        other => elements(other),
    }
}

/// Tries every way to give each matcher an element of its own.
fn covers(matchers: &[Json], elements: &[Json]) -> bool {
    let Some((first, rest)) = matchers.split_first() else { return true };
    (0..elements.len()).any(|at| {
        let mut others = elements.to_vec();
        let element = others.remove(at);
        judge(first, &element) == Some(true) && covers(rest, &others)
    })
}

fn version(value: &Json) -> Option<[u32; 3]> {
    let mut parts = value.as_str()?.split('.').map(|part| part.parse().ok());
    let version = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(version)
}

fn has_pattern(pattern: &str, text: &str) -> bool {
    if pattern.is_empty() {
        return true;
    }
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let (is_forbidden, core) = pattern.strip_prefix('!').map_or((false, pattern), |core| (true, core));
    let is_found =
        lines.iter().any(|line| match core.strip_prefix('/').and_then(|core| core.strip_suffix('/')) {
            Some(expression) => searches(expression, line),
            None => line.contains(core.strip_prefix('\\').unwrap_or(core)),
        });
    is_found != is_forbidden
}

/// Searches for an expression of letters, `.`, `*`, `^` and `$`.
fn searches(expression: &str, text: &str) -> bool {
    let (expression, text): (Vec<char>, Vec<char>) = (expression.chars().collect(), text.chars().collect());
    if expression.first() == Some(&'^') {
        return matches_here(&expression[1..], &text);
    }
    (0..=text.len()).any(|start| matches_here(&expression, &text[start..]))
}

fn matches_here(expression: &[char], text: &[char]) -> bool {
    match expression {
        [] => true,
        ['$'] => text.is_empty(),
        [one, '*', rest @ ..] => (0..=text.len())
            .take_while(|count| text[..*count].iter().all(|letter| fits(*one, *letter)))
            .any(|count| matches_here(rest, &text[count..])),
        [one, rest @ ..] => {
            text.first().is_some_and(|letter| fits(*one, *letter)) && matches_here(rest, &text[1..])
        }
    }
}

fn fits(one: char, letter: char) -> bool {
    if one == '.' { letter != '\n' } else { one == letter }
}
