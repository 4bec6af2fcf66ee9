//! Overrides that no entry of `order` can select, and entries that can select none.

use ccm_expr::{Expression, Function, LetterCase, ParseContext};
use ccm_model::{Diagnostic, DiagnosticKind, NodeKey, Span, Wildcard, Wildcards, closest, escape_control};

use super::{EntryOutcome, Hierarchy, Merge, OrderEntry};
use crate::fact_words::{self, LOWER_CASE_FACTS};
use crate::interpolation::{SplitText, TextPart, split};
use crate::layers::ValueSource;

/// Name of the only entry of `order` where a manifest has overrides and no hierarchy.
pub(super) const DEFAULT: &str = "default";

/// Names of levels for all machines.
const GENERAL: [&str; 6] = ["all", "base", "common", "default", "defaults", "global"];

/// Maximum number of entries and of overrides that are compared with each other.
const MAX_COMPARED: usize = 500;

impl Hierarchy {
    /// Returns the hierarchy of a manifest without `hierarchy`.
    pub fn implied(overrides: &NodeKey) -> Self {
        let entry = OrderEntry { text: DEFAULT.into(), span: overrides.span };
        Self { order: vec![entry], is_implied: true, ..Self::default() }
    }

    /// Returns warnings for overrides and entries of `order` that never have an effect. `names` are the keys of
    /// `overrides`, `outcomes` those of the entries, and `has_key` tells of a key of the data.
    pub fn without_effect(
        &self,
        overrides: Option<&NodeKey>,
        names: &[&NodeKey],
        outcomes: &[EntryOutcome],
        has_key: impl Fn(&str) -> bool,
    ) -> Vec<Diagnostic> {
        if let Some(key) = overrides.filter(|_| self.is_implied && !names.is_empty())
            && names.iter().all(|name| &*name.text != DEFAULT)
        {
            let message = format!(
                "`overrides` have no effect: there is no `hierarchy`, and no override is called `{DEFAULT}`"
            );
            let first = quoted_entry(&names[0].text);
            // The key of a value in the place of a level.
            let hint = if has_key(&names[0].text) {
                format!("write `overrides: {{{DEFAULT}: {{{first}: …}}}}`, or the value itself in `data`")
            } else {
                format!("write `hierarchy: {{order: [{first}]}}`")
            };
            return vec![Diagnostic::warning(DiagnosticKind::NoEffect, key.span, message).with_hint(hint)];
        }
        if self.is_incomplete || self.order.len() > MAX_COMPARED || names.len() > MAX_COMPARED {
            return Vec::new();
        }
        let patterns: Vec<EntryPattern> =
            self.order.iter().map(|entry| EntryPattern::of(&entry.text)).collect();
        let unnamed: Vec<&NodeKey> = names
            .iter()
            .copied()
            .filter(|name| !patterns.iter().any(|pattern| pattern.matches(&name.text)))
            .collect();
        let mut warnings = Vec::new();
        let mut explained: Vec<&str> = Vec::new();
        let entries = self.order.iter().zip(&patterns).zip(outcomes).filter(|_| !self.is_implied);
        for ((entry, pattern), outcome) in entries {
            let Some(name) = pattern.literal() else { continue };
            let file = match outcome {
                EntryOutcome::NotFound { file, .. } => file.as_deref(),
                // A data file has this name, or may have.
                _ if self.data_dir.is_some() => continue,
                _ => None,
            };
            if names.iter().any(|known| *known.text == *name) {
                continue;
            }
            let meant = closest(name, unnamed.iter().map(|name| &*name.text));
            // Another machine may have this file. The directory of the manifest is the same on all machines.
            if self.has_directory_of_machine() && meant.is_none() {
                continue;
            }
            explained.extend(meant);
            let name = escape_control(name);
            let message = match file {
                None => format!("this has no effect: no override is called `{name}`"),
                Some(file) => format!(
                    "this has no effect: no override is called `{name}`, and there is no `{}`",
                    escape_control(file)
                ),
            };
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, entry.span, message);
            let is_expression = ["Facts.", "Environ."].iter().any(|root| entry.text.starts_with(root));
            let level =
                ["yaml", "yml"].iter().find_map(|ending| entry.text.strip_suffix(ending)?.strip_suffix('.'));
            warnings.push(match level {
                _ if is_expression => {
                    warning.with_hint(format!("write `\"{{{{ {name} }}}}\"` for its value"))
                }
                Some(level) if meant.is_none() => warning
                    .with_hint(format!("write `{}`, the name without the ending", escape_control(level))),
                _ => warning.with_suggestion(meant),
            });
        }
        warnings.extend(self.misplaced_literal(&patterns, outcomes));
        for name in unnamed.into_iter().filter(|name| !explained.contains(&&*name.text)) {
            let message = format!(
                "this override has no effect: no entry of `order` names `{}`",
                escape_control(&name.text)
            );
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, name.span, message);
            let near = self
                .order
                .iter()
                .zip(&patterns)
                .find_map(|(entry, pattern)| pattern.near(&name.text).map(|meant| (entry, meant)));
            warnings.push(match near {
                Some((entry, meant)) => warning
                    .with_suggestion(Some(&escape_control(&meant)))
                    .with_label(entry.span, "this entry"),
                None if self.is_implied => {
                    warning.with_hint("without `hierarchy`, only the override `default` applies")
                }
                None => warning.with_hint(format!("add `{}` to `order`", quoted_entry(&name.text))),
            });
        }
        warnings.extend(self.other_case(names, outcomes));
        warnings
    }

    /// Returns warnings about overrides whose names differ only in the case of letters from a level of this machine.
    fn other_case(&self, names: &[&NodeKey], outcomes: &[EntryOutcome]) -> Vec<Diagnostic> {
        let differs = |level: &str, name: &str| level != name && level.to_lowercase() == name.to_lowercase();
        let warning = |(entry, outcome): (&OrderEntry, &EntryOutcome)| {
            let EntryOutcome::NotFound { name: level, .. } = outcome else { return None };
            let name = names.iter().find(|name| differs(level, &name.text))?;
            // What can't be the name on any machine is reported as such.
            if !EntryPattern::of(&entry.text).matches(&name.text) {
                return None;
            }
            let (level, written) = (escape_control(level), escape_control(&name.text));
            let message = format!("this machine has the level `{level}`, and not `{written}`");
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, name.span, message);
            Some(
                warning
                    .with_hint("write both in the same case of letters")
                    .with_label(entry.span, "this entry"),
            )
        };
        self.order.iter().zip(outcomes).filter_map(warning).collect()
    }

    /// Returns the warning about an entry that every machine has, and that therefore hides others or wins over them.
    fn misplaced_literal(&self, patterns: &[EntryPattern], outcomes: &[EntryOutcome]) -> Option<Diagnostic> {
        let is_everywhere = |number: &usize| {
            let EntryOutcome::Applied { sources, .. } = &outcomes[*number] else { return false };
            let is_of_manifest = sources.iter().any(|source| matches!(source, ValueSource::Override(_)));
            patterns[*number].literal().is_some() && (is_of_manifest || !self.has_directory_of_machine())
        };
        let mut everywhere = (0..outcomes.len().min(patterns.len())).filter(is_everywhere);
        let warn = |number: usize, reason: &str, hint: &str| {
            let entry = &self.order[number];
            let name = escape_control(&entry.text);
            let message = format!("every machine has the level `{name}`, which {reason}");
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, entry.span, message);
            Some(warning.with_hint(hint.replace("NAME", &name)))
        };
        if self.merge == Merge::First {
            let is_not_reached = |outcome: &EntryOutcome| matches!(outcome, EntryOutcome::NotReached(_));
            let hides = |number: &usize| {
                let mut behind = patterns.iter().zip(outcomes).skip(number + 1);
                behind.any(|(pattern, outcome)| pattern.literal().is_none() && is_not_reached(outcome))
            };
            let number = everywhere.find(hides)?;
            let hint = "write `NAME` as the last entry, or `merge: deep` with `NAME` as the first one";
            return warn(number, "hides all entries behind it", hint);
        }
        let is_general = |number: &usize| GENERAL.contains(&&*self.order[*number].text);
        let number = everywhere.find(is_general)?;
        let is_special = |pattern: &EntryPattern| pattern.literal().is_none();
        if !patterns[..number].iter().any(is_special) {
            return None;
        }
        warn(
            number,
            "wins over those before it",
            "write `NAME` as the first entry: with `merge: deep`, later entries win",
        )
    }

    /// Returns the entries of `order` with expressions that can have none of these names on any machine.
    pub fn unmatched<'h>(&'h self, names: &'h [String]) -> impl Iterator<Item = &'h OrderEntry> {
        let is_checked =
            !self.is_incomplete && self.order.len() <= MAX_COMPARED && names.len() <= MAX_COMPARED;
        self.order.iter().filter(move |entry| {
            let pattern = EntryPattern::of(&entry.text);
            is_checked && pattern.literal().is_none() && !names.iter().any(|name| pattern.matches(name))
        })
    }

    /// Returns `true` if an entry of `order` can have a name on some machine.
    pub fn can_name(&self, name: &str) -> bool {
        self.is_incomplete || self.order.iter().any(|entry| EntryPattern::of(&entry.text).matches(name))
    }

    /// Returns the name that was probably meant by one that no entry of `order` can have, with the span of the entry.
    pub fn near_name(&self, name: &str) -> Option<(String, Span)> {
        self.order.iter().find_map(|entry| Some((EntryPattern::of(&entry.text).near(name)?, entry.span)))
    }

    /// Returns `true` if the data files lie in a directory that each machine has for itself.
    fn has_directory_of_machine(&self) -> bool {
        self.data_dir.as_ref().is_some_and(|(path, _)| path.starts_with('/'))
    }
}

