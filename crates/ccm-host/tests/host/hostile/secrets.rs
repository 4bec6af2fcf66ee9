//! Commands that print secrets.

use ccm_host::SystemRunner;
use ccm_redaction::Secrets;

use crate::hostile::{block_on, run_with_lines, shell};

#[test]
fn secrets_are_redacted_in_lines_and_captured_output() {
    let secrets = Secrets::new();
    let runner = SystemRunner::new().expect("a runner").redacting(secrets.clone());
    secrets.add(["s3cret-word", "first line of it\nlast line of it"]);
    block_on(async {
        for (script, printed) in [
            ("printf 'a s3cret-word b\\n'", "a [redacted] b\n"),
            // Each part is a separate write, with a process between.
            ("for part in a s3 cret -wo rd b; do printf %s $part; /bin/true; done", "a[redacted]b"),
            ("printf 'first line of it\\nlast line of it\\n'", "[redacted]\n"),
            ("printf s3cret-wor", "[redacted]"),
            ("printf s3c", "s3c"),
        ] {
            let (finished, lines) = run_with_lines(&runner, &shell(script)).await;
            assert_eq!(String::from_utf8_lossy(&finished.stdout.head), printed, "{script}");
            assert_eq!(lines.join("\n"), printed.trim_end(), "{script}");
        }
        let (finished, lines) = run_with_lines(&runner, &shell("echo s3cret-word >&2")).await;
        assert_eq!(finished.stderr.head, b"[redacted]\n");
        assert_eq!(lines, ["[redacted]"]);
        assert_eq!(finished.printed_stderr().head, b"s3cret-word\n");
        assert!(!format!("{finished:?}").contains("s3cret-word"));
        assert!(!format!("{finished:?}").contains("115, 51, 99, 114, 101, 116"));
    });
}

#[test]
fn secret_at_the_edge_of_captured_output_is_redacted_completely() {
    let secrets = Secrets::new();
    secrets.add(["s3cret-word"]);
    let runner = SystemRunner::new().expect("a runner").redacting(secrets);
    // The head of the output ends within a secret, and the tail begins within one.
    let script = "yes s3cret-word- | tr -d '\\n' | head -c 3000000";
    let (finished, lines) = block_on(run_with_lines(&runner, &shell(script)));
    assert!(finished.stdout.truncated());
    let printed = finished.printed_stdout();
    assert_eq!((printed.head.len(), printed.tail.len(), printed.total()), (1 << 20, 64 << 10, 3_000_000));
    for kept in [&finished.stdout.head, &finished.stdout.tail] {
        assert!(!String::from_utf8_lossy(kept).contains("s3c"));
    }
    assert!(lines.iter().all(|line| !line.contains("s3c")));
}
