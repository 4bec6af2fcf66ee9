//! Orders of versions, compared with what the package tools themselves say about random pairs.

use std::fmt::Write as _;

use ccm_testkit::{Random, Scratch, shell, skipped, usual_or_long};

use super::*;

/// Number of pairs; `CCM_TEST_LONG` selects the greater one.
const PAIRS: (usize, usize) = (40, 1000);

/// Numbers and words, from which versions are put together.
const PARTS: [&str; 18] = [
    "0", "1", "2", "9", "10", "01", "00", "007", "20230101", "a", "b", "rc", "rc1", "alpha", "beta", "pre",
    "git", "el9",
];

/// Maker of versions.
struct Versions(Random);

impl Versions {
    /// Returns the parts of a version or release with the separators between.
    fn segments(&mut self, separators: &[&str], max: usize) -> String {
        let mut text = self.0.one_of(&PARTS[..9]).to_owned();
        for _ in 0..self.0.below(max) {
            text += self.0.one_of(separators);
            text += self.0.one_of(&PARTS);
        }
        if self.0.below(8) == 0 {
            text += self.0.one_of(separators);
        }
        text
    }

    fn version(&mut self, separators: &[&str]) -> String {
        let epoch = self.0.one_of(&["", "", "", "0:", "1:", "02:"]);
        let mut version = epoch.to_owned() + &self.segments(separators, 5);
        if self.0.below(2) == 0 {
            version = version + "-" + &self.segments(separators, 3);
        }
        version
    }

    /// Returns two versions, most of which begin alike, for else the first number decides.
    fn pair(&mut self, separators: &[&str]) -> (String, String) {
        let left = self.version(separators);
        let right = match self.0.below(4) {
            0 => self.version(separators),
            1 => left.clone() + self.0.one_of(separators) + self.0.one_of(&PARTS),
            2 => left[..=self.0.below(left.len())].trim_end_matches(['-', ':']).to_owned(),
            _ => {
                let (from, to) = (self.0.one_of(separators), self.0.one_of(separators));
                if from.is_empty() { left.clone() } else { left.replacen(from, to, 1) }
            }
        };
        if right.is_empty() { (left.clone(), left) } else { (left, right) }
    }
}

/// Compares the order of a scheme with that of a program: `script` prints -1, 0 or 1 for each line of the file `pairs`.
#[expect(clippy::print_stderr, reason = "whoever runs the test wants to know how many were compared")]
fn assert_order(scheme: VersionScheme, program: &str, separators: &[&str], script: &str) {
    let scratch = Scratch::new();
    if shell(&format!("command -v {program}"), scratch.path()).is_empty() {
        return skipped(&format!("{program} is not installed"));
    }
    let count = usual_or_long(PAIRS.0, PAIRS.1);
    let mut random = Versions(Random::new(0x2545_f491_4f6c_dd1d));
    let pairs: Vec<_> = (0..count).map(|_| random.pair(separators)).collect();
    let mut lines = String::new();
    for (left, right) in &pairs {
        writeln!(lines, "{left} {right}").unwrap();
    }
    scratch.write("pairs", lines);
    let printed = shell(script, scratch.path());
    let orders: Vec<&str> = printed.split_whitespace().collect();
    assert_eq!(orders.len(), count, "{printed}");
    let mut counts = [0; 3];
    for ((left, right), order) in pairs.iter().zip(orders) {
        let expected = order.parse::<i32>().unwrap().cmp(&0);
        assert_eq!(scheme.compare(left, right), expected, "{program}: {left} {right}");
        assert_eq!(scheme.compare(right, left), expected.reverse(), "{program}: {right} {left}");
        counts[usize::try_from(expected as i8 + 1).unwrap()] += 1;
    }
    eprintln!("{program}: {count} pairs; older, equal, newer: {counts:?}");
}

#[test]
fn versions_of_debian_are_in_the_order_of_dpkg() {
    let script = "while read -r a b; do if dpkg --compare-versions $a lt $b; then echo -1; \
        elif dpkg --compare-versions $a gt $b; then echo 1; else echo 0; fi; done < pairs";
    assert_order(VersionScheme::Debian, "dpkg", &[".", "+", "~", "", "..", "~~", "+~"], script);
}

#[test]
fn versions_of_rpm_are_in_the_order_of_rpm() {
    let script = "rpm --eval \"%{lua: for line in io.lines('pairs') do \
        local a, b = line:match('(%S+) (%S+)') print(rpm.vercmp(a, b) .. '\\n') end}\"";
    assert_order(VersionScheme::Rpm, "rpm", &[".", "_", "+", "~", "^", "", "..", "~^", "^~"], script);
}

#[test]
fn versions_of_pacman_are_in_the_order_of_vercmp() {
    let script = "while read -r a b; do vercmp $a $b; done < pairs";
    assert_order(VersionScheme::Alpm, "vercmp", &[".", "_", "+", "~", "^", "", "..", "._"], script);
}
