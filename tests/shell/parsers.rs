//! Parsing: ccm accepts only what the shells accept.

use std::fmt::Write as _;
use std::process::Command;

use ccm_fuzz::{corpus, shell_text};
use ccm_shell::{ShellDialect, check};
use ccm_testkit::Scratch;

use crate::{count, has, seed};

/// Number of texts for one start of the driver.
const BATCH: usize = 2000;

/// Parses each file with each shell, and prints the shells that refuse a file.
const DRIVER: &str = r#"for file in "$1"/*; do
    case $file in
        *.sh) shells="dash bash posix" ;;
        *) shells=bash ;;
    esac
    for shell in $shells; do
        case $shell in
            dash) set -- "$1" /bin/dash ;;
            bash) set -- "$1" /bin/bash ;;
            posix) set -- "$1" /bin/bash --posix ;;
        esac
        directory=$1; shift
        "$@" -n "$file" 2> /dev/null || echo "$shell ${file##*/}"
        set -- "$directory"
    done
done"#;

#[test]
fn shells_accept_what_ccm_accepts() {
    if !has("/bin/dash") || !has("/bin/bash") {
        return;
    }
    let fixed = corpus("shell").into_iter().filter_map(|bytes| String::from_utf8(bytes).ok());
    let texts = fixed.chain((0..count(2500)).map(|number| shell_text(seed(), number)));
    let mut batch = Vec::new();
    let (mut all, mut accepted) = (0, 0);
    for text in texts {
        all += 1;
        for dialect in [ShellDialect::Sh, ShellDialect::Bash] {
            if check(&text, dialect).is_ok() {
                accepted += 1;
                batch.push((text.clone(), dialect));
            }
        }
        if batch.len() >= BATCH {
            parse(&std::mem::take(&mut batch));
        }
    }
    parse(&batch);
    assert!(accepted * 5 > all, "only {accepted} readings of {all} texts are accepted");
}

/// Fails if a shell refuses a text.
fn parse(batch: &[(String, ShellDialect)]) {
    let scratch = Scratch::new();
    for (number, (text, dialect)) in batch.iter().enumerate() {
        let ending = if *dialect == ShellDialect::Sh { "sh" } else { "bash" };
        scratch.write(&format!("{number}.{ending}"), text);
    }
    let output = Command::new("/bin/sh")
        .args(["-c", DRIVER, "driver"])
        .arg(scratch.path())
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("a shell");
    let refused = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut report = String::new();
    for line in refused.lines() {
        let (shell, file) = line.split_once(' ').expect("a shell and a file");
        let number: usize = file.split('.').next().and_then(|number| number.parse().ok()).expect("a number");
        let _ = writeln!(report, "{shell} refuses as {:?}:\n{}\n--", batch[number].1, batch[number].0);
    }
    assert!(refused.is_empty(), "{report}");
}
