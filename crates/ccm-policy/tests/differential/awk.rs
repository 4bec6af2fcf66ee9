//! Programs of awk.

use ccm_testkit::{Random, skipped, usual_or_long};

use crate::compare;
use crate::machine::{Case, Machine};

const STATEMENTS: [&str; 40] = [
    "system(\"run1\")",
    "system(\"run1 a\")",
    "system( \"run2\" )",
    "print | \"run3\"",
    "print $1 | \"run3\"",
    "print \"x\" > \"f1\"",
    "print > \"../f2\"",
    "printf \"%s\", $1 >> \"f1\"",
    "print (1 > 2)",
    "print(1)(2) > \"f1\"",
    "print $1, $2",
    "\"run4\" | getline",
    "\"run4\" | getline x",
    "while ((\"run4\" | getline l) > 0) n++",
    "getline",
    "getline x < \"../secret\"; print x",
    "while ((getline l < \"../secret\") > 0) print l",
    "x = 1 / 2",
    "x = $1 / 2 / 3",
    "if (x) print",
    "if (/a/) print; else print 2",
    "x = \"a/b\"",
    "x = \"a\\\"b\"",
    "gsub(/a/, \"b\")",
    "sub(\"/\", \"x\")",
    "n = split($0, a, /[/]/)",
    "delete a",
    "next",
    "x++",
    "x = y ? 1 : 2",
    "c = \"run1\"; system(c)",
    "c = \"run\"; print | c \"3\"",
    "print \"a\" \"b\" > \"f\" \"1\"",
    "close(\"x\")",
    "print length",
    "print length / 2",
    "x = $NF",
    "print -1 \" \" -2",
    "print a[1] / 2",
    "printf(\"%d\\n\", 3)",
];

const PATTERNS: [&str; 20] = [
    "",
    "",
    "BEGIN ",
    "BEGIN ",
    "END ",
    "/a/ ",
    "!/a/ ",
    "$1 ~ /b/ ",
    "NR == 1 ",
    "/[/]/ ",
    "/[\"]/ ",
    "/[\"/]/ || 1 ",
    "/\\// ",
    "1, 2 ",
    "NR==1, /x/ ",
    "$1 / 2 ",
    "(x) ",
    "x / 2 ",
    "/a/ && /\"/ ",
    "/#/ ",
];

const FRAGMENTS: [&str; 40] = [
    "\"", "/", "\\", "[", "]", "(", ")", "{", "}", "#", "\n", ";", "|", "||", "&&", ">", ">>", "<",
    "getline", "system", "\"run2\"", "$", "~", "!", "@", " ", "\\\n", "# x\n", "# \\\n", "\"\\\"", "/=/",
    "++", "--", "0x1", "1e3", "1", "x", "\\/", "print", "|&",
];

const AWKS: [&str; 4] = ["/usr/bin/mawk", "/usr/bin/gawk", "/usr/bin/original-awk", "/usr/bin/busybox"];

fn program(random: &mut Random) -> String {
    let mut program = String::new();
    for _ in 0..=random.below(2) {
        program += random.one_of(&PATTERNS);
        program += "{";
        for number in 0..=random.below(3) {
            program += if number > 0 { random.one_of(&["; ", "\n", ";", " ", "\n\n"]) } else { " " };
            let statement = random.one_of(&STATEMENTS);
            if random.below(4) == 0 {
                let at = random.below(statement.len() + 1);
                program += statement.get(..at).unwrap_or_default();
                program += random.one_of(&FRAGMENTS);
                program += statement.get(at..).unwrap_or_default();
            } else {
                program += statement;
            }
        }
        program += random.one_of(&["}", "}\n", " } ", "};"]);
        if random.below(6) == 0 {
            program += random.one_of(&FRAGMENTS);
        }
    }
    program
}

#[test]
fn whatever_awk_does_is_named() {
    let installed: Vec<&str> = AWKS.into_iter().filter(|path| std::path::Path::new(path).is_file()).collect();
    if installed.is_empty() {
        skipped("no awk is installed");
        return;
    }
    let machine = Machine::new(&["/bin/sh"], &[("in", "a/b c\nx \"a\"\n")]);
    let mut random = Random::new(0xa3c_a3c);
    let named = compare(&machine, usual_or_long(500, 100_000), || {
        let path = random.one_of(&installed);
        let is_busybox = path.ends_with("busybox");
        let mut words = vec![path.to_owned()];
        words.extend(is_busybox.then(|| "awk".to_owned()));
        match random.below(8) {
            0 => words.extend(["-F".to_owned(), "/".to_owned()]),
            1 => words.push("-F:".to_owned()),
            2 => words.extend(["-v".to_owned(), "x=run1".to_owned()]),
            3 => words.push("--".to_owned()),
            _ => {}
        }
        words.push(program(&mut random));
        words.push("in".to_owned());
        let name = if is_busybox { "busybox" } else { path.rsplit('/').next().unwrap_or_default() };
        Case { words, name: name.to_owned(), variables: Vec::new(), input: String::new() }
    });
    assert!(named > 20, "{named} cases did something");
}
