//! Texts whose programs stand in variables: edits of values, loops over patterns, and builtins that set and change them.

use std::fmt::Write as _;

use ccm_testkit::{Random, usual_or_long};

use crate::compare;
use crate::machine::{Case, Machine};

const VALUES: [&str; 16] = [
    "run1", "run2.x", "x.run3", "./run4", "a/run1", "RUN2", "run3-", "_run4", "run1.x.x", "'run2 x'",
    "r-u-n-3", "run4/", "run", "\"run1\"", "$d", "run2*",
];
const NAMES: [&str; 4] = ["c", "d", "e", "c"];
const PATTERNS: [&str; 18] = [
    ".x", ".*", "*.", "*/", "/*", "x", "*", "?", "[x]", "-", "_", "'.x'", "\"*\"", "$d", "run", "*x", "x.",
    "*.*",
];
const OPERATORS: [&str; 4] = ["#", "##", "%", "%%"];
const OF_BASH: [&str; 10] = [",,", "^^", ",", "^", "//-", "/-", "//-/_", "//x/run1", "/#x/", "/%x/"];
const SET_BY_BASH: [&str; 26] = [
    "mapfile c < lines",
    "mapfile -t c < lines",
    "mapfile -tn 1 c < lines",
    "readarray -t -O 0 c < lines",
    "builtin mapfile -t c < lines",
    "mapfile -t -- d < lines",
    "mapfile -td: c < lines",
    "declare -l c",
    "declare -u d",
    "declare -l c=RUN3",
    "declare -a 'c=(run2)'",
    "declare 'd=(run1)'",
    "declare -a c=(run4)",
    "typeset -l d=RUN1",
    "read -ra c < lines",
    "read -a d < lines",
    "declare -x c=run2",
    "declare +l c",
    "export -a 'c=(run1)'",
    "printf -v c %s run3",
    "printf -vd run1",
    "declare -n c=d",
    "declare -i c=1",
    "c+=x",
    "c=(run3 x)",
    "d[0]=run2",
];
const SET_BY_ALL: [&str; 12] = [
    "read c < lines",
    "read -r d < lines",
    "export c=run1",
    "export d",
    "readonly c",
    "readonly e=run4",
    "unset c",
    "c= ",
    ": ${c:=run3}",
    ": ${d=run2}",
    "IFS=.",
    "set -- run1 run2",
];

fn value(random: &mut Random, is_bash: bool) -> String {
    let name = random.one_of(&NAMES);
    let pattern = random.one_of(&PATTERNS);
    match random.below(6) {
        0 | 1 => random.one_of(&VALUES).to_owned(),
        2 if is_bash => format!("${{{name}{}}}", random.one_of(&OF_BASH)),
        2 | 3 => format!("${{{name}{}{pattern}}}", random.one_of(&OPERATORS)),
        4 => format!("\"${{{name}{}.x}}\"", random.one_of(&OPERATORS)),
        _ => format!("${name}"),
    }
}

fn statement(random: &mut Random, text: &mut String, is_bash: bool) {
    let name = random.one_of(&NAMES);
    let written = match random.below(9) {
        0..=3 => write!(text, "{name}={}", value(random, is_bash)),
        4 => write!(text, "{}", random.one_of(&SET_BY_ALL)),
        5 if is_bash => write!(text, "{}", random.one_of(&SET_BY_BASH)),
        5 | 6 => {
            let words = [random.one_of(&VALUES), random.one_of(&["*.x", "run1.x", "*-x", "sub/*", "run2"])];
            write!(text, "for {name} in {} {}; do {}; done", words[0], words[1], value(random, is_bash))
        }
        7 => write!(text, "if test -e lines; then {name}={}; fi", value(random, is_bash)),
        _ => write!(text, "f() {{ {name}={}; }}; f", value(random, is_bash)),
    };
    written.expect("a text");
    text.push_str("; ");
}

#[test]
fn whatever_a_variable_starts_is_named() {
    let files = [
        ("lines", "run2\nrun4\n"),
        ("run1.x", ""),
        ("run2.x", ""),
        ("run3-x", ""),
        ("sub/run4.x", ""),
        ("a.x", ""),
    ];
    let machine = Machine::new(&["/bin/sh", "/bin/bash", "/usr/bin/test"], &files);
    let mut random = Random::new(0x7a71_ab1e);
    let named = compare(&machine, usual_or_long(800, 100_000), || {
        let is_bash = random.below(3) > 0;
        let mut text = String::new();
        for _ in 0..=random.below(4) {
            statement(&mut random, &mut text, is_bash);
        }
        text += &value(&mut random, is_bash);
        let (path, name) = if is_bash { ("/bin/bash", "bash") } else { ("/bin/dash", "sh") };
        let words = vec![path.to_owned(), "-c".to_owned(), text];
        Case { words, name: name.to_owned(), variables: Vec::new(), input: "run1\nrun3\n".to_owned() }
    });
    assert!(named > 30, "{named} cases started something");
}
