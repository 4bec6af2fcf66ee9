//! Claims of other resources, as a provider finds them, and other answers that are kept.

use ccm_model::Control;

use crate::fake::{Options, catalog, run, run_with};

#[test]
fn provider_finds_what_others_manage_below_a_directory() {
    let mut catalog = catalog(&[
        "/d by=list",
        "/d/a",
        "/d-e/a",
        "/d.e",
        "/d/a-b/c",
        "/d/a/b ensure=directory",
        "/e by=list",
        "fill fills=/d/f/",
        "more fills=/d",
        "again fills=/d",
        "home needs_place=/d/h",
        "mount needs_place=/d",
        "/d/off",
        "/",
    ]);
    catalog.resources[12].control = Control::NotManaged { reason: "off".to_owned() };
    let ran = run_with(&catalog, &Options::default());
    let listed: Vec<&str> =
        ran.calls.iter().map(String::as_str).filter(|call| !call.starts_with("read")).collect();
    assert_eq!(listed, ["/d: a Whole, a/b Tree, a-b/c Whole, f Tree, h Existence, filled by more", "/e: "]);
}

#[test]
fn paths_below_a_directory_are_found_in_every_spelling() {
    let catalog = catalog(&[
        "/run/d by=list",
        "/var/run/e by=list",
        "/srv by=list",
        "/var/run/d/a",
        "/run/e/b",
        "/run/d/link/c",
        "/var/run/d/link/d",
        "fill fills=/var/run/d/f/",
        "more fills=/run/e",
    ]);
    let links = [("/run/d/link", "/srv"), ("/var/run/d/link", "/srv"), ("/var/run", "/run")];
    let ran = run_with(&catalog, &Options { links: &links, ..Options::default() });
    let listed: Vec<&str> =
        ran.calls.iter().map(String::as_str).filter(|call| !call.starts_with("read")).collect();
    assert_eq!(
        listed,
        [
            "/run/d: a Whole, f Tree, link/c Whole, link/d Whole",
            "/var/run/e: b Whole, filled by more",
            "/srv: c Whole, d Whole",
        ]
    );
}

#[test]
fn claims_are_asked_for_once() {
    const COUNT: usize = 20;
    /// Number of calls of a run that do not depend on its resources.
    const CONSTANT: usize = 20;
    let questions = |count: usize| {
        let lines: Vec<String> = (0..count).map(|number| format!("/d{number} by=list")).collect();
        run(&lines.iter().map(String::as_str).collect::<Vec<_>>()).questions
    };
    let (few, many) = (questions(COUNT), questions(4 * COUNT));
    assert!(many <= 4 * few + CONSTANT, "{few} questions became {many}");
}

#[test]
fn suitability_is_checked_once_until_something_is_executed() {
    assert_eq!(run(&["a", "b", "c"]).questions, 1);
    assert_eq!(run(&["a needs", "b", "c"]).questions, 2);
    assert_eq!(run(&["a provider=four", "b provider=four", "c"]).questions, 2);
}
