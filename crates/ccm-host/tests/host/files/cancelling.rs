//! Cancelled file operations.

use ccm_host::{
    CancellationLevel, CancellationSource, FileAttributes, FileError, Files as _, HashPolicy, InspectOptions,
    NewContent, NewFile, SystemFiles,
};
use ccm_testkit::{Scratch, wait_until};

#[test]
fn cancellation_stops_reading_writing_and_removing() {
    let scratch = Scratch::new();
    scratch.write("f", "old");
    scratch.write("d/f", "old");
    let (f, d) = (scratch.path().join("f"), scratch.path().join("d"));
    let (source, cancellation) = CancellationSource::new();
    let files = SystemFiles::new(cancellation);
    source.raise(CancellationLevel::Stop);
    let content = NewContent::CopyOf(&d.join("f"));
    let new = NewFile { content, attributes: FileAttributes::default() };
    let inspect = InspectOptions { hash: HashPolicy::Required(1 << 20), keep_up_to: 0, compare: None };
    for (ended, half_done) in [
        (files.read(&f, 0).map(drop), false),
        (files.inspect(&f, inspect).map(drop), false),
        (files.write(&f, &new).map(drop), false),
        (files.remove(&d, true), true),
    ] {
        let ended = ended.expect_err("an end");
        assert!(matches!(ended, FileError::Cancelled { .. }), "{ended:?}");
        assert_eq!(ended.changed(), half_done);
    }
    assert_eq!((scratch.names(), scratch.read("f").as_deref()), (vec!["d".into(), "f".into()], Some("old")));
    assert!(scratch.has("d/f"));
}

#[test]
fn cancelled_copy_leaves_nothing() {
    let scratch = Scratch::new();
    let endless = scratch.path().join("endless");
    std::fs::File::create(&endless).and_then(|file| file.set_len(1 << 40)).expect("a long file");
    let (source, cancellation) = CancellationSource::new();
    let new = NewFile { content: NewContent::CopyOf(&endless), attributes: FileAttributes::default() };
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("the copy begins", || scratch.has(".f.ccm-new"));
            source.raise(CancellationLevel::Stop);
        });
        SystemFiles::new(cancellation).write(&scratch.path().join("f"), &new).expect_err("an end")
    });
    assert!(matches!(error, FileError::Cancelled { changed: false }), "{error:?}");
    assert_eq!(scratch.names(), ["endless"]);
}
