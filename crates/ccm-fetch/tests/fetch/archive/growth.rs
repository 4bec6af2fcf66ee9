//! Archives that grow without end.

use ccm_fetch::{ExtractError, ExtractRequest, MAX_ARCHIVE_ENTRIES};
use ccm_testkit::Scratch;

use crate::archive::pack::{Item, ZipItem, compress, pack, tar, tar_header, zip_items};
use crate::archive::{FORMATS, request, run, tree, words};

#[test]
fn what_is_too_large_is_refused() {
    for format in FORMATS {
        let scratch = Scratch::new();
        // Bytes that can't be compressed.
        let mut seed = 1_u32;
        let content: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_le_bytes()[3]
        })
        .take(2 << 20)
        .collect();
        let request = request(&scratch, &format!("a{format}"), &pack(format, &[Item::file("f", content)]));
        let error = run(ExtractRequest { max_size: 1 << 20, ..request }).expect_err(format);
        assert_eq!(words(&error, &scratch), "more than 1048576 bytes come out of the archive", "{format}");
        assert_eq!(tree(&scratch), [""; 0]);
    }
}

#[test]
fn ten_gigabytes_of_zeros_are_refused() {
    // A part of them: the limit comes long before the end.
    let zeros = vec![0; 16 << 20];
    let header = tar_header(&Item::file("f", ""), 10 << 30 >> 3);
    let tar = [&header[..], &zeros].concat();
    for format in [".tar.bz2", ".tar.xz", ".tar.zst"] {
        let scratch = Scratch::new();
        let request = request(&scratch, &format!("a{format}"), &compress(format, &tar));
        let error = run(ExtractRequest { max_size: 64 << 30, ..request }).expect_err(format);
        assert!(matches!(error, ExtractError::Ratio { ratio: 1000 }), "{format}: {error}");
        assert_eq!(tree(&scratch), [""; 0]);
    }
    let scratch = Scratch::new();
    // Deflate does not get that far, so the directory of a zip file lies.
    let lie = ZipItem { size: u32::MAX - 1, ..ZipItem::of(&Item::file("f", vec![0; 1 << 20])) };
    let request = request(&scratch, "a.zip", &zip_items(&[lie]));
    let error = run(ExtractRequest { max_size: 64 << 30, ..request }).expect_err("a lie");
    assert!(matches!(error, ExtractError::Ratio { ratio: 1000 }), "{error}");
}

#[test]
fn too_many_entries_are_refused() {
    let scratch = Scratch::new();
    // Each entry makes a hundred directories.
    let entries = (0..20).map(|number| {
        let above = "d/".repeat(90);
        Item::file(format!("{number}/{above}f"), "")
    });
    let bytes = compress(".tar.zst", &tar(&entries.collect::<Vec<_>>()));
    let error = run(request(&scratch, "a.tar.zst", &bytes)).expect_err("too many");
    assert_eq!(words(&error, &scratch), "the archive holds more than 1000 entries");
    assert_eq!(tree(&scratch), [""; 0]);
}

#[test]
fn more_entries_than_the_limit_are_refused() {
    let scratch = Scratch::new();
    // Directories again and again: no file is made for them.
    let entry = crate::archive::pack::tar_entry(&Item::directory("d"));
    let bytes = compress(".tar.gz", &entry.repeat(500_001));
    let request = request(&scratch, "a.tar.gz", &bytes);
    let limits = ExtractRequest { max_size: 64 << 30, max_entries: MAX_ARCHIVE_ENTRIES, ..request };
    let error = run(limits).expect_err("too many");
    assert_eq!(words(&error, &scratch), "the archive holds more than 500000 entries");
}

#[test]
fn overlapping_parts_of_a_zip_file_are_refused() {
    let scratch = Scratch::new();
    let first = ZipItem::of(&Item::file("same", vec![0; 1 << 20]));
    let second = ZipItem { at: Some(0), ..first.clone() };
    let error = run(request(&scratch, "a.zip", &zip_items(&[first, second]))).expect_err("an overlap");
    assert!(words(&error, &scratch).contains("it overlaps another entry"), "{error}");
    assert_eq!(tree(&scratch), [""; 0]);
}
