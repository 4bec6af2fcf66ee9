//! What the page of a run shows.

use ccm_model::Outcome;
use ccm_testkit::Scratch;

use crate::markup::tags;
use crate::record::{Recorded, failed, manifest, page, record, write};

#[test]
fn every_link_leads_to_a_place_of_the_page() {
    let scratch = Scratch::new();
    let resources = [
        Recorded::new("file#/etc/motd", Outcome::Changed, &[]),
        Recorded::new("exec#make all", failed(), &[0]),
        Recorded::new("file#/etc/same", Outcome::Unchanged, &[0]),
    ];
    record(&scratch, 1, &manifest(), &resources);
    let page = page(&scratch);
    let tags = tags(&page);
    let values = |attribute: &str| {
        let attributes = tags.iter().flat_map(|tag| &tag.attributes);
        let found = attributes.filter(|(name, _)| name == attribute).map(|(_, value)| value.clone());
        found.collect::<Vec<String>>()
    };
    let places = values("id");
    for link in values("href") {
        let place = link.strip_prefix('#').expect("a link within the page");
        assert!(places.iter().any(|found| found == place), "{link}");
    }
    assert!(places.contains(&"file:/etc/motd".to_owned()) && places.contains(&"exec:make%20all".to_owned()));
    assert!(!page.contains("<script"));
}

#[test]
fn a_run_is_compared_with_the_run_before() {
    let scratch = Scratch::new();
    let one = [
        Recorded::new("file#/old", Outcome::Changed, &[]),
        Recorded::new("file#/again", Outcome::Changed, &[]),
        Recorded::new("exec#mended", failed(), &[]),
    ];
    let two = [
        Recorded::new("file#/new", Outcome::Unchanged, &[]),
        Recorded::new("file#/again", Outcome::Changed, &[]),
        Recorded::new("exec#mended", Outcome::Changed, &[]),
    ];
    record(&scratch, 1, &manifest(), &one);
    record(&scratch, 2, &manifest(), &two);
    let page = page(&scratch);
    let (_, compared) = page.split_once("id=\"comparison\"").expect("a comparison");
    let part = |from: &str, to: &str| {
        let (_, rest) = compared.split_once(&format!("<dt>{from}</dt>")).expect(from);
        rest.split_once(to).expect(to).0.to_owned()
    };
    assert!(part("Changed again", "<dt>").contains("file#/again"));
    assert!(part("Mended", "<dt>").contains("exec#mended"));
    assert!(part("New", "<dt>").contains("file#/new"));
    assert!(part("Gone", "</dl>").contains("file#/old"));
}

#[test]
fn secrets_are_dots() {
    let scratch = Scratch::new();
    let mut manifest = manifest();
    manifest.data =
        [("key".to_owned(), "[redacted]".to_owned()), ("port".to_owned(), "8080".to_owned())].into();
    record(&scratch, 1, &manifest, &[Recorded::new("exec#a", Outcome::Changed, &[])]);
    let page = page(&scratch);
    assert!(page.contains("••••••") && page.contains("8080") && !page.contains("[redacted]"));
}

/// Returns a run in which each tenth resource fails and each third changes, in chains.
fn many(count: usize) -> Vec<Recorded> {
    let one = |at: usize| {
        let outcome = match at % 30 {
            0 => failed(),
            found if found % 3 == 0 => Outcome::Changed,
            _ => Outcome::Unchanged,
        };
        let requires: Vec<usize> =
            at.checked_sub(7).into_iter().chain((at % 11 == 3).then_some(at / 2)).collect();
        let mut found = Recorded::new(&format!("file#/etc/service.d/{at}-settings.conf"), outcome, &requires);
        found.text = (count <= 1000).then(|| format!("line {at}\nvalue of the setting {at}"));
        found
    };
    (0..count).map(one).collect()
}

#[test]
fn a_page_of_200_resources_is_small() {
    let scratch = Scratch::new();
    record(&scratch, 1, &manifest(), &many(200));
    let page = page(&scratch);
    assert!(page.len() <= 300 << 10, "{}", page.len());
}

#[test]
fn a_page_of_10000_resources_has_all_of_them() {
    let scratch = Scratch::new();
    record(&scratch, 1, &manifest(), &many(10_000));
    let page = page(&scratch);
    assert!(page.contains("10000 resources, in the order of the run"));
    tags(&page);
}

#[test]
fn a_run_whose_record_has_no_graph_has_a_page() {
    let scratch = Scratch::new();
    write(&scratch, (1, false), &manifest(), &many(5));
    let page = page(&scratch);
    assert!(page.contains("file:/etc/service.d/0-settings.conf") && !page.contains("id=\"graph\""));
    tags(&page);
}