/// Prefixes of levels, with the fact that people mean.
const PREFIXES: [(&[&str], &str); 6] = [
    (&["family", "osfamily", "os_family"], "host.info.platformFamily"),
    (&["os", "platform", "distro", "distribution"], "host.info.platform"),
    (&["host", "hostname", "node", "nodes"], "host.info.hostname"),
    (&["arch"], "host.info.kernelArch"),
    (&["codename", "release"], "host.info.platformCodename"),
    (&["virtual"], "host.info.virtualizationRole"),
];

/// Returns the entry of `order` that has a level as its name on the machines that it is for: for `family:debian`, the family
/// of each machine. A literal entry would be a level of all machines.
pub fn entry_for(level: &str) -> String {
    let Some((prefix, separator)) = level.find([':', '/']).map(|at| (&level[..at], &level[at..=at])) else {
        return escape_control(level).into_owned();
    };
    let is_name = |part: char| part.is_ascii_alphanumeric() || part == '_';
    if prefix.is_empty() || !prefix.chars().all(is_name) || GENERAL.contains(&prefix) {
        return escape_control(level).into_owned();
    }
    let known = PREFIXES.iter().find(|(words, _)| words.contains(&prefix)).map(|(_, fact)| *fact);
    format!("{prefix}{separator}{{{{ Facts.{} }}}}", known.unwrap_or(prefix))
}

