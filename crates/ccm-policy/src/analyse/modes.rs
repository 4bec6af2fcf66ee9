//! Modes of files, as `chmod` and `install -m` read them.

use ccm_shell::ShellWord;

use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;

/// Returns `true` if a mode may set the set-user-id or set-group-id bit: `4755`, `=2755`, `u+s`, `ug=rwxs`, `+s`. A mode
/// that is not understood may.
pub(super) fn is_set_id(mode: &str) -> bool {
    mode.split(',').any(|clause| {
        let end = clause.find(['+', '-', '=']).unwrap_or(0);
        let (who, actions) = clause.split_at(end);
        if !who.bytes().all(|byte| matches!(byte, b'u' | b'g' | b'o' | b'a')) {
            return true;
        }
        if !actions.starts_with(['+', '-', '=']) {
            return is_set_id_number(actions);
        }
        let mut rest = actions;
        while let Some(operator) = rest.chars().next() {
            let what = rest.get(1..).unwrap_or_default();
            let end = what.find(['+', '-', '=']).unwrap_or(what.len());
            let (what, behind) = what.split_at(end);
            rest = behind;
            let adds = operator != '-';
            let is_number = !what.is_empty() && what.bytes().all(|byte| byte.is_ascii_digit());
            let is_known = what.bytes().all(|byte| b"rwxXstugo".contains(&byte));
            let is_set = if is_number {
                is_set_id_number(what)
            } else {
                !is_known || what.contains('s') && (who.is_empty() || who.contains(['u', 'g', 'a']))
            };
            if adds && is_set {
                return true;
            }
        }
        false
    })
}

impl Analyser<'_> {
    /// Judges the mode of `chmod`.
    pub(super) fn mode_operand(&mut self, index: usize, all: &[ShellWord]) {
        let is_mode = |text: &&str| {
            let symbols = text.trim_start_matches('-');
            !symbols.is_empty() && symbols.chars().all(|c| c.is_ascii_digit() || "ugoa+-=rwxXst,".contains(c))
        };
        for word in all.iter().skip(1) {
            let Some(text) = word.text() else {
                let is_mode = !word.known_prefix().starts_with(['/', '.']);
                if is_mode {
                    let what = "the mode of `chmod` is not known";
                    self.finding(
                        index,
                        GuardClass::Permissions,
                        what,
                        self.span(index),
                        Some(WayOut::AskOperator),
                    );
                }
                return;
            };
            if text.starts_with("--") {
                continue;
            }
            if is_mode(&&*text) && !matches!(&*text, "-R" | "-v" | "-c" | "-f") {
                self.judge_mode(index, &text);
                return;
            }
        }
    }

    /// Judges a mode that a file gets.
    pub(super) fn mode(&mut self, index: usize, word: &ShellWord) {
        if let Some(text) = word.text() {
            self.judge_mode(index, &text);
        } else {
            let what = format!("the mode `{}` is not known", shell_words::shown(word).shown);
            let span = self.span(index);
            self.finding(index, GuardClass::Permissions, what, span, Some(WayOut::AskOperator));
        }
    }

    fn judge_mode(&mut self, index: usize, mode: &str) {
        if is_set_id(mode) {
            self.effect(index, Effect::new(EffectKind::Privilege, Some(mode.to_owned())));
            let what = format!("the mode {mode} lets everybody run the program as its owner");
            self.finding(index, GuardClass::Privilege, what, self.span(index), Some(WayOut::AskOperator));
        }
    }
}

fn is_set_id_number(digits: &str) -> bool {
    u32::from_str_radix(digits, 8).map_or(true, |mode| mode & 0o6000 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_id_is_found_in_every_spelling() {
        for mode in [
            "4755", "2755", "6755", "04755", "00004755", "u+s", "g+s", "+s", "a+s", "ug+s", "u=rwxs",
            "u+rws", "o-r,u+s", "u-x+s", "=4755", "+4000", "u+xs", "gu=sx", "u+r+s", "=2000",
        ] {
            assert!(is_set_id(mode), "{mode}");
        }
        for mode in [
            "755",
            "0644",
            "1777",
            "u-s",
            "+x",
            "a+rx",
            "u=rwX,go=rX",
            "o+s",
            "-4000",
            "g=u",
            "+t",
            "ug-s",
            "=",
            "go=",
        ] {
            assert!(!is_set_id(mode), "{mode}");
        }
    }
}
