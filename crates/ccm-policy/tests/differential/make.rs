//! Words and variables of `make`.

use ccm_testkit::{Random, skipped, usual_or_long};

use crate::compare;
use crate::machine::{Case, Machine};

const MAKEFILE: &str = "\
X = true
all: ; -@$(X) a
quoted: ; -@echo \"$(X)\" '$(Y)'
value: ; -@echo $(X) $(Y)
compiled: ; -@$(CC) -c x
Z := $(Y)
.PHONY: all quoted value compiled
";

const NAMES: [&str; 12] =
    ["X", "Y", "CC", "X ", "SHELL", ".SHELLFLAGS", "Z", "MAKEFLAGS", "A.B", "A/B", "-X", "$(N)"];

const OPERATORS: [&str; 10] = ["=", "=", "=", ":=", "::=", "+=", "?=", "!=", " = ", ":::="];

const VALUES: [&str; 36] = [
    "run1",
    "run2 a",
    "x",
    "-O2",
    "a b",
    ";",
    "; run3",
    "&& run3",
    "| run3",
    "|| run4",
    "`run1`",
    "$(shell run2)",
    "${shell run2 x}",
    "$$(run3)",
    "$$X",
    "$(X)",
    "$X",
    "#",
    "\"",
    "'",
    "\\",
    "\n",
    "(run4)",
    "> f1",
    "< in",
    "$(call X,run1)",
    "$(eval X=run1)",
    "$(file >f1,x)",
    "$(wildcard *)",
    "$(if x,$(shell run1))",
    "$(subst a,run1,a)",
    "$(or $(shell run3),x)",
    " ",
    "@",
    "-",
    "+",
];

const WORDS: [&str; 24] = [
    "all",
    "quoted",
    "value",
    "compiled",
    "-n",
    "-j2",
    "-j",
    "2",
    "-k",
    "-s",
    "-B",
    "-e",
    "-C",
    "sub",
    "-f",
    "Makefile",
    "--",
    "-i",
    "-r",
    "--always-make",
    "--no-print-directory",
    "-t",
    "--debug=b",
    "-fother",
];

fn value(random: &mut Random) -> String {
    let count = 1 + random.below(3);
    (0..count).map(|_| random.one_of(&VALUES)).collect()
}

#[test]
fn whatever_make_starts_is_named() {
    if !std::path::Path::new("/usr/bin/make").is_file() {
        skipped("make is not installed");
        return;
    }
    let machine =
        Machine::new(&["/bin/sh", "/bin/true", "/bin/echo"], &[("Makefile", MAKEFILE), ("in", "x\n")]);
    let mut random = Random::new(0x3a4_3a4);
    let named = compare(&machine, usual_or_long(200, 100_000), || {
        let mut words = vec!["/usr/bin/make".to_owned()];
        let mut variables = Vec::new();
        for _ in 0..=random.below(5) {
            match random.below(5) {
                0 | 1 => {
                    let name = random.one_of(&NAMES);
                    words.push(format!("{name}{}{}", random.one_of(&OPERATORS), value(&mut random)));
                }
                2 => variables.push((random.one_of(&["X", "Y", "CC"]).to_owned(), value(&mut random))),
                3 => words.push(format!("--eval={}:={}", random.one_of(&NAMES), value(&mut random))),
                _ => words.push(random.one_of(&WORDS).to_owned()),
            }
        }
        words.push(random.one_of(&["all", "quoted", "value", "compiled"]).to_owned());
        Case { words, name: "make".to_owned(), variables, input: String::new() }
    });
    assert!(named > 5, "{named} cases started something");
}
