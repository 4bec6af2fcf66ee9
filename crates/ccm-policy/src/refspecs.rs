//! Refspecs of `git push`: `SOURCE:TARGET`, `+SOURCE`, `:TARGET`.

use ccm_model::{Glob, GlobKind};

use crate::analysis::{AnalysedCommand, AnalysedWord};
use crate::matching::{MatchPurpose, Matching};

/// Options with which `git push` pushes more than its operands name.
const MANY: [&str; 5] = ["--all", "--branches", "--mirror", "--tags", "--follow-tags"];

/// Places in front of the name of a branch or tag.
const PLACES: [&str; 4] = ["refs/heads/", "refs/tags/", "heads/", "tags/"];

/// Operands of a call of `git push`, as rules see them.
pub(crate) struct PushedOperands {
    /// Position of the first refspec among the operands.
    first: usize,
}

impl PushedOperands {
    /// Returns where the refspecs stand among operands, if the command is a `git push`.
    pub(crate) fn of(command: &AnalysedCommand, operands: &[&AnalysedWord]) -> Option<Self> {
        if command.base_name() != Some("git") {
            return None;
        }
        let push = operands.iter().position(|word| word.text() == Some("push"))?;
        Some(Self { first: push + 2 })
    }

    /// Returns `true` if the command pushes what no operand names: the branch that the settings of the repository name,
    /// or every branch.
    pub(crate) fn is_open(&self, command: &AnalysedCommand, operands: &[&AnalysedWord]) -> bool {
        let is_many = |name: &str| {
            name.len() > 2 && name.starts_with("--") && MANY.iter().any(|many| many.starts_with(name))
        };
        operands.len() <= self.first
            || command.options.iter().any(|option| is_many(&option.name))
            || command.words.iter().filter_map(AnalysedWord::text).any(is_many)
    }

    /// Compares a glob with an operand: both sides of a refspec have to match to lift, and one of them is enough to
    /// restrict.
    pub(crate) fn compare(
        &self,
        position: usize,
        glob: &Glob,
        text: &str,
        purpose: MatchPurpose,
    ) -> Matching {
        if position < self.first {
            return Matching::of(glob.matches(text));
        }
        match purpose {
            MatchPurpose::Lift => Matching::of(lifts(glob, text)),
            MatchPurpose::Restrict => restricts(glob, text),
        }
    }
}

fn lifts(glob: &Glob, text: &str) -> bool {
    let pattern = glob.as_str();
    if pattern.starts_with('+') != text.starts_with('+') {
        return false;
    }
    let (Some((source, target)), Some((pushed, at))) = (pattern.split_once(':'), text.split_once(':')) else {
        return match text.split_once(':') {
            // Only a rule with `:` names what is deleted, or what has another name there.
            Some((pushed, at)) => {
                !pattern.contains(':')
                    && !pushed.is_empty()
                    && !at.is_empty()
                    && glob.matches(pushed)
                    && glob.matches(at)
            }
            None => glob.matches(text),
        };
    };
    let side = |pattern: &str, text: &str| {
        pattern.is_empty() == text.is_empty()
            && (pattern.is_empty()
                || Glob::parse(pattern, GlobKind::Text).is_ok_and(|glob| glob.matches(text)))
    };
    side(source, pushed) && side(target, at)
}

fn restricts(glob: &Glob, text: &str) -> Matching {
    if glob.matches(text) {
        return Matching::Yes;
    }
    let plain = text.trim_start_matches('+');
    let (source, target) = plain.split_once(':').unwrap_or((plain, plain));
    let mut result = Matching::No;
    for side in [source, target] {
        let name = PLACES.iter().find_map(|place| side.strip_prefix(place)).unwrap_or(side);
        if side.is_empty() && plain == ":" || side.contains('*') || matches!(target, "HEAD" | "@") {
            // Every branch of this name, or the branch that is checked out.
            result = result.max(Matching::Possible);
        }
        let is_named = !side.is_empty()
            && (glob.matches(side)
                || glob.matches(name)
                || PLACES.iter().any(|place| glob.matches(format!("{place}{name}"))));
        if is_named {
            return Matching::Yes;
        }
    }
    result
}
