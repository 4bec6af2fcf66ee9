//! Options and commands of `xargs`.

use ccm_testkit::{Random, usual_or_long};

use crate::machine::Case;
use crate::outside;

const OPTIONS: [&str; 44] = [
    "-n1",
    "-n 1",
    "-I{}",
    "-I %",
    "-I",
    "-i",
    "-i{}",
    "-i%",
    "--replace",
    "--replace=%",
    "-L1",
    "-L 2",
    "-l",
    "-l1",
    "--max-lines",
    "--max-lines=1",
    "-P2",
    "-r",
    "-t",
    "-0",
    "-d ,",
    "-d\\n",
    "--delimiter=,",
    "-a list",
    "-a ../secret",
    "--arg-file=list",
    "-E x",
    "-e",
    "-ex",
    "--eof=x",
    "-s 200",
    "--max-args=1",
    "--max-a 1",
    "-x",
    "--process-slot-var=V",
    "--show-limits",
    "--",
    "-rt",
    "-rn1",
    "-trI{}",
    "--odd",
    "-Z",
    "--no-run-if-empty",
    "-o",
];

const COMMANDS: [&str; 26] = [
    "run1 a",
    "run2 {}",
    "run3 %",
    "env run4",
    "env A={} run1",
    "touch ../out/x1",
    "cp f ../out/x2",
    "touch",
    "touch {}",
    "touch %",
    "sh -c run1",
    "sh -c {}",
    "sh",
    "{}",
    "%",
    "tee ../out/x4",
    "env",
    "env -i",
    "cat",
    "cat ../secret",
    "",
    "echo",
    "run1 ; run2",
    "timeout 5 run3",
    "xargs run4",
    "cp -t ../out",
];

const INPUTS: [&str; 9] = [
    "",
    "a b",
    "run1",
    "run2\nrun3",
    "../out/x3",
    "-x 'b c' ../out/x5",
    "x run1 x run2",
    "a,run1,../out/x6",
    "f ../secret",
];

#[test]
fn whatever_xargs_starts_or_writes_is_named() {
    let programs = [
        "/usr/bin/touch",
        "/usr/bin/cp",
        "/usr/bin/sh",
        "/usr/bin/env",
        "/usr/bin/tee",
        "/usr/bin/cat",
        "/usr/bin/echo",
        "/usr/bin/timeout",
        "/usr/bin/xargs",
    ];
    let machine = outside::machine(&programs, &[("f", "x\n"), ("list", "run1 ../out/x7\n")]);
    let mut random = Random::new(0xa_a465);
    let happened = outside::compare(&machine, usual_or_long(250, 100_000), || {
        let mut words = vec!["/usr/bin/xargs".to_owned()];
        for _ in 0..random.below(4) {
            words.extend(random.one_of(&OPTIONS).split(' ').map(ToOwned::to_owned));
        }
        let command = random.one_of(&COMMANDS);
        words.extend(command.split(' ').filter(|word| !word.is_empty()).map(ToOwned::to_owned));
        let input = random.one_of(&INPUTS).to_owned();
        Case { words, name: "xargs".to_owned(), variables: Vec::new(), input }
    });
    assert!(happened > 40, "{happened} cases started or wrote something");
}
