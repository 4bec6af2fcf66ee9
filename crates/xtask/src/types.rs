//! List of the resource types, with their pages.

use std::path::{Path, PathBuf};

use crate::PROPERTIES;

/// Returns the list of all types for a page. `pages` are all pages with their texts.
pub(crate) fn list(page: &Path, pages: &[(PathBuf, String)]) -> Result<String, String> {
    let mut list = String::new();
    for found in ccm_resources::types() {
        let name = found.name();
        let marker = format!("{PROPERTIES}{name} -->");
        let of_type = pages.iter().find(|(_, text)| text.contains(&marker));
        let (path, _) = of_type.ok_or_else(|| {
            format!("no page has the properties of `{name}`: write docs/reference/types/{name}.md with `{marker}` and `<!-- end -->`")
        })?;
        list += &format!("- [{name}]({}): {}\n", link(page, path), found.summary());
    }
    Ok(list)
}

/// Returns the link from one page to another one.
fn link(from: &Path, to: &Path) -> String {
    let folder = from.parent().unwrap_or(from);
    let mut up = PathBuf::new();
    for above in folder.ancestors() {
        if let Ok(below) = to.strip_prefix(above) {
            return up.join(below).display().to_string();
        }
        up.push("..");
    }
    to.display().to_string()
}
