//! Archives that lie about lengths and numbers.

use ccm_fetch::ExtractRequest;
use ccm_testkit::Scratch;

use crate::archive::pack::{Item, ZipItem, compress, pax, tar_entry, tar_header, zip, zip_items};
use crate::archive::{FORMATS, request, run, tree, words};

/// Extracts an archive that lies, and checks the refusal, of which nothing is left.
fn assert_refused(what: &str, format: &str, bytes: &[u8], refusal: &str) {
    let scratch = Scratch::new();
    let request = ExtractRequest { max_size: 1 << 20, ..request(&scratch, &format!("a{format}"), bytes) };
    let error = run(request).expect_err(what);
    let told = words(&error, &scratch);
    assert!(told.contains(refusal), "{what} in {format}: {told}");
    assert!(!error.changed(), "{what} in {format}");
    assert_eq!(tree(&scratch), [""; 0], "{what} in {format}");
    assert_eq!(scratch.names(), [&format!("a{format}"), "out"], "{what} in {format}");
}

/// A tar entry whose header has this text as the length of the content.
fn with_length(length: &[u8; 12], content: &[u8]) -> Vec<u8> {
    let mut header = tar_header(&Item::file("f", ""), 0);
    header[124..136].copy_from_slice(length);
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut bytes = [&header[..], content].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

#[test]
fn lengths_of_tar_that_lie_are_refused_in_every_compression() {
    let content = b"x".repeat(1024);
    let file = Item::file("f", content.clone());
    let longer = pax(&[("size", "9000")]);
    let shorter = pax(&[("size", "512")]);
    let negative = pax(&[("size", "-1")]);
    let by_pax = |records: &Item| [tar_entry(records), tar_entry(&file)].concat();
    let lies: Vec<(&str, Vec<u8>, &str)> = vec![
        ("longer", with_length(b"00000010000\0", &content), "it is cut off"),
        ("longer by one block", with_length(b"00000005001\0", &content), "it is cut off"),
        ("shorter", with_length(b"00000001000\0", &content), "it is no tar file, or it is damaged"),
        ("empty", with_length(b"00000000000\0", &content), "it is no tar file, or it is damaged"),
        ("no number", with_length(b"0000000000x\0", &content), "the length of an entry is not a number"),
        ("no octal digit", with_length(b"00000000009\0", &content), "the length of an entry is not a number"),
        ("negative", with_length(&[0xff; 12], &content), "the length of an entry is not a number"),
        (
            "more than 64 bits",
            with_length(b"\x80\x01\0\0\0\0\0\0\0\0\0\0", &content),
            "the length of an entry is not a number",
        ),
        (
            "all of 64 bits",
            with_length(b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", &content),
            "it is cut off",
        ),
        ("a terabyte", with_length(b"\x80\0\0\0\0\0\x01\0\0\0\0\0", &content), "it is cut off"),
        ("longer by pax", by_pax(&longer), "it is cut off"),
        ("shorter by pax", by_pax(&shorter), "it is no tar file, or it is damaged"),
        ("negative by pax", by_pax(&negative), "its pax records are damaged"),
        (
            "long name",
            [with_length(b"00000010000\0", &content)]
                .map(|mut header| {
                    header[156] = b'L';
                    // The sum of the header is that of the other kind.
                    let sum: u32 = header[..512]
                        .iter()
                        .enumerate()
                        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
                        .sum();
                    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
                    header
                })
                .concat(),
            "it is cut off",
        ),
    ];
    for format in FORMATS.into_iter().filter(|format| *format != ".zip") {
        for (what, entry, refusal) in &lies {
            let mut bytes = tar_entry(&Item::file("harmless", "x"));
            bytes.extend(entry);
            bytes.extend([0; 1024]);
            assert_refused(what, format, &compress(format, &bytes), refusal);
        }
    }
}

#[test]
fn lengths_of_a_compression_that_lie_are_refused() {
    let mut tar = tar_entry(&Item::file("f", b"content ".repeat(400)));
    tar.extend([0; 1024]);
    // The last four bytes of gzip are the length of the content.
    let mut gzip = compress(".tar.gz", &tar);
    let end = gzip.len();
    gzip[end - 4] ^= 1;
    assert_refused("length", ".tar.gz", &gzip, "can't be read as an archive");
    // The index and the end of xz hold lengths.
    let xz = compress(".tar.xz", &tar);
    for at in [xz.len() - 16, xz.len() - 8] {
        let mut lie = xz.clone();
        lie[at] ^= 1;
        assert_refused("index", ".tar.xz", &lie, "can't be read as an archive");
    }
    // A frame of zstd may hold the length of its content, here in two bytes that are less by 256.
    let zst = zstd::bulk::compress(&tar, 3).expect("zstd");
    assert_eq!(zst[4] >> 6, 1, "a length in two bytes");
    let at = if zst[4] & 0x20 == 0 { 6 } else { 5 };
    assert_eq!(usize::from(u16::from_le_bytes([zst[at], zst[at + 1]])) + 256, tar.len());
    for lie in [0_u16, 100, u16::MAX] {
        let mut bytes = zst.clone();
        bytes[at..at + 2].copy_from_slice(&lie.to_le_bytes());
        assert_refused("content size", ".tar.zst", &bytes, "can't be read as an archive");
    }
}

#[test]
fn lengths_of_zip_that_lie_are_refused() {
    let good = zip(&[Item::file("name", b"content ".repeat(50))]);
    let central = find(&good, b"PK\x01\x02");
    let end = find(&good, b"PK\x05\x06");
    let length = u32::try_from(good.len()).expect("a length");
    let compressed = u32::from_le_bytes(good[central + 20..central + 24].try_into().expect("four bytes"));
    for (what, at, value, refusal) in [
        ("content is longer", central + 24, 401, "its content is damaged"),
        ("content is shorter", central + 24, 399, "its content is damaged"),
        ("content is huge", central + 24, u32::MAX - 1, "more than 1048576 bytes come out"),
        ("data is shorter", central + 20, compressed - 1, "its content is damaged"),
        ("data is empty", central + 20, 0, "its content is damaged"),
        ("data beyond the end", central + 20, length, "it is cut off"),
        ("local header elsewhere", central + 42, 1, "its header contradicts the directory"),
        ("local header beyond the end", central + 42, length, "it is cut off"),
        ("directory is longer", end + 12, length, "its directory is damaged"),
        ("directory is shorter", end + 12, 40, "its directory is damaged"),
        ("directory is empty", end + 12, 0, "its directory is damaged"),
        // As if something lay before the archive.
        ("directory elsewhere", end + 16, 0, "its header contradicts the directory"),
        ("directory beyond the end", end + 16, length, "its directory is damaged"),
        ("more entries", end + 8, 0x0002_0002, "does not have the number of entries that it names"),
        ("no entries", end + 8, 0, "does not have the number of entries that it names"),
    ] {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
        assert_refused(what, ".zip", &bytes, refusal);
    }
    // Content that is not compressed has one length.
    let stored = |size| {
        let item = ZipItem::of(&Item::file("name", "content"));
        zip_items(&[ZipItem { method: 0, data: b"content".to_vec(), size, ..item }])
    };
    assert_refused("stored, longer", ".zip", &stored(8), "its content is damaged");
    assert_refused("stored, shorter", ".zip", &stored(6), "its content is damaged");
}

fn find(bytes: &[u8], mark: &[u8]) -> usize {
    bytes.windows(mark.len()).position(|window| window == mark).expect("the mark")
}
