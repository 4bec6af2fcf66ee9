//! Comparisons with constants in a template, found without rendering it.

use std::ops::Range;

use ccm_expr::{Comparison, LetterCase, Relation, Value, lookup_path};

use super::NAMES;
use super::dependencies::path;
use super::scan::{TagToken, TagTokens, TemplateTag, scan};

/// Side of a comparison.
enum Operand {
    /// Name with its constant keys, and the case that a filter gives the value.
    Path(Vec<String>, Option<LetterCase>),
    Constants(Vec<(Value, Range<usize>)>),
}

/// Returns the comparisons of names with constants. Those of computed values are left out.
pub fn comparisons(text: &str) -> Vec<Comparison> {
    let scan = scan(text);
    let mut found = Vec::new();
    for tag in scan.tags() {
        let (TemplateTag::Expression(tokens) | TemplateTag::Statement(tokens)) = tag;
        for at in 0..tokens.len() {
            let is_whole = !matches!(
                at.checked_sub(1).map(|before| tokens[before]),
                Some(TagToken::Symbol(b'.' | b'|' | b'~' | b'+' | b'-' | b'*' | b'/' | b'%'))
            );
            if is_whole {
                compare(text, &tokens, at, &mut found);
            }
        }
    }
    found
}

fn compare(text: &str, tokens: &TagTokens<'_, '_>, at: usize, found: &mut Vec<Comparison>) {
    let Some((left, end)) = operand(text, tokens, at) else { return };
    let mut add = |(path, case): (Vec<String>, _),
                   subject: Range<usize>,
                   relation,
                   constants: Vec<(Value, Range<usize>)>| {
        found.extend(constants.into_iter().map(|(value, range)| Comparison {
            path: path.clone(),
            subject: subject.clone(),
            case,
            relation,
            value,
            range,
        }));
    };
    let bytes = |range: Range<usize>| tokens.ranges[range.start].start..tokens.ranges[range.end - 1].end;
    if let (
        Operand::Path(path, case),
        [
            TagToken::Symbol(b'.'),
            TagToken::Name("startswith" | "endswith"),
            TagToken::Symbol(b'('),
            TagToken::Text(Some(part)),
            TagToken::Symbol(b')'),
            ..,
        ],
    ) = (&left, &tokens[end..])
    {
        let part = (Value::text(*part), tokens.ranges[end + 3].clone());
        return add((path.clone(), *case), bytes(at..end), Relation::Part, vec![part]);
    }
    if let (Operand::Path(path, case), Some(keys)) = (&left, keys_before(tokens, at)) {
        if matches!(tokens.get(end), Some(TagToken::Symbol(b']'))) {
            add((path.clone(), *case), bytes(at..end), Relation::Equal, keys);
        }
        return;
    }
    let Some((relation, mirrored, length)) = operator(&tokens[end..]) else { return };
    let start = end + length;
    let Some((right, end_of_right)) = operand(text, tokens, start) else { return };
    if matches!(
        tokens.get(end_of_right),
        Some(TagToken::Symbol(b'.' | b'|' | b'~' | b'+' | b'-' | b'*' | b'/' | b'%' | b'['))
    ) {
        return;
    }
    match (left, right) {
        (Operand::Path(path, case), Operand::Constants(constants)) => {
            add((path, case), bytes(at..end), relation, constants);
        }
        (Operand::Constants(constants), Operand::Path(path, case)) if constants.len() == 1 => {
            add((path, case), bytes(start..end_of_right), mirrored, constants);
        }
        _ => {}
    }
}

/// Returns the operand at a position, and the position behind it.
fn operand(text: &str, tokens: &TagTokens<'_, '_>, at: usize) -> Option<(Operand, usize)> {
    let constant = |at: usize| {
        let value = match tokens.get(at)? {
            TagToken::Text(Some(text)) => Value::text(*text),
            TagToken::Number => Value::Int(text[tokens.ranges[at].clone()].parse().ok()?),
            _ => return None,
        };
        Some((value, tokens.ranges[at].clone()))
    };
    match tokens.get(at..)? {
        [TagToken::Text(Some(_)) | TagToken::Number, ..] => {
            Some((Operand::Constants(vec![constant(at)?]), at + 1))
        }
        [TagToken::Symbol(b'[' | b'('), rest @ ..] => {
            let length = rest.iter().position(|token| matches!(token, TagToken::Symbol(b']' | b')')))?;
            let elements = (at + 1..=at + length).step_by(2).map(constant).collect::<Option<Vec<_>>>()?;
            let is_list =
                rest[..length].iter().skip(1).step_by(2).all(|token| *token == TagToken::Symbol(b','));
            is_list.then_some((Operand::Constants(elements), at + length + 2))
        }
        [
            TagToken::Name("lookup"),
            TagToken::Symbol(b'('),
            TagToken::Text(Some(path)),
            TagToken::Symbol(b')'),
            ..,
        ] => Some(with_case(tokens, lookup_path(path)?, at + 4)),
        [TagToken::Name(name), ..] => {
            let known = NAMES.iter().find(|known| known.eq_ignore_ascii_case(name))?;
            let mut path = path(&tokens[at..]);
            let end = at + length_of_path(&tokens[at..], path.len());
            (*known).clone_into(&mut path[0]);
            Some(with_case(tokens, path, end))
        }
        _ => None,
    }
}

