//! Index of rules, so that a command is compared only with rules that may match.

use std::collections::{BTreeMap, HashMap};

use crate::effect::{Effect, EffectKind};
use crate::matching::{Subject, base};
use crate::rule::{PolicyRule, RuleMatch};

/// Positions of rules by what they need. Every rule is in one of the parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleIndex {
    /// Rules about programs, by name without directories.
    by_program: HashMap<String, Vec<usize>>,
    /// Other rules about kinds of effects.
    by_effect: BTreeMap<EffectKind, Vec<usize>>,
    /// All other rules.
    others: Vec<usize>,
    /// Number of rules.
    count: usize,
}

impl RuleIndex {
    pub(crate) fn of(rules: &[PolicyRule]) -> Self {
        let mut index = Self { count: rules.len(), ..Self::default() };
        for (position, rule) in rules.iter().enumerate() {
            let condition = &rule.condition;
            if let Some(names) = program_names(condition) {
                for name in names {
                    index.by_program.entry(name.to_owned()).or_default().push(position);
                }
            } else if !condition.effects.is_empty() {
                for kind in &condition.effects {
                    index.by_effect.entry(*kind).or_default().push(position);
                }
            } else {
                index.others.push(position);
            }
        }
        index
    }

    /// Returns the positions of the rules that may match, in order. No other rule matches.
    pub(crate) fn candidates(&self, subject: Subject<'_>) -> Vec<usize> {
        let (mut found, effects) = match subject {
            // Rules about programs match no change.
            Subject::Change(change) => (Vec::new(), &change.effects),
            Subject::Command(command) => {
                let names: Vec<Option<&str>> = match (&command.program, command.words.first()) {
                    (Some(program), _) => {
                        let located = program.location.iter();
                        let paths = located.flat_map(|found| [&*found.path, &*found.canonical]).map(Some);
                        std::iter::once(program.name.as_deref())
                            .chain(paths)
                            .map(|name| name.map(base))
                            .collect()
                    }
                    (None, Some(word)) => vec![word.text()],
                    (None, None) => Vec::new(),
                };
                if names.contains(&None) {
                    // A program that is not known may be any.
                    return (0..self.count).collect();
                }
                if command.open_words().next().is_some() {
                    return (0..self.count).collect();
                }
                (self.named(names.into_iter().flatten()), &command.effects)
            }
        };
        found.extend_from_slice(&self.others);
        if !self.by_effect.is_empty() {
            self.add_by_effect(effects, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn named<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<usize> {
        names.filter_map(|name| self.by_program.get(name)).flatten().copied().collect()
    }

    fn add_by_effect(&self, effects: &[Effect], found: &mut Vec<usize>) {
        for (at, effect) in effects.iter().enumerate() {
            let is_first = effects.iter().take(at.min(8)).all(|before| before.kind != effect.kind);
            if let Some(rules) = self.by_effect.get(&effect.kind).filter(|_| is_first) {
                found.extend_from_slice(rules);
            }
        }
    }
}

/// Returns the names of the programs that a rule is about, if it is about these alone.
fn program_names(condition: &RuleMatch) -> Option<Vec<&str>> {
    let names =
        condition.programs.iter().map(|glob| glob.literals().filter(|_| !glob.as_str().contains('/')));
    let names = names.collect::<Option<Vec<_>>>()?.concat();
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use ccm_shell::ShellDialect;

    use super::*;
    use crate::analysis::AnalysisLimits;
    use crate::matching::{GovernedChange, MatchPurpose, Matching};
    use crate::testing::PolicyMachine;
    use crate::{PolicyRequest, PolicyText, analyse, read_policy};

    const POLICY: &str = r#"
ccm_policy: 1
rules:
  - {match: {program: git}, deny: true}
  - {match: {program: [rm, "{cat,ls}"], effect: delete}, deny: true}
  - {match: {program: "py*"}, deny: true}
  - {match: {program: /usr/bin/git}, deny: true}
  - {match: {effect: [write, delete], path: "/etc/**"}, ask: true}
  - {match: {effect: service, resource: "service#a"}, ask: true}
  - {match: {resource: "file#/etc/x"}, ask: true}
  - {match: {option: {--force: null}}, deny: true}
  - {match: {program: "g*", args: [push, "**"]}, deny: true}
  - {when: 'caller.kind == "tool"', ask: true}
  - {match: {program: cd}, deny: true}
  - {match: {program: vi}, deny: true}
"#;

    fn policy() -> crate::Policy {
        let text = PolicyText { name: "policy.yaml".to_owned(), text: POLICY.into() };
        read_policy(&text, &[]).policy.expect("a policy")
    }

    fn left_out(policy: &crate::Policy, subject: Subject<'_>) -> Vec<usize> {
        let candidates = policy.rule_index.candidates(subject);
        assert!(candidates.is_sorted_by(|one, next| one < next), "{candidates:?}");
        for (position, rule) in policy.rules.iter().enumerate() {
            let matchings =
                [MatchPurpose::Restrict, MatchPurpose::Lift].map(|way| rule.condition.compare(subject, way));
            let matches = matchings.iter().any(|matching| *matching != Matching::No);
            assert!(!matches || candidates.contains(&position), "rule {position}, {subject:?}");
        }
        (0..policy.rules.len()).filter(|position| !candidates.contains(position)).collect()
    }

    #[test]
    fn no_rule_that_matches_a_command_is_left_out() {
        let policy = policy();
        let machine = PolicyMachine::debian()
            .with("/usr/bin/vim.basic", crate::LookupPathKind::File)
            .with("/usr/bin/editor", crate::LookupPathKind::File)
            .with_link("/usr/bin/editor", "/usr/bin/vi")
            .with("/usr/bin/vi", crate::LookupPathKind::File);
        let mut all = 0;
        for text in [
            "git push --force origin main",
            "/usr/bin/git status",
            "./git status",
            "$x push",
            "x=git; $x push",
            "rm -rf /etc/x",
            "cat /etc/x > /etc/y; ls",
            "python3 -c 'print(1)'",
            "systemctl restart a",
            "cd /tmp && env git push",
            "find . -exec rm {} +",
            "editor x",
            "sudo -u root git push",
            "a=1",
            "> /etc/x",
            "f() { git push; }; f",
            "unknown-program push --force",
            "sh -c 'git push; rm -r /etc'",
        ] {
            let request = PolicyRequest::text(text, ShellDialect::Sh, "/w");
            let analysis = analyse(&request, &machine, &AnalysisLimits::default());
            assert!(!analysis.commands.is_empty(), "{text}");
            for command in &analysis.commands {
                all += left_out(&policy, Subject::Command(command)).len();
            }
        }
        // Otherwise, the index would be of no use.
        assert!(all > 100, "{all}");
    }

    #[test]
    fn rules_about_programs_are_left_out_for_a_change() {
        let effects = vec![Effect::new(EffectKind::Write, Some("/etc/x".to_owned()))];
        let change = GovernedChange {
            type_name: "file".to_owned(),
            name: "/etc/x".to_owned(),
            effects,
            ..GovernedChange::default()
        };
        assert_eq!(left_out(&policy(), Subject::Change(&change)), [0, 1, 5, 10, 11]);
    }
}
