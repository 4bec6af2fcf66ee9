//! Words of `env`.

use ccm_testkit::{Random, usual_or_long};

use crate::compare;
use crate::machine::{Case, Machine};

const WORDS: [&str; 44] = [
    "A=1",
    "A.B=1",
    "A-B=1",
    "A%=x",
    "=x",
    "A=b=c",
    "-",
    "--",
    "-i",
    "-u",
    "-uA",
    "--unset=A",
    "-0",
    "-v",
    "-C",
    "sub",
    "-Csub",
    "--chdir=sub",
    "--chdir",
    "-S",
    "-S run1",
    "-vS",
    "--split-string",
    "--split=run2 a",
    "--split-string=A=1 run3",
    "run1",
    "run2",
    "run3",
    "env",
    "env",
    "--block-signal=PIPE",
    "--default-signal",
    "--ignore-signal",
    "--list-signal-handling",
    "--debug",
    "-iS",
    "-a",
    "A",
    "x",
    "--null",
    "a b",
    "",
    "--unset",
    "-S-i",
];

const TEXTS: [&str; 34] = [
    "run1", "run2", "A=1", "A.B=1", " ", "\t", "\\_", "\\c", "\\t", "\\n", "'", "\"", "\\\\", "\\'", "\\\"",
    "#", "\\#", "${A}", "$A", "\\$", "env", "-i", "-u A", "-S", "x", "run3 a", "\\x", "-C sub", "--", "-",
    "'run1'", "\"run2\"", "ru", "n1",
];

fn text(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.below(7) {
        text += random.one_of(&TEXTS);
        if random.below(3) == 0 {
            text.push(' ');
        }
    }
    text
}

#[test]
fn whatever_env_starts_is_named() {
    let machine = Machine::new(&["/usr/bin/env"], &[]);
    let mut random = Random::new(0xe4f_e4f);
    let named = compare(&machine, usual_or_long(400, 100_000), || {
        let mut words = vec!["/usr/bin/env".to_owned()];
        for _ in 0..random.below(7) {
            match random.below(4) {
                0 => words.push(format!("-S{}", text(&mut random))),
                1 => words.extend(["-S".to_owned(), text(&mut random)]),
                _ => words.push(random.one_of(&WORDS).to_owned()),
            }
        }
        Case { words, name: "env".to_owned(), variables: Vec::new(), input: String::new() }
    });
    assert!(named > 20, "{named} cases started something");
}
