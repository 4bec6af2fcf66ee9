//! Builtins that set options of the shell, and aliases.

use crate::dialect::ShellDialect;
use crate::follow::Follower;
use crate::reading::{DoubtKind, ShellCommand, ShellWord};
use crate::state::ShellState;
use crate::unreadable::{ReadResult, UnreadableText};

/// Options of bash that change no reading and run nothing.
const SAFE_OPTIONS: [&str; 6] =
    ["nullglob", "dotglob", "globstar", "failglob", "nocasematch", "inherit_errexit"];

impl Follower<'_> {
    pub(crate) fn set_options(&mut self, command: &ShellCommand, state: &mut ShellState) {
        let mut words = command.words.iter().skip(1);
        while let Some(word) = words.next() {
            let Some(text) = word.text().filter(|_| !word.is_many()) else {
                // The first unknown word may be an option.
                if !word.known_prefix().is_empty() && !word.known_prefix().starts_with(['-', '+']) {
                    return;
                }
                self.doubt(DoubtKind::ShellOption, command.span);
                state.exits_on_error = false;
                return;
            };
            if matches!(&*text, "--" | "-") || !text.starts_with(['-', '+']) {
                return;
            }
            let is_on = text.starts_with('-');
            for flag in text.chars().skip(1) {
                match flag {
                    'e' => state.exits_on_error = is_on && !self.is_condition && self.forks == 0,
                    'u' | 'x' | 'v' | 'f' | 'h' | 'n' | 'b' | 'm' | 'C' => {}
                    'o' => {
                        let option = words.next().map(ShellWord::text);
                        match option {
                            Some(Some(option)) if option == "errexit" => {
                                state.exits_on_error = is_on && !self.is_condition && self.forks == 0;
                            }
                            Some(Some(option))
                                if matches!(
                                    &*option,
                                    "nounset"
                                        | "pipefail"
                                        | "xtrace"
                                        | "verbose"
                                        | "noglob"
                                        | "noclobber"
                                        | "errtrace"
                                        | "functrace"
                                ) => {}
                            None => {}
                            _ => self.doubt(DoubtKind::ShellOption, command.span),
                        }
                    }
                    _ => self.doubt(DoubtKind::ShellOption, command.span),
                }
            }
        }
    }

    pub(crate) fn shopt(&mut self, command: &ShellCommand, state: &mut ShellState) {
        let is_safe = command.words.iter().skip(1).all(|word| {
            word.text().is_some_and(|text| {
                matches!(&*text, "-s" | "-u" | "-q" | "-p") || SAFE_OPTIONS.contains(&&*text)
            })
        });
        if !is_safe {
            self.doubt(DoubtKind::ShellOption, command.span);
            // `cdable_vars` changes where `cd` leads, and `lastpipe` which shell sets a variable.
            state.invalidate();
        }
    }

    pub(crate) fn alias(&mut self, command: &ShellCommand) -> ReadResult<()> {
        if self.dialect == ShellDialect::Sh {
            let message = "dash expands aliases in a text, and bash does not";
            return Err(UnreadableText::ambiguous(command.span, message)
                .with_hint("write a function, `NAME() { …; }`"));
        }
        if command.words.len() > 1 {
            self.doubt(DoubtKind::Renamed, command.span);
        }
        Ok(())
    }
}
