//! Lines of perl.

use ccm_testkit::{Random, skipped, usual_or_long};

use crate::compare;
use crate::machine::{Case, Machine};

const STATEMENTS: [&str; 32] = [
    "print",
    "print if /a/",
    "print unless /^x/",
    "print if /(a|b$)/i && !/c/",
    "print \"$1\\n\" if /(\\w)/",
    "print \"$.: $_\"",
    "print $F[0], \"\\n\"",
    "print $1 . \"$2\"",
    "print if 1..2",
    "print if $. == 2",
    "next if /^$/",
    "last",
    "chomp",
    "s/a/b/",
    "s/(a)(b)/$2$1/g",
    "s|a|${1}0|",
    "s#a#b#i",
    "s/a$/b/",
    "s/(?<=a)b/c/",
    "s/x\\[//",
    "s/a/b/e",
    "s/a/`run1`/e",
    "s/.*/run2/ee",
    "tr/a-z/A-Z/",
    "y/a/b/d",
    "system 'run1'",
    "print `run2`",
    "open F, '>f1'",
    "open F, 'run3|'",
    "BEGIN { `run4` }",
    "print if system 'run1'",
    "say",
];

const FRAGMENTS: [&str; 48] = [
    "`run1`",
    "system('run2')",
    "@{[`run1`]}",
    "@{[ system 'run3' ]}",
    "${\\ `run2`}",
    "(?{`run1`})",
    "(??{`run1`})",
    "(?{",
    "(*F)",
    "(?#x)",
    "$1",
    "$_",
    "$&",
    "$x",
    "$F[0]",
    "$F[`run4`]",
    "[`run1`]",
    "{`run1`}",
    "->[`run2`]",
    "$",
    "@",
    "%",
    "&",
    "\\",
    "/",
    "|",
    "#",
    ",",
    ".",
    ";",
    "\"",
    "'",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    " ",
    "\n",
    "e",
    "ee",
    "g",
    "x",
    "if ",
    "and ",
    "<in>",
    "=",
];

const OPTIONS: [&[&str]; 15] = [
    &["-ne"],
    &["-ne"],
    &["-pe"],
    &["-pe"],
    &["-pi", "-e"],
    &["-pi", "-e"],
    &["-pi", "-e"],
    &["-pi.x", "-e"],
    &["-i.bak", "-pe"],
    &["-i../f*", "-pe"],
    &["-lane"],
    &["-F:", "-lane"],
    &["-0777", "-pe"],
    &["-sne"],
    &["-e"],
];

const OPERANDS: [&str; 16] = [
    "in",
    "in",
    "in",
    "./in",
    "run1|",
    "run2 |",
    "|run3",
    "| run4",
    ">f1",
    ">>f2",
    "<in",
    "+<in",
    "-",
    "&1",
    " run1| ",
    "../secret",
];

fn code(random: &mut Random) -> String {
    let mut code = String::new();
    for number in 0..=random.below(2) {
        if number > 0 {
            code += random.one_of(&["; ", ";", "; ", "\n"]);
        }
        let statement = random.one_of(&STATEMENTS);
        if random.below(2) == 0 {
            let at = random.below(statement.len() + 1);
            code += statement.get(..at).unwrap_or_default();
            code += random.one_of(&FRAGMENTS);
            code += statement.get(at..).unwrap_or_default();
        } else {
            code += statement;
        }
    }
    code
}

#[test]
fn whatever_perl_does_is_named() {
    if !std::path::Path::new("/usr/bin/perl").is_file() {
        return skipped("perl is not installed");
    }
    let machine = Machine::new(&["/bin/sh"], &[("in", "ab c\nrun1\nx[a]\n")]);
    let mut random = Random::new(0x9e_51);
    let named = compare(&machine, usual_or_long(500, 100_000), || {
        let mut words = vec!["/usr/bin/perl".to_owned()];
        words.extend(OPTIONS[random.below(OPTIONS.len())].iter().map(ToString::to_string));
        words.push(code(&mut random));
        if random.below(8) == 0 {
            words.extend(["-e".to_owned(), code(&mut random)]);
        }
        for _ in 0..=random.below(2) {
            words.push((*random.one_of(&OPERANDS)).to_owned());
        }
        Case { words, name: "perl".to_owned(), variables: Vec::new(), input: "ab\n".to_owned() }
    });
    assert!(named > 10, "{named} cases did something");
}
