//! Shell texts at random, for comparing a reading with real shells.
//!
//! Programs are `p0` to `p3`, which succeed, and `n0`, which fails. No text runs for long: conditions of loops end with
//! a program that ends the loop.

use crate::mutation::Random;

/// Programs of the texts, with words that only some shells take for a program.
pub const SHELL_PROGRAMS: &[&str] = &[
    "p0", "p1", "p2", "p3", "n0", "a", "b", "x", "f", "g", "time", "[[", "]]", "((", "function", "select",
    "coproc", "{", "}", "!", "in", "if", "then", "else", "fi", "do", "done", "case", "esac", "for", "while",
    "source", "declare", "pushd", "popd", "shopt", "mapfile", "builtin", "let", "chdir", "{p0,a}", "{p0",
    "{1..3}", "$p0", "$'p0'", "a=b", "x+=p0", "x[0]=p0", "2", "12", "-p", "-c", "p0;", "#", "~", "*", "a b",
];

/// Spellings of a program.
const NAMES: &[&str] = &[
    "p0",
    "p1",
    "p2",
    "p3",
    "n0",
    "p''0",
    "'p1'",
    "\"p2\"",
    "p\\3",
    "p\\\n0",
    "$X",
    "${X}",
    "\"$X\"",
    "$Y",
    "$Z",
    "${X:-p1}",
    "${N:-p1}",
    "$(p1)",
    "`p2`",
    "\"$(p0 a)\"",
    "command p1",
    "command -v p1",
    "exec p2",
    "eval p3",
    "eval 'p0 a; p1'",
    "eval \"$V\"",
    "f",
    "g",
    "time p0",
    "time -p p1",
    "time",
    "{p0,a}",
    "{p1,-c,'x y'}",
    "$'p1'",
    "$'\\x70\\60'",
    "p[0]",
    "p?",
    "~",
    "!",
    "builtin p0",
    "export",
    "p0 $((1 + 2))",
    "p0 $((i + 1))",
    "p0 ~/x",
    "p0 *",
    "trap 'p3 t' EXIT",
    "set -e;",
    "p$((1))",
    "${P}0",
    "cd d1 && p0",
    "cd d1;",
    "cd ..;",
    "cd \"$D\" && p1",
    "cd d1/d2 || exit 1;",
    "read x;",
    "unset X;",
    "p0 \"${X%0}\"",
    "let",
    ". ./x",
    "test -v X &&",
    "[ a = b ] ||",
];

/// Words behind a program.
const WORDS: &[&str] = &[
    "a",
    "b",
    "'x y'",
    "\"$X\"",
    "$X",
    "$V",
    "\"$V\"",
    "$N",
    "\"$@\"",
    "$1",
    "$#",
    "-c",
    "--",
    "{",
    "}",
    "if",
    "then",
    "do",
    "in",
    "!",
    "[",
    "]",
    "'*'",
    "*",
    "~",
    "a=b",
    "\\$X",
    "'$X'",
    "$'a\\tb'",
    "{a,b}",
    "{1..3}",
    "x{a,'b c'}y",
    "{}",
    "a{b",
    "\"a\\\"b\"",
    "a#b",
    "a\\\n b",
    "$(p0 x)",
    "\"`p1`\"",
    "$((1+1))",
    "$((i))",
    "${X:+q}",
    "${N:-d}",
    "\"${N:-e f}\"",
    "\"${X#p}\"",
    "${#X}",
    "\"\"",
    "''",
    "a''",
    "$E",
    "$E$X",
    "\"$E\"",
    "[a-z]",
    "x=~/y",
    "<(p1)",
    "${A[0]}",
    "${X/p/q}",
    "${X^^}",
    "${!X}",
    "\"${A[@]}\"",
    "$",
    "$%",
    "a$",
    "%",
    "@",
    "^",
    "{p0,b}",
    "2",
    "12",
    "=",
    "~root",
    "\\~",
    "ä",
    "$IFS",
    "a\\ b",
];

const REDIRECTIONS: &[&str] = &[
    ">o",
    "2>/dev/null",
    ">>o",
    "<i",
    ">&2",
    "2>&1",
    "<&-",
    ">|o",
    "<>o",
    "&>o",
    "&>>o",
    ">&o",
    "12>o",
    ">\"$X\"",
    "<<<w",
    "<<<\"$(p1)\"",
    "<&3",
    "3>o",
    "> o",
];

const ASSIGNMENTS: &[&str] = &[
    "X=p1",
    "X=p2",
    "X=",
    "Y=p0",
    "Y=\"p1 c\"",
    "Z='p2 *'",
    "N=",
    "V='p0 v; p1'",
    "E=",
    "P=p",
    "i=1",
    "i=$((i+1))",
    "X=$(p3)",
    "X=~",
    "D=d1",
    "IFS=p",
    "A=(p0 b)",
    "A[0]=p1",
    "X+=0",
    "X=$Y",
    "X=\"$X\"",
    "export X=p3",
    "readonly R=p0",
    "local X=a",
    "Y=$X",
    "PATH=$PATH",
    "HOME=/h",
    "X={p0,p1}",
    "X=p*",
    "CDPATH=/",
];

const SEPARATORS: &[&str] = &["; ", "\n", " && ", " || ", " | ", " & ", "\n\n", ";\n", " |\n", " &&\n"];

