//! A run with many encrypted values, held while a command works: nothing that others can see or keep has one of them, but
//! for what they were written for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ccm_testkit::{Called, RunningCcm, Scratch, shell, wait_until};

use crate::ccm;
use crate::encrypted::{encrypted, key};

/// Number of encrypted values.
const COUNT: usize = 10;

fn secret(number: usize) -> String {
    format!("s3cret-{number}-{}", "kqzvxw".repeat(1 + number % 3))
}

/// Returns the encodings in which a secret could be somewhere: as it is, in base64 from every start, and in hexadecimal digits.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![secret.as_bytes().to_vec(), secret.to_uppercase().into_bytes()];
    forms.push(secret.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect());
    for skipped in 0..3 {
        let padded = [&vec![b'x'; skipped][..], secret.as_bytes()].concat();
        let text = base64(&padded);
        // The first and the last characters hold bits of what stands beside.
        forms.push(text[4.min(skipped * 4)..text.len() - 4].to_vec());
    }
    forms
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::new();
    for chunk in bytes.chunks(3) {
        let word =
            (0..3).fold(0_usize, |word, at| word << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        text.extend([18, 12, 6, 0].map(|shift| DIGITS[word >> shift & 63]));
    }
    text
}

/// Returns the secrets of which a form is in some bytes.
fn found_in(bytes: &[u8]) -> Vec<String> {
    let holds = |form: &Vec<u8>| bytes.windows(form.len()).any(|window| window == &form[..]);
    (0..COUNT).map(secret).filter(|secret| forms(secret).iter().any(holds)).collect()
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut left = vec![directory.to_owned()];
    let mut files = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() && !path.is_symlink() {
            left.extend(
                fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()),
            );
        } else if path.is_file() {
            files.push(path);
        }
    }
    files
}

/// Writes a manifest with a secret in each place that takes one, and returns the files that they are written for.
fn site(scratch: &Scratch) -> BTreeSet<String> {
    key(scratch, "web1", 1);
    let value =
        |number: usize, name: &str| encrypted(scratch, &["--to", "web1.pub", "--as", name], &secret(number));
    let at_margin = |text: String| {
        let lines: Vec<&str> = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
        lines.join("\n")
    };
    let file = |number: usize, name: &str| {
        let text = encrypted(scratch, &["--to", "web1.pub"], &format!("{}\n", secret(number)));
        scratch.write(name, text);
    };
    fs::create_dir_all(scratch.path().join("facts")).expect("a directory");
    file(5, "token.age");
    file(6, "read.age");
    scratch.write("app.conf.j2", "user=app\npassword={{ Data.templated }}\n");
    scratch.write("data/level.yaml", format!("# of a level\n{}", at_margin(value(7, "of_level"))));
    scratch.write("holds", "#!/bin/sh\ntest \"$TOKEN\" || exit 1\necho \"got $TOKEN\"\necho \"$TOKEN\" >&2\ntouch begun\nread x < gate\nexit 0\n");
    shell(
        "chmod 755 holds && mkfifo gate && echo old=1 > settings.ini && echo first > lines",
        scratch.path(),
    );
    let dir = scratch.path().display();
    let manifest = format!(
        "hierarchy: {{data_dir: data, order: [level]}}\ndata:\n{}{}{}{}{}{}{}ccm:\n  name: leaks\n  resources:\n\
         \x20   - file:\n\
         \x20       - {dir}/content: {{content: \"${{Data.content}}\", mode: \"0600\"}}\n\
         \x20       - {dir}/templated: {{source: app.conf.j2, mode: \"0600\"}}\n\
         \x20       - {dir}/token: {{source: token.age, mode: \"0600\"}}\n\
         \x20       - {dir}/read: {{content: \"${{file('read.age')}}\", mode: \"0600\"}}\n\
         \x20       - {dir}/level: {{content: \"${{Data.of_level}}\", mode: \"0600\"}}\n\
         \x20       - {dir}/settings.ini: {{mode: \"0600\"}}\n\
         \x20       - {dir}/lines: {{mode: \"0600\"}}\n\
         \x20   - setting:\n\
         \x20       - password: {{path: {dir}/settings.ini, key: password, value: \"${{Data.setting}}\", require: ['file#{dir}/settings.ini']}}\n\
         \x20   - line:\n\
         \x20       - token: {{path: {dir}/lines, line: \"token ${{Data.line}}\", require: ['file#{dir}/lines']}}\n\
         \x20   - exec:\n\
         \x20       - holds: {{command: ./holds, cwd: {dir}, logoutput: true, environment: {{TOKEN: \"${{Data.variable}}\"}}, require: ['file#{dir}/content']}}\n\
         \x20       - guarded: {{command: 'true', unless: 'test -n \"$TOKEN\" -a x = y', provider: shell, environment: {{TOKEN: \"${{Data.guard}}\"}}}}\n\
         \x20       - fails: {{command: 'echo \"$TOKEN\" >&2; exit 3', provider: shell, environment: {{TOKEN: \"${{Data.failing}}\"}}}}\n",
        value(0, "content"),
        value(1, "templated"),
        value(2, "setting"),
        value(3, "line"),
        value(4, "variable"),
        value(8, "guard"),
        value(9, "failing"),
    );
    scratch.write("m.yaml", manifest);
    ["content", "templated", "token", "read", "level", "settings.ini", "lines"].map(str::to_owned).into()
}

