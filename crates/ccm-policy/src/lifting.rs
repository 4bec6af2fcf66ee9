//! Commands that whitelists and patterns of an operator cover.

use crate::analysis::{AnalysedCommand, Analysis, WorkingPlace};
use crate::document::Whitelist;
use crate::effect::{Effect, EffectKind};

/// Character in place of each blank within a word, so that a blank of a pattern is one between two words.
const INNER_BLANK: &str = "\u{1f}";

/// Returns the text in which patterns below `allow` are searched for: the words, joined by one blank. `None` for a command
/// that no pattern covers, because a word is not known, or because its paths are others where it works.
pub(crate) fn text(command: &AnalysedCommand) -> Option<String> {
    let words: Option<Vec<&str>> = command.words.iter().map(|word| word.text()).collect();
    let words = words.filter(|words| !words.is_empty())?;
    let mut on_paths = command.effects.iter().filter(|effect| {
        matches!(
            effect.kind,
            EffectKind::Write | EffectKind::Delete | EffectKind::Read | EffectKind::Permissions
        )
    });
    let is_written = |effect: &Effect| {
        effect.object.as_deref().is_some_and(|path| words.iter().any(|word| word.contains(path)))
    };
    let is_covered = match command.place {
        WorkingPlace::Start => true,
        WorkingPlace::Below => on_paths.all(is_written),
        // What has no path works on the directory itself, such as `git push`.
        WorkingPlace::Elsewhere => on_paths.clone().next().is_some() && on_paths.all(is_written),
    };
    if !is_covered {
        return None;
    }
    let parted = |word: &&str| {
        word.chars()
            .any(char::is_whitespace)
            .then(|| word.split(char::is_whitespace).collect::<Vec<_>>().join(INNER_BLANK))
    };
    let words: Vec<String> =
        words.iter().map(|word| parted(word).unwrap_or_else(|| (*word).to_owned())).collect();
    Some(words.join(" "))
}

/// Returns `true` if a whitelist has the command, or the command that runs it.
pub(crate) fn is_listed(whitelist: &Whitelist, analysis: &Analysis, at: usize) -> bool {
    let has = |command: &AnalysedCommand| {
        let location = command.program.as_ref().and_then(|program| program.location.as_ref());
        command.variables.is_empty()
            && !command.is_redirected
            && location.is_none_or(|location| location.is_trusted)
            && whitelist.commands.iter().any(|listed| {
                listed.words.len() == command.words.len()
                    && listed
                        .words
                        .iter()
                        .zip(&command.words)
                        .all(|(listed, word)| word.text() == Some(listed))
            })
    };
    let mut next = Some(at);
    // A command stands behind the one that runs it, so that this ends.
    while let Some(command) = next.and_then(|at| analysis.commands.get(at)) {
        if has(command) {
            return true;
        }
        next = command.parent.filter(|parent| Some(*parent) < next);
    }
    false
}
