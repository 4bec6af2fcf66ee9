//! Fields of dpkg's status file about files, priorities and dependencies.

/// Package that is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::parts::packages) struct StatusEntry {
    pub name: String,
    pub architecture: String,
    pub priority: String,
    pub is_essential: bool,
    /// Names of packages of which one of each group has to be installed.
    pub depends: Vec<String>,
    /// Configuration files with their MD5 as shipped. Those of an older version of the package are left out.
    pub conffiles: Vec<(String, String)>,
}

/// Reads the installed packages of a status file.
pub(in crate::parts::packages) fn installed_entries(status: &[u8]) -> Vec<StatusEntry> {
    let status = String::from_utf8_lossy(status);
    status.split("\n\n").filter_map(entry).collect()
}

fn entry(paragraph: &str) -> Option<StatusEntry> {
    let mut entry = StatusEntry::default();
    let (mut is_installed, mut is_in_conffiles) = (false, false);
    for line in paragraph.lines() {
        if let Some(value) = line.strip_prefix(' ') {
            if is_in_conffiles {
                entry.conffiles.extend(conffile(value));
            }
            continue;
        }
        let (field, value) = line.split_once(':')?;
        let value = value.trim();
        is_in_conffiles = field == "Conffiles";
        match field {
            "Package" => value.clone_into(&mut entry.name),
            "Architecture" => value.clone_into(&mut entry.architecture),
            "Priority" => value.clone_into(&mut entry.priority),
            "Essential" => entry.is_essential = value == "yes",
            "Status" => is_installed = value.ends_with(" installed"),
            "Depends" | "Pre-Depends" => entry.depends.extend(names(value)),
            _ => {}
        }
    }
    Some(entry).filter(|entry| is_installed && !entry.name.is_empty())
}

/// Reads a line of a configuration file.
fn conffile(line: &str) -> Option<(String, String)> {
    // A path may have blanks in it.
    let line = line.trim_end();
    if line.ends_with(" obsolete") || line.ends_with(" remove-on-upgrade") {
        return None;
    }
    let (path, digest) = line.rsplit_once(' ')?;
    (digest.len() == 32).then(|| (path.to_owned(), digest.to_owned()))
}

/// Returns the names in a list of dependencies.
fn names(value: &str) -> impl Iterator<Item = String> {
    value.split([',', '|']).filter_map(|dependency| {
        let name = dependency.trim().split([' ', '(', ':', '[']).next()?;
        (!name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_packages_have_their_files_and_dependencies() {
        let entries = installed_entries(
            b"Package: nginx\nStatus: install ok installed\nPriority: optional\nArchitecture: amd64\n\
              Depends: libc6 (>= 2.3), libssl3 | libssl1, python3:any\nConffiles:\n \
              /etc/nginx/nginx.conf 0123456789abcdef0123456789abcdef\n /etc/a b 0123456789abcdef0123456789abcdef\n \
              /etc/old 0123456789abcdef0123456789abcdef obsolete\nDescription: web server\n more\n\n\
              Package: gone\nStatus: deinstall ok config-files\n\nPackage: base\nEssential: yes\nPriority: required\n\
              Status: hold ok installed\n",
        );
        let names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["nginx", "base"]);
        let paths: Vec<&str> = entries[0].conffiles.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths, ["/etc/nginx/nginx.conf", "/etc/a b"]);
        assert_eq!(entries[0].depends, ["libc6", "libssl3", "libssl1", "python3"]);
        assert!(entries[1].is_essential && entries[1].priority == "required");
    }
}