fn begin(scratch: &Scratch, options: &[&str]) -> RunningCcm {
    let args = [&["apply", "m.yaml", "--identity", "web1", "--events-file", "events"], options].concat();
    let running = ccm(scratch, &args).variable("HOME", &scratch.at("home")).start();
    wait_until("the command is held", || scratch.has("begun"));
    running
}

fn processes() -> Vec<PathBuf> {
    let is_process = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    };
    fs::read_dir("/proc")
        .expect("processes")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_process)
        .collect()
}

/// Lets the held command go on, and returns what the run printed.
fn finish(scratch: &Scratch, running: RunningCcm) -> Called {
    fs::write(scratch.path().join("gate"), "\n").expect("the gate");
    fs::remove_file(scratch.path().join("begun")).expect("a mark");
    running.finish()
}

#[test]
fn nothing_but_what_secrets_were_written_for_has_them() {
    let scratch = Scratch::new();
    let meant = site(&scratch);
    for options in [&["-vv", "--diff"][..], &["--output", "jsonl"]] {
        let running = begin(&scratch, options);
        // What every user of the machine can see of processes.
        for process in processes() {
            for name in ["cmdline", "comm", "status"] {
                let bytes = fs::read(process.join(name)).unwrap_or_default();
                assert_eq!(found_in(&bytes), [""; 0], "{}", process.join(name).display());
            }
        }
        let own = fs::read(format!("/proc/{}/environ", running.pid())).unwrap_or_default();
        assert_eq!(found_in(&own), [""; 0], "the environment of ccm");
        let called = finish(&scratch, running);
        assert_eq!(called.code, 4, "{}", called.shown());
        assert_eq!(found_in(called.shown().as_bytes()), [""; 0], "{options:?}: {}", called.shown());
        assert!(called.shown().contains("[redacted]"), "{}", called.shown());
    }
    for args in [
        &["history", "last"][..],
        &["history", "last", "--output", "json"],
        &["history", "last", "--html", "page.html"],
        &["status"],
        &["graph", "m.yaml", "--identity", "web1", "--format", "svg"],
        &["apply", "--noop", "--plan-out", "plan", "--diff", "m.yaml", "--identity", "web1"],
        &["plan", "show", "plan"],
    ] {
        let called = ccm(&scratch, args).variable("HOME", &scratch.at("home")).run();
        assert_eq!(found_in(called.shown().as_bytes()), [""; 0], "{args:?}: {}", called.shown());
    }
    let (mut written, mut count) = (BTreeSet::new(), 0);
    for path in files_below(scratch.path()).into_iter().chain(files_below(&scratch.state())) {
        count += 1;
        if !found_in(&fs::read(&path).expect("a file")).is_empty() {
            written.insert(path.file_name().expect("a name").to_string_lossy().into_owned());
        }
    }
    assert_eq!(written, meant);
    assert!(count >= 30, "only {count} files were looked through");
}

/// A core file would hold what was opened, and so would the memory that another process of the user reads.
#[test]
fn the_memory_of_a_run_with_secrets_is_nobody_elses() {
    let scratch = Scratch::new();
    site(&scratch);
    let running = begin(&scratch, &[]);
    let process = PathBuf::from(format!("/proc/{}", running.pid()));
    // Root may read everything, and a process that others may not look into belongs to root.
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(process.join("mem")).expect("the process"));
    assert_eq!(owner, 0);
    let limits = format!("prlimit --core=unlimited --pid {}", running.pid());
    shell(&limits, scratch.path());
    let pid = running.pid();
    running.signal("SEGV");
    // The command may have ended with its run.
    let gate = fs::OpenOptions::new().read(true).write(true).open(scratch.path().join("gate"));
    std::io::Write::write_all(&mut gate.expect("the gate"), b"\n").expect("an open gate");
    let called = running.finish();
    assert_ne!(called.code, 0);
    let core = |path: &PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        name == "core" || name.contains(&format!("core.{pid}"))
    };
    assert_eq!(files_below(scratch.path()).into_iter().filter(core).count(), 0);
}
