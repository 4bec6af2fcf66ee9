//! Warnings about facts that are compared with a value that they never have, or in an order that is none.

use ccm_data::hierarchy::LOWER_CASE_FACTS;
use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span};

use crate::resolve::messages::shown;

/// Facts that are compared with words of other programs, with the words of the kernel.
const OTHER_WORDS: [(&str, &[(&str, &str)]); 1] = [(
    "host.info.kernelArch",
    &[
        ("amd64", "x86_64"),
        ("x64", "x86_64"),
        ("x86-64", "x86_64"),
        ("arm64", "aarch64"),
        ("i386", "i686"),
        ("armhf", "armv7l"),
        ("ppc64el", "ppc64le"),
    ],
)];

/// Facts that are versions, and are texts.
const VERSIONS: [&str; 2] = ["host.info.platformVersion", "host.info.kernelVersion"];

/// Facts that are numbers of bytes.
const BYTES: [&str; 4] =
    ["memory.virtual.total", "memory.virtual.available", "memory.swap.total", "memory.virtual.free"];

/// Least number of bytes that a machine can have, and that a comparison can mean.
const MIN_BYTES: u64 = 1 << 20;

/// Returns the warnings about comparisons in a text. Comments are left out.
pub(crate) fn warnings(source: SourceId, text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut search = |fact: &str, check: &dyn Fn(&str) -> Option<Misread>| {
        for at in memchr::memmem::find_iter(text.as_bytes(), fact) {
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let behind = &text[at + fact.len()..];
            // The name may be the beginning of another one.
            let is_whole = !behind.starts_with(|next: char| next.is_alphanumeric() || next == '_');
            if text[line..at].contains('#') || !is_whole {
                continue;
            }
            let behind = behind.split('\n').next().unwrap_or_default();
            let Some(Misread { value, message, hint }) = check(behind) else { continue };
            let start = value.as_ptr() as usize - text.as_ptr() as usize;
            let span = Span::new(source, start, start + value.len());
            found.push(Diagnostic::warning(DiagnosticKind::NoEffect, span, message).with_hint(hint));
        }
    };
    for fact in LOWER_CASE_FACTS {
        search(fact, &|behind| in_capitals(fact, behind));
    }
    for (fact, words) in OTHER_WORDS {
        search(fact, &|behind| other_word(fact, words, behind));
    }
    for fact in VERSIONS {
        search(fact, &|behind| ordered_as_text(fact, behind));
    }
    for fact in BYTES {
        search(fact, &|behind| in_larger_units(fact, behind));
    }
    found
}

/// Value that a fact is compared with.
struct Misread<'t> {
    value: &'t str,
    message: String,
    hint: String,
}

fn in_capitals<'t>(fact: &str, behind: &'t str) -> Option<Misread<'t>> {
    let is_capital =
        |word: &&str| word.contains(|part: char| part.is_ascii_uppercase()) && !word.contains('{');
    let value = compared_texts(behind).into_iter().find(is_capital)?;
    let message = format!("`{fact}` is in lower case, and never `{}`", shown(value));
    Some(Misread { value, message, hint: format!("write `{}`", shown(&value.to_lowercase())) })
}

fn other_word<'t>(fact: &str, words: &[(&str, &str)], behind: &'t str) -> Option<Misread<'t>> {
    let found = compared_texts(behind).into_iter().find_map(|value| {
        let (_, meant) = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(value))?;
        Some((value, meant))
    });
    let (value, meant) = found?;
    let message = format!("`{fact}` has the words of the kernel, and is never `{}`", shown(value));
    Some(Misread { value, message, hint: format!("write `{meant}`") })
}

fn ordered_as_text<'t>(fact: &str, behind: &'t str) -> Option<Misread<'t>> {
    let behind = behind.trim_start_matches(' ');
    let rest = behind.strip_prefix(['<', '>'])?;
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start_matches(' ');
    let value = quoted(rest).filter(|value| value.starts_with(|first: char| first.is_ascii_digit()))?;
    let message = "texts are compared letter by letter, so that `10` is less than `9`".to_owned();
    let hint = format!("compare numbers, such as `float(Facts.{fact}) >= {}`", shown(value));
    Some(Misread { value, message, hint })
}

