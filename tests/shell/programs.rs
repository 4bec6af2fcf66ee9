//! Running: every program that a text starts was named by its reading, or the reading knows that it can't name all.
//!
//! The texts run in a sandbox. Their search path holds nothing but programs that record how they were started.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use ccm_fuzz::{SHELL_PROGRAMS, shell_text};
use ccm_host::{Cancellation, Command, Exit, Runner as _, Sandbox, SandboxLimit, SystemRunner};
use ccm_shell::{ShellBudget, ShellContext, ShellDialect, ShellReading, read};
use ccm_testkit::{Scratch, on_this_machine, skipped};

use crate::matching::{Started, has_unknown, is_named};
use crate::{count, has, seed};

/// Number of texts in one sandbox. What they record has to fit into the output that is kept of a command.
const BATCH: usize = 1000;

/// Time for a batch, which usually takes a few seconds, and for a text by itself.
const BATCH_TIME: Duration = Duration::from_secs(120);
const TEXT_TIME: Duration = Duration::from_secs(20);

/// Records directory, name and arguments with one write. What follows is its exit code.
const PROGRAM: &str =
    "#!/bin/dash\nr=$PWD\x1f${0##*/}\nfor a; do r=$r\x1f$a; done\nprintf '%s\\036' \"$r\" >&9\nexit ";

/// Runs each text and prints what its programs record, for two halves at a time on both outputs. Descriptor 9 stays open
/// until the last program of a text has ended. A text without end would record more than is kept.
const DRIVER: &str = r#"stubs=$1 texts=$2
mkdir -p work/d1/d2 work/d2
half() {
    for file in "$texts/$1"/*; do
        case $file in
            *.dash) shell=/bin/dash option= ;;
            *.posix) shell=/bin/bash option=--posix ;;
            *.bash) shell=/bin/bash option= ;;
            *) return ;;
        esac
        recorded=$(
            ulimit -t 1
            cd work || exit
            PATH=$stubs HOME=/home/agent
            export PATH HOME
            exec $shell $option "$file" one two 9>&1 > /dev/null 2>&1 < /dev/null
        )
        # 152: the shell used up its processor time.
        [ $? -ne 152 ] && [ ${#recorded} -lt 100000 ] || recorded=endless
        printf '%s\035%s\035' "${file##*/}" "$recorded"
    done
}
half 1 >&2 2> /dev/null &
half 0 2> /dev/null
wait"#;

struct Attempt {
    text: String,
    reading: ShellReading,
    shell: &'static str,
}

#[test]
fn every_started_program_was_named() {
    if !has("/bin/dash") || !has("/bin/bash") {
        return;
    }
    let is_long = std::env::var_os("CCM_TEST_SHELL_TEXTS").is_some();
    let ground = Ground::new();
    let (directory, stubs) = (ground.text_of("work/work"), ground.text_of("stubs"));
    let context =
        ShellContext { directory: &directory, variables: vec![("HOME", "/home/agent"), ("PATH", &stubs)] };
    let mut attempts = Vec::new();
    let mut counts = BTreeMap::new();
    let mut number = 0;
    let mut done = 0;
    while done < count(10_000) {
        let text = shell_text(seed(), number);
        number += 1;
        let mut is_read = false;
        for (dialect, shells) in
            [(ShellDialect::Sh, &["dash", "posix"][..]), (ShellDialect::Bash, &["bash"][..])]
        {
            let Ok(reading) = read(&text, dialect, &context, &mut ShellBudget::default()) else {
                continue;
            };
            // Each shell has its turn with the texts of both.
            let turn = usize::try_from(number % 3).expect("a small number");
            for (position, shell) in shells.iter().enumerate() {
                let has_turn = if shells.len() == 1 { turn == 2 || !is_read } else { position == turn };
                if is_long || has_turn {
                    attempts.push(Attempt { text: text.clone(), reading: reading.clone(), shell });
                }
            }
            is_read = true;
        }
        done += u64::from(is_read);
        if attempts.len() >= BATCH && !ground.run(&std::mem::take(&mut attempts), &mut counts) {
            return;
        }
    }
    ground.run(&attempts, &mut counts);
    let of = |name: &str| counts.get(name).copied().unwrap_or(0);
    report(&format!("{number} texts generated, {done} read, {counts:?}"));
    // Otherwise the test would say little.
    assert!(of("starts") > done, "few programs are started: {counts:?}");
    assert!(of("known") * 3 > of("attempts"), "few texts are known: {counts:?}");
    assert!(of("endless") * 1000 < done.max(2000), "many texts do not end: {counts:?}");
}

