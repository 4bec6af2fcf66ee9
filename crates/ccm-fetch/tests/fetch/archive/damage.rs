//! Archives that are damaged, cut off, or none at all.

use ccm_fetch::ExtractError;
use ccm_testkit::{Scratch, usual_or_long};

use crate::archive::pack::{Item, ZipItem, pack, tar, zip, zip_items};
use crate::archive::{FORMATS, request, run, tree, words};

fn content() -> Vec<u8> {
    (0..5000_u32).flat_map(u32::to_le_bytes).collect()
}

fn packed(format: &str) -> Vec<u8> {
    pack(format, &[Item::file("one", content()), Item::file("two", "2")])
}

#[test]
fn what_is_cut_off_is_refused() {
    for format in FORMATS {
        let whole = packed(format);
        for at in [
            0,
            1,
            10,
            whole.len() / 4,
            whole.len() / 2,
            whole.len() - 1025,
            whole.len() - 30,
            whole.len() - 5,
        ] {
            // The last zeros of a tar file say nothing.
            if format == ".tar" && at > whole.len() - 1024 {
                continue;
            }
            let scratch = Scratch::new();
            let error = run(request(&scratch, &format!("a{format}"), &whole[..at])).expect_err(format);
            assert!(matches!(error, ExtractError::Read { .. }), "{format} at {at}: {error:?}");
            assert_eq!(tree(&scratch), [""; 0]);
        }
    }
}

#[test]
fn no_changed_byte_gets_through_a_checksum() {
    for format in [".tar.gz", ".tar.bz2", ".tar.xz", ".zip"] {
        let whole = packed(format);
        for at in (whole.len() / 8..whole.len() / 2).step_by(whole.len() / 40) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            let scratch = Scratch::new();
            if run(request(&scratch, &format!("a{format}"), &bytes)).is_err() {
                assert_eq!(tree(&scratch), [""; 0]);
                continue;
            }
            // Some bits mean nothing.
            let extracted = std::fs::read(scratch.path().join("out/one")).expect("a file");
            assert!(extracted == content(), "{format} at {at}");
        }
    }
}

#[test]
fn any_changed_byte_is_survived() {
    for format in [".tar", ".zip"] {
        let whole = match format {
            ".zip" => zip(&[Item::file("one", "1"), Item::link("l", "one")]),
            _ => tar(&[Item::file("one", "1"), Item::link("l", "one")]),
        };
        for at in (0..whole.len().min(1600)).step_by(usual_or_long(5, 1)) {
            let mut bytes = whole.clone();
            bytes[at] = !bytes[at];
            let scratch = Scratch::new();
            // Either outcome is right; nothing is left outside.
            let _ = run(request(&scratch, &format!("a{format}"), &bytes));
            assert_eq!(scratch.names(), [&format!("a{format}"), "out"], "{format} at {at}");
        }
    }
}

#[test]
fn other_files_are_refused() {
    for format in FORMATS {
        for content in [&b""[..], b"no archive\n", &[0; 300], b"<html>404</html>"] {
            let scratch = Scratch::new();
            let error = run(request(&scratch, &format!("a{format}"), content)).expect_err(format);
            assert!(matches!(error, ExtractError::Read { .. }), "{format}: {error:?}");
        }
    }
}

#[test]
fn zip_files_that_contradict_themselves_are_refused() {
    let good = ZipItem::of(&Item::file("name", "content"));
    for (what, item, refusal) in [
        ("encrypted", ZipItem { flags: 1, ..good.clone() }, "it is encrypted"),
        ("method", ZipItem { method: 12, ..good.clone() }, "it is compressed with a method"),
        ("checksum", ZipItem { crc: 1, ..good.clone() }, "its content is damaged"),
        ("longer", ZipItem { size: 100, ..good.clone() }, "its content is damaged"),
        ("shorter", ZipItem { size: 3, ..good.clone() }, "its content is damaged"),
        ("local name", ZipItem { local_name: b"evil".to_vec(), ..good.clone() }, "its header contradicts"),
        ("backslash", ZipItem::of(&Item::file("..\\x", "x")), "its name contains a character"),
        ("NUL", ZipItem::of(&Item::file("a\0b", "x")), "its name contains a character"),
        ("long link", ZipItem::of(&Item::link("l", "x/".repeat(3000))), "could lead out"),
    ] {
        let scratch = Scratch::new();
        let error = run(request(&scratch, "a.zip", &zip_items(&[item]))).expect_err(what);
        assert!(words(&error, &scratch).contains(refusal), "{what}: {error}");
        assert_eq!(tree(&scratch), [""; 0]);
    }
    // Set-id bits of another system are none.
    let scratch = Scratch::new();
    let foreign = ZipItem { host: 0, ..ZipItem::of(&Item::file("f", "x").with_mode(0o4755)) };
    run(request(&scratch, "a.zip", &zip_items(&[foreign]))).expect("a file");
    assert_eq!(tree(&scratch), ["f"]);
}

#[test]
fn a_file_of_another_kind_is_named() {
    let page = b"\n<!DOCTYPE html>\n<html><body>Not Found</body></html>\n".to_vec();
    let packed = |format: &str| pack(format, &[Item::file("f", "x")]);
    for (name, bytes, expected) in [
        ("a.tar.gz", page.clone(), "it is no gzip file, but a web page"),
        ("a.tar.gz", packed(".tar.xz"), "it is no gzip file, but an xz file"),
        ("a.tgz", packed(".tar"), "it is no gzip file, but a tar file"),
        ("a.tgz", b"Not Found\n".to_vec(), "it is no gzip file"),
        ("a.tar.bz2", packed(".tar.gz"), "it is no bzip2 file, but a gzip file"),
        ("a.tar.xz", packed(".zip"), "it is no xz file, but a zip file"),
        ("a.tar.zst", packed(".tar.bz2"), "it is no zstd file, but a bzip2 file"),
        ("a.tar", page.clone(), "it is no tar file, but a web page"),
        ("a.tar", packed(".tar.zst"), "it is no tar file, but a zstd file"),
        ("a.tar", b"Not Found\n".to_vec(), "it is no tar file, or it is cut off"),
        ("a.tar", b"Not Found\n".repeat(100), "it is no tar file, or it is damaged"),
        ("a.zip", page, "it is no zip file, but a web page"),
        ("a.zip", packed(".tar.gz"), "it is no zip file, but a gzip file"),
        ("a.zip", b"Not Found\n".to_vec(), "it is no zip file, or it is cut off"),
        ("a.zip", Vec::new(), "it is empty"),
        ("a.tar.gz", Vec::new(), "it is empty"),
    ] {
        let scratch = Scratch::new();
        let error = run(request(&scratch, name, &bytes)).expect_err("a refusal");
        let told = words(&error, &scratch);
        assert_eq!(told, format!("\"{name}\" can't be read as an archive: {expected}"));
        assert!(tree(&scratch).is_empty());
    }
}
