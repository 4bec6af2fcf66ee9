//! Decisions about archives, from a table.

use std::path::PathBuf;
use std::rc::Rc;

use ccm_fetch::{ArchiveFormat, HttpUrl};
use ccm_host::{FileInfo, PathInfo};

use super::*;
use crate::support::decision_table::assert_rows;

const TABLE: &str = include_str!("../decide_table.txt");

const NEW: &str = "1111111111111111";
const OLD: &str = "2222222222222222";

fn archive(ensure: &str, asks: &str) -> DesiredArchive {
    let asks = |what: &str| asks.split(',').any(|asked| asked == what);
    DesiredArchive {
        path: PathBuf::from("/d/a.tar.gz"),
        origin: (ensure == "present").then(|| Origin {
            url: HttpUrl::parse("https://u:p@h/a.tar.gz?t=1").expect("a URL"),
            checksum: asks("checksum").then(|| NEW.to_owned()),
            checksum_url: None,
            headers: Vec::new(),
            credentials: None,
            ca_file: None,
        }),
        owner: asks("owner").then(|| "ada".to_owned()),
        group: None,
        mode: asks("mode").then_some(0o600),
        extraction: asks("extract").then(|| Extraction {
            into: PathBuf::from("/x"),
            format: ArchiveFormat::TarGz,
            strip_components: 0,
        }),
        creates: asks("creates").then(|| PathBuf::from("/x/bin")),
        cleanup: asks("cleanup"),
        max_size: 1,
        timeout: None,
    }
}

fn state(found: &str, has_created: &str) -> ArchiveState {
    let kind = match found {
        "directory" => FileKind::Directory { empty: None },
        "pipe" => FileKind::Special("a pipe"),
        _ => FileKind::File,
    };
    let is_there = !matches!(found, "nothing" | "no-parent" | "no-into" | "link");
    let target = is_there.then(|| FileInfo {
        kind,
        mode: if found == "shared" { 0o666 } else { 0o644 },
        uid: if found == "stranger" { 1000 } else { 0 },
        gid: 0,
        size: 5,
        sha256: Some(if found == "other" || found == "mount" { OLD } else { NEW }.to_owned()),
        content: None,
        is_same: false,
    });
    ArchiveState {
        found: PathInfo {
            link: found == "link",
            target,
            parent_missing: found == "no-parent",
            untrusted_owner: None,
        },
        names: Some((Rc::from("root"), Rc::from("root"))),
        uid: Some(7),
        gid: None,
        creates_exists: has_created != "no",
        extracted_checksum: (has_created == "old").then(|| OLD.to_owned()),
        obstacle: (found == "no-into").then_some("a file"),
        mount: (found == "mount").then(|| PathBuf::from("/d/a.tar.gz")),
        ..ArchiveState::default()
    }
}

fn of(ensure: &str, asks: &str, found: &str, created: &str) -> (DesiredArchive, ArchiveState) {
    let (archive, mut state) = (archive(ensure, asks), state(found, created));
    state.uid = state.uid.filter(|_| archive.owner.is_some());
    (archive, state)
}

#[test]
fn decisions_are_as_in_the_table() {
    let rows = assert_rows(TABLE, |[ensure, asks, found, created]| {
        let (archive, state) = of(ensure, asks, found, created);
        decide(&archive, &state)
    });
    assert!(rows >= 25, "{rows} rows");
}

#[test]
fn an_archive_is_verified_by_the_decision() {
    let written = |size| ArchiveEffect { downloaded: Some((NEW.to_owned(), size)), extracted: None };
    for (asks, found, created, effect, message) in [
        ("checksum", "file", "no", written(5), None),
        ("checksum", "file", "no", written(4), Some("the file has another checksum")),
        ("extract,creates", "file", "yes", written(5), None),
        ("extract,creates", "file", "no", written(5), Some("\"/x/bin\" does not exist after the extraction")),
        ("extract,creates,cleanup", "nothing", "yes", written(5), None),
        (
            "extract,creates,cleanup",
            "nothing",
            "no",
            written(5),
            Some("\"/x/bin\" does not exist after the extraction"),
        ),
        ("mode", "file", "no", written(5), Some("the mode is 0644, not 0600")),
        ("-", "nothing", "no", written(5), Some("the file does not exist")),
    ] {
        let (archive, mut state) = of("present", asks, found, created);
        state.written = Some(effect.clone());
        let failure = ArchiveResource::verify(&archive, &state, &effect).err();
        let last = failure.as_ref().map(|failure| failure.chain.last().expect("a message").as_str());
        assert_eq!(last, message, "{asks} {found}");
        assert!(failure.is_none_or(|failure| failure.kind == FailureKind::Verification));
    }
}

#[test]
fn the_action_taken_has_sizes_but_no_credentials() {
    let (archive, state) = of("present", "extract", "file", "no");
    let extracted = ccm_fetch::Extracted { files: 2, directories: 1, bytes: 9 };
    let done = ArchiveEffect { downloaded: Some((NEW.to_owned(), 5)), extracted: Some(extracted) };
    let action = ArchiveResource::action_taken(&archive, &state, &done, Action::new(Verb::Create).of("x"));
    assert_eq!(
        action.detail.as_deref(),
        Some("5 bytes from https://h/a.tar.gz?…, 2 files extracted into /x")
    );
}
