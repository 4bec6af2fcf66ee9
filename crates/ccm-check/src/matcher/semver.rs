//! Versions of Semantic Versioning 2.0.0, and constraints on them: comparisons, joined by blanks (and) and `||` (or).

use std::cmp::Ordering;

/// Maximum length of a constraint in bytes.
const MAX_LENGTH: usize = 1000;

/// Version of three numbers, with a pre-release part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    numbers: [u64; 3],
    pre_release: Vec<Identifier>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    // Numbers come before words.
    Number(u64),
    Word(String),
}

impl Version {
    /// Reads a version. All three numbers are needed, and none has a leading zero.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
        let (numbers, pre_release) =
            rest.split_once('-').map_or((rest, None), |(numbers, pre)| (numbers, Some(pre)));
        if build.is_some_and(|build| !build.split('.').all(is_word)) {
            return None;
        }
        let mut parts = numbers.split('.').map(number);
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        if parts.next().is_some() {
            return None;
        }
        let pre_release = match pre_release {
            Some(text) => text.split('.').map(identifier).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        Some(Self { numbers, pre_release })
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_numbers = self.numbers.cmp(&other.numbers);
        // A pre-release comes before its version.
        let by_kind = self.pre_release.is_empty().cmp(&other.pre_release.is_empty());
        by_numbers.then(by_kind).then_with(|| self.pre_release.cmp(&other.pre_release))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn number(text: &str) -> Option<u64> {
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

fn identifier(text: &str) -> Option<Identifier> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(text).map(Identifier::Number);
    }
    is_word(text).then(|| Identifier::Word(text.to_owned()))
}

/// Constraint: any of its lists, all of whose ranges hold.
#[derive(Clone, Debug)]
pub(super) struct Constraint(Vec<Vec<Range>>);

/// Versions from `least` on and below `end`, or all others.
#[derive(Clone, Debug)]
struct Range {
    least: Option<Version>,
    end: Option<Bound>,
    is_negated: bool,
}

#[derive(Clone, Debug)]
struct Bound {
    version: Version,
    is_included: bool,
}

impl Constraint {
    /// Reads a constraint such as `>=1.2.0 <2.0.0 || 3.x`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let lists: Option<Vec<Vec<Range>>> = text.split("||").map(ranges).collect();
        lists.map(Self)
    }

    /// Returns `true` if a version meets the constraint.
    pub(super) fn holds(&self, version: &Version) -> bool {
        self.0.iter().any(|ranges| ranges.iter().all(|range| range.contains(version)))
    }
}

/// Reads comparisons separated by blanks. A blank may also follow an operator.
fn ranges(text: &str) -> Option<Vec<Range>> {
    let mut ranges = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let operator = rest.bytes().take_while(|byte| matches!(byte, b'<' | b'>' | b'=' | b'!')).count();
        let (operator, behind) = rest.split_at(operator);
        let behind = behind.trim_start();
        let end = behind.find(|end: char| end.is_whitespace() || matches!(end, '<' | '>' | '=' | '!'));
        let (version, behind) = behind.split_at(end.unwrap_or(behind.len()));
        ranges.push(range(operator, version)?);
        rest = behind.trim_start();
    }
    Some(ranges).filter(|ranges| !ranges.is_empty())
}

fn range(operator: &str, written: &str) -> Option<Range> {
    // A version with an `x` stands for all versions from the first to the next one that it does not cover.
    let (from, to) = match Version::parse(written) {
        Some(version) => (version.clone(), Bound { version, is_included: true }),
        None => wildcard(written)?,
    };
    let (least, end, is_negated) = match operator {
        "" | "=" | "==" => (Some(from), Some(to), false),
        "!" | "!=" => (Some(from), Some(to), true),
        ">=" => (Some(from), None, false),
        "<" => (Some(from), None, true),
        "<=" => (None, Some(to), false),
        ">" => (None, Some(to), true),
        _ => return None,
    };
    Some(Range { least, end, is_negated })
}

