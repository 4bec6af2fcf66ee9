//! Directories in which the commands of traps run.

use std::sync::Arc;

use crate::directories::join_path;
use crate::follow::Follower;
use crate::reading::{ShellCommand, ShellDirectories};

/// Builtins that change the directory of the shell.
const CHANGING: [&str; 4] = ["cd", "pushd", "popd", "chdir"];

impl Follower<'_> {
    /// Makes the directories of traps unknown, unless the text stays in the directory where it starts: a trap runs at any
    /// time.
    pub(crate) fn settle_traps(&mut self, start: &str) {
        if self.traps.is_empty() {
            return;
        }
        let traps = std::mem::take(&mut self.traps);
        let start = join_path("/", start);
        let is_in_trap = |position: usize| traps.iter().any(|trap| trap.contains(&position));
        let mut others = self.commands.iter().enumerate().filter(|(position, _)| !is_in_trap(*position));
        if others.all(|(_, command)| stays(command, &start)) {
            return;
        }
        for trap in &traps {
            for command in self.commands.get_mut(trap.clone()).unwrap_or_default() {
                command.directories = Arc::new(ShellDirectories::unknown());
            }
        }
    }
}

/// Returns `true` for a command that runs in a directory, and leaves the shell there.
fn stays(command: &ShellCommand, directory: &str) -> bool {
    let is_changing = |word: &str| CHANGING.contains(&word);
    command.directories.only() == Some(directory)
        && command.doubts.is_empty()
        && command.words.first().is_none_or(|name| name.text().is_some() && !name.is_many())
        && !command.words.iter().any(|word| word.text().is_some_and(|word| is_changing(&word)))
}
