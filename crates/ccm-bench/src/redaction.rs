//! Redaction of secrets.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use ccm_redaction::{Redactor, StreamRedactor};

use crate::measure::{millis, number_within, time};
use crate::{bare, binary};

const READ: usize = 64 * 1024;
const MEBIBYTES: u32 = 100;

const FILES: u32 = 100;
/// Number of lines per file, of 64 bytes each.
const LINES: u32 = 256;

/// Measures time and memory of whole runs with unchanged sensitive files.
pub(crate) fn files(scratch: &Path) {
    let Some(ccm) = binary::ccm_for("redaction: sensitive files") else { return };
    let directory = scratch.join("sensitive");
    std::fs::create_dir(&directory).expect("a directory");
    let mut text = "ccm:\n  resources:\n    - file:\n".to_owned();
    for number in 0..FILES {
        let path = directory.join(number.to_string());
        let _ = writeln!(text, "        - {}:", path.display());
        let _ =
            writeln!(text, "            mode: \"0600\"\n            sensitive: true\n            content: |");
        for line in content(number).lines() {
            let _ = writeln!(text, "              {line}");
        }
    }
    let manifest = scratch.join("sensitive.yaml");
    std::fs::write(&manifest, text).expect("a manifest");
    // The first run makes the files.
    binary::run(&ccm, scratch, &manifest);
    for (kind, options) in [("noop", &["--noop"][..]), ("steady", &[])] {
        let run = || {
            let mut command = binary::apply_command(&ccm, scratch, &manifest);
            command.args(options);
            command
        };
        let took = time(15, || bare::peak_memory(run()));
        let name = format!("redaction: {FILES} sensitive files of 16 KiB, {kind}");
        number_within(&name, millis(took), "ms", 50.0);
        let mebibytes = i32::try_from(bare::peak_memory(run())).map_or(f64::NAN, f64::from) / 1024.0;
        number_within("  memory", mebibytes, "MiB", 60.0);
    }
}

/// Returns content of unique lines: keys in files with an even number, settings in the others.
fn content(file: u32) -> String {
    let mut content = String::new();
    for line in 0..LINES {
        let one = secret(file * LINES + line);
        let line = if file.is_multiple_of(2) {
            format!("{one}{}", secret((FILES + file) * LINES + line)).replace(['!', '\'', '$', '-', '_'], "z")
        } else {
            format!("service_{file}_setting_{line} = \"{one}\"")
        };
        let _ = writeln!(content, "{line:x<63}");
    }
    content
}

/// Measures the speed of redacting a stream, read by read.
pub(crate) fn measure() {
    let printed = log_lines();
    for count in [1, 100] {
        let secrets: Vec<String> = (0..count).map(secret).collect();
        let redactor = Arc::new(Redactor::new(secrets.iter().map(String::as_str)));
        let took = time(3, || redact_stream(&redactor, &printed));
        let speed = f64::from(MEBIBYTES) / took.as_secs_f64();
        println!("{:<54} {speed:>6.0} MiB/s", format!("redaction: {count} secrets over {MEBIBYTES} MiB"));
    }
    let secrets: Vec<String> = (0..100).map(secret).collect();
    let built = time(9, || drop(Redactor::new(secrets.iter().map(String::as_str))));
    println!("{:<54} {:>6.1} ms", "redaction: redactor for 100 secrets", built.as_secs_f64() * 1e3);
}

fn redact_stream(redactor: &Arc<Redactor>, printed: &[u8]) {
    let mut stream = StreamRedactor::new(Arc::clone(redactor));
    let mut shown = 0;
    let mut count = |bytes: &[u8]| shown += bytes.len();
    printed.chunks(READ).for_each(|read| stream.push(read, &mut count));
    stream.finish(&mut count);
    assert!(shown > 0, "most of it is shown");
}

fn secret(number: u32) -> String {
    const CHARACTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789+/$-_!'";
    let mut state = u64::from(number) + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(CHARACTERS[(state >> 33) as usize % CHARACTERS.len()])
    };
    (0..24).map(|_| next()).collect()
}

/// Returns lines of a log, with a secret in one of a thousand.
fn log_lines() -> Vec<u8> {
    let length = MEBIBYTES as usize * 1024 * 1024;
    let mut printed = Vec::with_capacity(length + 200);
    for number in 0_u32.. {
        let token = if number % 1000 == 0 { secret(number / 1000 % 100) } else { "none".to_owned() };
        let line = format!(
            "2026-01-{:02}T10:{:02}:00Z INFO worker[{number}] GET /api/v1/items/{} 200 {}ms token={token}\n",
            number % 28 + 1,
            number % 60,
            number.wrapping_mul(2_654_435_761),
            number % 977
        );
        printed.extend_from_slice(line.as_bytes());
        if printed.len() >= length {
            break;
        }
    }
    printed.truncate(length);
    printed
}
