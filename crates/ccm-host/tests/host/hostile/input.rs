//! Input of commands.

use ccm_host::{Command, Exit};

use crate::hostile::{alone, run, shell, text};

const MIB: usize = 1024 * 1024;

fn given(stdin: impl Into<Vec<u8>>, text: &str) -> Command {
    Command { stdin: Some(stdin.into()), ..shell(text) }
}

#[test]
fn input_is_empty_by_default() {
    alone(async |runner| {
        let finished = run(runner, &shell("cat; readlink /proc/self/fd/0")).await;
        assert_eq!(text(&finished.stdout), "/dev/null\n");
    });
}

#[test]
fn input_is_delivered() {
    alone(async |runner| {
        assert_eq!(text(&run(runner, &given("ä\nno end", "cat")).await.stdout), "ä\nno end");
        assert_eq!(text(&run(runner, &given("", "cat; echo end")).await.stdout), "end\n");
        assert_eq!(run(runner, &given(b"caf\xe9\0\n", "cat")).await.stdout.head, b"caf\xe9\0\n");
        let large = "x".repeat(10 * MIB);
        assert_eq!(text(&run(runner, &given(large, "wc -c")).await.stdout), "10485760\n");
    });
}

#[test]
fn input_and_output_do_not_block_each_other() {
    alone(async |runner| {
        let finished = run(runner, &given("x".repeat(4 * MIB), "tee /dev/stderr")).await;
        let kept = (MIB + 64 * 1024) as u64;
        assert_eq!(finished.stdout.dropped, (4 * MIB) as u64 - kept);
        assert_eq!(finished.stderr.dropped, (4 * MIB) as u64 - kept);
    });
}

#[test]
fn unread_input_is_no_error() {
    alone(async |runner| {
        for unread in ["true", "exec <&-; sleep 0.1", "head -c 10 >/dev/null; sleep 0.1"] {
            let finished = run(runner, &given("x".repeat(10 * MIB), unread)).await;
            assert_eq!(finished.exit, Exit::Code(0), "{unread}");
        }
    });
}

#[test]
fn command_has_no_terminal() {
    alone(async |runner| {
        let finished =
            run(runner, &shell("if (: </dev/tty) 2>/dev/null; then echo asked; else echo alone; fi; tty"))
                .await;
        assert_eq!(text(&finished.stdout), "alone\nnot a tty\n");
    });
}
