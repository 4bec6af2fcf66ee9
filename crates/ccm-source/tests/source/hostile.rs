//! Releases and bundles that must not be accepted.

use std::fs;
use std::io::Write as _;

use ccm_release::{MAX_ENVELOPE, ProgramVersion, Release};
use ccm_source::FollowError;

use crate::site::{BUILT, DAY, NOW, SIGNED, Site, TRANSPORTS, Transport, at, manifest_of, number, release};

/// Offers something wrong instead of version 43.
type Offer = fn(&Site);

fn changed(site: &Site, change: impl FnOnce(&mut Release)) {
    let mut release = release(43, site.pack("next"));
    change(&mut release);
    site.offer(&release);
}

/// Offers a version whose bundle has other bytes in its file.
fn with_bundle(site: &Site, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let release = site.publish(43, "next");
    let path = site.offered(&release.bundle.file_name());
    let content = fs::read(&path).expect("a bundle");
    fs::write(path, change(content)).expect("written");
}

/// Offers a version whose bundle is a tar archive of the test.
fn with_archive(site: &Site, archive: &[u8]) {
    let digest = ccm_release::BundleDigest { sha256: ccm_host::sha256(archive), size: archive.len() as u64 };
    let compressed = zstd::encode_all(archive, 3).expect("compressed");
    fs::write(site.offered(&digest.file_name()), compressed).expect("written");
    site.offer(&release(43, digest));
}

/// Returns a tar archive with one entry.
fn archive(name: &str, kind: u8, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0_u8; 512];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0004755\0");
    put(124, format!("{:011o}", content.len()).as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(157, link.as_bytes());
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut archive = header.to_vec();
    archive.extend(content);
    archive.resize(archive.len().next_multiple_of(512) + 1024, 0);
    archive
}

const HOSTILE: &[(&str, Offer)] = &[
    ("nothing signed", |site| {
        let text = release(43, site.pack("next")).text().expect("a text");
        site.offer_text(&text, &[]);
    }),
    ("signed by a stranger", |site| {
        let text = release(43, site.pack("next")).text().expect("a text");
        site.offer_text(&text, &["signed by mallory"]);
    }),
    ("no envelope", |site| fs::write(site.offered("base.release"), "next").expect("written")),
    ("an empty file", |site| fs::write(site.offered("base.release"), "").expect("written")),
    ("an envelope that is cut", |site| {
        site.publish(43, "next");
        let content = fs::read(site.offered("base.release")).expect("an envelope");
        fs::write(site.offered("base.release"), &content[..content.len() / 2]).expect("written");
    }),
    ("an endless envelope", |site| {
        fs::write(site.offered("base.release"), vec![b' '; 4 * MAX_ENVELOPE]).expect("written");
    }),
    ("an envelope with more keys", |site| {
        site.publish(43, "next");
        let content = fs::read_to_string(site.offered("base.release")).expect("an envelope");
        let more = content.replacen('{', "{\"more\": 1,", 1);
        fs::write(site.offered("base.release"), more).expect("written");
    }),
    ("another document", |site| site.offer_text("{\"type\":\"ccm-approval/1\"}", &[SIGNED])),
    ("a later format", |site| {
        let text = release(43, site.pack("next")).text().expect("a text");
        site.offer_text(&text.replace("ccm.v1.release", "ccm.v2.release"), &[SIGNED]);
    }),
    ("a key that is not known", |site| {
        let text = release(43, site.pack("next")).text().expect("a text");
        site.offer_text(&text.replacen('{', "{\"only_on\":[\"db1\"],", 1), &[SIGNED]);
    }),
    ("a version without a number", |site| {
        let text = release(43, site.pack("next")).text().expect("a text");
        site.offer_text(&text.replace(":43,", ":\"43\","), &[SIGNED]);
    }),
    ("another channel", |site| {
        changed(site, |it| it.channel = ccm_release::ChannelName::parse("db").expect("a channel"));
    }),
    ("an older epoch", |site| changed(site, |it| (it.epoch, it.version) = (0, 99))),
    ("an older version", |site| changed(site, |it| it.version = 41)),
    ("the same version again, with another content", |site| changed(site, |it| it.version = 42)),
    ("expired", |site| changed(site, |it| it.expires = Some(at(NOW)))),
    ("of the future", |site| changed(site, |it| it.issued = at(NOW + DAY + 1))),
    ("of a far future that expires", |site| {
        changed(site, |it| (it.issued, it.expires) = (at(NOW + 999 * DAY), Some(at(NOW + 1000 * DAY))));
    }),
    ("for a later program", |site| changed(site, |it| it.min_ccm = ProgramVersion::parse("0.3.1"))),
    ("without its bundle", |site| {
        let release = site.publish(43, "next");
        fs::remove_file(site.offered(&release.bundle.file_name())).expect("removed");
    }),
    ("with a bundle that is cut", |site| with_bundle(site, |content| content[..content.len() - 9].to_vec())),
    ("with an empty bundle", |site| with_bundle(site, |_| Vec::new())),
    ("with a bundle that is no archive", |site| with_bundle(site, |_| b"#!/bin/sh\n".to_vec())),
    ("with the bundle of another release", |site| {
        let other = site.pack("other");
        let other = fs::read(site.offered(&other.file_name())).expect("a bundle");
        with_bundle(site, |_| other);
    }),
    ("with more behind the bundle", |site| {
        with_bundle(site, |mut content| {
            let more = zstd::encode_all(&[0_u8; 512][..], 3).expect("compressed");
            content.write_all(&more).expect("appended");
            content
        });
    }),
    ("with a bundle of another size", |site| changed(site, |it| it.bundle.size -= 512)),
    ("with a bomb", |site| {
        let bomb = zstd::encode_all(&vec![0_u8; 8 << 20][..], 3).expect("compressed");
        with_bundle(site, |_| bomb);
    }),
    ("with a file outside", |site| with_archive(site, &archive("../evil", b'0', "", b"x"))),
    ("with an absolute path", |site| with_archive(site, &archive("/tmp/evil", b'0', "", b"x"))),
    ("with a link that leads out", |site| {
        with_archive(site, &archive("site.yaml", b'2', "/etc/shadow", b""));
    }),
    ("with a device", |site| with_archive(site, &archive("site.yaml", b'3', "", b""))),
    ("without a manifest", |site| with_archive(site, &archive("other.yaml", b'0', "", b"x"))),
    ("with a manifest that has errors", |site| {
        site.publish(43, "wrong");
    }),
];

