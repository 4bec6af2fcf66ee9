//! Settings in made files, as the programs read them that the files are for.
//!
//! What ccm wrote is read as meant, everything else as before, and no other line is another one. `CCM_TEST_LONG` makes
//! more files.

use std::process::Command;

use ccm_resources::edited_text;
use ccm_testkit::{Scratch, skipped, usual_or_long};

use crate::build::resource;

mod made_files;

use made_files::{Case, Words};

const READER: &str = include_str!("oracles/reader.py");

/// Value that a program reads; `None` for a key without a value.
type Value = Option<Vec<u8>>;

/// Section, key and value that a program reads.
type Read = (Vec<u8>, Vec<u8>, Value);

/// Program that reads files.
struct Program {
    format: &'static str,
    /// Name of the program itself, if it is not Python.
    tool: Option<&'static str>,
    /// Forms in which the program compares sections and keys.
    section: fn(&str) -> Vec<u8>,
    key: fn(&str) -> Vec<u8>,
    /// Values of a key that count, of all.
    counts: fn(&[Value]) -> Vec<Value>,
    words: Words,
}

fn exact(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn lower(text: &str) -> Vec<u8> {
    text.to_lowercase().into_bytes()
}

fn all(values: &[Value]) -> Vec<Value> {
    values.to_vec()
}

fn last(values: &[Value]) -> Vec<Value> {
    values.last().cloned().into_iter().collect()
}

/// Returns the values below the last empty one, which resets the list.
fn below_reset(values: &[Value]) -> Vec<Value> {
    let reset = values.iter().rposition(|value| value.as_deref() == Some(b""));
    let below = &values[reset.map_or(0, |reset| reset + 1)..];
    if below.is_empty() { values.last().cloned().into_iter().collect() } else { below.to_vec() }
}

#[test]
fn configparser_reads_what_is_meant() {
    let words = Words { headers: &["s", "S", "t x", "a]b", " s "], ..Words::INI };
    check(&Program { format: "ini", tool: None, section: exact, key: lower, counts: all, words });
}

#[test]
fn configparser_with_exact_keys_reads_what_is_meant_without_a_format() {
    let words = Words { format: "", ..Words::INI };
    check(&Program { format: "exact", tool: None, section: exact, key: exact, counts: all, words });
}

#[test]
fn systemd_reads_what_is_meant() {
    let words = Words::SYSTEMD;
    check(&Program { format: "systemd", tool: None, section: exact, key: exact, counts: below_reset, words });
}

#[test]
fn git_reads_what_is_meant() {
    fn section(written: &str) -> Vec<u8> {
        match written.split_once(" \"") {
            Some((section, sub)) => {
                format!("{}.{}", section.to_lowercase(), sub.trim_end_matches('"')).into_bytes()
            }
            None => lower(written),
        }
    }
    check(&Program { format: "git", tool: Some("git"), section, key: lower, counts: all, words: Words::GIT });
}

#[test]
fn mysql_reads_what_is_meant() {
    fn key(written: &str) -> Vec<u8> {
        written.replace('-', "_").into_bytes()
    }
    let tool = Some("my_print_defaults");
    check(&Program { format: "mysql", tool, section: lower, key, counts: last, words: Words::MYSQL });
}

#[test]
fn samba_reads_what_is_meant() {
    fn folded(written: &str) -> Vec<u8> {
        written.replace(' ', "").to_lowercase().into_bytes()
    }
    let tool = Some("testparm");
    check(&Program { format: "samba", tool, section: lower, key: folded, counts: last, words: Words::SAMBA });
}

#[expect(clippy::print_stderr, reason = "readers of the test output should see the counts")]
fn check(program: &Program) {
    let is_there = |tool: &str| {
        Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    for tool in ["python3"].into_iter().chain(program.tool) {
        if !is_there(tool) {
            return skipped(&format!("{tool} is not installed"));
        }
    }
    let count = usual_or_long(60, 2000);
    let cases: Vec<Case> = (0..count).map(|seed| program.words.case(seed)).collect();
    let edited: Vec<Result<Option<Vec<u8>>, String>> = cases.iter().map(edited).collect();
    let mut contents: Vec<&[u8]> = cases.iter().map(|case| &*case.content).collect();
    let with_change = |edited: &'_ Result<Option<Vec<u8>>, String>| matches!(edited, Ok(Some(_)));
    contents.extend(edited.iter().filter_map(|edited| edited.as_ref().ok()?.as_deref()));
    let mut read = read_all(program.format, &contents).into_iter();
    let before: Vec<Option<Vec<Read>>> = read.by_ref().take(cases.len()).collect();
    let [mut changed, mut kept, mut refused, mut unreadable] = [0; 4];
    for ((case, edited), before) in cases.iter().zip(&edited).zip(&before) {
        let after = if with_change(edited) { read.next().expect("a result") } else { before.clone() };
        let Some(before) = before else {
            unreadable += 1;
            continue;
        };
        match edited {
            Ok(Some(new)) => {
                changed += 1;
                assert_other_lines_stay(case, new);
            }
            Ok(None) => kept += 1,
            Err(_) => {
                refused += 1;
                continue;
            }
        }
        let after = after.unwrap_or_else(|| panic!("unreadable afterwards: {case:?} {edited:?}"));
        let [(_, others), (found, others_after)] = [before, &after].map(|read| split(program, case, read));
        let found = (program.counts)(&found);
        let expected = |found: &Value| found.as_deref() == case.value.map(str::as_bytes);
        let is_right = if case.value.is_none() {
            found.is_empty()
        } else {
            !found.is_empty() && found.iter().all(expected)
        };
        assert!(is_right, "{case:?}: {found:?} in {}", shown(edited));
        assert_eq!(others, others_after, "{case:?}: {}", shown(edited));
    }
    let counted = format!(
        "{}: {changed} changed, {kept} kept, {refused} refused, {unreadable} unreadable",
        program.format
    );
    eprintln!("{counted}");
    assert!(changed * 10 > count && kept > 0, "{counted}");
}

fn shown(edited: &Result<Option<Vec<u8>>, String>) -> String {
    let content = edited.as_ref().ok().and_then(Option::as_deref).unwrap_or_default();
    content.escape_ascii().to_string()
}

fn edited(case: &Case) -> Result<Option<Vec<u8>>, String> {
    let mut properties = vec![("path", "/f"), ("key", case.key)];
    let given = |name, value: &'static str| (!value.is_empty()).then_some((name, value));
    properties.extend(given("section", case.section).into_iter().chain(given("format", case.format)));
    properties.push(case.value.map_or(("ensure", "absent"), |value| ("value", value)));
    let setting = resource("setting", "it", &properties);
    let edited = edited_text(&setting, &case.content)?;
    if let Some(new) = &edited {
        assert_eq!(edited_text(&setting, new), Ok(None), "a second run: {case:?}");
    }
    Ok(edited)
}

/// Returns the values of the setting, and all other settings.
fn split<'r>(program: &Program, case: &Case, read: &'r [Read]) -> (Vec<Value>, Vec<&'r Read>) {
    let fold = |bytes: &[u8], form: fn(&str) -> Vec<u8>| form(&String::from_utf8_lossy(bytes));
    let (section, key) = ((program.section)(case.section), (program.key)(case.key));
    let is_it = |(found_section, found_key, _): &&Read| {
        let found_section = if program.format == "git" {
            found_section.clone()
        } else {
            fold(found_section, program.section)
        };
        found_section == section && fold(found_key, program.key) == key
    };
    let (found, others): (Vec<&Read>, Vec<&Read>) = read.iter().partition(is_it);
    (found.into_iter().map(|(_, _, value)| value.clone()).collect(), others)
}

/// Checks that at most one line is new beside a header, and that comments and headers are as before.
fn assert_other_lines_stay(case: &Case, new: &[u8]) {
    let lines = |content: &[u8]| {
        content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (old, new) = (lines(&case.content), lines(new));
    let added = new.len() - common(&old, &new);
    // The last line may get a line end; a section has a blank line above it.
    assert!(added <= 4, "{added} new lines: {case:?}: {new:?}");
    let fixed = |lines: &[Vec<u8>]| {
        let is_fixed = |line: &&Vec<u8>| matches!(line.trim_ascii_start(), [b'#' | b';', ..]);
        lines.iter().filter(is_fixed).map(|line| line.trim_ascii_end().to_vec()).collect::<Vec<_>>()
    };
    if !case.content.windows(2).any(|pair| pair == b"\\\n" || pair == b"\\\r") {
        assert_eq!(fixed(&old), fixed(&new), "{case:?}");
    }
}

/// Returns the number of lines that two files have in common, in one order.
fn common(old: &[Vec<u8>], new: &[Vec<u8>]) -> usize {
    let mut row = vec![0; new.len() + 1];
    for line in old {
        let mut diagonal = 0;
        for (index, other) in new.iter().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if line == other { diagonal + 1 } else { above.max(row[index]) };
            diagonal = above;
        }
    }
    row[new.len()]
}

/// Reads contents with the program; `None` for one that it can't read.
fn read_all(format: &str, contents: &[&[u8]]) -> Vec<Option<Vec<Read>>> {
    let scratch = Scratch::new();
    let hex = |bytes: &[u8]| -> String {
        let digit = |half: u8| char::from_digit(u32::from(half), 16).expect("a digit");
        bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    };
    let input: String = contents.iter().map(|content| hex(content) + "\n").collect();
    let (script, input) = (scratch.write("reader.py", READER), scratch.write("contents", input));
    let output = Command::new("python3").arg(script).arg(format).arg(input).output().expect("a reader");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).expect("text");
    let read: Vec<_> = output.lines().map(read_answer).collect();
    assert_eq!(read.len(), contents.len());
    read
}

fn read_answer(line: &str) -> Option<Vec<Read>> {
    let bytes = |digits: &str| -> Vec<u8> {
        (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("digits"))
            .collect()
    };
    let setting = |setting: &str| {
        let mut parts = setting.split(' ');
        let mut next = || parts.next().expect("three parts");
        let (section, key, value) = (next(), next(), next());
        (bytes(section), bytes(key), (value != "none").then(|| bytes(value)))
    };
    let all = line.split(',').filter(|setting| !setting.is_empty());
    (line != "unreadable").then(|| all.map(setting).collect())
}
