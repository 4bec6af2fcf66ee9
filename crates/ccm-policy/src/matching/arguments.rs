//! Comparison of the arguments of a command with those of a rule.

use ccm_model::{Glob, GlobKind};

use super::{MatchPurpose, Matching};
use crate::analysis::{AnalysedCommand, AnalysedWord};
use crate::refspecs::PushedOperands;
use crate::rule::{ArgumentPattern, OptionPattern};

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// Compares all arguments. Operands have to match in order, options in any order.
pub(super) fn compare_arguments(
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

pub(super) fn compare_option(
    pattern: &OptionPattern,
    command: &AnalysedCommand,
    purpose: MatchPurpose,
) -> Matching {
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
