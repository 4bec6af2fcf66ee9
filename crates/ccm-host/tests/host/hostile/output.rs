//! Output of commands.

use std::cell::Cell;

use ccm_host::{Cancellation, Command, Exit, LastLine, Runner as _};
use ccm_testkit::wait_until;
use tokio::task::yield_now;

use crate::hostile::{alone, run, run_with_lines, shell, text};

const MIB: usize = 1024 * 1024;

/// Returns the peak memory of this process.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("our own status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

#[test]
fn flood_of_output_does_not_fill_memory() {
    alone(async |runner| {
        run(runner, &shell("true")).await;
        let before = peak_memory();
        let flood =
            "head -c 1073741824 /dev/zero & head -c 209715200 /dev/zero | tr '\\0' '\\n' >&2; wait; echo end";
        let (finished, lines) = run_with_lines(runner, &shell(flood)).await;
        assert_eq!(finished.exit, Exit::Code(0));
        for (captured, printed) in [(&finished.stdout, 1024 * MIB + 4), (&finished.stderr, 200 * MIB)] {
            assert_eq!((captured.head.len(), captured.tail.len()), (MIB, 64 * 1024));
            assert_eq!(captured.dropped, (printed - MIB - 64 * 1024) as u64);
        }
        assert!(finished.stdout.tail.ends_with(b"\0end\n"));
        // The lines are sixteen long parts, and a mebibyte of empty lines.
        assert_eq!(lines.len(), 16 + MIB);
        // The lines that this test keeps weigh 24 bytes each; that is 64 MiB while their list grows.
        let grown = peak_memory() - before;
        assert!(grown < 96 * MIB, "{grown}");
    });
}

#[test]
fn flood_without_a_listener_takes_a_few_mebibytes() {
    alone(async |runner| {
        run(runner, &shell("true")).await;
        let before = peak_memory();
        let finished = run(runner, &shell("yes | head -c 1073741824")).await;
        assert_eq!(finished.stdout.dropped, (1024 * MIB - MIB - 64 * 1024) as u64);
        let grown = peak_memory() - before;
        assert!(grown < 8 * MIB, "{grown}");
    });
}

#[test]
fn clock_is_looked_at_between_two_reads() {
    alone(async |runner| {
        let (reads, most) = (Cell::new(0), Cell::new(0));
        let mut writer = String::new();
        // Lines without an end come in parts, each as long as the longest read.
        let mut on_line = |_, line: &str| {
            if writer.is_empty() {
                writer = format!("/proc/{line}/stat");
                return;
            }
            reads.set(reads.get() + 1);
            most.set(reads.get().max(most.get()));
            // The next read finds a full pipe, or the end.
            let is_waiting = |row: String| !row.contains(") R ") && !row.contains(" (sh) ");
            wait_until("the pipe is full", || std::fs::read_to_string(&writer).map_or(true, is_waiting));
        };
        let turns = async {
            loop {
                // Timers fire between two turns of the runtime.
                yield_now().await;
                reads.set(0);
            }
        };
        let (command, never) = (shell("echo $$; exec head -c 1048576 /dev/zero"), Cancellation::never());
        let finished = tokio::select! {
            biased;
            () = turns => unreachable!("turns go on"),
            finished = runner.run(&command, &never, &mut on_line) => finished.expect("a command that starts"),
        };
        assert_eq!((finished.exit, most.get()), (Exit::Code(0), 1));
    });
}

#[test]
fn endless_line_is_cut() {
    alone(async |runner| {
        let endless = "head -c 5242880 /dev/zero | tr '\\0' x; echo; echo end";
        let (finished, lines) = run_with_lines(runner, &shell(endless)).await;
        assert!(finished.stdout.tail.ends_with(b"x\nend\n"));
        assert!(lines.iter().all(|line| line.len() <= 64 * 1024));
        assert_eq!(lines.iter().map(String::len).sum::<usize>(), MIB);
    });
}

#[test]
fn invalid_utf_8_is_replaced() {
    alone(async |runner| {
        let (finished, lines) =
            run_with_lines(runner, &shell(r"printf 'a\377b\303\244\000\r\nrest\342\202'")).await;
        assert_eq!(finished.stdout.head, b"a\xffb\xc3\xa4\0\r\nrest\xe2\x82");
        assert_eq!(lines, ["a\u{fffd}bä\0", "rest\u{fffd}"]);
    });
}

#[test]
fn characters_that_arrive_byte_by_byte_are_complete() {
    alone(async |runner| {
        let slowly = r"for byte in 342 202 254 012; do printf \\$byte; sleep 0.02; done";
        assert_eq!(run_with_lines(runner, &shell(slowly)).await.1, ["€"]);
    });
}

#[test]
fn both_streams_are_kept_apart() {
    alone(async |runner| {
        let finished = run(runner, &shell("echo out; echo err >&2; printf 'no end'")).await;
        assert_eq!(
            (text(&finished.stdout), text(&finished.stderr)),
            ("out\nno end".to_owned(), "err\n".to_owned())
        );
    });
}

#[test]
fn closed_stream_does_not_end_the_command() {
    alone(async |runner| {
        let closing = "echo early; exec >&-; sleep 0.1; echo late >&2; exec 2>&-; sleep 0.1; exit 4";
        let finished = run(runner, &shell(closing)).await;
        assert_eq!(finished.exit, Exit::Code(4));
        assert_eq!(
            (text(&finished.stdout), text(&finished.stderr)),
            ("early\n".to_owned(), "late\n".to_owned())
        );
    });
}

#[test]
fn last_line_is_followed_to_the_end_of_a_flood() {
    alone(async |runner| {
        let last_line = LastLine::default();
        last_line.set("of the command before");
        for (text, expected) in [
            ("true", ""),
            ("yes | head -c 4194304; echo; echo last; echo; printf '\\n'", "last"),
            ("echo out; sleep 0.05; printf 'err 10%%\\r' >&2", "err 10%"),
        ] {
            let command = Command { last_line: Some(last_line.clone()), ..shell(text) };
            run(runner, &command).await;
            assert_eq!(last_line.get(), expected, "{text}");
        }
    });
}
