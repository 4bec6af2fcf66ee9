//! Expressions of `find`.

use ccm_testkit::{Random, usual_or_long};

use crate::machine::Case;
use crate::outside;

const ROOTS: [&str; 6] = [".", "sub", "../out", "../out/f", "f", "./sub/.."];

const TESTS: [&str; 46] = [
    "-name f",
    "-name *",
    "-type f",
    "-type d",
    "-maxdepth 1",
    "-mindepth 1",
    "-size +0",
    "-newer f",
    "-newermt 2020-01-01",
    "-newerXY f",
    "-regex .*",
    "-path ./f",
    "-perm -1",
    "-perm /222",
    "-empty",
    "-true",
    "-false",
    "-samefile f",
    "!",
    "(",
    ")",
    "-o",
    "-a",
    "-and",
    "-not",
    ",",
    "-prune",
    "-print",
    "-print0",
    "-ls",
    "-quit",
    "-depth",
    "-xdev",
    "-iname F",
    "-links 1",
    "-mmin -5",
    "-readable",
    "-writable",
    "-executable",
    "-printf %p",
    "-inum 5",
    "-uid 0",
    "-regextype sed",
    "-daystart",
    "-follow",
    "-context x",
];

const ACTIONS: [&str; 38] = [
    "-fprint ../out/x1",
    "-fprint sub/y",
    "-fprintf ../out/x2 %p",
    "-fls ../out/x3",
    "-fprint0 ../out/x4",
    "-exec run1 {} ;",
    "-exec run2 {} +",
    "-exec run2 a {} + ;",
    "-execdir run3 {} ;",
    "-execdir run3 {} +",
    "-ok run1 ;",
    "-okdir run1 {} + ;",
    "-exec run4 ;",
    "-exec touch ../out/x5 ;",
    "-execdir touch x6 ;",
    "-exec cp f ../out/x7 ;",
    "-exec sh -c run1 ;",
    "-exec env A=1 run2 ;",
    "-delete",
    "-exec rm {} ;",
    "-exec rm -f {} +",
    "-files0-from list",
    "-files0-from ../secret",
    "-exec ; run1",
    "-exec + run1",
    "-exec",
    "-exec {} ;",
    "-name -exec run1 ;",
    "-fprintf run1",
    "-fprint",
    "-odd",
    "-odd run1",
    "--",
    "-exec run1 ; -exec run2 ;",
    "-printf -exec run3 ;",
    "-newermt -exec run4 ;",
    "-exec cp {} ../out/x8 ;",
    "-exec tee ../out/x9 ;",
];

#[test]
fn whatever_find_starts_or_writes_is_named() {
    let programs =
        ["/usr/bin/touch", "/usr/bin/cp", "/usr/bin/sh", "/usr/bin/env", "/usr/bin/rm", "/usr/bin/tee"];
    let machine = outside::machine(&programs, &[("f", "x\n"), ("list", "f\0")]);
    let mut random = Random::new(0xf1d_f1d);
    let happened = outside::compare(&machine, usual_or_long(250, 100_000), || {
        let mut words = vec!["/usr/bin/find".to_owned()];
        let mut add = |part: &str| words.extend(part.split(' ').map(ToOwned::to_owned));
        if random.below(8) == 0 {
            add(random.one_of(&["-H", "-L", "-P", "-O3", "-D tree", "--"]));
        }
        for _ in 0..random.below(3) {
            add(random.one_of(&ROOTS));
        }
        for _ in 0..random.below(6) {
            match random.below(2) {
                0 => add(random.one_of(&TESTS)),
                _ => add(random.one_of(&ACTIONS)),
            }
        }
        Case { words, name: "find".to_owned(), variables: Vec::new(), input: String::new() }
    });
    assert!(happened > 40, "{happened} cases started or wrote something");
}
