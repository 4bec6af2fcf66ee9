//! Licence texts of the crates of others that the program is made of. Most licences demand that copies of the
//! program come with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::components::{Component, CrateId};

/// Returns the text of all licences.
pub(super) fn texts(components: &BTreeMap<CrateId, Component>) -> Result<String, String> {
    let mut list = String::new();
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for ((name, version), component) in
        components.iter().filter(|(_, component)| component.checksum.is_some())
    {
        let license = component.license.as_deref().unwrap_or("see below");
        let _ = writeln!(list, "{name} {version}: {license}");
        for text in texts_of(&component.directory, license)? {
            texts.entry(text).or_default().insert(format!("{name} {version}"));
        }
    }
    let mut result = format!(
        "ccm is made of the following crates besides its own. Where a crate offers Apache-2.0 among other licences, \
         ccm uses\nit under Apache-2.0, whose text is in the file LICENSE.\n\n{list}"
    );
    let mut texts: Vec<(BTreeSet<String>, String)> =
        texts.into_iter().map(|(text, users)| (users, text)).collect();
    texts.sort();
    for (users, text) in texts {
        let users = users.into_iter().collect::<Vec<_>>().join(", ");
        let _ = write!(result, "\n{}\n{users}\n\n{}\n", "-".repeat(100), text.trim());
    }
    Ok(result)
}

/// Returns the texts that have to come with a crate: its notices and, without a choice of Apache-2.0, its licences.
fn texts_of(directory: &Path, license: &str) -> Result<Vec<String>, String> {
    let may_be_apache = license.split(" OR ").any(|choice| choice.trim() == "Apache-2.0");
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut texts = Vec::new();
    let mut entries =
        fs::read_dir(directory).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().to_ascii_uppercase();
        let is = |beginnings: &[&str]| beginnings.iter().any(|beginning| name.starts_with(beginning));
        let is_license = is(&["LICENSE", "LICENCE", "COPYING", "UNLICENSE"]) && !may_be_apache;
        if entry.path().is_file() && (is_license || is(&["NOTICE"])) {
            texts.push(String::from_utf8_lossy(&fs::read(entry.path()).map_err(failed)?).into_owned());
        }
    }
    if texts.is_empty() && !may_be_apache {
        return Err(format!("{}: there is no text of its licence, {license}", directory.display()));
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_there_once() {
        let scratch = tempfile::tempdir().expect("a directory");
        let component = |name: &str, license: &str, files: &[(&str, &str)]| {
            let directory = scratch.path().join(name);
            fs::create_dir(&directory).expect("a directory");
            for (file, text) in files {
                fs::write(directory.join(file), text).expect("a file");
            }
            let (license, checksum) = (Some(license.to_owned()), Some("abc".to_owned()));
            let component = Component { license, checksum, directory, uses: BTreeSet::new() };
            ((name.to_owned(), "1.0.0".to_owned()), component)
        };
        let mut components = BTreeMap::from([
            component("a", "MIT", &[("LICENSE", "MIT text\n"), ("lib.rs", "code")]),
            component("b", "MIT", &[("license-mit.md", "MIT text\n")]),
            component("c", "MIT OR Apache-2.0", &[("LICENSE-MIT", "other text"), ("NOTICE", "a notice")]),
        ]);
        let found = texts(&components).expect("texts");
        assert_eq!(found.matches("MIT text").count(), 1);
        assert!(found.contains("\na 1.0.0, b 1.0.0\n\nMIT text\n"), "{found}");
        assert!(found.contains("a notice") && !found.contains("other text"), "{found}");
        components.extend([component("d", "ISC", &[])]);
        let error = texts(&components).expect_err("an error");
        assert!(error.ends_with("d: there is no text of its licence, ISC"), "{error}");
    }
}