/// Returns the entry for a level, as an element of a list in YAML.
fn quoted_entry(level: &str) -> String {
    let entry = entry_for(level);
    if entry.contains("{{") { format!("\"{entry}\"") } else { entry }
}

/// Names that an entry of `order` can have: literal texts, with any text for each expression.
struct EntryPattern<'e> {
    /// Literal text before the first expression, and that behind each expression.
    literals: Vec<String>,
    /// The only expression.
    expression: Option<&'e str>,
}

impl<'e> EntryPattern<'e> {
    fn of(entry: &'e str) -> Self {
        let mut literals = vec![String::new()];
        let mut expression = None;
        match split(entry, false) {
            SplitText::Literal => entry.clone_into(&mut literals[0]),
            // The expansion reports the error.
            SplitText::Errors(_) => literals.push(String::new()),
            SplitText::Parts(parts) => {
                for part in parts {
                    match part {
                        TextPart::Literal(literal) => {
                            if let Some(last) = literals.last_mut() {
                                last.push_str(&literal);
                            }
                        }
                        TextPart::Expression { inner, .. } => {
                            expression = Some(&entry[inner]).filter(|_| literals.len() == 1);
                            literals.push(String::new());
                        }
                    }
                }
            }
        }
        Self { literals, expression }
    }

