//! Programs of awk: statements that run programs or write files.

use ccm_shell::{ShellSpan, ShellWord};

use super::entries::Call;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::effect::{CodeSource, Effect};
use crate::guard_class::GuardClass;

impl Analyser<'_> {
    /// Judges a program of awk.
    pub(super) fn awk(&mut self, call: &mut Call<'_>, word: &ShellWord, span: ShellSpan) {
        call.has_code = true;
        let is_known = word.text().is_some() || !word.known_prefix().is_empty();
        if !is_known || has_effects(&shell_words::with_placeholders(word)) {
            self.effect(call.index, Effect::code(CodeSource::Inline, Some(call.name.to_owned())));
            let what = "the program of `awk` runs programs or writes files";
            self.finding(call.index, GuardClass::CodeInline, what, span, Some(WayOut::SaveCode));
        }
    }
}

/// Returns `true` if a program may run other programs or write files. Strings and patterns are skipped.
pub(super) fn has_effects(program: &str) -> bool {
    let mut plain = String::with_capacity(program.len());
    let mut characters = program.chars().peekable();
    // A slash begins a pattern, unless it divides what stands before.
    let mut may_divide = false;
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                skip_to(&mut characters, '"');
                plain.push('"');
                may_divide = true;
            }
            '/' if !may_divide => {
                skip_to(&mut characters, '/');
                plain.push('~');
                may_divide = true;
            }
            '#' => while characters.next_if(|next| *next != '\n').is_some() {},
            _ => {
                plain.push(character);
                if !character.is_whitespace() {
                    may_divide = character.is_alphanumeric() || matches!(character, '_' | ')' | ']' | '$');
                }
            }
        }
    }
    let is_pipe = plain.replace("||", "  ").contains('|');
    let words: Vec<&str> = plain.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '@'))).collect();
    let runs = words.iter().any(|word| matches!(*word, "system" | "getline" | "@load" | "@include"));
    is_pipe || runs || plain.contains('@') || prints_to_file(&plain)
}

fn skip_to(characters: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) {
    while let Some(next) = characters.next() {
        if next == '\\' {
            characters.next();
        } else if next == end {
            return;
        }
    }
}

/// Returns `true` for `print … > file`. Within parentheses `>` compares.
fn prints_to_file(plain: &str) -> bool {
    plain.match_indices("print").any(|(at, _)| {
        let mut depth = 0_i32;
        for character in plain.get(at..).unwrap_or_default().chars() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                ';' | '\n' | '}' if depth <= 0 => return false,
                '>' if depth <= 0 => return true,
                _ => {}
            }
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_with_effects_are_found() {
        for program in [
            "BEGIN{system(\"id\")}",
            "{print > \"/etc/x\"}",
            "{print | \"sh\"}",
            "BEGIN{\"id\"|getline x}",
            "{printf \"%s\", $1 >> f}",
            "BEGIN { system (\"id\") }",
            "@load \"x\"",
            "{x=\"system\";@x(\"id\")}",
            "$1/2 {print > \"a/b\"}",
        ] {
            assert!(has_effects(program), "{program}");
        }
        for program in [
            "/foo/ {print}",
            "{print $1}",
            "$1 > 5 {print $2}",
            "$1 > 5 || $2 {print (a > b)}",
            "{print \"a > b\"}",
            "/a|b/ {n++} END {print n}",
            "{print $1 / 2; x = 1 > 0}",
            "# system\n{print}",
        ] {
            assert!(!has_effects(program), "{program}");
        }
    }
}
