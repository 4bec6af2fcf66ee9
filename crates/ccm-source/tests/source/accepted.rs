//! What is accepted, and what is applied when nothing is.

use std::fs;

use ccm_source::{KeptKind, SourceCache};

use crate::site::{SAME, Site, TRANSPORTS, Transport, manifest_of, number, release};

#[test]
fn versions_follow_each_other() {
    for transport in TRANSPORTS {
        let site = Site::new(transport);
        site.publish(1, "one");
        let first = site.follow().expect("a version");
        assert_eq!((number(&first), first.is_new, &*manifest_of(&first)), (1, true, "one"));
        let again = site.follow().expect("a version");
        assert_eq!((number(&again), again.is_new, again.kept), (1, false, None));
        site.publish(2, "two");
        let (seen, manifest) = site.preview().expect("a version");
        assert_eq!((number(&seen), seen.is_new, &*manifest), (2, true, "two"));
        assert_eq!(manifest_of(&site.follow().expect("a version")), "two");
        assert_eq!(site.preview().expect("a version").1, "two");
    }
}

#[test]
fn a_plan_accepts_nothing() {
    for transport in TRANSPORTS {
        let site = Site::new(transport);
        site.publish(1, "one");
        assert_eq!(site.preview().expect("a version").1, "one");
        assert!(site.kept().is_empty(), "{:?}", site.kept());
    }
}

#[test]
fn a_source_that_is_gone_leaves_what_was_accepted() {
    for transport in TRANSPORTS {
        let mut site = Site::new(transport);
        site.publish(1, "one");
        site.follow().expect("a version");
        site.stop_serving();
        let kept = site.follow().expect("a version");
        assert_eq!(manifest_of(&kept), "one");
        assert_eq!(kept.kept.as_ref().map(|kept| kept.kind), Some(KeptKind::Unreachable), "{kept:?}");
        assert!(kept.is_reason_new);
        // The reason is told once.
        assert!(!site.follow().expect("a version").is_reason_new);
    }
}

#[test]
fn nothing_new_is_one_conditional_request() {
    let site = Site::new(Transport::Https);
    site.publish(1, "one");
    site.follow().expect("a version");
    for version in [1, 2] {
        let before = site.requests().len();
        let followed = site.follow().expect("a version");
        assert_eq!((number(&followed), followed.is_new, followed.kept), (version, false, None));
        let requests = site.requests().split_off(before);
        assert_eq!(requests.len(), 1, "{requests:?}");
        let tag = ccm_host::sha256(&fs::read(site.offered("base.release")).expect("a release"));
        assert_eq!(requests[0].line, "GET /base.release");
        assert_eq!(requests[0].field("if-none-match"), Some(&*format!("\"{tag}\"")));
        // The next version is fetched whole.
        site.publish(2, "two");
        site.follow().expect("a version");
    }
}

#[test]
fn a_server_that_says_that_all_is_the_same_only_withholds() {
    let site = Site::new(Transport::Https);
    fs::write(site.offered(SAME), "").expect("written");
    let error = site.follow().expect_err("nothing").to_string();
    assert!(error.contains("304"), "{error}");
    fs::remove_file(site.offered(SAME)).expect("removed");
    site.publish(1, "one");
    site.follow().expect("a version");
    site.publish(2, "two");
    fs::write(site.offered(SAME), "").expect("written");
    let kept = site.follow().expect("a version");
    assert_eq!((number(&kept), kept.kept), (1, None));
    // What was accepted is verified again; an envelope that is damaged or lost is fetched, and nothing is claimed about it.
    let envelope = site.cache().join(format!("store/{}.release", kept.version.digest));
    for damaged in [Some("{"), None] {
        match damaged {
            Some(text) => fs::write(&envelope, text).expect("written"),
            None => fs::remove_file(&envelope).expect("removed"),
        }
        let kept = site.follow().expect("a version").kept.expect("a reason");
        assert!(kept.reason.contains("304"), "{kept:?}");
        assert_eq!(site.requests().last().expect("a request").field("if-none-match"), None);
    }
    fs::remove_file(site.offered(SAME)).expect("removed");
    assert_eq!(number(&site.follow().expect("a version")), 2);
}

