//! Corpus: small files with unusual content.

use std::fs;
use std::path::Path;

use ccm_testkit::repository;

/// Returns the corpus of a target, sorted by file name; for `manifest`, with real manifests.
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut inputs = files(&repository("tests/fuzz/corpus").join(target));
    assert!(!inputs.is_empty(), "there is no corpus of {target}");
    if target == "manifest" {
        inputs.extend(files(&repository("examples")));
        inputs.extend(files(&repository("manifests")));
    }
    inputs
}

fn files(directory: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.retain(|path| path.is_file() && path.extension().is_none_or(|ending| ending != "md"));
    paths.iter().map(|path| fs::read(path).expect("a file of the corpus")).collect()
}
