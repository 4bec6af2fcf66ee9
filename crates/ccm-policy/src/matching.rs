//! Matching of rules with commands and with changes of resources.

use ccm_model::{Glob, GlobKind};

use crate::analysis::{AnalysedCommand, AnalysedWord};
use crate::effect::{Effect, EffectKind};
use crate::links::LinkDestination;
use crate::refspecs::PushedOperands;
use crate::resource_names::compare_resource;
use crate::rule::{ArgumentPattern, OptionPattern, RuleMatch};

/// What a rule is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'s> {
    Command(&'s AnalysedCommand),
    Change(&'s GovernedChange),
}

/// Change of a resource, which ccm makes with its own tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GovernedChange {
    /// Type of the resource.
    pub type_name: String,
    /// Name of the resource.
    pub name: String,
    /// Other names of the resource, such as its alias.
    pub other_names: Vec<String>,
    /// Effects of the change.
    pub effects: Vec<Effect>,
}

/// Result of comparing a rule with a command or change. Rules that ask or deny take a possible match as a match, rules
/// that allow do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Matching {
    No,
    Possible,
    Yes,
}

impl Matching {
    pub(crate) fn of(matches: bool) -> Self {
        if matches { Self::Yes } else { Self::No }
    }

    pub(crate) fn at_most_possible(matches: bool) -> Self {
        if matches { Self::Possible } else { Self::No }
    }
}

/// Direction in which a doubt is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchPurpose {
    /// The rule makes the verdict stricter: any part of the command may match.
    Restrict,
    /// The rule lifts something: all of the command has to match as written.
    Lift,
}

impl RuleMatch {
    pub(crate) fn compare(&self, subject: Subject<'_>, purpose: MatchPurpose) -> Matching {
        let own = match subject {
            Subject::Command(command) => self.compare_command(command, purpose),
            Subject::Change(_) if self.is_about_commands() => Matching::No,
            Subject::Change(_) => Matching::Yes,
        };
        if own == Matching::No {
            return Matching::No;
        }
        own.min(self.compare_effects(subject, purpose))
    }

    fn compare_command(&self, command: &AnalysedCommand, purpose: MatchPurpose) -> Matching {
        let mut result = Matching::Yes;
        if !self.programs.is_empty() {
            let each = self.programs.iter().map(|glob| compare_program(glob, command, purpose));
            result = result.min(each.max().unwrap_or(Matching::No));
        }
        if result > Matching::No
            && let Some(patterns) = &self.arguments
        {
            result = result.min(compare_arguments(patterns, command, purpose));
        }
        for option in &self.options {
            if result > Matching::No {
                result = result.min(compare_option(option, command, purpose));
            }
        }
        result
    }

    fn compare_effects(&self, subject: Subject<'_>, purpose: MatchPurpose) -> Matching {
        if self.effects.is_empty() && self.path.is_none() && self.resource.is_none() {
            return Matching::Yes;
        }
        let effects = match subject {
            Subject::Command(command) => &*command.effects,
            Subject::Change(change) => &*change.effects,
        };
        let names = |glob: &Glob| match subject {
            Subject::Command(_) => None,
            Subject::Change(change) => {
                let id = |name: &String| format!("{}#{name}", change.type_name);
                let mut ids = std::iter::once(&change.name).chain(&change.other_names).map(id);
                Some(Matching::of(ids.any(|id| glob.matches(&id))))
            }
        };
        let program = match subject {
            Subject::Command(command) => command.base_name(),
            Subject::Change(_) => None,
        };
        let resource_of_change = self.resource.as_ref().and_then(names);
        if resource_of_change == Some(Matching::No) {
            return Matching::No;
        }
        let concerned = effects.iter().filter(|effect| {
            let is_kind = self.effects.is_empty() || self.effects.contains(&effect.kind);
            let is_path = self.path.is_none() || has_path(effect.kind);
            let is_resource =
                self.resource.is_none() || resource_of_change.is_some() || effect.kind.names_objects();
            is_kind && is_path && is_resource
        });
        let compare = |effect: &Effect| {
            let mut result = Matching::Yes;
            if let Some(glob) = &self.path {
                result = result.min(compare_path(glob, effect, purpose));
            }
            if let Some(glob) = self.resource.as_ref().filter(|_| resource_of_change.is_none()) {
                result = result.min(compare_resource(glob, effect, program, purpose));
            }
            result
        };
        let compared = concerned.map(compare);
        let found = match purpose {
            MatchPurpose::Restrict => compared.max(),
            // One effect that a rule does not name is enough to keep the class.
            MatchPurpose::Lift => compared.min(),
        };
        let only_by_name = self.effects.is_empty() && self.path.is_none();
        found.or(resource_of_change.filter(|_| only_by_name)).unwrap_or(Matching::No)
    }
}