/// Returns the number of tokens of a path with so many parts.
fn length_of_path(tokens: &[TagToken<'_>], parts: usize) -> usize {
    (1..parts).fold(1, |at, _| if tokens[at] == TagToken::Symbol(b'[') { at + 3 } else { at + 2 })
}

/// Returns a path with the filter or method behind it that gives its value one case of letters.
fn with_case(tokens: &TagTokens<'_, '_>, path: Vec<String>, end: usize) -> (Operand, usize) {
    let case = |name: &str| match name {
        "lower" => Some(LetterCase::Lower),
        "upper" => Some(LetterCase::Upper),
        _ => None,
    };
    match &tokens[end..] {
        [
            TagToken::Symbol(b'.'),
            TagToken::Name(name),
            TagToken::Symbol(b'('),
            TagToken::Symbol(b')'),
            ..,
        ] if case(name).is_some() => (Operand::Path(path, case(name)), end + 4),
        [TagToken::Symbol(b'|'), TagToken::Name(name), ..] if case(name).is_some() => {
            (Operand::Path(path, case(name)), end + 2)
        }
        _ => (Operand::Path(path, None), end),
    }
}

/// Returns the operator at the start: what it compares, the same from the other side, and the number of its tokens.
fn operator(tokens: &[TagToken<'_>]) -> Option<(Relation, Relation, usize)> {
    let symbol = |at: usize| match tokens.get(at) {
        Some(TagToken::Symbol(symbol)) => *symbol,
        _ => 0,
    };
    Some(match (symbol(0), symbol(1)) {
        (b'=' | b'!', b'=') => (Relation::Equal, Relation::Equal, 2),
        (b'<', b'=') => (Relation::Order("<="), Relation::Order(">="), 2),
        (b'>', b'=') => (Relation::Order(">="), Relation::Order("<="), 2),
        (b'<', _) => (Relation::Order("<"), Relation::Order(">"), 1),
        (b'>', _) => (Relation::Order(">"), Relation::Order("<"), 1),
        _ => match tokens {
            [TagToken::Name("in"), TagToken::Symbol(b'[' | b'('), ..] => (Relation::Equal, Relation::Part, 1),
            [TagToken::Name("in"), ..] => (Relation::Part, Relation::Part, 1),
            [TagToken::Name("not"), TagToken::Name("in"), ..] => (Relation::Equal, Relation::Part, 2),
            _ => return None,
        },
    })
}

/// Returns the keys of a map literal whose `[` is before a position, as in `{'a': 1}[Data.x]`.
fn keys_before(tokens: &TagTokens<'_, '_>, at: usize) -> Option<Vec<(Value, Range<usize>)>> {
    let [.., TagToken::Symbol(b'}'), TagToken::Symbol(b'[')] = tokens[..at] else { return None };
    let mut depth = 0_usize;
    let start = (0..at - 1).rev().find(|at| {
        match tokens[*at] {
            TagToken::Symbol(b'}') => depth += 1,
            TagToken::Symbol(b'{') => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let key = |at: usize| match tokens[at..] {
        [TagToken::Text(Some(key)), TagToken::Symbol(b':'), ..] => {
            Some((Value::text(key), tokens.ranges[at].clone()))
        }
        _ => None,
    };
    Some((start..at - 2).filter_map(key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_of_names_with_constants_are_found() {
        for (text, expected) in [
            ("{{ Facts.host.info.os == 'Linux' }}", "Facts.host.info.os Equal Linux"),
            ("{% if 'Linux' != facts.host['info'].os %}", "Facts.host.info.os Equal Linux"),
            (
                "{% if Data.a|lower == 'B' and Data.c.upper() in ['d', 'e'] %}",
                "Data.a Equal B, Data.c Equal d, Data.c Equal e",
            ),
            ("{% if lookup('facts.role') not in ('a',) %}", "Facts.role Equal a"),
            ("{% if Facts.a.startswith('B') %}", "Facts.a Part B"),
            ("{{ {'A': 1, 'b': {'C': 2}}[Facts.x] }}", "Facts.x Equal A, Facts.x Equal b, Facts.x Equal C"),
            ("{% if 'x' in Data.list %}", "Data.list Part x"),
            ("{% if 9 <= Data.n and Data.v < '9.5' %}", "Data.n Order(\">=\") 9, Data.v Order(\"<\") 9.5"),
            (
                "{{ 'a' ~ Facts.x == 'B' }}{{ x.Facts == 'B' }}{{ Facts.x == 'B'|lower }}{{ Facts.x == y }}{{ Facts == }}",
                "",
            ),
            ("{{ Facts.x() == 'B' }}{{ Facts.x[0] == 'B' }}{# Facts.x == 'B' #}Facts.x == 'B'", ""),
        ] {
            let shown: Vec<String> = comparisons(text)
                .iter()
                .map(|found| format!("{} {:?} {}", found.path.join("."), found.relation, found.value))
                .collect();
            assert_eq!(shown.join(", "), expected, "{text}");
        }
    }
}
