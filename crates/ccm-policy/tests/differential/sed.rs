//! Scripts of sed.

use ccm_testkit::{Random, usual_or_long};

use crate::compare;
use crate::machine::{Case, Machine};

const COMMANDS: [&str; 44] = [
    "p",
    "d",
    "s/a/b/",
    "s/a/b/g",
    "s|a|b|",
    "s/^/run2/e",
    "s/.*/run1/e",
    "s/x/y/w f1",
    "w f1",
    "w ../f2",
    "W f3",
    "r ../secret",
    "R ../secret",
    "e run1",
    "e",
    "1e run2",
    "a text",
    "i\\\ntext",
    "c\\text",
    "a\\\nx\\\ny",
    "=",
    "n",
    "N",
    "y/ab/cd/",
    "y,a,b,",
    "# c",
    "#n",
    ": x",
    "b x",
    "t",
    "b",
    "$!N",
    "q",
    "q5",
    "Q",
    "l 1",
    "l",
    "h;g",
    "x",
    "F",
    "z",
    "e run3 a b",
    "v",
    "s/a/b/;",
];

const FRAGMENTS: [&str; 40] = [
    "[",
    "]",
    "/",
    "\\",
    "\\\\",
    "\n",
    ";",
    "{",
    "}",
    "!",
    ",",
    "1",
    "$",
    "~",
    "+",
    " ",
    "I",
    "M",
    "[/]",
    "[^/]",
    "[]/]",
    "[[:alpha:]]",
    "\\n",
    "\\/",
    "e run1",
    "w f1",
    "#",
    "&",
    "|",
    "\\|a|",
    "/x/",
    "0,/a/",
    "2,3",
    "e",
    "w",
    "p",
    "g",
    "s",
    "\t",
    "\\\n",
];

const SEPARATORS: [&str; 8] = [";", "\n", ";\n", " ; ", "\\\n", "", "}", ";}"];

const ADDRESSES: [&str; 16] = [
    "", "", "", "1", "$", "/a/", "\\,a,", "/[/]/", "/[^]/]/", "1,3", "0~2", "1!", "/a\\/b/", "/a/I", "1,+1{",
    "{",
];

const OPTIONS: [&[&str]; 14] = [
    &[],
    &[],
    &[],
    &["-n"],
    &["-E"],
    &["-s"],
    &["-i"],
    &["-i.bak"],
    &["--posix"],
    &["--sandbox"],
    &["-nE"],
    &["-z"],
    &["--debug"],
    &["--in-place=.x"],
];

fn script(random: &mut Random) -> String {
    let mut script = String::new();
    for _ in 0..=random.below(4) {
        script += random.one_of(&ADDRESSES);
        if random.below(5) == 0 {
            script += random.one_of(&FRAGMENTS);
        }
        let command = random.one_of(&COMMANDS);
        if random.below(3) == 0 {
            // A part of the text is lost, doubled or replaced.
            let at = random.below(command.len() + 1);
            script += command.get(..at).unwrap_or_default();
            script += random.one_of(&FRAGMENTS);
            script += command.get(at..).unwrap_or_default();
        } else {
            script += command;
        }
        script += random.one_of(&SEPARATORS);
    }
    script
}

#[test]
fn whatever_sed_does_is_named() {
    let machine = Machine::new(&["/bin/sh"], &[("in", "a/b\nx[a]\nrun4\n")]);
    let has_busybox = std::path::Path::new("/usr/bin/busybox").is_file();
    let mut random = Random::new(0x5ed_5ed);
    let named = compare(&machine, usual_or_long(500, 100_000), || {
        let is_busybox = has_busybox && random.below(4) == 0;
        let mut words = vec![if is_busybox { "/usr/bin/busybox" } else { "/bin/sed" }.to_owned()];
        words.extend(is_busybox.then(|| "sed".to_owned()));
        words.extend(OPTIONS[random.below(OPTIONS.len())].iter().map(ToString::to_string));
        match random.below(6) {
            0 => {
                words.extend(["-e".to_owned(), script(&mut random)]);
                words.push(format!("--expr={}", script(&mut random)));
            }
            1 => words.push(format!("-e{}", script(&mut random))),
            _ => words.push(script(&mut random)),
        }
        words.push("in".to_owned());
        let name = if is_busybox { "busybox" } else { "sed" };
        Case { words, name: name.to_owned(), variables: Vec::new(), input: String::new() }
    });
    assert!(named > 20, "{named} cases did something");
}
