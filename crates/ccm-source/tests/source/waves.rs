//! Releases that are for later, or held back.

use std::fs;
use std::time::Duration;

use ccm_release::{Wave, Waves};
use ccm_source::KeptKind;

use crate::site::{DAY, HOUR, NOW, Site, TRANSPORTS, Transport, manifest_of, release};

fn waves(waves: &[(u16, u64)]) -> Waves {
    let wave = |&(share, hours)| Wave { share, after: Duration::from_secs(hours * HOUR) };
    Waves::new(waves.iter().map(wave).collect()).expect("waves")
}

#[test]
fn a_machine_waits_for_its_wave() {
    for transport in TRANSPORTS {
        let site = Site::new(transport);
        site.publish(1, "one");
        site.follow().expect("a version");
        // Issued an hour ago; the slot of this machine is 5230.
        let next = site.pack("two");
        let mut two = release(2, next);
        two.waves = waves(&[(5230, 0), (10_000, 5)]);
        site.offer(&two);
        let kept = site.follow().expect("a version");
        assert_eq!(manifest_of(&kept), "one");
        assert_eq!(kept.kept.map(|kept| kept.kind), Some(KeptKind::Waiting));
        site.now.set(NOW + 4 * HOUR - 1);
        assert_eq!(manifest_of(&site.follow().expect("a version")), "one");
        site.now.set(NOW + 4 * HOUR);
        assert_eq!(manifest_of(&site.follow().expect("a version")), "two");
    }
}

#[test]
fn the_first_wave_is_at_once_and_the_splay_follows() {
    let site = Site::new(Transport::Directory);
    site.publish(1, "one");
    site.follow().expect("a version");
    let mut two = release(2, site.pack("two"));
    two.waves = waves(&[(5231, 0)]);
    two.issued = crate::site::at(NOW);
    two.splay = Duration::from_secs(DAY);
    site.offer(&two);
    assert_eq!(manifest_of(&site.follow().expect("a version")), "one");
    site.now.set(NOW + DAY);
    assert_eq!(manifest_of(&site.follow().expect("a version")), "two");
}

#[test]
fn a_machine_of_no_wave_waits_for_the_next_version() {
    let site = Site::new(Transport::Directory);
    site.publish(1, "one");
    site.follow().expect("a version");
    let mut two = release(2, site.pack("two"));
    two.waves = waves(&[(5230, 0)]);
    site.offer(&two);
    site.now.set(NOW + 365 * DAY);
    let kept = site.follow().expect("a version").kept.expect("a reason");
    assert_eq!((kept.kind, kept.reason.contains("none of its waves holds it")), (KeptKind::Waiting, true));
}

#[test]
fn the_first_version_is_for_every_machine() {
    let site = Site::new(Transport::Directory);
    let mut one = release(1, site.pack("one"));
    one.waves = waves(&[(1, 0)]);
    site.offer(&one);
    assert_eq!(manifest_of(&site.follow().expect("a version")), "one");
}

#[test]
fn a_hold_keeps_a_version_back_and_stops_no_machine_that_has_it() {
    for transport in TRANSPORTS {
        let site = Site::new(transport);
        fs::write(site.offered("base.hold"), "  the database\u{1b}[31m moves\n").expect("written");
        site.publish(1, "one");
        let error = site.follow().expect_err("held").to_string();
        assert!(error.contains(r"version 1 is held back: the database\u{1b}[31m moves"), "{error}");
        fs::remove_file(site.offered("base.hold")).expect("removed");
        site.follow().expect("a version");
        fs::write(site.offered("base.hold"), "").expect("written");
        // This machine has begun the version.
        assert_eq!(site.follow().expect("a version").kept, None);
        site.publish(2, "two");
        let kept = site.follow().expect("a version");
        assert_eq!(kept.kept.map(|kept| kept.kind), Some(KeptKind::Held));
        assert_eq!(manifest_of(&kept_again(&site)), "one");
    }
}

fn kept_again(site: &Site) -> ccm_source::Followed {
    site.follow().expect("a version")
}
