//! Comparisons that are never true, or are true in an order that nobody means.

use std::ops::Range;

use ccm_data::fact_words::{self, LOWER_CASE_FACTS};
use ccm_expr::{Comparison, Expression, LetterCase, Relation, Value};
use ccm_model::DiagnosticKind;

use crate::resolve::eval_context::Doubt;
use crate::resolve::messages::shown;

/// Facts that are versions, and are texts.
const VERSIONS: [&str; 3] =
    ["host.info.platformVersion", "host.info.platformMajorVersion", "host.info.kernelVersion"];

/// Facts that are numbers of bytes.
const BYTES: [&str; 4] =
    ["memory.virtual.total", "memory.virtual.available", "memory.swap.total", "memory.virtual.free"];

/// Least number of bytes that a machine can have, and that a comparison can mean.
const MIN_BYTES: i64 = 1 << 20;

/// Returns the warnings about what stands behind `//` in an expression: a comment, which people take for an operand. A comment
/// for each line of several is fine.
pub(crate) fn cut_operands(expression: &Expression) -> Vec<Doubt> {
    let text = expression.text();
    let is_operand = |range: &Range<usize>| {
        let rest = text[range.start + 2..range.end].trim_start();
        !rest.is_empty()
            && (!text.trim().contains('\n') || rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let doubt = |range: Range<usize>| {
        let rest = text[range.start + 2..range.end].trim();
        Doubt {
            kind: DiagnosticKind::NoEffect,
            message: format!("`//` begins a comment: `{}` is left out", shown(rest)),
            hint:
                "write `int(A / B)` for a whole quotient, or the comment behind `#` outside of the expression"
                    .to_owned(),
            range,
        }
    };
    expression.line_comments().into_iter().filter(is_operand).map(doubt).collect()
}

/// Returns the warnings about the comparisons of an expression or a template. Texts in the hints stand between single quotes.
pub(crate) fn doubts(comparisons: Vec<Comparison>, text: &str) -> Vec<Doubt> {
    comparisons.into_iter().filter_map(|found| doubt(&found, text)).collect()
}

fn doubt(found: &Comparison, text: &str) -> Option<Doubt> {
    let fact = match &found.path[..] {
        [root, keys @ ..] if root == "Facts" => keys.join("."),
        _ => String::new(),
    };
    let (range, message, hint) = match (&found.value, found.relation) {
        (Value::Int(number), Relation::Order(_)) => in_larger_units(&fact, *number, text, &found.range)?,
        (Value::Text(value), Relation::Order(operator)) => {
            ordered_as_text(found, &fact, value, operator, text)?
        }
        (Value::Text(value), relation) => {
            let (message, hint) = in_other_case(found, value, relation, text)
                .or_else(|| other_word(found, &fact, value))
                .or_else(|| in_capitals(found, &fact, value))?;
            (inner(text, &found.range), message, hint)
        }
        _ => return None,
    };
    Some(Doubt { kind: DiagnosticKind::NoEffect, range, message, hint })
}

/// Returns the bytes of a text without its quotes.
fn inner(text: &str, range: &Range<usize>) -> Range<usize> {
    let is_quoted = text.get(range.clone()).is_some_and(|written| written.starts_with(['\'', '"']));
    if is_quoted && range.len() > 2 { range.start + 1..range.end - 1 } else { range.clone() }
}

/// Warns of `lower(…) == 'Debian'`.
fn in_other_case(
    found: &Comparison,
    value: &str,
    relation: Relation,
    text: &str,
) -> Option<(String, String)> {
    let (case, wrong, right): (_, fn(&str) -> bool, _) = match found.case? {
        LetterCase::Lower => ("lower", has_capitals, value.to_lowercase()),
        LetterCase::Upper => ("upper", has_small_letters, value.to_uppercase()),
    };
    if relation == Relation::Pattern || !wrong(value) {
        return None;
    }
    let subject = shown(text.get(found.subject.clone())?);
    Some((
        format!("`{subject}` is in {case} case, and never `{}`", shown(value)),
        format!("write `{}`", shown(&right)),
    ))
}

fn has_capitals(text: &str) -> bool {
    text.contains(|part: char| part.is_ascii_uppercase())
}

fn has_small_letters(text: &str) -> bool {
    text.contains(|part: char| part.is_ascii_lowercase())
}

/// Warns of words that other programs have for the value of a fact.
fn other_word(found: &Comparison, fact: &str, value: &str) -> Option<(String, String)> {
    if found.relation != Relation::Equal || found.case == Some(LetterCase::Upper) {
        return None;
    }
    let never = || format!("`{fact}` is never `{}`", shown(value));
    match fact {
        "host.info.kernelArch" => {
            let message = format!("`{fact}` has the words of the kernel, and is never `{}`", shown(value));
            Some((message, format!("write `{}`", fact_words::meant(fact, value)?)))
        }
        "host.info.platformFamily" | "host.info.platform" => {
            Some((never(), format!("write `{}`", fact_words::meant(fact, value)?)))
        }
        "host.info.os" => {
            let (name, meant) = fact_words::distribution(value)?;
            let message = format!("`{fact}` is always `linux`, and never `{}`", shown(value));
            Some((message, format!("write `Facts.host.info.{name} == '{meant}'`")))
        }
        _ => None,
    }
}

fn in_capitals(found: &Comparison, fact: &str, value: &str) -> Option<(String, String)> {
    if !LOWER_CASE_FACTS.contains(&fact) || found.case.is_some() || value == "Kylin" {
        return None;
    }
    let is_never = match found.relation {
        // One of the alternatives may be in lower case. Anything else may match by its signs.
        Relation::Pattern => {
            let is_plain = |part: char| part.is_ascii_alphanumeric() || " ^$|()-".contains(part);
            value.chars().all(is_plain) && value.split('|').all(has_capitals)
        }
        _ => has_capitals(value),
    };
    let message = format!("`{fact}` is in lower case, and never `{}`", shown(value));
    is_never.then(|| (message, format!("write `{}`", shown(&value.to_lowercase()))))
}

type Explained = (Range<usize>, String, String);

fn ordered_as_text(
    found: &Comparison,
    fact: &str,
    value: &str,
    operator: &str,
    text: &str,
) -> Option<Explained> {
    let is_version =
        value.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let is_known_version =
        VERSIONS.contains(&fact) && value.starts_with(|first: char| first.is_ascii_digit());
    let is_name = found.path.len() > 1 && found.case.is_none();
    if !(is_known_version || is_name && is_version) {
        return None;
    }
    let subject = shown(text.get(found.subject.clone())?);
    let mut parts = value.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or_default());
    let (major, minor) = (parts.next()?, parts.next());
    let is_release = fact == "host.info.kernelVersion" || parts.next().is_some();
    let hint = match (is_release, minor) {
        (true, None) => format!("compare numbers: `int(split({subject}, '.')[0]) {operator} {major}`"),
        (true, Some(minor)) => format!(
            "compare numbers: `(let v = split({subject}, '.'); int(v[0]) * 1000 + int(v[1]) {operator} {})`",
            u64::from(major) * 1000 + u64::from(minor)
        ),
        (false, _) if fact == "host.info.platformMajorVersion" => {
            format!("compare numbers: `int({subject}) {operator} {major}`")
        }
        (false, _) => format!("compare numbers: `float({subject}) {operator} {}`", shown(value)),
    };
    let message = "texts are compared letter by letter, so that `10` is less than `9`".to_owned();
    Some((inner(text, &found.range), message, hint))
}

fn in_larger_units(fact: &str, number: i64, text: &str, range: &Range<usize>) -> Option<Explained> {
    // A product, such as `4 * 1024 * 1024`, counts bytes.
    let is_alone = text.get(range.clone())?.bytes().all(|byte| byte.is_ascii_digit());
    if !BYTES.contains(&fact) || !is_alone || !(1..MIN_BYTES).contains(&number) {
        return None;
    }
    let message = format!("`{fact}` is a number of bytes");
    Some((range.clone(), message, format!("write `{number} * 1024 * 1024 * 1024` for GiB")))
}

#[cfg(test)]
mod tests {
    use ccm_data::templates;

    use super::*;
    use crate::resolve::eval_context::FUNCTIONS;

    fn found(expression: &str) -> Vec<Doubt> {
        let context = ccm_expr::ParseContext { names: &[], functions: &FUNCTIONS };
        let parsed = Expression::parse_with(expression, &context)
            .unwrap_or_else(|error| panic!("{expression}: {error}"));
        doubts(parsed.comparisons(), expression)
    }

    #[test]
    fn comparisons_in_vain_are_told_in_expressions() {
        // Expression, the place that is marked, and the hint. `F` is short for `Facts.host.info`.
        for (short, place, hint) in [
            ("F.platformFamily == 'Debian'", "Debian", "write `debian`"),
            ("F.os != \"Linux\"", "Linux", "write `linux`"),
            ("'Linux' == F.os", "Linux", "write `linux`"),
            ("F?.os == 'Linux'", "Linux", "write `linux`"),
            ("(F.os ?? '') == 'Linux'", "Linux", "write `linux`"),
            ("Facts['host'][\"info\"]['os'] == 'Linux'", "Linux", "write `linux`"),
            ("lookup('facts.host.info.os') == 'Linux'", "Linux", "write `linux`"),
            ("lookup('facts.host.info.os', 'x') == 'Linux'", "Linux", "write `linux`"),
            ("F.os matches 'Linux'", "F.os matches 'Linux'", "write `linux`"),
            ("F.platform startsWith 'Deb'", "Deb", "write `deb`"),
            ("F.platform contains 'Buntu'", "Buntu", "write `buntu`"),
            ("lower(F.platform) == 'Debian'", "Debian", "write `debian`"),
            ("lower(Data.x) == 'Debian'", "Debian", "write `debian`"),
            ("Data.x | upper() == 'Debian'", "Debian", "write `DEBIAN`"),
            ("{'Debian': 1, 'rhel': 2}[F.platformFamily]", "Debian", "write `debian`"),
            ("get({'Debian': 1}, F.platformFamily)", "Debian", "write `debian`"),
            ("let f = F.platformFamily; f == 'Debian'", "Debian", "write `debian`"),
            ("F.virtualizationRole == 'Guest'", "Guest", "write `guest`"),
            ("F.platformCodename == 'Bookworm'", "Bookworm", "write `bookworm`"),
            ("F.platform in ['debian', 'Ubuntu']", "Ubuntu", "write `ubuntu`"),
            ("F.platform not in ['Arch']", "Arch", "write `arch`"),
            ("F.platformFamily == 'RedHat'", "RedHat", "write `rhel`"),
            ("F.platformFamily == 'redhat'", "redhat", "write `rhel`"),
            ("lower(F.platformFamily) == 'redhat'", "redhat", "write `rhel`"),
            ("F.platformFamily == 'OracleLinux'", "OracleLinux", "write `rhel`"),
            ("F.platformFamily == 'ubuntu'", "ubuntu", "write `debian`"),
            ("F.platform == 'RHEL'", "RHEL", "write `redhat`"),
            ("F.platform == 'Red Hat'", "Red Hat", "write `redhat`"),
            ("F.platform == 'RedHat'", "RedHat", "write `redhat`"),
            ("F.platform == 'OracleLinux'", "OracleLinux", "write `oracle`"),
            ("F.os == 'Debian'", "Debian", "write `Facts.host.info.platformFamily == 'debian'`"),
            ("F.os == 'Ubuntu'", "Ubuntu", "write `Facts.host.info.platform == 'ubuntu'`"),
            ("F.os == 'RedHat'", "RedHat", "write `Facts.host.info.platformFamily == 'rhel'`"),
            ("F.kernelArch == 'amd64'", "amd64", "write `x86_64`"),
            ("F.kernelArch in ['x86_64', 'ARM64']", "ARM64", "write `aarch64`"),
            ("F.platformVersion >= '9'", "9", "compare numbers: `float(F.platformVersion) >= 9`"),
            ("F.platformVersion > '9.1'", "9.1", "compare numbers: `float(F.platformVersion) > 9.1`"),
            ("'9.1' < F.platformVersion", "9.1", "compare numbers: `float(F.platformVersion) > 9.1`"),
            ("F.platformMajorVersion >= '9'", "9", "compare numbers: `int(F.platformMajorVersion) >= 9`"),
            ("F.kernelVersion >= '5'", "5", "compare numbers: `int(split(F.kernelVersion, '.')[0]) >= 5`"),
            (
                "F.kernelVersion >= '5.4'",
                "5.4",
                "compare numbers: `(let v = split(F.kernelVersion, '.'); int(v[0]) * 1000 + int(v[1]) >= 5004)`",
            ),
            ("Data.v >= '9.5'", "9.5", "compare numbers: `float(Data.v) >= 9.5`"),
            ("Facts.memory.virtual.total > 4", "4", "write `4 * 1024 * 1024 * 1024` for GiB"),
            (
                "Facts.memory.virtual.total >= 2048 && true",
                "2048",
                "write `2048 * 1024 * 1024 * 1024` for GiB",
            ),
        ] {
            let long =
                |text: &str| text.replace("F.", "Facts.host.info.").replace("F?.", "Facts.host.info?.");
            let expression = long(short);
            let found = found(&expression);
            let told = found.first().map(|doubt| (&expression[doubt.range.clone()], &*doubt.hint));
            assert_eq!(told, Some((&*long(place), &*long(hint))), "{expression}");
            // The hint of numbers is an expression.
            if let Some(written) = found[0].hint.strip_prefix("compare numbers: `") {
                assert!(self::found(written.trim_end_matches('`')).is_empty(), "{written}");
            }
        }
    }

    #[test]
    fn comments_in_place_of_operands_are_told() {
        for (expression, told) in [
            ("Data.p // 2", Some("`//` begins a comment: `2` is left out")),
            ("Data.p == 8 // and false", Some("`//` begins a comment: `and false` is left out")),
            ("Data.a //\n+ 2", None),
            ("Data.a + // the first\nData.b // the second", None),
            ("Data.a // 2\n+ 1", Some("`//` begins a comment: `2` is left out")),
            ("'http://x' /* // */ + `//`", None),
        ] {
            let expression =
                Expression::parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
            let found = cut_operands(&expression);
            assert_eq!(found.first().map(|doubt| &*doubt.message), told, "{}", expression.text());
        }
    }

    #[test]
    fn comparisons_that_are_fine_are_silent() {
        for expression in [
            "Facts.host.info.platform == 'debian'",
            "Facts.host.info.platform in Data.Platforms",
            "Facts.host.info.platformFamily in ['debian', 'rhel', 'fedora', 'suse', 'arch']",
            "Facts.host.info.platform in ['redhat', 'oracle', 'rocky', 'centos', 'Kylin']",
            "Facts.host.info.platformVersion == '12'",
            "float(Facts.host.info.platformVersion) >= 12",
            "Facts.host.info.kernelArch == 'x86_64'",
            "Facts.host.info.packageArch == 'amd64'",
            "Facts.host.info.os matches '(?i)Linux'",
            "Facts.host.info.os matches 'Linux|linux'",
            "Facts.host.info.os matches '[Ll]inux'",
            "upper(Facts.host.info.platform) == 'DEBIAN'",
            "lower(Data.x) == 'debian'",
            "Facts.host.info.hostname == 'Web1'",
            "Data.date >= '2024-01-01'",
            "Data.name < 'm'",
            "Facts.memory.virtual.total > 4 * 1024 * 1024 * 1024",
            "Facts.memory.virtual.total > 4294967296",
            "Facts.memory.virtual.totalX > 4",
            "Data.n > 4",
        ] {
            let found = found(expression);
            assert!(found.is_empty(), "{expression}: {found:?}");
        }
    }

    #[test]
    fn comparisons_in_vain_are_told_in_templates() {
        for (template, place) in [
            ("{% if Facts.host.info.os == 'Linux' %}", Some("Linux")),
            ("{% if 'Linux' == facts.host.info.os %}", Some("Linux")),
            ("{{ Facts.host.info.platformFamily in ['RedHat', 'debian'] }}", Some("RedHat")),
            ("{{ lookup('facts.host.info.os') == 'Linux' }}", Some("Linux")),
            ("{{ Facts.host.info.platformVersion >= '9' }}", Some("9")),
            ("{{ Facts.host.info.platform|lower == 'Debian' }}", Some("Debian")),
            ("{{ {'Debian': 1}[Facts.host.info.platformFamily] }}", Some("Debian")),
            ("{{ Facts.memory.virtual.total > 4 * 1024 }}", None),
            ("{{ Facts.host.info.os == 'linux' }}", None),
        ] {
            let found = doubts(templates::comparisons(template), template);
            assert_eq!(found.first().map(|doubt| &template[doubt.range.clone()]), place, "{template}");
        }
    }
}
