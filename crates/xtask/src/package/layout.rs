//! Paths of the files of ccm on a machine.

use std::fs;
use std::path::Path;

use super::archive::gzip;
use super::generated::Generated;
use super::item::{FileRole, PackageItem, PackageItems};
use super::links::with_links_to;

/// Directory of the documentation.
const DOCUMENTATION: &str = "usr/share/doc/ccm";

/// Convention of a kind of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Convention {
    /// Debian and its relatives.
    Debian,
    /// The Red Hat family, and archives.
    RedHat,
}

/// Files from elsewhere than the checkout.
pub(super) struct LayoutInputs<'a> {
    /// Man pages and completions.
    pub(super) generated: &'a Generated,
    /// List of the parts that the program is made of.
    pub(super) bill_of_materials: &'a str,
    /// Licences of these parts.
    pub(super) third_party_licenses: &'a str,
}

/// Returns all files of a package with their paths.
pub(super) fn items(
    root: &Path,
    program: &[u8],
    parts: &LayoutInputs<'_>,
    convention: Convention,
) -> Result<PackageItems, String> {
    let mut items = PackageItems::default();
    items.add("usr/bin/ccm", PackageItem::program(program))?;
    items.add("etc/ccm", PackageItem::directory())?;
    items.add("etc/ccm/facts.d", PackageItem::directory())?;
    let defaults = read(&root.join("packaging/default/ccm"))?;
    items.add("etc/default/ccm", PackageItem::file(defaults).with_role(FileRole::Configuration))?;
    for (name, content) in files_below(&root.join("packaging/systemd"))? {
        items.add(format!("usr/lib/systemd/system/{name}"), PackageItem::file(content))?;
    }
    add_generated(&mut items, parts.generated, convention)?;
    add_documentation(&mut items, root)?;
    let document = |text: &str| PackageItem::file(text).with_role(FileRole::Documentation);
    items.add(format!("{DOCUMENTATION}/ccm.cdx.json"), document(parts.bill_of_materials))?;
    let licenses = gzip(parts.third_party_licenses.as_bytes())?;
    let license = |content: Vec<u8>| PackageItem::file(content).with_role(FileRole::License);
    items.add(format!("{DOCUMENTATION}/third-party-licenses.txt.gz"), license(licenses))?;
    items.add(format!("{DOCUMENTATION}/LICENSE"), license(read(&root.join("LICENSE"))?))?;
    Ok(items)
}

fn add_generated(
    items: &mut PackageItems,
    generated: &Generated,
    convention: Convention,
) -> Result<(), String> {
    for (name, content) in &generated.man_pages {
        let section = name.rsplit_once('.').map(|(_, section)| section);
        let section = section.ok_or_else(|| format!("the man page \"{name}\" has no section"))?;
        let path = format!("usr/share/man/man{section}/{name}.gz");
        items.add(path, PackageItem::file(gzip(content)?).with_role(FileRole::Documentation))?;
    }
    for (name, content) in &generated.completions {
        let path = match (name.as_str(), convention) {
            ("_ccm", Convention::Debian) => "usr/share/zsh/vendor-completions/_ccm",
            ("_ccm", Convention::RedHat) => "usr/share/zsh/site-functions/_ccm",
            ("ccm.fish", _) => "usr/share/fish/vendor_completions.d/ccm.fish",
            ("ccm" | "ccm.bash", _) => "usr/share/bash-completion/completions/ccm",
            _ => return Err(format!("no shell is known to read completions from \"{name}\"")),
        };
        items.add(path, PackageItem::file(content.as_slice()))?;
    }
    Ok(())
}

/// Adds the pages of the documentation in their folders, and the manifests that they refer to.
fn add_documentation(items: &mut PackageItems, root: &Path) -> Result<(), String> {
    let mut pages = vec![
        ("README.md".to_owned(), "README.md".to_owned()),
        ("CHANGELOG.md".to_owned(), "CHANGELOG.md".to_owned()),
        ("SECURITY.md".to_owned(), "SECURITY.md".to_owned()),
    ];
    let mut others = Vec::new();
    for (name, _) in files_below(&root.join("docs"))? {
        // The guide for people who change ccm is of no use without the source.
        if name.starts_with("developing/") {
            continue;
        }
        // The first page of the whole project has this name.
        let target = if name == "README.md" { "index.md".to_owned() } else { name.clone() };
        pages.push((format!("docs/{name}"), target));
    }
    for folder in ["examples", "manifests"] {
        for (name, content) in files_below(&root.join(folder))? {
            let path = format!("{folder}/{name}");
            if is_page(&name) {
                pages.push((path.clone(), path));
            } else {
                others.push((path, content));
            }
        }
    }
    let mut targets = pages.clone();
    targets.extend(others.iter().map(|(path, _)| (path.clone(), path.clone())));
    targets.push(("LICENSE".to_owned(), "LICENSE".to_owned()));
    for (source, target) in &pages {
        let text =
            String::from_utf8(read(&root.join(source))?).map_err(|error| format!("{source}: {error}"))?;
        let text = with_links_to(&targets, source, target, &text);
        items.add(
            format!("{DOCUMENTATION}/{target}"),
            PackageItem::file(text).with_role(FileRole::Documentation),
        )?;
    }
    for (path, content) in others {
        items.add(
            format!("{DOCUMENTATION}/{path}"),
            PackageItem::file(content).with_role(FileRole::Documentation),
        )?;
    }
    Ok(())
}

/// Returns `true` for the path of a page of the documentation.
pub(crate) fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

/// Returns the files of a folder and the folders in it, by their paths in it.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut found = Vec::new();
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| format!("{}: the name is no text", path.display()))?.to_owned();
        if path.is_dir() {
            let below = files_below(&path)?;
            found.extend(below.into_iter().map(|(below, content)| (format!("{name}/{below}"), content)));
        } else {
            found.push((name, read(&path)?));
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
