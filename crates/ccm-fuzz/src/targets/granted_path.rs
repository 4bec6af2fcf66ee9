//! Paths that a sandbox may open.

use std::path::Path;

use ccm_host::never_opened;

pub(super) const WORDS: &[&str] = &[
    "/", "/proc", "/proc/1", "/sys", "/dev", "/dev/shm", "..", "/../", "/./", "//", "self", "\0", "/proc/00",
];

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    let path = format!("/{text}");
    let answer = |path: &str, to_write| never_opened(Path::new(path), to_write);
    let (to_read, to_write) = (answer(&path, false), answer(&path, true));
    assert!(to_read.is_none() || to_write.is_some(), "{path:?} is opened for writing alone");
    for spelling in
        [format!("/.//{text}"), format!("/a/../{text}"), format!("{path}/a/.."), format!("/../{text}")]
    {
        assert_eq!(answer(&spelling, false), to_read, "{spelling:?}");
        assert_eq!(answer(&spelling, true), to_write, "{spelling:?}");
    }
}
