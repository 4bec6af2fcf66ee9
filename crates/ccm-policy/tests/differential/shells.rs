//! Options of shells.

use ccm_testkit::{Random, usual_or_long};

use crate::compare;
use crate::machine::{Case, Machine};

const OPTIONS: [&str; 52] = [
    "-c",
    "-c",
    "-ec",
    "-oc",
    "-co",
    "-ceo",
    "-o",
    "-O",
    "+o",
    "+O",
    "+c",
    "-e",
    "-u",
    "-x",
    "-s",
    "-es",
    "-i",
    "-l",
    "--",
    "-",
    "+",
    "--norc",
    "-norc",
    "--noprofile",
    "--posix",
    "-posix",
    "--login",
    "--rcfile",
    "--init-file",
    "-rcfile",
    "--version",
    "--help",
    "-n",
    "-oec",
    "-Oc",
    "-ooc",
    "-oOc",
    "-f",
    "-p",
    "-k",
    "-a",
    "-b",
    "-E",
    "-V",
    "-m",
    "-t",
    "-C",
    "-h",
    "--verbose",
    "--restricted",
    "-r",
    "-D",
];

const WORDS: [&str; 12] = [
    "errexit",
    "nounset",
    "posix",
    "nullglob",
    "extglob",
    "script-run2",
    "script-run4",
    "run1",
    "run3",
    "run1",
    "x",
    "run3 a; run1",
];

#[test]
fn whatever_shells_run_is_named() {
    let machine =
        Machine::new(&["/bin/sh", "/bin/bash"], &[("script-run2", "run2\n"), ("script-run4", "run4\n")]);
    let has_busybox = std::path::Path::new("/usr/bin/busybox").is_file();
    let mut random = Random::new(0x5e11_5e11);
    let named = compare(&machine, usual_or_long(400, 100_000), || {
        let shells = [
            ("/bin/dash", "dash"),
            ("/bin/bash", "bash"),
            ("/bin/bash", "sh"),
            ("/bin/dash", "sh"),
            ("/usr/bin/busybox", "busybox"),
        ];
        let (path, name) = shells[random.below(if has_busybox { 5 } else { 4 })];
        let mut words = vec![path.to_owned()];
        words.extend((name == "busybox").then(|| "sh".to_owned()));
        for _ in 0..=random.below(5) {
            let all = if random.below(5) < 3 { &OPTIONS[..] } else { &WORDS[..] };
            words.push(random.one_of(all).to_owned());
        }
        let input = if random.below(3) == 0 { "run1\n" } else { "" };
        Case { words, name: name.to_owned(), variables: Vec::new(), input: input.to_owned() }
    });
    assert!(named > 50, "{named} cases started something");
}
