//! What a program file needs to be run: the interpreter of a script, the loader of a binary.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// How much of a script's first line the kernel reads.
const FIRST_LINE: usize = 256;
/// How long a path may be.
const LONGEST_PATH: usize = 4096;
/// How many program headers are looked at.
const MOST_HEADERS: u64 = 256;

/// Reads the name of the interpreter, as the kernel would; none if the file names none.
pub(super) fn of(program: &Path) -> Option<String> {
    let file = File::open(program).ok()?;
    let mut start = [0; FIRST_LINE];
    let length = file.read_at(&mut start, 0).ok()?;
    let start = &start[..length];
    let name = match start.strip_prefix(b"#!") {
        Some(line) => of_script(line).to_vec(),
        None => of_binary(start, &|buffer, at| file.read_exact_at(buffer, at))?,
    };
    Some(String::from_utf8_lossy(&name).into_owned()).filter(|name| !name.is_empty())
}

/// The first word behind `#!`. A carriage return at its end belongs to it, and is why it is not found.
fn of_script(line: &[u8]) -> &[u8] {
    let line = line.split(|byte| matches!(byte, b'\n' | 0)).next().unwrap_or_default();
    line.split(|byte| matches!(byte, b' ' | b'\t')).find(|word| !word.is_empty()).unwrap_or_default()
}

/// The text of the program header of kind `PT_INTERP`.
fn of_binary(start: &[u8], read: &dyn Fn(&mut [u8], u64) -> io::Result<()>) -> Option<Vec<u8>> {
    const PT_INTERP: u64 = 3;
    if !start.starts_with(b"\x7fELF") {
        return None;
    }
    let is_wide = *start.get(4)? == 2;
    let is_big_endian = *start.get(5)? == 2;
    let number = |bytes: &[u8], at: usize, size: usize| {
        let bytes = bytes.get(at..at + size)?;
        let add = |sum: u64, byte: &u8| (sum << 8) | u64::from(*byte);
        Some(if is_big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    };
    // Where the two widths keep the same things: offset and size of an address, then plain offsets.
    let (headers, size, count) = if is_wide { ((32, 8), 54, 56) } else { ((28, 4), 42, 44) };
    let (offset, length, header_size) = if is_wide { ((8, 8), (32, 8), 56) } else { ((4, 4), (16, 4), 32) };
    let first = number(start, headers.0, headers.1)?;
    let size = number(start, size, 2)?;
    for index in 0..number(start, count, 2)?.min(MOST_HEADERS) {
        let mut header = vec![0; header_size];
        read(&mut header, first.checked_add(index * size)?).ok()?;
        if number(&header, 0, 4)? == PT_INTERP {
            let length = usize::try_from(number(&header, length.0, length.1)?).ok()?;
            let mut name = vec![0; length.min(LONGEST_PATH)];
            read(&mut name, number(&header, offset.0, offset.1)?).ok()?;
            name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_its_interpreter_in_the_first_line() {
        for (line, expected) in [
            (&b"/bin/sh\necho"[..], &b"/bin/sh"[..]),
            (b"/bin/sh", b"/bin/sh"),
            (b" \t/usr/bin/env python3 -u\n", b"/usr/bin/env"),
            (b"/bin/sh\r\necho", b"/bin/sh\r"),
            (b"\necho", b""),
            (b"", b""),
        ] {
            assert_eq!(of_script(line), expected, "{}", line.escape_ascii());
        }
    }

    fn of_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
        let read = |buffer: &mut [u8], at: u64| {
            let at = usize::try_from(at).map_err(io::Error::other)?;
            let part = bytes.get(at..).and_then(|rest| rest.get(..buffer.len()));
            part.map(|part| buffer.copy_from_slice(part)).ok_or(io::ErrorKind::UnexpectedEof.into())
        };
        of_binary(&bytes[..bytes.len().min(FIRST_LINE)], &read)
    }

    /// The least of a 32-bit binary of the other byte order: one header, then the name.
    fn small_binary() -> Vec<u8> {
        let mut bytes = vec![0; 0x54];
        bytes[..6].copy_from_slice(b"\x7fELF\x01\x02");
        bytes[28..32].copy_from_slice(&0x34_u32.to_be_bytes());
        bytes[42..44].copy_from_slice(&32_u16.to_be_bytes());
        bytes[44..46].copy_from_slice(&1_u16.to_be_bytes());
        bytes[0x34..0x38].copy_from_slice(&3_u32.to_be_bytes());
        bytes[0x38..0x3c].copy_from_slice(&0x54_u32.to_be_bytes());
        bytes[0x44..0x48].copy_from_slice(&9_u32.to_be_bytes());
        bytes.extend_from_slice(b"/lib/ld1\0");
        bytes
    }

    #[test]
    fn a_binary_names_its_loader() {
        assert_eq!(of_bytes(&small_binary()).as_deref(), Some(&b"/lib/ld1"[..]));
        let ours = of(Path::new("/proc/self/exe"));
        assert!(ours.is_none_or(|loader| loader.starts_with('/')));
    }

    #[test]
    fn a_broken_binary_is_survived() {
        let whole = small_binary();
        for length in 0..whole.len() {
            assert_eq!(of_bytes(&whole[..length]), None, "{length}");
        }
        for at in 6..whole.len() {
            let mut broken = whole.clone();
            broken[at] = 0xff;
            let _whatever = of_bytes(&broken);
        }
    }
}
