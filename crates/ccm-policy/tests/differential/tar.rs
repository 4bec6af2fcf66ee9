//! Options of `tar`.

use ccm_testkit::{Random, usual_or_long};

use crate::machine::{Case, Machine};
use crate::outside;

const OPERATIONS: [&str; 28] = [
    "xf a.tar",
    "-xf a.tar",
    "-x -f a.tar",
    "--extract --file=a.tar",
    "--get --file a.tar",
    "xvf a.tar",
    "tf a.tar",
    "-tf a.tar",
    "cf b.tar f",
    "-cf ../out/x1 f",
    "-c --file=../out/x1 f sub",
    "cf - f",
    "cf - ../secret",
    "-rf b.tar f",
    "-uf ../out/x2 f",
    "df a.tar",
    "-Af b.tar a.tar",
    "--delete -f b.tar f",
    "xfO a.tar",
    "-cf h:b --rsh-command=run4 f",
    "--test-label -f a.tar",
    "-f a.tar -x",
    "-c -F run4 -f b.tar f",
    "-c --info-script=run1 -f b.tar f",
    "-c --new-volume-script=run3 -f b.tar f",
    "-c --info=run2 -f b.tar f",
    "-cM -L 10 -F run4 -f b.tar big",
    "-cM -L 10 --volno-file=../out/x8 -F run1 -f b.tar big",
];

const OPTIONS: [&str; 69] = [
    "-C ../out",
    "-C sub",
    "-C../out",
    "--directory=../out",
    "--directory ../out",
    "--dir=../out",
    "--cd=../out",
    "--one-top-level=../out/x3",
    "--one-top-level=../out",
    "--one-top-level",
    "--to-command=run1",
    "--to-command",
    "--to-com=run2 a",
    "-I run3",
    "-Irun3",
    "--use-compress-program=run4",
    "--use-comp run1",
    "--checkpoint=1",
    "--checkpoint",
    "--chec=1",
    "--checkpoint-action=exec=run2",
    "--checkpoint-action exec=run3",
    "--checkpoint-a=exec=run2",
    "--checkpoint-action=dot",
    "--checkpoint-action=echo=run1",
    "--checkpoint-action=sleep=0",
    "-z",
    "-a",
    "-J",
    "-v",
    "-O",
    "--to-stdout",
    "--index-file=../out/x4",
    "--index=../out/x4",
    "-g ../out/x5",
    "--listed-incremental=../out/x6",
    "--listed-incr ../out/x6",
    "-P",
    "--absolute-names",
    "--abs",
    "--transform=s,^,../out/,",
    "--xform=s,m,../out/x7,",
    "-T list",
    "--files-from=list",
    "-T list --null",
    "-X list",
    "--exclude=m",
    "--strip-components=1",
    "--remove-files",
    "--backup",
    "-k",
    "-U",
    "--overwrite",
    "--recursive-unlink",
    "--rsh-command=run1",
    "--rmt-command=run2",
    "-S",
    "--sort=name",
    "--mode=u+w",
    "-h",
    "-l",
    "-o",
    "--totals",
    "-V label",
    "-b 1",
    "--odd",
    "-i",
    "--warning=none",
    "--add-file=../secret",
];

const VARIABLES: [&str; 5] = [
    "--checkpoint=1 --checkpoint-action=exec=run1",
    "--to-command=run2",
    "-v",
    "-C ../out",
    "--index-file=../out/x9 -v",
];

/// Builds a machine with an archive whose members are `m` and `../out/x10`.
fn machine() -> Machine {
    let machine = outside::machine(
        &["/usr/bin/sh", "/usr/bin/gzip"],
        &[
            ("f", "x\n"),
            ("m", "member\n"),
            ("big", &"0123456789\n".repeat(3_000)),
            ("list", "m\n-C\n../out\nf\n"),
        ],
    )
    .keep("a.tar");
    let words = ["/usr/bin/tar", "-P", "--transform=s,^f,../out/x10,", "-cf", "a.tar", "m", "f"];
    let words = words.map(ToOwned::to_owned).to_vec();
    machine.run(&Case { words, name: "tar".to_owned(), variables: Vec::new(), input: String::new() });
    machine
}

#[test]
fn whatever_tar_starts_or_writes_is_named() {
    let machine = machine();
    let mut random = Random::new(0x7a4_7a4);
    let happened = outside::compare(&machine, usual_or_long(250, 100_000), || {
        let mut words = vec!["/usr/bin/tar".to_owned()];
        let mut add = |part: &str| {
            let parts: Vec<&str> = match part.split_once('=') {
                Some(_) if part.starts_with("--") && !part.contains(" -") => vec![part],
                _ => part.split(' ').collect(),
            };
            words.extend(parts.into_iter().map(ToOwned::to_owned));
        };
        let is_first = random.below(2) == 0;
        if is_first {
            add(random.one_of(&OPERATIONS));
        }
        for _ in 0..random.below(4) {
            add(random.one_of(&OPTIONS));
        }
        if !is_first {
            let operation = random.one_of(&OPERATIONS);
            if operation.starts_with('-') {
                add(operation);
            } else {
                add(&format!("-{operation}"));
            }
        }
        if random.below(6) == 0 {
            add(random.one_of(&["m", "f", "--", "-- -C ../out", "sub"]));
        }
        let mut variables = Vec::new();
        if random.below(10) == 0 {
            variables.push(("TAR_OPTIONS".to_owned(), random.one_of(&VARIABLES).to_owned()));
        }
        Case { words, name: "tar".to_owned(), variables, input: String::new() }
    });
    assert!(happened > 40, "{happened} cases started or wrote something");
}
