//! Builtins that change the directory.

use std::borrow::Cow;
use std::sync::Arc;

use crate::follow::Follower;
use crate::reading::{ShellCommand, ShellDirectories, ShellWord};
use crate::state::{Flow, ShellState, VariableValue, union};
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
        let target = directory_operand(name, &command, state);
        state.set("OLDPWD", None, self.budget, span)?;
        self.commands.push(command);
        let Some(target) = target.filter(|target| !has_search_path || target.starts_with(['/', '.'])) else {
            state.directories = Arc::new(ShellDirectories::unknown());
            return Ok(Flow::same(&state.directories));
        };
        let succeeded = if before.is_unknown && !target.starts_with('/') {
            Arc::clone(&before)
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