fn in_larger_units<'t>(fact: &str, behind: &'t str) -> Option<Misread<'t>> {
    let behind = behind.trim_start_matches(' ');
    let rest = behind.strip_prefix(['<', '>'])?;
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start_matches(' ');
    let end = rest.find(|part: char| !part.is_ascii_digit()).unwrap_or(rest.len());
    let (value, behind) = rest.split_at(end);
    let number: u64 = value.parse().ok()?;
    // A product, such as `4 * 1024 * 1024`, counts bytes.
    let is_alone = !behind.trim_start_matches(' ').starts_with(['*', '.', '_', 'e']);
    let message = format!("`{fact}` is a number of bytes");
    (is_alone && number > 0 && number < MIN_BYTES).then(|| Misread {
        value,
        message,
        hint: format!("write `{value} * 1024 * 1024 * 1024` for GiB"),
    })
}

/// Returns the texts that a name is compared with: one behind `==` and `!=`, and those of a list behind `in`.
fn compared_texts(behind: &str) -> Vec<&str> {
    let behind = behind.trim_start_matches(' ');
    if let Some(rest) = behind.strip_prefix("==").or_else(|| behind.strip_prefix("!=")) {
        return quoted(rest.trim_start_matches(' ')).into_iter().collect();
    }
    let list = behind.strip_prefix("in ").or_else(|| behind.strip_prefix("not in "));
    let list = list.and_then(|rest| rest.trim_start_matches(' ').strip_prefix('['));
    let Some((list, _)) = list.and_then(|list| list.split_once(']')) else { return Vec::new() };
    list.split(',').filter_map(|element| quoted(element.trim_start_matches(' '))).collect()
}

/// Returns the text between quotes at the beginning.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote).map(|(inner, _)| inner)
}

#[cfg(test)]
mod tests {
    use ccm_model::SourceMap;

    use super::*;

    #[test]
    fn facts_that_are_compared_in_vain_are_told() {
        let source = SourceMap::default().add("m.yaml", "");
        for (text, expected) in [
            ("if: \"Facts.host.info.platformFamily == 'Debian'\"", Some("Debian")),
            ("if: Facts.host.info.os != \"Linux\"", Some("Linux")),
            ("if: Facts.host.info.platform in ['debian', 'Ubuntu']", Some("Ubuntu")),
            ("if: Facts.host.info.platform not in ['Arch']", Some("Arch")),
            ("if: Facts.host.info.kernelArch == 'amd64'", Some("amd64")),
            ("if: Facts.host.info.kernelArch in ['x86_64', 'ARM64']", Some("ARM64")),
            ("if: Facts.host.info.platformVersion >= '9'", Some("9")),
            ("if: Facts.host.info.platformVersion < \"12.1\"", Some("12.1")),
            ("if: Facts.memory.virtual.total > 4", Some("4")),
            ("if: Facts.memory.virtual.total >= 2048 && true", Some("2048")),
            ("if: \"lookup('facts.host.info.platform') == 'Ubuntu'\"", None),
            ("if: Facts.host.info.platform == 'debian'", None),
            ("if: Facts.host.info.platform in Data.Platforms", None),
            ("if: Facts.host.info.platformVersion == '12'", None),
            ("if: float(Facts.host.info.platformVersion) >= 12", None),
            ("if: Facts.host.info.kernelArch == 'x86_64'", None),
            ("if: Facts.memory.virtual.total > 4 * 1024 * 1024 * 1024", None),
            ("if: Facts.memory.virtual.total > 4294967296", None),
            ("if: Facts.memory.virtual.totalX > 4", None),
            ("# Facts.host.info.os == 'Linux'", None),
            ("if: Facts.host.info.os == 'Linux", None),
        ] {
            let found = warnings(source, text);
            let marked = found.first().and_then(Diagnostic::span).map(|span| &text[span.range()]);
            assert_eq!(marked, expected, "{text}");
        }
    }
}
