//! Zip files as programs write them, with what lies around and beside the entries.

use ccm_testkit::Scratch;

use crate::archive::pack::{Item, ZipItem, pack, zip_items};
use crate::archive::{request, run, tree, words};

/// Extracts a zip file, and returns the names or the error.
fn extract(bytes: &[u8]) -> Result<Vec<String>, String> {
    let scratch = Scratch::new();
    let result = run(request(&scratch, "a.zip", bytes));
    let result = result.map(|_| tree(&scratch)).map_err(|error| words(&error, &scratch));
    assert!(result.is_ok() || tree(&scratch).is_empty());
    result
}

fn two_files() -> Vec<u8> {
    pack(".zip", &[Item::file("d/f", b"content ".repeat(50)), Item::file("g", "x")])
}

fn find(bytes: &[u8], mark: &[u8]) -> usize {
    bytes.windows(mark.len()).position(|window| window == mark).expect("the mark")
}

/// Adds to a number of four bytes.
fn add(bytes: &mut [u8], at: usize, more: usize) {
    let number = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let sum = number + u32::try_from(more).expect("a length");
    bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
}

/// Adds the records of an archive with numbers of 64 bits.
fn with_end64(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = find(&bytes, b"PK\x05\x06");
    let field = |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
    let mut records = b"PK\x06\x06".to_vec();
    records.extend(44_u64.to_le_bytes());
    records.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    records.extend([2_u64, 2, field(end + 12), field(end + 16)].map(u64::to_le_bytes).concat());
    records.extend(b"PK\x06\x07\0\0\0\0");
    records.extend((end as u64).to_le_bytes());
    records.extend(1_u32.to_le_bytes());
    bytes[end + 8..end + 20].fill(0xff);
    bytes.splice(end..end, records);
    bytes
}

#[test]
fn what_lies_around_a_zip_file_does_not_matter() {
    let whole = two_files();
    let names = Ok(["d/", "d/f", "g"].map(str::to_owned).to_vec());
    let program = b"#!/bin/sh\nexit 1\n".repeat(20);
    for archive in [whole.clone(), with_end64(whole.clone())] {
        for before in [&b""[..], b"x", &program, &vec![0; 100_000]] {
            for behind in [&b""[..], b"\0", b"signature", &vec![0; 512], &vec![b'P'; 60_000]] {
                let bytes = [before, &archive, behind].concat();
                assert_eq!(extract(&bytes), names, "{} {}", before.len(), behind.len());
            }
        }
    }
    // The program may be counted in the offsets, and something may lie before the end record.
    for (before, between) in [(0, 0), (340, 0), (340, 7), (0, 7)] {
        let mut bytes = whole.clone();
        let (end, size) = (find(&bytes, b"PK\x05\x06"), bytes.len());
        for at in (0..size - 4).filter(|at| whole[*at..].starts_with(b"PK\x01\x02")) {
            add(&mut bytes, at + 42, before);
        }
        add(&mut bytes, end + 16, before);
        bytes.splice(end..end, vec![b'x'; between]);
        bytes.splice(0..0, vec![b'x'; before]);
        assert_eq!(extract(&bytes), names, "{before} {between}");
    }
    let far = [&whole[..], &vec![0; 70_000]].concat();
    let told = extract(&far).expect_err("a refusal");
    assert!(told.ends_with("it is no zip file, or it is cut off"), "{told}");
    // The last end record counts, as for other programs.
    let other = pack(".zip", &[Item::file("other", "x")]);
    assert_eq!(extract(&[&whole[..], &other].concat()), Ok(vec!["other".to_owned()]));
    // A comment may look like one.
    let mut commented = whole.clone();
    let length = commented.len();
    commented[length - 2] = 30;
    commented.extend(b"PK\x05\x06 is the end of a zip..");
    let told = extract(&commented).expect_err("a refusal");
    assert!(told.contains("damaged") || told.contains("cut off"), "{told}");
}

#[test]
fn an_encrypted_directory_is_named() {
    let mut bytes = with_end64(two_files());
    let end64 = find(&bytes, b"PK\x06\x06");
    bytes[end64 + 14] = 62;
    let told = extract(&bytes).expect_err("a refusal");
    assert!(told.ends_with("its directory is encrypted"), "{told}");
}

