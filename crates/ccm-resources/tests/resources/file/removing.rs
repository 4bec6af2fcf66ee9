//! Removal of directories with their content.

use std::os::unix::fs::symlink;
use std::path::Path;

use ccm_model::{Action, Outcome, Verb};
use ccm_testkit::{FakeFile, FakeFiles, Scratch};

use crate::build::errors_of;
use crate::file::file;
use crate::file::machine::Runs;
use crate::run::failure;

const FORCE: [(&str, &str); 2] = [("ensure", "absent"), ("force", "true")];

#[test]
fn forced_removal_below_the_root_is_refused_at_load() {
    for name in ["/usr", "/etc", "/srv", "/.hidden", "/swapfile"] {
        let [error] = &errors_of(&file(name, &FORCE))[..] else { panic!("{name}: one error") };
        assert!(error.starts_with("conflict force"), "{error}");
    }
    assert_eq!(errors_of(&file("/srv/old", &FORCE)), Vec::<String>::new());
    assert_eq!(errors_of(&file("/srv", &[("ensure", "absent")])), Vec::<String>::new());
}

#[test]
fn link_among_the_parents_does_not_lead_a_forced_removal_below_the_root() {
    let scratch = Scratch::new();
    symlink("/", scratch.path().join("root")).expect("a link");
    for noop in [true, false] {
        let runs = Runs { noop, ..Runs::here(&scratch) };
        // It is never removed, because its mount can't be.
        let refused = runs.apply(file(&scratch.at("root/proc"), &FORCE));
        let Outcome::Failed(failure) = &refused.outcome else { panic!("{refused:?}") };
        let message = format!("\"{}\" is a directory directly below `/`", scratch.at("root/proc"));
        assert_eq!(failure.chain, [message]);
        assert_eq!(failure.property.as_deref(), Some("force"));
    }
    assert!(Path::new("/proc/self").exists());
}

#[test]
fn hint_to_force_is_not_given_below_the_root() {
    let files = FakeFiles::default();
    for path in ["/srv", "/srv/data", "/srv/data/x"] {
        files.entries.borrow_mut().insert(path.into(), FakeFile::directory());
    }
    let scratch = Scratch::new();
    for (name, is_hinted) in [("/srv", false), ("/srv/data", true)] {
        let runs = Runs { files: Some(&files), ..Runs::here(&scratch) };
        let refused = runs.apply(file(name, &[("ensure", "absent")]));
        let hints = failure(&refused).hints.join("; ");
        assert_eq!(hints.contains("force: true"), is_hinted, "{hints}");
        assert!(!hints.is_empty());
    }
}

#[test]
fn removal_names_the_number_of_files_and_bytes() {
    let scratch = Scratch::new();
    scratch.write("d/one", "12345");
    scratch.write("d/below/two", "123");
    symlink("/etc", scratch.path().join("d/link")).expect("a link");
    let resource = || file(&scratch.at("d"), &FORCE);
    let expected = Action::new(Verb::Remove).of("directory, 3 files, 8 bytes");
    let noop = Runs { noop: true, ..Runs::here(&scratch) }.apply(resource());
    assert_eq!(noop.action.as_ref(), Some(&expected));
    let applied = Runs::here(&scratch).apply(resource());
    assert_eq!((applied.outcome, applied.action), (Outcome::Changed, Some(expected)));
    assert_eq!(Runs::here(&scratch).apply(resource()).action, None);
}
