//! Extraction of archives, most of which attack.

mod attacks;
mod damage;
mod extracting;
mod growth;
mod headers;
mod lies;
pub(crate) mod pack;
mod placing;
mod zip_files;

use std::fs::File;
use std::path::Path;

use ccm_fetch::{ArchiveFormat, ExtractError, ExtractRequest, Extracted, extract};
use ccm_host::{Cancellation, ExtractionTarget, Files as _, SystemFiles};
use ccm_testkit::Scratch;

/// All formats, by the ends of names.
const FORMATS: [&str; 6] = [".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip"];

/// A request to extract an archive of a scratch directory into its directory `out`.
fn request(scratch: &Scratch, name: &str, bytes: &[u8]) -> ExtractRequest {
    let path = scratch.write(name, bytes);
    std::fs::create_dir_all(scratch.path().join("out")).expect("a directory");
    ExtractRequest {
        sha256: None,
        content_sha256: None,
        archive: File::open(&path).expect("the archive"),
        format: ArchiveFormat::of_name(Path::new(name)).expect("a format"),
        path,
        into: target(&scratch.path().join("out")),
        strip_components: 0,
        uid: None,
        gid: None,
        max_size: 64 << 20,
        max_entries: 1000,
        last: None,
        timeout: None,
    }
}

fn target(directory: &Path) -> ExtractionTarget {
    SystemFiles::new(Cancellation::never()).extraction_target(directory).expect("a directory")
}

fn run(request: ExtractRequest) -> Result<Extracted, ExtractError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(extract(request, &Cancellation::never()))
}

/// The error with its causes, in words, without the directory of the test.
fn words(error: &ExtractError, scratch: &Scratch) -> String {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        words += &format!(": {error}");
        source = error.source();
    }
    words.replace(&scratch.at(""), "")
}

/// Names below `out`, sorted, with `/` after directories and the target after links.
fn tree(scratch: &Scratch) -> Vec<String> {
    fn add(directory: &Path, prefix: &str, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let entry = entry.expect("an entry");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                names.push(format!("{name}/"));
                add(&entry.path(), &format!("{name}/"), names);
            } else if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).expect("a target");
                names.push(format!("{name} -> {}", target.display()));
            } else {
                names.push(name);
            }
        }
    }
    let mut names = Vec::new();
    add(&scratch.path().join("out"), "", &mut names);
    names.sort();
    names
}
