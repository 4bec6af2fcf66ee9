//! Check of what the modules of this crate may import: no type another type, no part a type, no helper a part.

#![expect(clippy::disallowed_methods, reason = "a test reads the source of this crate")]

use std::path::{Path, PathBuf};

/// Returns the source files below a folder of the crate, by their paths from `src`.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut found) = (vec![root.join(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the source") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                found.push((path.strip_prefix(&root).expect("a path below it").to_owned(), text));
            }
        }
    }
    found
}

/// Returns the lines of a text that name a module of this crate.
fn imports<'t>(text: &'t str, module: &str) -> Vec<&'t str> {
    let module = format!("crate::{module}");
    text.lines().filter(|line| line.contains(&module)).collect()
}

#[test]
fn no_type_imports_another_one() {
    for (path, text) in sources("types") {
        let own = path.components().nth(1).expect("a file of a type").as_os_str().to_string_lossy();
        let own = format!("crate::types::{}::", own.trim_end_matches(".rs"));
        let others: Vec<&str> =
            imports(&text, "types").into_iter().filter(|line| !line.contains(&own)).collect();
        assert!(others.is_empty(), "{} imports {others:?}: move what both need into parts", path.display());
    }
}

#[test]
fn parts_know_no_type_and_helpers_no_part() {
    for (folder, above) in [("parts", &["types"][..]), ("support", &["types", "parts"])] {
        for (path, text) in sources(folder) {
            for module in above {
                let found = imports(&text, module);
                assert!(found.is_empty(), "{} imports {found:?}", path.display());
            }
        }
    }
}
