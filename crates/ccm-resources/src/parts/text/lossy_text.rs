//! Check that no text is written back with other bytes than it had.

#![expect(clippy::disallowed_methods, reason = "the test reads the sources")]

use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// Files that may decode bytes with a loss, and what becomes of the text. Nothing of it is written back.
const READ_ONLY: &[(&str, &str)] = &[
    ("checks/command.rs", "output of commands, which rules judge"),
    ("checks/file.rs", "content of files, which rules judge"),
    ("checks/http.rs", "answers of web servers, which rules judge"),
    ("checks/interface.rs", "addresses of the kernel"),
    ("checks/kernel_parameter.rs", "parameters of the kernel"),
    ("checks/processes.rs", "names of processes"),
    ("health.rs", "output of commands, for messages"),
    ("parts/accounts/database.rs", "accounts, which programs change"),
    ("parts/accounts/name_services.rs", "configuration of name services"),
    ("parts/mounts.rs", "mounts of the kernel"),
    ("parts/packages/apt/dpkg_database.rs", "packages, which programs change"),
    ("parts/packages/apt/dpkg_status.rs", "packages, which programs change"),
    ("parts/packages/made_by_hand.rs", "packages, which programs change"),
    ("parts/packages/owned_paths/dpkg.rs", "checksums, which programs write"),
    ("parts/packages/owned_paths/pacman.rs", "lists of files, which programs write"),
    ("parts/packages/tool.rs", "files of package managers"),
    ("parts/systemd/systemctl.rs", "words of systemctl"),
    ("parts/text/text_lines.rs", "`shown`, for messages and comparisons"),
    ("support/output_tail.rs", "output of programs, for messages and answers"),
    ("support/program/end.rs", "errors of programs, for messages"),
    ("types/git/repository.rs", "address of a remote"),
    ("types/package_repository/repository_provider.rs", "comparison with a file of ccm alone"),
    ("types/reboot/systemd_reboot.rs", "names of packages"),
    ("types/timer/systemd_timers.rs", "comparison with a file of ccm alone"),
];

fn find(directory: &Path, root: &Path, found: &mut Vec<String>) {
    for entry in read_dir(directory).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find(&path, root, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("lossy_text.rs") {
            let source = read_to_string(&path).expect("a source");
            let name = path.strip_prefix(root).expect("a path below").to_string_lossy().into_owned();
            found.extend(source.contains("from_utf8_lossy").then_some(name));
        }
    }
}

#[test]
fn only_texts_that_are_not_written_back_lose_bytes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    find(&root, &root, &mut found);
    found.sort_unstable();
    let listed: Vec<&str> = READ_ONLY.iter().map(|(file, _)| *file).collect();
    assert_eq!(
        found, listed,
        "keep bytes that are written back; list a file that only reads or shows them in `READ_ONLY` of this file"
    );
}
