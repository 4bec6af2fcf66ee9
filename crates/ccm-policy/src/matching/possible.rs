//! Programs and paths among the words of a command whose effects are not known.

use ccm_model::Glob;
use ccm_shell::join_path;

use crate::analysis::{AnalysedCommand, AnalysedWord};

/// Characters that take the words of an option, a setting or a code apart.
const SEPARATORS: &str = "=,:;|&()<>`'\"{}@!";

/// Returns the names of programs that the words may start by an option or a program that the tables do not list, each
/// with the position of its word.
pub(super) fn programs(command: &AnalysedCommand) -> impl Iterator<Item = (usize, &str)> {
    command.open_words().flat_map(|(position, word)| {
        let names = parts(word).flat_map(with_attached).map(super::base);
        names.filter(|name| !name.is_empty()).map(move |name| (position, name))
    })
}

/// Returns `true` if a word of a command, whose effects are not known, may name a path of a rule.
pub(super) fn may_name_path(glob: &Glob, command: &AnalysedCommand) -> bool {
    command.open_words().any(|(_, word)| may_be_path(glob, command, word))
}

fn may_be_path(glob: &Glob, command: &AnalysedCommand, word: &AnalysedWord) -> bool {
    if !word.is_known {
        return true;
    }
    let is_code = word.shown.contains(char::is_whitespace);
    let is_meant =
        |path: &str| glob.matches(path) || glob.may_match_prefix(format!("{}/", path.trim_end_matches('/')));
    let is_path = |part: &str| {
        match part {
            "" | "-" => false,
            // `a / b` divides.
            "/" if is_code => false,
            _ if part.starts_with('/') => is_meant(&join_path("/", part)),
            _ if part.starts_with('-') => false,
            _ => command.directories.iter().any(|directory| is_meant(&join_path(directory, part))),
        }
    };
    parts(word).flat_map(with_attached).any(is_path)
}

/// Returns the parts of a word.
fn parts(word: &AnalysedWord) -> impl Iterator<Item = &str> {
    word.shown.split(|c: char| c.is_whitespace() || SEPARATORS.contains(c))
}

/// Returns a part and the values that may be attached to letters in front: `forbidden` of `-sforbidden` and of
/// `-lsforbidden`, `/etc/x` of `-lf/etc/x`.
fn with_attached(part: &str) -> impl Iterator<Item = &str> {
    let option = part.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let attached = option.into_iter().flat_map(|rest| [1, 2].into_iter().filter_map(|at| rest.get(at..)));
    let path = part.find('/').filter(|_| part.starts_with('-')).and_then(|at| part.get(at..));
    std::iter::once(part).chain(attached).chain(path)
}
