//! Many runs in a row, and what they leave behind.

use std::fs;
use std::path::Path;

use ccm_testkit::{Called, Scratch, wait_until};

use crate::ccm;
use ccm_testkit::usual_or_long;

const KEPT: usize = 20;

/// Kinds of runs in the row, used in turn: name, resources and exit code.
const ROW: [(&str, &str, i32); 7] = [
    ("steady", "    - exec: {name: 'true', creates: /}\n", 0),
    ("changes", "    - file: [{'[dir]/changed': {content: '{{ Data.number }}'}}]\n", 2),
    (
        "fails",
        "    - exec: [{sh -c 'echo words; false': }, {'true': {require: [\"exec#sh -c 'echo words; false'\"]}}]\n",
        4,
    ),
    ("times out", "    - exec: [{'[sleep]': {timeout: 5ms}}]\n", 4),
    (
        "refreshes",
        "    - file: [{'[dir]/source': {content: '{{ Data.number }}'}}]\n    - exec: [{reload: {command: 'true', refresh_only: true, subscribe: ['file#[dir]/source']}}]\n",
        2,
    ),
    (
        "leaves a daemon",
        "    - exec: [{daemon: {provider: shell, command: '[sleep] & echo $! > [dir]/pid'}}]\n",
        2,
    ),
    ("is private", "    - exec: [{pwd: {sandbox: {workdir: private}}}]\n", 2),
];

#[test]
fn nothing_gathers() {
    let scratch = Scratch::in_memory();
    fs::create_dir(scratch.path().join("tmp")).expect("a directory");
    for (number, (_, resources, _)) in ROW.iter().enumerate() {
        let resources = resources
            .replace("[dir]", &scratch.path().to_string_lossy())
            .replace("[sleep]", &sleep(&scratch));
        let manifest = format!("data: {{number: 0}}\nccm:\n  name: row\n  resources:\n{resources}");
        scratch.write(&format!("{number}.yaml"), manifest);
    }
    // After some rounds everything is there that stays, and the size does not grow any more.
    let mut early = 0;
    for number in 0..usual_or_long(200, 10_000) {
        let (what, _, code) = ROW[number % ROW.len()];
        let called = run(&scratch, number);
        if what == "is private" && called.stdout.contains("this kernel") {
            continue;
        }
        assert_eq!(called.code, code, "run {number} {what}: {}", called.shown());
        if what == "leaves a daemon" {
            end_daemon(&scratch, &called);
        }
        if number == 4 * KEPT.max(ROW.len()) {
            early = size(&scratch.state());
        }
    }
    assert!(size(&scratch.state()) <= early * 3 / 2, "{early} bytes became {}", size(&scratch.state()));
    assert_eq!(names(&scratch.path().join("tmp")), [""; 0], "temporary files are left");
    // The newest ones, as many older ones that changed something or failed, and the file `checked`.
    assert_eq!(names(&scratch.state().join("runs")).len(), 2 * KEPT + 1);
    let mut expected: Vec<String> = (0..ROW.len()).map(|number| format!("{number}.yaml")).collect();
    expected.extend(["changed", "pid", "source", "tmp"].map(str::to_owned));
    assert_eq!(scratch.names(), expected);
    assert_eq!(running_in(&scratch), [""; 0], "processes are left");
}

fn run(scratch: &Scratch, number: usize) -> Called {
    let manifest = format!("{}.yaml", number % ROW.len());
    let kept = KEPT.to_string();
    let data = format!("number={number}");
    let args = ["apply", &manifest, "--detailed-exitcodes", "--keep-runs", &kept, "--data", &data];
    ccm(scratch, &args).variable("TMPDIR", &scratch.at("tmp")).run()
}

/// Checks that a daemon was told of, runs, and has nothing open but what a command gets, and ends it.
fn end_daemon(scratch: &Scratch, called: &Called) {
    assert!(called.stdout.contains("left running: "), "{}", called.shown());
    let pid = scratch.read("pid").expect("its number").trim().to_owned();
    let mut open = names(Path::new(&format!("/proc/{pid}/fd")));
    open.sort();
    assert_eq!(open, ["0", "1", "2"], "descriptors of a daemon");
    ccm_testkit::shell(&format!("kill -KILL {pid}"), scratch.path());
    let program = format!("/proc/{pid}/exe");
    wait_until("the daemon ends", || fs::read_link(&program).is_err());
}

#[test]
fn a_long_run_keeps_no_descriptor_and_no_process() {
    let scratch = Scratch::in_memory();
    let mut execs = String::new();
    for number in 0..usual_or_long(60, 2000) {
        let count = "ls /proc/$PPID/fd | wc -l >> [dir]/open; ls /proc/$PPID/task | wc -l >> [dir]/threads";
        execs += &format!("        - count-{number}: {{provider: shell, command: '{count}'}}\n");
        execs += &format!("        - fail-{number}: {{command: 'false'}}\n");
        execs += &format!("        - late-{number}: {{command: '[sleep]', timeout: 2ms}}\n");
        execs += &format!("        - words-{number}: {{command: seq 3000, unless: 'false', stdin: words}}\n");
    }
    let execs =
        execs.replace("[dir]", &scratch.path().to_string_lossy()).replace("[sleep]", &sleep(&scratch));
    scratch.write("manifest.yaml", format!("ccm:\n  resources:\n    - exec:\n{execs}"));
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).run();
    assert_eq!(called.code, 4, "{}", called.stderr);
    for file in ["open", "threads"] {
        let counts = scratch.read(file).expect("the counts");
        let counts: Vec<&str> = counts.lines().collect();
        assert_eq!(counts.len(), usual_or_long(60, 2000));
        let numbers: Vec<usize> = counts.iter().filter_map(|count| count.trim().parse().ok()).collect();
        // ccm may or may not have closed its end of the pipes when the command counts. A leak would grow.
        let spread = numbers.iter().max().zip(numbers.iter().min()).map(|(most, least)| most - least);
        assert!(spread.is_some_and(|spread| spread <= 4), "{file}: {counts:?}");
    }
    assert_eq!(running_in(&scratch), [""; 0], "processes are left");
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns the number of bytes in the files below a directory.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}

/// A command that sleeps, unlike those of all other tests: its decimals are the numbers in the directory's name.
fn sleep(scratch: &Scratch) -> String {
    let digits = scratch.path().to_string_lossy().chars().filter(char::is_ascii_digit).collect::<String>();
    format!("sleep 3600.{digits}")
}

/// The command lines of processes that these runs have started: those that name what only they do.
fn running_in(scratch: &Scratch) -> Vec<String> {
    let place = scratch.path().to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (line.contains(&place) || line.trim() == sleep(scratch)).then_some(line)
    });
    lines.collect()
}