fn has_path(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Write
            | EffectKind::Delete
            | EffectKind::Read
            | EffectKind::Permissions
            | EffectKind::Disk
    )
}

fn compare_program(glob: &Glob, command: &AnalysedCommand, purpose: MatchPurpose) -> Matching {
    let Some(program) = &command.program else {
        // A builtin, or a function whose commands are compared by themselves.
        return match command.words.first() {
            Some(word) => word.text().map_or(Matching::Possible, |text| Matching::of(glob.matches(text))),
            None => Matching::No,
        };
    };
    let Some(name) = program.name.as_deref() else { return Matching::Possible };
    let is_path = glob.as_str().contains('/');
    match (&program.location, purpose) {
        (Some(location), MatchPurpose::Lift) => {
            let matches = if is_path {
                glob.matches(&location.path) || glob.matches(&location.canonical)
            } else {
                glob.matches(base(&location.path))
            };
            Matching::of(matches && location.is_trusted)
        }
        (location, _) => {
            let paths = location.iter().flat_map(|location| [&*location.path, &*location.canonical]);
            let mut names = std::iter::once(name).chain(paths);
            let matches =
                names.any(|name| if is_path { glob.matches(name) } else { glob.matches(base(name)) });
            // A program that is not found is judged by its name alone, and not by that of a file of anybody.
            Matching::of(matches && (purpose == MatchPurpose::Restrict || !name.contains('/') || is_path))
        }
    }
}

/// Returns the name of a file without its directories.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// Compares all arguments. Operands have to match in order, options in any order.
fn compare_arguments(
    patterns: &[ArgumentPattern],
    command: &AnalysedCommand,
    purpose: MatchPurpose,
) -> Matching {
    let words = command.words.get(1..).unwrap_or_default();
    let by_words = compare_words(patterns, command, words, purpose);
    if purpose == MatchPurpose::Lift || by_words == Matching::Yes {
        return by_words;
    }
    by_words.max(compare_parsed(patterns, command))
}

fn is_option_pattern(pattern: &ArgumentPattern) -> bool {
    matches!(pattern, ArgumentPattern::Word(glob) if is_option(glob.as_str()))
}

fn compare_words(
    patterns: &[ArgumentPattern],
    command: &AnalysedCommand,
    words: &[AnalysedWord],
    purpose: MatchPurpose,
) -> Matching {
    let end = words.iter().position(|word| word.text() == Some("--")).unwrap_or(words.len());
    let mut options = Vec::new();
    let mut operands = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match word.text() {
            Some(text) if at < end && is_option(text) => options.push(text),
            Some("--") if at == end => {}
            _ => operands.push(word),
        }
    }
    let has_rest = patterns.contains(&ArgumentPattern::Rest);
    let has_unknown = operands.iter().any(|word| !word.is_known);
    let mut result = Matching::Yes;
    let mut left: Vec<Option<&str>> = options.into_iter().map(Some).collect();
    for pattern in patterns.iter().filter(|pattern| is_option_pattern(pattern)) {
        let ArgumentPattern::Word(glob) = pattern else { continue };
        match left.iter_mut().find(|word| word.is_some_and(|word| glob.matches(word))) {
            Some(found) => *found = None,
            None => result = result.min(Matching::at_most_possible(has_unknown)),
        }
    }
    if !has_rest && left.iter().any(Option::is_some) {
        return Matching::No;
    }
    let patterns: Vec<&ArgumentPattern> =
        patterns.iter().filter(|pattern| !is_option_pattern(pattern)).collect();
    result.min(compare_operands(&patterns, &operands, command, purpose))
}

