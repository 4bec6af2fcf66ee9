//! Files and directories of a package.

use std::collections::BTreeMap;

/// File or directory of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageItem {
    /// Content of a file; `None` for a directory.
    pub(super) content: Option<Vec<u8>>,
    /// Permissions.
    pub(super) mode: u32,
    /// Kind of the file for a package manager.
    pub(super) role: FileRole,
}

/// Kind of a file for a package manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FileRole {
    /// Program or data.
    #[default]
    Plain,
    /// Configuration, which an administrator may edit.
    Configuration,
    /// Documentation.
    Documentation,
    /// Licence.
    License,
}

impl PackageItem {
    pub(super) fn directory() -> Self {
        Self { content: None, mode: 0o755, role: FileRole::Plain }
    }

    pub(super) fn file(content: impl Into<Vec<u8>>) -> Self {
        Self { content: Some(content.into()), mode: 0o644, role: FileRole::Plain }
    }

    pub(super) fn program(content: impl Into<Vec<u8>>) -> Self {
        Self { mode: 0o755, ..Self::file(content) }
    }

    pub(super) fn with_role(self, role: FileRole) -> Self {
        Self { role, ..self }
    }
}

/// Items by path, without a slash in front. The order is that of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PackageItems(BTreeMap<String, PackageItem>);

impl PackageItems {
    /// Adds an item. Two items with one path are an error.
    pub(super) fn add(&mut self, path: impl Into<String>, item: PackageItem) -> Result<(), String> {
        let path = path.into();
        match self.0.insert(path.clone(), item) {
            None => Ok(()),
            Some(_) => Err(format!("the package would hold \"/{path}\" twice")),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &PackageItem)> {
        self.0.iter().map(|(path, item)| (path.as_str(), item))
    }

    /// Returns the files with their contents.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.iter().filter_map(|(path, item)| Some((path, item.content.as_deref()?)))
    }

    /// Adds the directories above all items.
    pub(super) fn with_parents(mut self) -> Self {
        let paths: Vec<String> = self.0.keys().cloned().collect();
        for path in paths {
            for (end, _) in path.match_indices('/') {
                self.0.entry(path[..end].to_owned()).or_insert_with(PackageItem::directory);
            }
        }
        self
    }

    /// Adds the directories between these directories and the items in them, which no other package has.
    pub(super) fn with_own_directories(mut self, roots: &[&str]) -> Self {
        for path in self.clone().with_parents().0.into_keys() {
            let is_below = |root: &&str| {
                path.strip_prefix(*root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if roots.iter().any(is_below) {
                self.0.entry(path).or_insert_with(PackageItem::directory);
            }
        }
        self
    }

    /// Returns the length of all files in bytes.
    pub(super) fn size(&self) -> u64 {
        self.files().map(|(_, content)| content.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_before_their_items() {
        let mut items = PackageItems::default();
        items.add("usr/bin/ccm", PackageItem::program("x")).expect("an item");
        items.add("etc/ccm", PackageItem { mode: 0o700, ..PackageItem::directory() }).expect("an item");
        items.add("etc/ccm", PackageItem::directory()).expect_err("an error");
        let items = items.with_parents();
        let paths: Vec<&str> = items.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["etc", "etc/ccm", "usr", "usr/bin", "usr/bin/ccm"]);
        assert_eq!(items.size(), 1);
    }

    #[test]
    fn directories_of_other_packages_are_left_out() {
        let mut items = PackageItems::default();
        items.add("usr/share/doc/ccm/examples/a.yaml", PackageItem::file("x")).expect("an item");
        items.add("usr/bin/ccm", PackageItem::program("x")).expect("an item");
        let items = items.with_own_directories(&["usr/share/doc/ccm"]);
        let paths: Vec<&str> = items.iter().map(|(path, _)| path).collect();
        let expected = [
            "usr/bin/ccm",
            "usr/share/doc/ccm",
            "usr/share/doc/ccm/examples",
            "usr/share/doc/ccm/examples/a.yaml",
        ];
        assert_eq!(paths, expected);
    }
}