#[test]
fn nothing_of_a_first_version_that_is_refused_stays() {
    for transport in TRANSPORTS {
        let site = Site::new(transport);
        site.publish(1, "wrong");
        let error = site.follow().expect_err("a refusal").to_string();
        assert!(error.contains("version 1 is refused: its manifest has 1 error"), "{error}");
        assert_eq!(site.kept(), ["sources"]);
        // The fix is a first version as well.
        site.publish(2, "right");
        assert_eq!(number(&site.follow().expect("a version")), 2);
    }
}

#[test]
fn an_old_content_comes_back_under_a_new_version() {
    let site = Site::new(Transport::Directory);
    for (version, manifest) in [(1, "one"), (2, "two"), (3, "one"), (4, "three"), (5, "four")] {
        site.publish(version, manifest);
        let followed = site.follow().expect("a version");
        assert_eq!((number(&followed), &*manifest_of(&followed)), (version, manifest));
    }
    let name = site.cache().file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    // The last version and the one before, each with its release, the record and the store.
    assert_eq!(site.kept().iter().filter(|path| path.ends_with("/site.yaml")).count(), 2, "{name}");
    assert_eq!(site.kept().iter().filter(|path| path.ends_with(".release")).count(), 2);
}

#[test]
fn a_version_that_was_lost_is_fetched_again() {
    let site = Site::new(Transport::Directory);
    site.publish(1, "one");
    let first = site.follow().expect("a version");
    fs::remove_dir_all(&first.path).expect("removed");
    assert_eq!(manifest_of(&site.follow().expect("a version")), "one");
}

#[test]
fn a_record_that_is_lost_takes_nothing_older() {
    let site = Site::new(Transport::Directory);
    site.publish(7, "seven");
    site.follow().expect("a version");
    fs::remove_file(site.cache().join("accepted.json")).expect("removed");
    site.publish(6, "six");
    let kept = site.follow().expect("a version");
    assert_eq!((number(&kept), &*manifest_of(&kept)), (7, "seven"));
    // Without the store, nothing tells what comes next.
    fs::remove_dir_all(site.cache().join("store")).expect("removed");
    fs::remove_file(site.cache().join("accepted.json")).expect("removed");
    let error = site.follow().expect_err("a refusal").to_string();
    assert!(error.contains("nothing tells any more"), "{error}");
    assert_eq!(number(&site.bootstrap().expect("a version")), 6);
}

#[test]
fn a_damaged_record_takes_nothing_older() {
    let site = Site::new(Transport::Directory);
    site.publish(7, "seven");
    site.follow().expect("a version");
    fs::write(site.cache().join("accepted.json"), "{").expect("written");
    site.publish(6, "six");
    assert_eq!(number(&site.follow().expect("a version")), 7);
}

#[test]
fn a_source_that_is_forgotten_begins_anew() {
    let site = Site::new(Transport::Directory);
    site.publish(7, "seven");
    let name = site.follow().expect("a version").name;
    let state = site.scratch.path().join("state");
    assert_eq!(SourceCache::names(&state).expect("names"), [&*name]);
    assert!(SourceCache::open(&state, &name).expect("a cache").forget().expect("forgotten"));
    assert!(SourceCache::names(&state).expect("names").is_empty());
    site.publish(1, "one");
    assert_eq!(number(&site.follow().expect("a version")), 1);
}

#[test]
fn a_record_says_who_signed_what() {
    let site = Site::new(Transport::Directory);
    let release = release(3, site.pack("three"));
    site.offer(&release);
    let followed = site.follow().expect("a version");
    let record = SourceCache::peek(&site.scratch.path().join("state"), &followed.name);
    let record = record.expect("readable").expect("a record");
    assert_eq!(record.accepted, followed.version);
    assert_eq!(record.accepted.signed_by, ["alice"]);
    assert_eq!((&*record.accepted.channel, record.threshold), ("base", 1));
    assert_eq!(record.accepted.digest, release.bundle.sha256);
}
