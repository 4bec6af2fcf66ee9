//! Headers of tar files that programs write and that need a rule of their own.

use ccm_fetch::ExtractRequest;
use ccm_testkit::Scratch;

use crate::archive::pack::{Item, compress, pack, pax, tar_entry, tar_header};
use crate::archive::{FORMATS, request, run, tree, words};

/// An entry whose header names a length, without content.
fn bare(item: &Item, size: u64) -> Vec<u8> {
    tar_header(item, size).to_vec()
}

/// Extracts a tar file of these bytes.
fn extract(bytes: Vec<u8>, strip_components: usize) -> Result<Vec<String>, String> {
    let scratch = Scratch::new();
    let bytes = [bytes, vec![0; 1024]].concat();
    let request = ExtractRequest { strip_components, ..request(&scratch, "a.tar", &bytes) };
    let result = run(request).map(|_| tree(&scratch)).map_err(|error| words(&error, &scratch));
    assert!(result.is_ok() || tree(&scratch).is_empty());
    result
}

#[test]
fn an_entry_without_content_has_none_whatever_length_its_header_names() {
    let empty = tar_entry(&Item::file("empty", ""));
    let target = tar_entry(&Item::file("target", "x"));
    for size in [1, 512, 513, 4096, 1 << 40] {
        for (item, shown) in [
            (Item::directory("d/"), &["d/", "empty", "target"][..]),
            (Item::directory("d"), &["d/", "empty", "target"]),
            (Item::link("l", "target"), &["empty", "l -> target", "target"]),
            (Item::hard_link("h", "target"), &["empty", "h", "target"]),
        ] {
            let bytes = [&target[..], &bare(&item, size), &empty].concat();
            let shown: Vec<String> = shown.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(extract(bytes, 0), Ok(shown), "{item:?} {size}");
        }
        let by_pax = tar_entry(&pax(&[("size", &size.to_string())]));
        let bytes = [by_pax, bare(&Item::directory("d"), 0), empty.clone()].concat();
        assert_eq!(extract(bytes, 0), Ok(vec!["d/".to_owned(), "empty".to_owned()]), "{size} by pax");
    }
}

#[test]
fn devices_and_pipes_with_a_length_are_refused_as_such() {
    for (kind, problem) in [(b'3', "it is a device"), (b'4', "it is a device"), (b'6', "it is a pipe")] {
        let bytes = [bare(&Item::of_kind("p", kind), 512), tar_entry(&Item::file("f", ""))].concat();
        let told = extract(bytes, 0).expect_err("a refusal");
        assert!(told.contains(problem), "{told}");
    }
}

#[test]
fn an_old_directory_is_a_file_with_a_slash_at_its_end() {
    for kind in [b'0', b'\0', b'7'] {
        for size in [0, 1, 600] {
            let old = Item { kind, ..Item::file("d/", "") };
            let bytes = [bare(&old, size), tar_entry(&Item::file("d/f", "x"))].concat();
            assert_eq!(extract(bytes, 0), Ok(vec!["d/".to_owned(), "d/f".to_owned()]), "{kind} {size}");
            // As the last entry but one without content.
            let bytes = [bare(&old, size), bare(&Item { kind, ..Item::file("e/", "") }, 0)].concat();
            assert_eq!(extract(bytes, 0), Ok(vec!["d/".to_owned(), "e/".to_owned()]), "{kind} {size}");
        }
        // No program reads what could be its content.
        let old = Item { kind, ..Item::file("d/", "list of names") };
        let told = extract([tar_entry(&old), tar_entry(&Item::file("d/f", "x"))].concat(), 0)
            .expect_err("a refusal");
        assert!(told.ends_with("it is no tar file, or it is damaged"), "{told}");
    }
}

#[test]
fn an_access_control_list_of_solaris_is_left_out() {
    let list = Item { kind: b'A', ..Item::file("f", b"100000004\0user::rw-".repeat(40)) };
    let bytes = [tar_entry(&list), tar_entry(&Item::file("f", "x"))].concat();
    assert_eq!(extract(bytes, 0), Ok(vec!["f".to_owned()]));
}

#[test]
fn a_block_of_zeros_is_the_end_unless_an_entry_follows() {
    let (file, zeros) = (tar_entry(&Item::file("f", "x")), vec![0; 512]);
    for (behind, is_read) in [
        (vec![], true),
        (zeros.clone(), true),
        (b"\n".to_vec(), true),
        (b"anything".repeat(100), true),
        ([&zeros[..], b"anything"].concat(), true),
        (tar_entry(&Item::file("g", "x")), false),
    ] {
        for format in FORMATS.into_iter().filter(|format| *format != ".zip") {
            let scratch = Scratch::new();
            let bytes = compress(format, &[&file[..], &zeros, &behind].concat());
            match run(request(&scratch, &format!("a{format}"), &bytes)) {
                Ok(_) => assert!(is_read, "{format} {behind:?}"),
                Err(error) => {
                    let told = words(&error, &scratch);
                    assert!(
                        !is_read && told.ends_with("there are entries behind a block of zeros"),
                        "{told}"
                    );
                }
            }
            assert_eq!(tree(&scratch).len(), usize::from(is_read));
        }
    }
}