/// A field with the name in UTF-8 that was written for another name.
fn unicode(version: u8, of: &[u8], name: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(of);
    let length = u16::try_from(name.len() + 5).expect("a length").to_le_bytes();
    [&b"up"[..], &length, &[version], &crc.sum().to_le_bytes(), name].concat()
}

#[test]
fn name_in_unicode_counts_if_it_was_written_for_the_header() {
    // The name in the code page 437.
    let old = &b"f\x81r"[..];
    let good = unicode(1, old, "f\u{fc}r".as_bytes());
    let other = unicode(1, old, b"other");
    let damaged = |at: usize| {
        let mut field = good.clone();
        field[at] ^= 1;
        field
    };
    let no_name = "its name is not valid UTF-8";
    let contradiction = "its header contradicts the directory of the archive";
    for (name, extra, local_extra, expected) in [
        (old, good.clone(), good.clone(), Ok("f\u{fc}r")),
        (old, good.clone(), vec![], Ok("f\u{fc}r")),
        (old, [&b"UT\x01\0\x00"[..], &good].concat(), good.clone(), Ok("f\u{fc}r")),
        (old, good.clone(), other.clone(), Err(contradiction)),
        (old, vec![], good.clone(), Err(contradiction)),
        // Of another name, of another version, without a name, no text, and cut off.
        (old, damaged(5), damaged(5), Err(no_name)),
        (old, damaged(4), vec![], Err(no_name)),
        (old, unicode(1, old, b""), vec![], Err(no_name)),
        (old, unicode(1, old, b"\xff"), vec![], Err(no_name)),
        (old, good[..good.len() - 1].to_vec(), vec![], Err(no_name)),
        (b"renamed", good.clone(), good.clone(), Ok("renamed")),
        (b"renamed", damaged(5), vec![], Ok("renamed")),
        (b"renamed", b"up\x01\0\x01".to_vec(), vec![], Ok("renamed")),
        // A name gets no rights by its encoding.
        (old, unicode(1, old, b"../f"), vec![], Err("its name contains `..`")),
        (old, unicode(1, old, b"/f"), vec![], Err("its name is absolute")),
        (old, unicode(1, old, b"a\\f"), vec![], Err("its name contains a character that is not allowed")),
    ] {
        let item = ZipItem { extra: extra.clone(), local_extra, ..ZipItem::of(&Item::file(name, "x")) };
        let found = extract(&zip_items(&[item]));
        let found = found.map(|names| names.join(" "));
        match expected {
            Ok(name) => assert_eq!(found.as_deref(), Ok(name), "{extra:?}"),
            Err(problem) => assert!(found.expect_err(problem).ends_with(problem), "{extra:?}"),
        }
    }
}

#[test]
fn fields_of_a_zip_file_that_ccm_does_not_need_may_be_damaged() {
    // Times with an odd length, one that is longer than what is left, and what is no field.
    for extra in
        [&b"UT\x03\0\x01\x02\x03"[..], b"UT\xff\0\x01", b"up\x01\0\x01", b"ux\0", b"UT", b"UT\x05\0\xff"]
    {
        let good = ZipItem::of(&Item::file("f", "x"));
        for (extra, local_extra) in [(extra, &b""[..]), (b"", extra), (extra, extra)] {
            let (extra, local_extra) = (extra.to_vec(), local_extra.to_vec());
            let item = ZipItem { extra, local_extra, ..good.clone() };
            assert_eq!(
                extract(&zip_items(std::slice::from_ref(&item))),
                Ok(vec!["f".to_owned()]),
                "{item:?}"
            );
        }
    }
}

#[test]
fn directory_of_dos_may_have_no_slash_at_its_end() {
    const DIRECTORY: u32 = 0x10;
    for (host, content, shown) in
        [(0, "", Some("d/")), (10, "", Some("d/")), (0, "x", Some("d")), (3, "", Some("d"))]
    {
        let item = ZipItem { host, attributes: DIRECTORY, ..ZipItem::of(&Item::file("d", content)) };
        assert_eq!(
            extract(&zip_items(&[item])).ok(),
            shown.map(|name| vec![name.to_owned()]),
            "{host} {content}"
        );
    }
}