/// Reads `x`, `1.x`, `1.2.x` or `1.x.x` as its first version, and the end of its versions.
fn wildcard(written: &str) -> Option<(Version, Bound)> {
    let parts: Vec<&str> = written.split('.').collect();
    let is_wild = |part: &&str| matches!(*part, "x" | "X" | "*");
    let fixed = parts.iter().position(is_wild)?;
    if parts.len() > 3 || !parts[fixed..].iter().all(is_wild) {
        return None;
    }
    let mut numbers = [0; 3];
    for (place, part) in numbers.iter_mut().zip(&parts[..fixed]) {
        *place = number(part)?;
    }
    let version = |numbers| Version { numbers, pre_release: Vec::new() };
    let mut next = numbers;
    match fixed.checked_sub(1) {
        Some(last) => next[last] = next[last].checked_add(1)?,
        None => next = [u64::MAX; 3],
    }
    Some((version(numbers), Bound { version: version(next), is_included: false }))
}

impl Range {
    fn contains(&self, version: &Version) -> bool {
        let from = self.least.as_ref().is_none_or(|least| version >= least);
        let to = self
            .end
            .as_ref()
            .is_none_or(|end| if end.is_included { version <= &end.version } else { version < &end.version });
        (from && to) != self.is_negated
    }
}

#[cfg(test)]
mod tests {
    use super::{Constraint, Version};

    #[test]
    fn versions_have_three_numbers_and_an_order() {
        for text in [
            "", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.x", "1.2.3-", "1.2.3-01", "1.2.3+", "v1.2.3", "1.2.3\n",
        ] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        let ordered =
            ["1.2.2", "1.2.3-1", "1.2.3-2", "1.2.3-10", "1.2.3-a", "1.2.3-a.1", "1.2.3-b", "1.2.3", "1.10.0"];
        for pair in ordered.windows(2) {
            let [one, two] = pair else { continue };
            assert!(Version::parse(one) < Version::parse(two), "{one} {two}");
        }
        assert_eq!(Version::parse("1.2.3+build.7"), Version::parse("1.2.3"));
    }

    #[test]
    fn constraints_hold_or_not() {
        for (constraint, met, unmet) in [
            (">=1.2.0 <2.0.0", &["1.2.0", "1.9.9", "2.0.0-rc"][..], &["1.1.9", "2.0.0"][..]),
            (">2.0.0 || <1.0.0", &["0.9.0", "2.0.1"], &["1.0.0", "2.0.0"]),
            ("1.2.3", &["1.2.3", "1.2.3+b"], &["1.2.4", "1.2.3-1"]),
            ("!=1.2.3", &["1.2.4"], &["1.2.3"]),
            ("!1.2.3", &["1.2.4"], &["1.2.3"]),
            ("> 1.0.0", &["1.0.1"], &["1.0.0"]),
            ("<=1.0.0", &["1.0.0", "0.1.0"], &["1.0.1"]),
            ("1.x", &["1.0.0", "1.9.0"], &["2.0.0", "0.9.0"]),
            ("1.2.*", &["1.2.0", "1.2.9"], &["1.3.0"]),
            (">1.2.x", &["1.3.0"], &["1.2.9"]),
            ("<=1.2.x", &["1.2.9", "0.1.0"], &["1.3.0"]),
            ("<1.2.x", &["1.1.9"], &["1.2.0"]),
            ("!=1.x", &["0.9.0", "2.0.0"], &["1.5.0"]),
            (">=1.0.0<2.0.0", &["1.5.0"], &["2.5.0"]),
        ] {
            let parsed = Constraint::parse(constraint).expect(constraint);
            for (versions, expected) in [(met, true), (unmet, false)] {
                for version in versions {
                    let read = Version::parse(version).expect(version);
                    assert_eq!(parsed.holds(&read), expected, "{constraint}: {version}");
                }
            }
        }
        for text in ["", " ", "||", "1.2", ">=", "~1.2.3", "^1.0.0", "=>1.0.0", "x.1", "1.0.0 ||", "a.b.c"] {
            assert!(Constraint::parse(text).is_none(), "{text}");
        }
    }
}