#[test]
fn parts_of_names_are_counted_as_tar_counts_them() {
    for (name, strip, shown) in [
        ("./a/b", 1, Some(&["a/", "a/b"][..])),
        ("./a/b", 2, Some(&["b"])),
        ("./a/b", 3, None),
        ("a//b/c", 1, Some(&["b/", "b/c"])),
        ("a/./b", 1, Some(&["b"])),
        ("a/./b", 2, Some(&["b"])),
        ("././b", 2, Some(&["b"])),
        ("./b", 1, Some(&["b"])),
        ("b", 1, None),
    ] {
        for format in FORMATS {
            let scratch = Scratch::new();
            let items = [Item::file(name, "x"), Item::file("w/x/y/z", "x")];
            let request = request(&scratch, &format!("a{format}"), &pack(format, &items));
            run(ExtractRequest { strip_components: strip, ..request }).expect("files");
            let mut others = tree(&scratch);
            others.retain(|name| !matches!(&**name, "x/" | "x/y/" | "x/y/z" | "y/" | "y/z" | "z"));
            assert_eq!(others, shown.unwrap_or_default(), "{name} {strip} {format}");
        }
    }
}

#[test]
fn targets_of_hard_links_are_counted_alike() {
    let items = [Item::file("./a/f", "x"), Item::hard_link("./a/h", "./a/f")];
    let bytes = items.iter().map(tar_entry).collect::<Vec<_>>().concat();
    let shown = ["a/", "a/f", "a/h"].map(str::to_owned).to_vec();
    assert_eq!(extract(bytes.clone(), 1), Ok(shown));
    assert_eq!(extract(bytes, 2), Ok(vec!["f".to_owned(), "h".to_owned()]));
}

#[test]
fn a_label_of_a_volume_and_a_backup_of_a_directory_are_read() {
    let label = Item::of_kind("backup of monday", b'V');
    let listed = Item { kind: b'D', ..Item::file("d/", b"Yf\0\0".to_vec()) };
    let bytes = [tar_entry(&label), tar_entry(&listed), tar_entry(&Item::file("d/f", "x"))].concat();
    assert_eq!(extract(bytes, 0), Ok(vec!["d/".to_owned(), "d/f".to_owned()]));
}

#[test]
fn what_needs_more_than_this_archive_is_named() {
    for (kind, problem) in [(b'M', "it continues a file of another volume"), (b'S', "it is a sparse file")] {
        let told = extract(tar_entry(&Item::of_kind("f", kind)), 0).expect_err("a refusal");
        assert!(told.contains(problem), "{told}");
    }
}

#[test]
fn a_tar_file_without_its_end_is_named() {
    for format in FORMATS.into_iter().filter(|format| *format != ".zip") {
        let scratch = Scratch::new();
        let bytes = compress(format, &tar_entry(&Item::file("f", "x")));
        let error = run(request(&scratch, &format!("a{format}"), &bytes)).expect_err("a refusal");
        let told = words(&error, &scratch);
        assert!(told.ends_with("the blocks of zeros at its end are missing: it may be cut off"), "{told}");
        assert_eq!(tree(&scratch), [""; 0]);
    }
}

#[test]
fn compressed_files_may_be_padded_with_zeros() {
    for format in [".tar.gz", ".tar.bz2"] {
        let whole = pack(format, &[Item::file("f", b"content".repeat(1000))]);
        for (behind, is_read) in [
            (vec![0; 1], true),
            (vec![0; 300_000], true),
            (b"\0\0x".to_vec(), false),
            (b"anything".to_vec(), false),
        ] {
            let scratch = Scratch::new();
            let bytes = [&whole[..], &behind].concat();
            let result = run(request(&scratch, &format!("a{format}"), &bytes));
            let told = result.map_err(|error| words(&error, &scratch)).err();
            assert_eq!(told.is_none(), is_read, "{format} {told:?}");
            let behind = "there is something else behind the compressed content";
            assert!(told.is_none_or(|told| told.ends_with(behind)), "{format}");
            assert_eq!(tree(&scratch).len(), usize::from(is_read));
        }
    }
}

#[test]
fn several_compressed_files_in_a_row_are_one() {
    for format in [".tar.gz", ".tar.bz2"] {
        let scratch = Scratch::new();
        let tar = [tar_entry(&Item::file("f", b"content".repeat(1000))), vec![0; 1024]].concat();
        let parts = tar.chunks(700).map(|part| compress(format, part));
        let bytes = parts.collect::<Vec<_>>().concat();
        run(request(&scratch, &format!("a{format}"), &bytes)).expect(format);
        assert_eq!(tree(&scratch), ["f"], "{format}");
    }
}
