//! Work on files that is given up because the run is.

use ccm_host::{
    Attributes, CancellationSource, FileError, Files as _, Hash, Level, Look, NewContent, NewFile,
    SystemFiles,
};
use ccm_testkit::{Scratch, wait_until};

#[test]
fn reading_writing_and_removing_stop_with_the_run() {
    let scratch = Scratch::new();
    scratch.write("f", "old");
    scratch.write("d/f", "old");
    let (f, d) = (scratch.path().join("f"), scratch.path().join("d"));
    let (source, cancellation) = CancellationSource::new();
    let files = SystemFiles::new(cancellation);
    source.raise(Level::Stop);
    let content = NewContent::CopyOf(&d.join("f"));
    let new = NewFile { content, attributes: Attributes::default() };
    let look = Look { hash: Hash::Always, keep_up_to: 0, compare: None };
    for (ended, half_done) in [
        (files.read(&f, 0).map(drop), false),
        (files.look(&f, look).map(drop), false),
        (files.write(&f, &new).map(drop), false),
        (files.remove(&d, true), true),
    ] {
        let ended = ended.expect_err("an end");
        assert!(matches!(ended, FileError::Ended { .. }), "{ended:?}");
        assert_eq!(ended.changed(), half_done);
    }
    assert_eq!((scratch.names(), scratch.read("f").as_deref()), (vec!["d".into(), "f".into()], Some("old")));
    assert!(scratch.has("d/f"));
}

#[test]
fn a_copy_stops_in_the_middle_and_leaves_nothing() {
    let scratch = Scratch::new();
    let endless = scratch.path().join("endless");
    std::fs::File::create(&endless).and_then(|file| file.set_len(1 << 40)).expect("a long file");
    let (source, cancellation) = CancellationSource::new();
    let new = NewFile { content: NewContent::CopyOf(&endless), attributes: Attributes::default() };
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("the copy begins", || scratch.has(".f.ccm-new"));
            source.raise(Level::Stop);
        });
        SystemFiles::new(cancellation).write(&scratch.path().join("f"), &new).expect_err("an end")
    });
    assert!(matches!(error, FileError::Ended { changed: false }), "{error:?}");
    assert_eq!(scratch.names(), ["endless"]);
}