    /// Returns the name of an entry without expressions.
    fn literal(&self) -> Option<&str> {
        match &self.literals[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    fn matches(&self, name: &str) -> bool {
        let literals = self.literals.iter().enumerate();
        let wildcards = literals.flat_map(|(number, literal)| {
            let expression = (number > 0).then_some(Wildcard::AnyCharacters);
            expression.into_iter().chain(literal.chars().map(Wildcard::Character))
        });
        wildcards.collect::<Wildcards>().matches(name) && self.possible(name).is_none()
    }

    /// Returns what is meant by a name that fits the literal texts, with a value that the expression never yields.
    fn possible(&self, name: &str) -> Option<String> {
        let [head, tail] = &self.literals[..] else { return None };
        let value = name.strip_prefix(&**head)?.strip_suffix(&**tail)?;
        let meant = possible_value(self.expression?, value)?;
        Some(format!("{head}{meant}{tail}"))
    }

    /// Returns the name that was probably meant by a similar one: for `famly:` and `family:debian`, `famly:debian`.
    fn near(&self, name: &str) -> Option<String> {
        if let Some(literal) = self.literal() {
            return closest(name, [literal]).map(str::to_owned);
        }
        if let Some(meant) = self.possible(name) {
            return Some(meant);
        }
        let head = self.literals.first()?;
        let end = head.chars().next_back().filter(|end| !end.is_alphanumeric())?;
        let (word, rest) = name.split_once(end)?;
        let meant = closest(word, [head.strip_suffix(end)?])?;
        Some(format!("{meant}{end}{rest}"))
    }
}

/// Returns the value that an expression yields in place of one that it never yields, such as `debian` for `Debian`.
fn possible_value(expression: &str, value: &str) -> Option<String> {
    let has_capitals = value.contains(|part: char| part.is_ascii_uppercase());
    // Nearly all names are possible: their expressions are not parsed.
    if !has_capitals && !fact_words::is_elsewhere(value) {
        return None;
    }
    let functions = [Function { name: "lookup", min_arguments: 1, max_arguments: 2 }];
    let context = ParseContext { names: &[], functions: &functions };
    let subject = Expression::parse_with(expression, &context).ok()?.subject()?;
    let fact = match &subject.path[..] {
        [root, keys @ ..] if root == "Facts" => keys.join("."),
        _ => String::new(),
    };
    if subject.case == Some(LetterCase::Upper) {
        return None;
    }
    let is_lower = subject.case.is_some() || LOWER_CASE_FACTS.contains(&&*fact);
    let lower = || (is_lower && has_capitals).then(|| value.to_lowercase());
    fact_words::meant(&fact, value).map(str::to_owned).or_else(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_with_any_text_for_expressions() {
        for (entry, name, expected) in [
            ("default", "default", true),
            ("default", "defaults", false),
            ("{{ a }}", "any", true),
            ("os:{{ a }}", "os:debian", true),
            ("os:{{ a }}", "so:debian", false),
            ("{{ a }}:x", "b:x", true),
            ("{{ a }}:x", "b:y", false),
            ("a{{ b }}c{{ d }}e", "a1c2e", true),
            ("a{{ b }}c{{ d }}e", "ace", true),
            ("a{{ b }}c{{ d }}e", "ae", false),
            ("a{{ b }}a", "a", false),
            ("{{ a", "any", true),
            ("os:{{ Facts.host.info.platform }}", "os:debian", true),
            ("os:{{ Facts.host.info.platform }}", "os:Debian", false),
            ("OS:{{Facts.host.info.platform}}", "OS:debian", true),
            ("{{ lookup('facts.host.info.platformFamily') }}.x", "RedHat.x", false),
            ("{{ lower(Data.role) }}", "Web", false),
            ("{{ lower(Data.role) + upper(Data.x) }}", "Web", true),
            ("{{ Facts.host.info.hostname }}", "Web1", true),
            ("family:{{ Facts.host.info.platformFamily }}", "family:redhat", false),
            ("family:{{ Facts.host.info.platformFamily ?? 'x' }}", "family:rhel", true),
            ("os:{{ Facts['host'].info?.platform }}", "os:Ubuntu", false),
            ("{{ Facts.host.info.platform }}-{{ Data.role }}", "debian-Web", true),
        ] {
            assert_eq!(EntryPattern::of(entry).matches(name), expected, "{entry} {name}");
        }
    }

    #[test]
    fn similar_names_are_found() {
        for (entry, name, expected) in [
            ("famly:{{ a }}", "family:debian", Some("famly:debian")),
            ("os:{{ a }}", "role:web", None),
            ("{{ a }}", "web", None),
            ("prdo", "prod", Some("prdo")),
            ("os:{{ Facts.host.info.platform }}", "os:Debian", Some("os:debian")),
            ("os:{{ Facts.host.info.platformFamily }}", "os:RedHat", Some("os:rhel")),
        ] {
            assert_eq!(EntryPattern::of(entry).near(name).as_deref(), expected, "{entry} {name}");
        }
    }

    #[test]
    fn entries_have_the_fact_of_each_machine() {
        for (level, expected) in [
            ("family:debian", "family:{{ Facts.host.info.platformFamily }}"),
            ("host/web1", "host/{{ Facts.host.info.hostname }}"),
            ("role:web", "role:{{ Facts.role }}"),
            ("common", "common"),
            ("common:x", "common:x"),
            ("a b:x", "a b:x"),
        ] {
            assert_eq!(entry_for(level), expected);
        }
    }
}