/// Parts that hardly fit together.
const PIECES: &[&str] = &[
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "{ ",
    " }",
    "<",
    ">",
    "<<",
    ">>",
    "<<E",
    "E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "'",
    "\"",
    "\\",
    "`",
    "$",
    "$(",
    "${",
    "$((",
    "$'",
    "$\"",
    "$X",
    "#",
    "!",
    "! ",
    "=",
    "X=",
    "[[ ",
    " ]]",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "for i in ",
    "case x in ",
    "esac",
    ";;",
    "a)",
    "p0",
    " p1 ",
    "p2 a",
    "n0",
    " a",
    "~",
    "*",
    "[",
    "]",
    "f() ",
    "function f ",
    "time ",
    "2>",
    "&>",
    "|&",
    "<(",
    "<<<",
    ",",
    "..",
    "\\\n",
];

/// Returns a text. Numbers select texts of a seed.
pub fn shell_text(seed: u64, number: u64) -> String {
    let mut writer = TextWriter { random: Random::new(seed, number), functions: 0 };
    let mut text = String::new();
    if writer.below(8) == 0 {
        for _ in 0..=writer.below(12) {
            text += writer.of(PIECES);
        }
        return text;
    }
    if writer.below(2) == 0 {
        text += "X=p0; Y=p1; V='p2 v'\n";
    }
    writer.list(&mut text, 3);
    // A loop that lost its end would run until its time is up.
    if writer.below(4) == 0 && !text.contains("while") && !text.contains("until") {
        text = writer.damaged(&text);
    }
    text
}

struct TextWriter {
    random: Random,
    functions: usize,
}

impl TextWriter {
    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn of(&mut self, values: &[&'static str]) -> &'static str {
        values[self.below(values.len())]
    }

    /// Removes, adds and doubles parts.
    fn damaged(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(2) {
            let at = self.below(characters.len() + 1);
            match self.below(3) {
                0 => drop(characters.drain(at..(at + 1 + self.below(3)).min(characters.len()).max(at))),
                _ => drop(characters.splice(at..at, self.of(PIECES).chars())),
            }
        }
        characters.into_iter().collect()
    }

    fn list(&mut self, text: &mut String, depth: usize) {
        for _ in 0..self.below(3) {
            self.command(text, depth);
            *text += self.of(SEPARATORS);
        }
        self.command(text, depth);
    }

    fn command(&mut self, text: &mut String, depth: usize) {
        if depth == 0 || self.below(3) > 0 {
            self.simple(text);
            return;
        }
        let depth = depth - 1;
        match self.below(14) {
            0 => self.around(text, "( ", depth, " )"),
            1 => self.around(text, "{ ", depth, "; }"),
            2 => {
                self.around(text, "if ", depth, "; then ");
                self.list(text, depth);
                if self.below(2) == 0 {
                    self.around(text, "\nelse ", depth, "");
                }
                *text += "\nfi";
            }
            // The command before may end with `&&`, so that something else has to stand before `break`.
            3 => self.around(text, "while p0 || n0; do ", depth, "\n:\nbreak; done"),
            4 => self.around(text, "until n0; do ", depth, "\n:\nbreak\ndone"),
            5 => {
                *text += "for i in ";
                for _ in 0..self.below(3) {
                    *text += self.of(WORDS);
                    *text += " ";
                }
                self.around(text, "; do ", depth, "; done");
            }
            6 => {
                *text += "case ";
                *text += self.of(WORDS);
                self.around(text, " in p*|a) ", depth, ";; ");
                self.around(text, "*) ", depth, "\nesac");
            }
            7 => {
                // A function has a name of its own, and is called after its definition: no function calls itself.
                self.functions += 1;
                let name = format!("f{}", self.functions);
                *text += &name;
                self.around(text, "() { ", depth, "; }; ");
                *text += &name;
                *text += " a";
            }
            8 => self.around(text, "! { ", depth, "; }"),
            9 => self.around(text, "p0 \"$( ", depth, " )\""),
            10 => {
                *text += self.of(&["p0 <<E", "p1 a <<'E'", "{ p0; } <<E", "p2 <<-E", "p3 <<E; p0"]);
                *text += "\n";
                *text += self.of(&[
                    "x $X y",
                    "$(p1 a)",
                    "`p2`",
                    "${N:-z}",
                    "\"a\" 'b'",
                    "\\$X \\\\",
                    "\tt",
                    "a\\\nb",
                ]);
                *text += "\nE\n";
            }
            11 => self.around(text, "[[ a == $X ]] && ", depth, ""),
            12 => self.around(text, "eval '", 0, "'"),
            _ => self.around(text, "(( i += 1 ))\n", depth, ""),
        }
        if self.below(4) == 0 {
            *text += " ";
            *text += self.of(REDIRECTIONS);
        }
    }

    fn around(&mut self, text: &mut String, before: &str, depth: usize, after: &str) {
        *text += before;
        self.list(text, depth);
        *text += after;
    }

    fn simple(&mut self, text: &mut String) {
        if self.below(4) == 0 {
            *text += self.of(ASSIGNMENTS);
            if self.below(2) == 0 {
                return;
            }
            *text += " ";
        }
        if self.below(12) == 0 {
            *text += self.of(REDIRECTIONS);
            *text += " ";
        }
        *text += if self.below(2) == 0 { self.of(&["p0", "p1", "p2", "p3"]) } else { self.of(NAMES) };
        for _ in 0..self.below(4) {
            *text += " ";
            *text += if self.below(10) == 0 { self.of(REDIRECTIONS) } else { self.of(WORDS) };
        }
    }
}