/// Compares operands in order. A word that is not known may be any number of words.
fn compare_operands(
    patterns: &[&ArgumentPattern],
    words: &[&AnalysedWord],
    command: &AnalysedCommand,
    purpose: MatchPurpose,
) -> Matching {
    let pushed = PushedOperands::of(command, words);
    let compare = |position: usize, glob: &Glob, text: &str| match &pushed {
        Some(pushed) => pushed.compare(position, glob, text, purpose),
        None => Matching::of(glob.matches(text)),
    };
    let mut words = words.to_vec();
    let other = AnalysedWord { shown: String::new(), is_known: false };
    if purpose == MatchPurpose::Restrict
        && pushed.as_ref().is_some_and(|pushed| pushed.is_open(command, &words))
    {
        words.push(&other);
    }
    // Best result for the first `i` patterns and the first `j` words.
    let mut best = vec![vec![Matching::No; words.len() + 1]; patterns.len() + 1];
    best[0][0] = Matching::Yes;
    for i in 0..=patterns.len() {
        for j in 0..=words.len() {
            let here = best[i][j];
            if here == Matching::No {
                continue;
            }
            let mut reach = |i: usize, j: usize, result: Matching| best[i][j] = best[i][j].max(result);
            let pattern = patterns.get(i);
            let word = words.get(j);
            if let Some(ArgumentPattern::Rest) = pattern {
                reach(i + 1, j, here);
                if word.is_some() {
                    reach(i, j + 1, here);
                }
            }
            let Some(word) = word else { continue };
            match (pattern, word.text()) {
                (Some(ArgumentPattern::Word(glob)), Some(text)) => {
                    let matching = compare(j, glob, text);
                    if matching != Matching::No {
                        reach(i + 1, j + 1, here.min(matching));
                    }
                }
                (_, None) => {
                    reach(i, j + 1, Matching::Possible);
                    if pattern.is_some() {
                        reach(i + 1, j, Matching::Possible);
                        reach(i + 1, j + 1, Matching::Possible);
                    }
                }
                _ => {}
            }
        }
    }
    best[patterns.len()][words.len()]
}

/// Compares arguments with the options as the program parses them: clusters, other spellings, abbreviations.
fn compare_parsed(patterns: &[ArgumentPattern], command: &AnalysedCommand) -> Matching {
    let has_rest = patterns.contains(&ArgumentPattern::Rest);
    let mut used = vec![false; command.options.len()];
    for pattern in patterns.iter().filter(|pattern| is_option_pattern(pattern)) {
        let ArgumentPattern::Word(glob) = pattern else { continue };
        let (name, value) = match glob.as_str().split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (glob.as_str(), None),
        };
        let found = command.options.iter().position(|option| {
            let is_named = std::iter::once(&option.name)
                .chain(&option.other_names)
                .any(|spelling| is_spelling_of(spelling, name) || glob.matches(spelling));
            let has_value = match (value, &option.value) {
                (Some(value), Some(word)) => word.text().is_none_or(|text| {
                    Glob::parse(value, GlobKind::Text).is_ok_and(|glob| glob.matches(text))
                }),
                (Some(_), None) => false,
                (None, _) => true,
            };
            is_named && has_value
        });
        match found {
            Some(found) => used[found] = true,
            None => return Matching::No,
        }
    }
    if !has_rest && used.contains(&false) {
        return Matching::No;
    }
    let patterns: Vec<&ArgumentPattern> =
        patterns.iter().filter(|pattern| !is_option_pattern(pattern)).collect();
    let operands: Vec<&AnalysedWord> = command.operands.iter().collect();
    // The tables decide what an option is, so the match is not certain.
    compare_operands(&patterns, &operands, command, MatchPurpose::Restrict).min(Matching::Possible)
}

