//! Builtins that change the directory.

use std::borrow::Cow;
use std::sync::Arc;

use crate::follow::Follower;
use crate::reading::{ShellCommand, ShellDirectories, ShellWord, UnknownOrigin, WordPiece};
use crate::state::{Flow, MAX_DIRECTORIES, ShellState, VariableValue, union};
use crate::unreadable::ReadResult;

impl Follower<'_> {
    pub(crate) fn change_directory(
        &mut self,
        name: &str,
        command: ShellCommand,
        state: &mut ShellState,
    ) -> ReadResult<Flow> {
        let span = command.span;
        let before = Arc::clone(&state.directories);
        let has_search_path = state.may_search_directories
            || command.assignments.iter().any(|assignment| assignment.name == "CDPATH");
        // `HOME=/etc cd`
        let has_variables = command
            .assignments
            .iter()
            .any(|assignment| matches!(&*assignment.name, "HOME" | "PWD" | "OLDPWD"));
        let target = directory_operand(name, &command, state).filter(|_| !has_variables);
        let listed = match (&target, name) {
            (None, "cd") if !has_search_path && !has_variables => listed_directories(&command, &before),
            _ => None,
        };
        state.set("OLDPWD", None, self.budget, span)?;
        self.commands.push(command);
        if let Some(directories) = listed {
            return Ok(Flow { succeeded: Arc::new(directories), failed: before });
        }
        let Some(target) = target.filter(|target| !has_search_path || target.starts_with(['/', '.'])) else {
            state.directories = Arc::new(ShellDirectories::unknown());
            return Ok(Flow::same(&state.directories));
        };
        let climbs = target.split('/').any(|part| part == "..");
        let succeeded = if before.is_unknown && !target.starts_with('/') {
            if climbs { Arc::new(ShellDirectories::unknown()) } else { Arc::clone(&before) }
        } else if target.starts_with('/') {
            Arc::new(ShellDirectories::one(join_path("/", &target)))
        } else {
            let mut all = Arc::new(ShellDirectories::unreachable());
            for path in &before.paths {
                all = union(&all, &Arc::new(ShellDirectories::one(join_path(path, &target))));
            }
            all
        };
        Ok(Flow { succeeded, failed: before })
    }
}

/// Returns the directory that `cd` or `pushd` names, if it is known.
fn directory_operand(name: &str, command: &ShellCommand, state: &ShellState) -> Option<String> {
    let mut operands: Vec<&ShellWord> = command.words.iter().skip(1).collect();
    if name == "popd" {
        return None;
    }
    let mut is_physical = false;
    while let Some(option) = operands.first().and_then(|word| word.text()) {
        match &*option {
            "-L" => {}
            "-P" => is_physical = true,
            "--" => {
                operands.remove(0);
                break;
            }
            option if option.starts_with('-') && option.len() > 1 => return None,
            _ => break,
        }
        operands.remove(0);
    }
    let target = match &*operands {
        [] if name == "cd" => match state.variable("HOME") {
            Some(VariableValue::Text(home)) => Some(home),
            _ => None,
        },
        [operand] if !operand.is_many() => operand.text().map(Cow::into_owned),
        _ => None,
    };
    target.filter(|target| {
        let leaves = is_physical && target.split('/').any(|part| part == "..");
        !target.is_empty() && target != "-" && !target.starts_with(['+', '-']) && !leaves
    })
}

/// Returns the directories of `cd "$d"` in a loop over known words and patterns.
fn listed_directories(command: &ShellCommand, before: &ShellDirectories) -> Option<ShellDirectories> {
    let [_, operand] = &*command.words else { return None };
    let is_empty = |piece: &&WordPiece| matches!(piece, WordPiece::Text { text, .. } if text.is_empty());
    let mut pieces = operand.pieces.iter().filter(|piece| !is_empty(piece));
    let (words, is_split) = match (pieces.next(), pieces.next()) {
        (Some(WordPiece::Unknown { origin: UnknownOrigin::Listed { words, .. }, is_many }), None) => {
            (words, *is_many)
        }
        _ => return None,
    };
    let stays_whole =
        |word: &ShellWord| word.text().is_some_and(|text| !text.contains([' ', '\t', '\n', '*', '?', '[']));
    if is_split && !words.iter().all(stays_whole) {
        return None;
    }
    let mut below = Vec::new();
    for word in words.iter() {
        let prefix = word.known_prefix();
        let is_known = word.text().is_some();
        let climbs = |piece: &WordPiece| match piece {
            WordPiece::Text { text, .. } => text.split('/').any(|part| part == ".."),
            WordPiece::Pattern(_) | WordPiece::Unknown { .. } => false,
        };
        let ends_in_slash =
            matches!(word.pieces.last(), Some(WordPiece::Text { text, .. }) if text.ends_with('/'));
        // `-` is the directory before, and so may be a name that a pattern finds.
        let is_directory = !prefix.starts_with(['-', '+']) && (!prefix.is_empty() || ends_in_slash);
        if !is_directory || word.has_unknown() || !is_known && word.pieces.iter().any(climbs) {
            return None;
        }
        let base = match prefix.rfind('/') {
            _ if is_known => &*prefix,
            Some(slash) => prefix.get(..=slash).unwrap_or_default(),
            None => "",
        };
        if base.starts_with('/') {
            below.push(join_path("/", base));
        } else if before.is_unknown {
            return None;
        } else {
            below.extend(before.paths.iter().map(|path| join_path(path, base)));
        }
    }
    below.sort_unstable();
    below.dedup();
    Some(ShellDirectories::below(below)).filter(|directories| directories.below.len() <= MAX_DIRECTORIES)
}

/// Joins a path to a directory, and removes `.` and `..`, as `cd` does.
pub fn join_path(directory: &str, path: &str) -> String {
    let base = if path.starts_with('/') { "" } else { directory };
    let mut joined = String::with_capacity(base.len() + path.len() + 2);
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => joined.truncate(joined.rfind('/').unwrap_or_default()),
            part => {
                joined.push('/');
                joined += part;
            }
        }
    }
    if joined.is_empty() {
        joined.push('/');
    }
    joined
}
