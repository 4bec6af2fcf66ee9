//! The first line of a script.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

/// Length of what the kernel reads of the first line of a script.
pub(crate) const FIRST_LINE: usize = 256;

/// Returns the interpreter of a script, and the program that `env` would start as an interpreter. A carriage return at the
/// end of the line is part of the name.
pub(crate) fn script_interpreter(file: &File) -> Option<(PathBuf, Option<PathBuf>)> {
    let mut start = [0; FIRST_LINE];
    let length = file.read_at(&mut start, 0).ok()?;
    interpreter_in(&start[..length])
}

/// Returns the words of the first line of a script, as the kernel and `env -S` read them.
pub fn interpreter_words(file: &File) -> Option<Vec<String>> {
    let mut start = [0; FIRST_LINE];
    let length = file.read_at(&mut start, 0).ok()?;
    let line = start.get(..length)?.strip_prefix(b"#!")?.split(|byte| matches!(byte, b'\n' | 0)).next()?;
    Some(
        String::from_utf8_lossy(line)
            .split([' ', '\t'])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// Returns the interpreter in the beginning of a script.
pub(crate) fn interpreter_in(start: &[u8]) -> Option<(PathBuf, Option<PathBuf>)> {
    let line = start.strip_prefix(b"#!")?.split(|byte| matches!(byte, b'\n' | 0)).next()?;
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
    let path = |word: &[u8]| PathBuf::from(OsStr::from_bytes(word));
    let interpreter = path(words.next()?);
    // `env -S NAME=VALUE program argument…`
    let argument = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='));
    Some((interpreter, argument.map(path)))
}