#[test]
fn no_hostile_release_is_accepted() {
    assert!(HOSTILE.len() >= 30);
    for transport in TRANSPORTS {
        for (name, offer) in HOSTILE {
            let site = Site::new(transport);
            site.publish(42, "good");
            site.follow().expect("a version");
            let before = site.kept();
            offer(&site);
            let followed = site.follow().expect("the last good version");
            assert_eq!((number(&followed), &*manifest_of(&followed)), (42, "good"), "{name}");
            assert!(followed.is_reason_new && followed.kept.is_some(), "{transport:?} {name}: {followed:?}");
            assert!(!site.follow().expect("the last good version").is_reason_new, "{name}");
            assert_eq!(site.kept(), before, "{transport:?} {name}");
            // A good one heals it.
            site.publish(44, "better");
            assert_eq!(manifest_of(&site.follow().expect("a version")), "better", "{name}");
        }
    }
}

#[test]
fn no_hostile_release_is_a_first_one() {
    // What depends on an earlier version is right as a first one.
    let needs_earlier = ["another channel", "an older epoch", "an older version", "the same version again"];
    for (name, offer) in HOSTILE {
        if needs_earlier.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let site = Site::new(Transport::Directory);
        offer(&site);
        assert!(matches!(site.follow(), Err(FollowError::Nothing { .. })), "{name}");
        assert!(matches!(site.preview(), Err(FollowError::Nothing { .. })), "{name}");
        assert_eq!(site.kept(), ["sources"], "{name}");
    }
}

#[test]
fn a_clock_that_was_set_back_accepts_nothing_expired() {
    let site = Site::new(Transport::Directory);
    site.publish(42, "good");
    site.follow().expect("a version");
    changed(&site, |it| (it.issued, it.expires) = (at(NOW - 2 * DAY), Some(at(NOW - DAY))));
    site.now.set(BUILT - DAY);
    assert_eq!(manifest_of(&site.follow().expect("a version")), "good");
}