/// Returns `true` if a written option may be that of a rule. Programs accept abbreviations of long options.
fn is_spelling_of(written: &str, name: &str) -> bool {
    written == name || written.len() > 2 && written.starts_with("--") && name.starts_with(written)
}

fn compare_option(pattern: &OptionPattern, command: &AnalysedCommand, purpose: MatchPurpose) -> Matching {
    let is_named = |written: &str| match purpose {
        MatchPurpose::Lift => written == pattern.name,
        MatchPurpose::Restrict => is_spelling_of(written, &pattern.name),
    };
    let value = |word: Option<&AnalysedWord>| match (&pattern.value, word) {
        (None, _) => Matching::Yes,
        (Some(_), None) => Matching::No,
        (Some(glob), Some(word)) => {
            word.text().map_or(Matching::Possible, |text| Matching::of(glob.matches(text)))
        }
    };
    let mut found: Vec<Matching> = Vec::new();
    for option in &command.options {
        if std::iter::once(&option.name).chain(&option.other_names).any(|name| is_named(name)) {
            found.push(value(option.value.as_ref()));
        }
    }
    let words = command.words.get(1..).unwrap_or_default();
    let mut has_unknown = false;
    for (at, word) in words.iter().enumerate() {
        let Some(text) = word.text() else {
            has_unknown = true;
            continue;
        };
        match text.split_once('=') {
            Some((name, attached)) if is_named(name) => {
                found.push(value(Some(&AnalysedWord::known(attached))));
            }
            _ if is_named(text) && pattern.value.is_some() => {
                // The next word, unless the tables know that the value is another.
                let next = words.get(at + 1);
                let is_parsed =
                    command.options.iter().any(|option| option.name == text && option.value.is_some());
                if !is_parsed {
                    found.push(value(next));
                }
            }
            _ if is_named(text) => found.push(Matching::Yes),
            _ => {}
        }
    }
    let unknown = Matching::at_most_possible(has_unknown);
    match purpose {
        MatchPurpose::Restrict => found.into_iter().max().unwrap_or(Matching::No).max(unknown),
        MatchPurpose::Lift if has_unknown => Matching::Possible,
        // The last one usually decides, so all of them have to match.
        MatchPurpose::Lift => found.into_iter().min().unwrap_or(Matching::No),
    }
}

/// Compares the path as written, and the path that links lead to: one of them is enough to restrict, and both have to
/// match to lift.
fn compare_path(glob: &Glob, effect: &Effect, purpose: MatchPurpose) -> Matching {
    let Some(object) = effect.object.as_deref() else { return Matching::Possible };
    let written = compare_object(glob, object, effect, purpose);
    let reached = match &effect.link_target {
        LinkDestination::Same => return written,
        LinkDestination::Path(path) => compare_object(glob, path, effect, purpose),
        LinkDestination::Unknown => Matching::Possible,
    };
    match purpose {
        MatchPurpose::Restrict => written.max(reached),
        MatchPurpose::Lift => written.min(reached),
    }
}

fn compare_object(glob: &Glob, object: &str, effect: &Effect, purpose: MatchPurpose) -> Matching {
    if effect.is_partial {
        return Matching::at_most_possible(glob.may_match_prefix(object));
    }
    let below = || format!("{}/", object.trim_end_matches('/'));
    match (purpose, effect.is_recursive) {
        (_, false) => Matching::of(glob.matches(object)),
        (MatchPurpose::Restrict, true) => {
            Matching::of(glob.matches(object) || glob.may_match_prefix(below()))
        }
        // No name of a file has these characters, so that only wildcards match them.
        (MatchPurpose::Lift, true) => {
            Matching::of(glob.matches(object) && glob.matches(below() + "\u{1}/\u{1}/\u{1}"))
        }
    }
}