#[expect(clippy::print_stderr, reason = "a long run is judged by its figures")]
fn report(figures: &str) {
    eprintln!("{figures}");
}

struct Ground {
    scratch: Scratch,
    runner: SystemRunner,
    runtime: tokio::runtime::Runtime,
}

impl Ground {
    fn new() -> Self {
        let scratch = Scratch::new();
        for name in ["work", "stubs", "texts", "texts/0", "texts/1"] {
            std::fs::create_dir(scratch.path().join(name)).expect("a directory");
        }
        scratch.write_program("stubs/p0", &format!("{PROGRAM}0\n"));
        scratch.write_program("stubs/n0", &format!("{PROGRAM}1\n"));
        for name in SHELL_PROGRAMS.iter().filter(|name| !matches!(**name, "p0" | "n0")) {
            symlink("p0", scratch.path().join("stubs").join(name)).expect("a link");
        }
        let ccm = std::env::var_os("CCM_TEST_BINARY")
            .map_or_else(|| env!("CARGO_BIN_EXE_ccm").into(), std::path::PathBuf::from);
        let runner = SystemRunner::new().expect("a runner").with_launcher(ccm);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { scratch, runner, runtime }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.scratch.path().canonicalize().expect("a path").join(name)
    }

    fn text_of(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Runs texts and compares. Returns `false` if this machine has no sandbox for them.
    ///
    /// If a batch does not end in time, the text of each half that was running is run again by itself, and the other texts
    /// have their turn again. A text that does not end alone either is counted: with its standard input closed, a
    /// substitution of bash may get its own pipe in that place, and read from itself for ever.
    fn run(&self, attempts: &[Attempt], counts: &mut BTreeMap<&'static str, u64>) -> bool {
        let mut report = String::new();
        let mut left: Vec<&Attempt> = attempts.iter().collect();
        while !left.is_empty() {
            let Some(batch) = self.run_batch(&left, BATCH_TIME, counts, &mut report) else { return false };
            if batch.has_ended {
                break;
            }
            let mut suspects: Vec<usize> = [0, 1]
                .iter()
                .filter_map(|half| batch.unseen.iter().copied().find(|at| at % 2 == *half))
                .collect();
            suspects.sort_unstable();
            for at in &suspects {
                let Some(alone) =
                    self.run_batch(&[left[*at]], on_this_machine(TEXT_TIME), counts, &mut report)
                else {
                    return false;
                };
                if !alone.has_ended {
                    *counts.entry("endless").or_default() += 1;
                }
            }
            left = batch.unseen.iter().filter(|at| !suspects.contains(at)).map(|at| left[*at]).collect();
        }
        assert!(report.is_empty(), "{report}");
        true
    }

    /// Runs a batch of texts and compares those that ended. Returns `None` if this machine has no sandbox for them.
    fn run_batch(
        &self,
        attempts: &[&Attempt],
        time: Duration,
        counts: &mut BTreeMap<&'static str, u64>,
        report: &mut String,
    ) -> Option<BatchEnd> {
        let texts = self.path("texts");
        for (number, attempt) in attempts.iter().enumerate() {
            let path = texts.join(format!("{}/{number:04}.{}", number % 2, attempt.shell));
            std::fs::write(path, &attempt.text).expect("a file");
        }
        let output = self.output(time);
        for half in ["0", "1"].map(|half| texts.join(half)) {
            std::fs::remove_dir_all(&half).and_then(|()| std::fs::create_dir(&half)).expect("a directory");
        }
        let (streams, has_ended) = output?;
        // A field without its end was cut off by the time limit.
        let fields = |stream: &String| -> Vec<String> {
            let whole = stream.split_inclusive('\u{1d}').filter_map(|field| field.strip_suffix('\u{1d}'));
            whole.map(str::to_owned).collect()
        };
        let streams = streams.each_ref().map(fields);
        let mut seen = vec![false; attempts.len()];
        for pair in streams.iter().flat_map(|fields| fields.chunks_exact(2)) {
            let [file, recorded] = pair else { unreachable!("a chunk has two fields") };
            let number: usize =
                file.split('.').next().and_then(|number| number.parse().ok()).expect("a number");
            let attempt = attempts[number];
            seen[number] = true;
            let is_known = !has_unknown(&attempt.reading);
            *counts.entry("attempts").or_default() += 1;
            *counts.entry("known").or_default() += u64::from(is_known);
            if recorded == "endless" {
                let _ = writeln!(
                    report,
                    "{} starts programs without end for:\n{}\n--",
                    attempt.shell, attempt.text
                );
            }
            for started in starts(recorded) {
                *counts.entry("starts").or_default() += 1;
                if is_known && !is_named(&attempt.reading, &started) {
                    let _ =
                        writeln!(report, "{} starts {started:?} for:\n{}\n--", attempt.shell, attempt.text);
                }
            }
        }
        let unseen: Vec<usize> = (0..attempts.len()).filter(|at| !seen[*at]).collect();
        assert!(!has_ended || unseen.is_empty(), "the driver left texts out: {unseen:?}");
        Some(BatchEnd { has_ended, unseen })
    }

    /// Runs the driver in a sandbox, in which nothing can be written but a directory in memory. Returns what it printed
    /// on both streams and `true`, or what it printed up to its time limit and `false`.
    fn output(&self, time: Duration) -> Option<([String; 2], bool)> {
        let work = self.path("work");
        let mut sandbox = Sandbox { private: Some(work.clone()), ..Sandbox::new(work.clone()) };
        sandbox.read = vec![self.path("stubs"), self.path("texts")];
        sandbox.limits.processes = SandboxLimit::requested(200);
        let arguments = [self.path("stubs"), self.path("texts")].map(|path| path.display().to_string());
        let command = Command {
            cwd: work,
            args: ["-c", DRIVER, "driver"]
                .map(str::to_owned)
                .into_iter()
                .chain(arguments)
                .map(Into::into)
                .collect(),
            timeout: Some(on_this_machine(time)),
            sandbox: Some(sandbox),
            ..Command::new("/bin/dash")
        };
        let never = Cancellation::never();
        let finished = self.runtime.block_on(self.runner.run(&command, &never, &mut |_, _| {}));
        let finished = match finished {
            Ok(finished) => finished,
            Err(error) => {
                skipped(&format!("no sandbox for the texts: {error}"));
                return None;
            }
        };
        let has_ended = match finished.exit {
            Exit::Code(0) => true,
            Exit::TimedOut { .. } => false,
            exit => unreachable!("the driver ended with {exit:?}"),
        };
        let (one, other) = (finished.stdout, finished.stderr);
        assert_eq!((one.dropped, other.dropped), (0, 0));
        let printed = [[one.head, one.tail], [other.head, other.tail]];
        Some((printed.map(|stream| String::from_utf8_lossy(&stream.concat()).into_owned()), has_ended))
    }
}

/// End of a batch: the positions of the texts that did not end.
struct BatchEnd {
    has_ended: bool,
    unseen: Vec<usize>,
}

/// Returns what programs recorded.
fn starts(recorded: &str) -> Vec<Started> {
    let records = recorded.split_inclusive('\u{1e}').filter_map(|record| record.strip_suffix('\u{1e}'));
    records
        .filter_map(|record| {
            let mut fields = record.split('\u{1f}').map(str::to_owned);
            let directory = fields.next().filter(|directory| Path::new(directory).is_absolute())?;
            Some(Started { directory, words: fields.collect() })
        })
        .collect()
}
