//! Scripts of sed: commands that run programs or write files.

use ccm_shell::{ShellSpan, ShellWord};

use super::entries::Call;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;

impl Analyser<'_> {
    /// Judges a script of sed.
    pub(super) fn sed(&mut self, call: &mut Call<'_>, word: &ShellWord, span: ShellSpan) {
        call.has_code = true;
        let is_known = word.text().is_some() || !word.known_prefix().is_empty();
        let has_effects = !is_known || has_effects(&shell_words::with_placeholders(word));
        if has_effects && !call.parsed.has(&["--sandbox"]) {
            let what = "the script of `sed` runs programs, or reads or writes files";
            self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::SaveCode));
        }
    }
}

/// Returns `true` if a script runs programs (`e`, `s///e`) or writes files (`w`, `W`, `s///w`). A script that is not
/// understood counts as one that does.
pub(super) fn has_effects(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';' || c == '}' || c == '{');
        if rest.is_empty() {
            return false;
        }
        let Some(command) = without_address(rest) else { return true };
        let mut characters = command.chars();
        let Some(name) = characters.next() else { return false };
        let arguments = characters.as_str();
        match name {
            'r' | 'R' if reads_elsewhere(arguments) => return true,
            '#' | 'a' | 'i' | 'c' | ':' | 'b' | 't' | 'T' | 'r' | 'R' => {
                // The rest of the line is text, a label or a file.
                let ends_at_semicolon = matches!(name, 'b' | 't' | 'T' | ':');
                let mut before = ' ';
                let end = arguments.find(|c| {
                    let is_continued = std::mem::replace(&mut before, c) == '\\';
                    c == '\n' && !is_continued || ends_at_semicolon && c == ';'
                });
                rest = end.map_or("", |end| arguments.get(end..).unwrap_or_default());
            }
            's' | 'y' => {
                let Some(delimiter) = arguments.chars().next() else { return true };
                let behind = arguments.get(delimiter.len_utf8()..).unwrap_or_default();
                let Some(second) = behind_delimiter(behind, delimiter) else { return true };
                let Some(flags) = behind_delimiter(second, delimiter) else { return true };
                let end = flags.find([';', '\n', '}', '#']).unwrap_or(flags.len());
                let (flags, further) = flags.split_at(end);
                if name == 's' && flags.contains(['e', 'w']) {
                    return true;
                }
                rest = further;
            }
            'q' | 'Q' | 'l' | 'L' => {
                rest = arguments.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
            }
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' | 'v' => {
                rest = arguments;
            }
            // `e`, `w`, `W`, and what is no command.
            _ => return true,
        }
    }
}

/// Returns `true` if the file that a command names may lie outside the workspace.
fn reads_elsewhere(arguments: &str) -> bool {
    let file = arguments.lines().next().unwrap_or_default().trim();
    file.starts_with('/') || file.split('/').any(|part| part == "..")
}

/// Returns the script behind the addresses of a command; `None` if they have no end.
fn without_address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| {
            c.is_ascii_digit() || c.is_whitespace() || matches!(c, '$' | ',' | '!' | '~' | '+')
        });
        if let Some(behind) = rest.strip_prefix('/') {
            rest = behind_delimiter(behind, '/')?.trim_start_matches(['I', 'M']);
        } else if let Some(behind) = rest.strip_prefix('\\') {
            let delimiter = behind.chars().next()?;
            rest = behind_delimiter(behind.get(delimiter.len_utf8()..)?, delimiter)?
                .trim_start_matches(['I', 'M']);
        } else if let Some(behind) = rest.strip_prefix('{') {
            rest = behind;
        } else {
            return Some(rest);
        }
    }
}

/// Returns the text behind the next delimiter that has no backslash and is in no brackets.
fn behind_delimiter(text: &str, delimiter: char) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == delimiter {
            return text.get(at + character.len_utf8()..);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_with_effects_are_found() {
        for script in [
            "s/^/id/e",
            "w /etc/passwd",
            "1e id",
            "e",
            "s/a/b/w out",
            "s|a|b|gw out",
            "/x/W f",
            "p;e id",
            "$!{p;w f\n}",
            "s/a",
            "\\,x,w f",
            "1~2w f",
            "s/a/b/;w f",
            "r /etc/shadow",
            "1R ../x",
        ] {
            assert!(has_effects(script), "{script}");
        }
        for script in [
            "s/a/b/",
            "s/a/b/g;s/e/w/",
            "s|/old|/new|g",
            "/we/d",
            "1,$p",
            "y/ew/we/",
            "$!N;P;D",
            "a w f",
            ":e;N;$!be",
            "/a/,/b/{s/x/y/;p}",
            "s/a\\/e/b/",
            "1i\\\nwe",
            "# w f",
            "\\,e,d",
            "10q",
            "r f",
            "s/x/y/2p",
            "",
        ] {
            assert!(!has_effects(script), "{script}");
        }
    }
}
